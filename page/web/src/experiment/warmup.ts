// How servers come to speed: completed requests a second of every trial, from the start of the
// server's processes on, through warm-up and window.

import { chart, extent, Plot } from "../chart";
import { figure } from "../figure";
import { count, duration, rate } from "../format";
import { Cell, cell } from "../table";
import { armsAt, legendOf, loadOf, Payload, slug, stroke, tint } from "./data";

/** warmups has a plot for each level. */
export function warmups(p: Payload): Node[] {
  return p.levels.map((l) => warmup(p, l.name)).filter((f) => f !== null);
}

function warmup(p: Payload, level: string): HTMLElement | null {
  const trials = p.record.trials ?? [];
  const here = (p.starts ?? []).map((s, i) => ({ s, i })).filter(({ i }) => trials[i].level === level && trials[i].round < 1001);
  const lines = here.filter(({ s }) => (s.warm.at_s ?? []).length + (s.window.at_s ?? []).length > 0);
  if (here.length === 0) return null;
  const seconds = (s: number | undefined) => (s === undefined ? "n/a" : duration(s * 1e6));
  const comings = (p.comings ?? []).filter((c) => c.level === level);
  return figure({
    id: "warmup-" + slug(p, level),
    title: `From the start on, at ${loadOf(p, level)}`,
    unit: "completed requests a second over the time since the server was started",
    n: `n = ${count(lines.length)} trials, a line each`,
    interval: "thin: warm-up; bold: measured window; ▲: the first right answer",
    summary: comings
      .map((c) => `${c.arm}: first right answer after ${seconds(c.ready?.estimate)}, steady after ${seconds(c.steady?.estimate)}`)
      .join("; "),
    empty: lines.length === 0 ? "No trial at this level was measured." : undefined,
    legend: legendOf(p, armsAt(p, level)),
    table: () => comingsTable(p, level),
    draw: (width) =>
      drawWarmup(
        p,
        lines.map(({ s, i }) => ({ ...s, i, arm: trials[i].arm })),
        width,
      ),
  });
}

function comingsTable(p: Payload, level: string) {
  const rows: (Cell | string)[][] = [];
  (p.comings ?? []).forEach((c, i) => {
    if (c.level !== level) return;
    const of = (what: "ready" | "steady", end: "low" | "estimate" | "high") =>
      cell(`comings.${i}.${what}.${end}`, c[what]?.[end], (s) => duration(s * 1e6));
    rows.push([
      c.arm,
      of("ready", "estimate"),
      of("ready", "low"),
      of("ready", "high"),
      of("steady", "estimate"),
      of("steady", "low"),
      of("steady", "high"),
      cell(`comings.${i}.trials`, c.trials, count),
    ]);
  });
  return { head: ["variant", "first right answer", "low", "high", "steady", "low ", "high ", "trials"], rows };
}

type Run = NonNullable<Payload["starts"]>[number] & { i: number; arm: string };

function drawWarmup(p: Payload, runs: Run[], width: number): SVGSVGElement {
  const points = (r: Run, of: "warm" | "window") =>
    (r[of].at_s ?? [])
      .map((x, k) => ({ x, y: r[of].per_s?.[k] ?? null, arm: r.arm, id: String(r.i) }))
      .filter((d) => d.x !== null && d.y !== null);
  const warm = runs.flatMap((r) => [...points(r, "warm"), ...points(r, "window").slice(0, 1)]); // so that the lines meet
  const window = runs.flatMap((r) => points(r, "window"));
  const ready = runs.filter((r) => r.ready_s !== undefined).map((r) => ({ x: r.ready_s!, arm: r.arm }));
  const [, high] = extent([...warm, ...window].map((d) => d.y)) ?? [0, 1];
  const [, end] = extent([...warm, ...window].map((d) => d.x)) ?? [0, 1];
  return chart(width, {
    marginLeft: 66,
    x: { domain: [0, end], label: "s since the start of the processes →", ticks: width < 500 ? 5 : 10 },
    y: { domain: [0, high * 1.06 || 1], ticks: 6, tickFormat: rate, label: "↑ requests/s", grid: true },
    color: { type: "identity" },
    marks: [
      Plot.line(warm, { x: "x", y: "y", z: "id", stroke: (d) => tint(p, d.arm), strokeWidth: 0.9, strokeOpacity: 0.8 }),
      ...[...new Set(runs.map((r) => r.arm))].map((arm) =>
        Plot.line(
          window.filter((d) => d.arm === arm),
          {
            x: "x",
            y: "y",
            z: "id",
            stroke: tint(p, arm),
            strokeWidth: 1.6,
            strokeOpacity: 0.65,
            strokeDasharray: stroke(p, arm) || undefined,
          },
        ),
      ),
      Plot.dot(ready, { x: "x", y: 0, symbol: "triangle", r: 4, fill: (d) => tint(p, d.arm), stroke: "var(--paper)", dy: -4 }),
    ],
  });
}
