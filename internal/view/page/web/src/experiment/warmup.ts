// How servers come to speed: completed requests a second of every trial, from the start of the
// server's processes on, through warm-up and window.

import { chart, extent, Plot } from "../chart";
import { h } from "../dom";
import { figure } from "../figure";
import { count, duration, percent, rate } from "../format";
import type { Mark } from "../legend";
import { Cell, cell, table } from "../table";
import { multiples } from "../multiples";
import { legendOf, loadOf, Payload, slug, Start, stroke, tint } from "./data";
import { armsAt, levelsShown, isShown } from "./shown";

/** warmups has a plot for each level. */
export function warmups(p: Payload): Node[] {
  return levelsShown(p).map((l) => warmup(p, l.name)).filter((f) => f !== null);
}

/** comings is how long servers took, in a table. */
export function comings(p: Payload): HTMLElement | null {
  if ((p.comings ?? []).length === 0) return null;
  return h(
    "div",
    {},
    h("h3", {}, "From the start of the processes"),
    h("p", { class: "caption" }, "Medians of the trials with their 95 % intervals."),
    table(comingsTable(p), "Time to the first right answer and to steady throughput"),
  );
}

const cuts: Mark = { name: "MSER-5 would begin here (hollow: within the noise)", colour: "var(--ink)", shape: "diamond" };

const early = 10; // s of the window that are drawn when it is only how it begins

function warmup(p: Payload, level: string): HTMLElement | null {
  const trials = p.record.trials ?? [];
  const here = (p.starts ?? []).map((s, i) => ({ s, i })).filter(({ i }) => trials[i].level === level && trials[i].round < 1001 && isShown(p, trials[i].arm));
  const lines = here.filter(({ s }) => (s.warm.at_s ?? []).length + (s.window.at_s ?? []).length > 0);
  if (here.length === 0) return null;
  const seconds = (s: number | undefined) => (s === undefined ? "n/a" : duration(s * 1e6));
  const comings = (p.comings ?? []).filter((c) => c.level === level && isShown(p, c.arm));
  return figure({
    id: "warmup-" + slug(p, level),
    title: `From the start on, at ${loadOf(p, level)}`,
    unit: "completed requests a second over the time since the server was started",
    n: `n = ${count(lines.length)} trials, a line each`,
    interval: "thin: warm-up; bold: measured window; ▲: the first right answer",
    note: here.some(({ s }) => s.cut) ? "what MSER-5 would leave out is measured all the same" : "MSER-5 takes windows of 10 s",
    summary: comings
      .map((c) => `${c.arm}: first right answer after ${seconds(c.ready?.estimate)}, steady after ${seconds(c.steady?.estimate)}`)
      .join("; "),
    empty: lines.length === 0 ? "No trial at this level was measured." : undefined,
    legend: [...legendOf(p, armsAt(p, level)), ...(lines.some(({ s }) => s.cut?.at_s !== undefined) ? [cuts] : [])],
    toggles: [
      {
        key: "to",
        label: "to",
        options: [
          ["end", "the end"],
          ["soon", `${early} s into the window`],
        ],
      },
    ],
    table: () => startsTable(p, here),
    draw: (width, choice) => {
      const runs = lines.map(({ s, i }) => ({ ...s, i, arm: trials[i].arm }));
      return multiples([...new Set(runs.map((r) => r.arm))], width, (arms, each) => drawWarmup(p, runs, arms, each, choice("to") === "soon"));
    },
  });
}

/** startsTable has a row for each trial: its start, and what MSER-5 says of its window. */
function startsTable(p: Payload, here: { s: Start; i: number }[]) {
  const rows = here.map(({ s, i }): (Cell | string)[] => {
    const t = (p.record.trials ?? [])[i];
    const of = (key: "cut_s" | "at_s" | "change" | "standard_errors", show: (v: number) => string) =>
      s.cut === undefined ? "–" : s.cut[key] === undefined ? "" : cell(`starts.${i}.cut.${key}`, s.cut[key], show);
    const verdict = !s.cut ? "too few seconds" : s.cut.cold ? "not warm" : s.cut.settled ? "warm" : "not at rest";
    return [
      t.arm,
      cell(`record.trials.${i}.round`, t.round, count),
      cell(`starts.${i}.ready_s`, s.ready_s, (v) => duration(v * 1e6)),
      s.steady ?? "",
      of("cut_s", (v) => duration(v * 1e6)),
      of("at_s", (v) => duration(v * 1e6)),
      of("change", (v) => percent(100 * v)),
      of("standard_errors", (v) => v.toFixed(1)),
      verdict,
    ];
  });
  return {
    head: [
      "variant",
      "round",
      "first right answer",
      "warm-up steady",
      "MSER-5 leaves out",
      "and begins at",
      "throughput is higher without, by",
      "standard errors",
      "window",
    ],
    rows,
  };
}

function comingsTable(p: Payload) {
  const rows: (Cell | string)[][] = [];
  (p.comings ?? []).forEach((c, i) => {
    if (!isShown(p, c.arm) || !levelsShown(p).some((l) => l.name === c.level)) return;
    const of = (what: "ready" | "steady", end: "low" | "estimate" | "high") =>
      cell(`comings.${i}.${what}.${end}`, c[what]?.[end], (s) => duration(s * 1e6));
    rows.push([
      c.level,
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
  return { head: ["level", "variant", "first right answer", "low", "high", "steady", "low ", "high ", "trials"], rows };
}

type Run = Start & { i: number; arm: string };

/** cutsOf are the places in the plot where MSER-5 would begin, on the trials' own lines. */
function cutsOf(runs: Run[]): { x: number; y: number; arm: string; cold: boolean }[] {
  return runs.flatMap((r) => {
    const x = r.cut?.at_s;
    const at = (r.window.at_s ?? []).findIndex((t) => t !== null && x !== undefined && t >= x - 1e-6);
    const y = at < 0 ? null : (r.window.per_s?.[at] ?? null);
    return x === undefined || y === null ? [] : [{ x, y, arm: r.arm, cold: !!r.cut?.cold }];
  });
}

/** drawWarmup draws some of the arms, on the scales of all. */
function drawWarmup(p: Payload, all: Run[], arms: string[], width: number, soon: boolean): SVGSVGElement {
  const runs = all.filter((r) => arms.includes(r.arm));
  const begun = extent(all.map((r) => r.window.at_s?.[0]))?.[1] ?? 0;
  const last = soon ? begun + early : Infinity;
  const points = (r: Run, of: "warm" | "window") =>
    (r[of].at_s ?? [])
      .map((x, k) => ({ x, y: r[of].per_s?.[k] ?? null, arm: r.arm, id: String(r.i) }))
      .filter((d) => d.x !== null && d.y !== null && d.x <= last);
  const warm = runs.flatMap((r) => [...points(r, "warm"), ...points(r, "window").slice(0, 1)]); // so that the lines meet
  const window = runs.flatMap((r) => points(r, "window"));
  const ready = runs.filter((r) => r.ready_s !== undefined).map((r) => ({ x: r.ready_s!, arm: r.arm }));
  const scale = all.flatMap((r) => [...points(r, "warm"), ...points(r, "window")]);
  const [, high] = extent(scale.map((d) => d.y)) ?? [0, 1];
  const [, end] = extent(scale.map((d) => d.x)) ?? [0, 1];
  return chart(width, {
    marginLeft: 66,
    x: { domain: [0, end], label: "s since the start of the processes →", ticks: width < 500 ? 4 : 10 },
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
      Plot.dot(cutsOf(runs).filter((d) => d.x <= last), {
        x: "x",
        y: "y",
        symbol: "diamond",
        r: 4,
        fill: (d) => (d.cold ? tint(p, d.arm) : "var(--paper)"),
        stroke: (d) => (d.cold ? "var(--bad)" : tint(p, d.arm)),
        title: (d) => `${d.arm}: MSER-5 would begin ${duration(d.x * 1e6)} after the start`,
      }),
      Plot.dot(ready, { x: "x", y: 0, symbol: "triangle", r: 4, fill: (d) => tint(p, d.arm), stroke: "var(--paper)", dy: -4 }),
    ],
  });
}
