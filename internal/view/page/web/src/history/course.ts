// How a figure went from run to run: a point for each, with its interval where it has one, and the
// changes that were found, as lines across, with the median of each stretch between them.

import { chart, extent, Plot, timeAxis } from "../chart";
import { amount } from "../experiment/amount";
import type { Toggle } from "../figure";

/** A Dot is a run's figure. */
export interface Dot {
  i: number; // of all runs, from 0
  at: number; // when it began, ms since 1970
  value: number;
  low?: number | null;
  high?: number | null;
  title: string;
  look?: "hollow" | "cross"; // it is in doubt, or the generator's own
  label?: string; // above it
}

/** A Turn is a change point: the first run after it, and whether that is worse. */
export interface Turn {
  at: number; // of the runs, from 0
  verdict: string;
  ratio: number;
  low: number;
  high: number;
  words: string;
}

/** A Stretch is the runs between two changes. */
export interface Stretch {
  from: number;
  to: number; // the first after it
  median: number;
}

/** A Course is a line of the plot. */
export interface Course {
  name: string;
  colour: string;
  dash: string;
  dots: Dot[]; // in the order of the runs
  turns: Turn[];
  stretches: Stretch[];
}

/** choices are how such a plot can be drawn. */
export const choices: Toggle[] = [
  { key: "along", label: "along", options: [["order", "the runs in order"], ["time", "time"]] },
  { key: "from", label: "axis", options: [["values", "of the values"], ["zero", "from 0"]] },
];

/** dotX is where a run is on the axis: its number from 1, or when it began. */
export const dotX = (d: Dot, time: boolean): number => (time ? d.at : d.i + 1);

/** drawCourse draws courses over the runs' order or over time, on the scales of all. */
export function drawCourse(width: number, courses: Course[], unit: string, time: boolean, zero: boolean, all = courses): SVGSVGElement {
  const dots = courses.flatMap((c) => c.dots.map((d) => ({ ...d, x: dotX(d, time), colour: c.colour })));
  const every = all.flatMap((c) => c.dots);
  const xs = extent(every.map((d) => dotX(d, time))) ?? [1, 1];
  const room = time ? Math.max((xs[1] - xs[0]) * 0.03, 1000) : 0.6;
  const reach = (d: Dot) => [d.value, d.low, d.high];
  const [low, high] = extent(every.flatMap(reach)) ?? [0, 1];
  const above = Math.max((high - low) * 0.14, Math.abs(high) * 0.02) || 1; // so that next to nothing looks like it
  const least = zero ? 0 : Math.max(low - above, low > 0 ? low * 0.5 : low - above);
  const log = !zero && unit === "µs" && high / Math.max(low, 1e-9) > 20;
  const turns = courses.flatMap((c) => c.turns.map((t) => ({ ...t, x: changeX(c, t.at, time) })));
  const told = turns.filter((t, i) => turns.findIndex((o) => o.x === t.x && o.verdict === t.verdict) === i); // of several lines once
  const steps = courses.flatMap((c) => c.stretches.map((s) => ({ ...s, ends: stretchEnds(c, s, time), colour: c.colour }))).filter((s) => s.ends !== null);
  const ink = (t: Turn) => (t.verdict === "worse" ? "var(--bad)" : "var(--good)");
  const symbol = { hollow: "circle", cross: "times" } as const;
  return chart(width, {
    marginLeft: 84,
    marginTop: 30,
    x: time
      ? { type: "utc", domain: [xs[0] - room, xs[1] + room], ticks: width / 130, label: "began, UTC →" }
      : { type: "linear", domain: [xs[0] - room, xs[1] + room], ticks: Math.min(xs[1] - xs[0] + 1, width / 55), tickFormat: (v: number) => (Number.isInteger(v) ? String(v) : ""), label: "run →" },
    y: log
      ? timeAxis(every.flatMap(reach), true, "")
      : { domain: [least, high + above], ticks: 5, tickFormat: (v: number) => amount(unit, v), label: null, grid: true },
    color: { type: "identity" },
    symbol: { type: "identity" } as Plot.ScaleOptions,
    marks: [
      Plot.ruleX(told, { x: "x", stroke: ink, strokeDasharray: "5 3", strokeWidth: 1.5 }),
      Plot.text(told, { x: "x", frameAnchor: "top", dy: -16, text: (t) => (t.verdict === "worse" ? "▼ worse" : "▲ better"), fill: ink }),
      Plot.link(steps, { x1: (s) => s.ends![0], x2: (s) => s.ends![1], y1: "median", y2: "median", stroke: "colour", strokeWidth: 5, strokeOpacity: 0.3 }),
      ...courses.map((c) =>
        Plot.line(c.dots, { x: (d) => dotX(d, time), y: "value", stroke: c.colour, strokeDasharray: c.dash || undefined, strokeWidth: 1, strokeOpacity: 0.7 })),
      Plot.link(dots.filter((d) => typeof d.low === "number" && typeof d.high === "number"), {
        x1: "x", x2: "x", y1: (d) => d.low!, y2: (d) => d.high!, stroke: "colour", strokeWidth: 2.2, strokeOpacity: 0.75 }),
      Plot.dot(dots, {
        x: "x", y: "value", r: 3.8, symbol: (d: Dot) => (d.look ? symbol[d.look] : "circle"), stroke: "colour", strokeWidth: 1.4,
        fill: (d) => (d.look ? "var(--paper)" : d.colour), title: "title" }),
      Plot.text(dots.filter((d) => d.label), { x: "x", y: "value", text: "label", dy: -12, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3, fontWeight: "bold" }),
    ],
  });
}

/** changeX is where a change is: halfway from the last run before it to the first after. */
function changeX(c: Course, at: number, time: boolean): number {
  const after = c.dots.find((d) => d.i >= at);
  const before = c.dots.filter((d) => d.i < at).at(-1);
  if (!after || !before) return after ? dotX(after, time) : before ? dotX(before, time) : 0;
  return (dotX(before, time) + dotX(after, time)) / 2;
}

/** stretchEnds are those of a stretch. */
function stretchEnds(c: Course, s: Stretch, time: boolean): [number, number] | null {
  const within = c.dots.filter((d) => d.i >= s.from && d.i < s.to);
  if (within.length === 0) return null;
  const pad = time ? 0 : 0.4;
  return [dotX(within[0], time) - pad, dotX(within[within.length - 1], time) + pad];
}
