// What a request costs the server: CPU time, user and system, of each of its processes.

import { areaColour, chart, Plot } from "../chart";
import { figure } from "../figure";
import { bytes, duration, percent } from "../format";
import { Cell, cell } from "../table";
import { Bar, barsOf, piecesOf } from "./costbars";
import { clip, halo, loadOf, Part, Payload, slug } from "./data";
import { levelsShown, isShown } from "./shown";

/** costs has a plot for each level. */
export function costs(p: Payload): Node[] {
  return levelsShown(p).map((l) => cost(p, l.name)).filter((f) => f !== null);
}

function cost(p: Payload, level: string): HTMLElement | null {
  const here = (p.record.parts ?? []).map((part, i) => ({ part, i })).filter(({ part }) => part.level === level && isShown(p, part.arm));
  if (here.length === 0) return null;
  const arms = p.record.arms.map((a) => a.name).filter((name) => here.some(({ part }) => part.arm === name));
  const names = [
    ...new Set(arms.flatMap((arm) => piecesOf(here.filter((d) => d.part.arm === arm).map((d) => d.part)).map((d) => d.name))),
  ];
  const totals = new Map((p.record.cells ?? []).filter((c) => c.level === level && c.metric === "cpu").map((c) => [c.arm, c]));
  const trials = Math.max(0, ...[...totals.values()].map((c) => c.trials));
  return figure({
    id: "cost-" + slug(p, level),
    title: `CPU per request at ${loadOf(p, level)}`,
    unit: "µs of the server's CPU time for each completed request",
    n: `n = ${trials} trials, medians`,
    interval: "line: 95 % interval of the median of all processes together",
    note: "full colour: in user mode; pale: in the kernel; a bar ends at the median of all together, and is divided as the medians of the parts are, which need not add up to it",
    summary: arms.map((a) => `${a}: ${duration(totals.get(a)?.median.estimate ?? NaN)}`).join("; "),
    legend: names.map((name, i) => ({ name: name || "all processes", colour: areaColour(i), shape: "area" as const })),
    table: () => costTable(here),
    draw: (width) =>
      drawCost(
        arms,
        here.map((d) => d.part),
        names,
        totals,
        width,
      ),
  });
}

function costTable(here: { part: Part; i: number }[]) {
  const rows = here.map(({ part, i }): (Cell | string)[] => {
    const of = (key: keyof Part, show: (v: number) => string) =>
      cell(`record.parts.${i}.${key}`, part[key] as number | null, show);
    return [
      part.arm,
      part.name || "all",
      of("cpu_us_per_request", duration),
      of("user_us_per_request", duration),
      of("system_us_per_request", duration),
      of("cpu_percent", percent),
      of("memory_bytes", bytes),
    ];
  });
  return { head: ["variant", "process", "CPU per request", "user", "system", "CPU of a core", "memory"], rows };
}

interface Total {
  median: { low: number; estimate: number; high: number; level: number };
}

function drawCost(arms: string[], parts: Part[], names: string[], totals: Map<string, Total>, width: number): SVGSVGElement {
  const bars = arms.flatMap((arm): Bar[] =>
    barsOf(arm, parts.filter((d) => d.arm === arm), names, totals.get(arm)?.median.estimate));
  const row = (arm: string) => arms.indexOf(arm);
  const whiskers = arms.flatMap((arm) => (totals.has(arm) ? [{ arm, ...totals.get(arm)!.median }] : []));
  const most = Math.max(1e-9, ...bars.map((b) => b.x2), ...whiskers.map((w) => w.high));
  return chart(width, {
    height: 56 + 46 * arms.length,
    marginLeft: 12,
    marginTop: 6,
    marginBottom: 40,
    x: { domain: [0, most * 1.12], label: "µs per request →", ticks: width < 500 ? 4 : 8, grid: true },
    y: { domain: [arms.length - 0.5, -0.5], axis: null },
    color: { type: "identity" },
    marks: [
      Plot.rect(bars, {
        x1: "x1",
        x2: "x2",
        y1: (d) => row(d.arm) - 0.12,
        y2: (d) => row(d.arm) + 0.36,
        fill: (d) => areaColour(d.i),
        fillOpacity: (d: { user: boolean }) => (d.user ? 0.95 : 0.5),
        stroke: "var(--paper)",
        title: (d) => `${d.name}, ${d.user ? "user" : "kernel"}: ${duration(d.median)} in the median`,
      }),
      Plot.link(
        whiskers.filter((w) => w.level >= 0.95 - 1e-9),
        {
          x1: "low",
          x2: "high",
          y1: (d) => row(d.arm) + 0.12,
          y2: (d) => row(d.arm) + 0.12,
          stroke: "var(--ink)",
          strokeWidth: 2,
        },
      ),
      Plot.text(arms, {
        x: 0,
        y: (d) => row(d) - 0.28,
        text: (d) => `${clip(d, 40)}  ${duration(totals.get(d)?.median.estimate ?? NaN)}`,
        textAnchor: "start",
        dx: 2,
        ...halo,
      }),
    ],
  });
}
