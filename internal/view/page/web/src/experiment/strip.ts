// The run strip: every trial when it ran, with its grade, over what the machine suffered meanwhile.
// It shows drift, that the order was mixed, and which trials stand out.

import { chart, extent, Plot, timeAxis } from "../chart";
import { h } from "../dom";
import { figure } from "../figure";
import { count, digits3, percent, time } from "../format";
import { Cell, cell } from "../table";
import { legendOf, loadOf, Payload, tint, Trial, unitOf } from "./data";
import { armsAt, levelsShown, isShown } from "./shown";
import { amount } from "./amount";

const burdens = [
  ["steal_percent", "steal"],
  ["foreign_percent", "other programs"],
  ["psi_cpu_percent", "waiting for a CPU"],
  ["psi_memory_percent", "waiting for memory"],
  ["psi_io_percent", "waiting for I/O"],
] as const;

const shapes: Record<string, "circle" | "triangle" | "times"> = { A: "circle", B: "triangle", F: "times" };

/** strip is one figure: a plot for each level, and the machine's below them, over the same time. */
export function strip(p: Payload): HTMLElement {
  const trials = p.record.trials ?? [];
  const metrics = p.measures.map((m) => m.name).filter((m) => trials.some((t) => t.values?.[m] !== undefined));
  const first = p.metrics.find((m) => metrics.includes(m)) ?? metrics[0];
  const order = [first, ...metrics.filter((m) => m !== first)].filter((m) => m !== undefined);
  const levels = levelsShown(p).map((l) => l.name);
  const drawn = trials.filter((t) => isShown(p, t.arm) && levels.includes(t.level));
  const grades = (g: string) => drawn.filter((t) => t.grade === g).length;
  return figure({
    id: "strip",
    title: "Trials in the order in which they ran",
    unit: "each trial's figure over the time since the first",
    n: `n = ${count(drawn.length)} trials`,
    interval: "● grade A, ▲ B, ✕ F",
    note: "vertical lines: rounds; waiting: pressure (PSI), the share of the time in which something waited",
    summary: `${drawn.length} trials in the order in which they ran: ${grades("A")} of grade A, ${grades("B")} of B, ${grades("F")} of F.`,
    empty: trials.length === 0 || order.length === 0 ? "No trial measured anything." : undefined,
    legend: legendOf(
      p,
      p.record.arms.map((a) => a.name).filter((a) => isShown(p, a) && trials.some((t) => t.arm === a)),
      "dot",
    ).map((m) => (isControl(p, m.name) ? { ...m, name: m.name + ", hollow" } : m)),
    toggles: [{ key: "measure", label: "measure", options: order.map((m) => [m, m]) }],
    table: () => stripTable(p),
    draw: (width, choice) => drawStrip(p, width, choice("measure")),
  });
}

function minutesSinceFirst(p: Payload): number[] {
  const all = (p.record.trials ?? []).map((t) => Date.parse(t.started));
  return all.map((t) => (t - all[0]) / 60000);
}

function stripTable(p: Payload) {
  const trials = p.record.trials ?? [];
  const shown = p.metrics;
  const rows = trials.map((t, i): (Cell | string)[] => [
    { text: String(i + 1), value: i + 1 },
    time(t.started),
    t.arm,
    t.level,
    cell(`record.trials.${i}.round`, t.round, count),
    cell(`record.trials.${i}.attempt`, t.attempt, count),
    t.grade,
    ...shown.map((m) => cell(`record.trials.${i}.values.${m}`, t.values?.[m], digits3)),
    ...burdens.map(([key]) => cell(`strip.${key}.${i}`, p.strip[key]?.[i], percent)),
    [t.failure ? `failed: ${t.failure.phase}: ${t.failure.reason}` : "", ...(t.reasons ?? []).map((r) => r.says)]
      .filter((s) => s)
      .join("; "),
  ]);
  return {
    head: [
      "#",
      "started",
      "variant",
      "level",
      "round",
      "attempt",
      "grade",
      ...shown.map((m) => `${m} (${unitOf(p, m)})`),
      ...burdens.map(([, name]) => name),
      "doubts",
    ],
    rows,
  };
}

function drawStrip(p: Payload, width: number, metric: string): HTMLElement {
  const at = minutesSinceFirst(p);
  const end = (at[at.length - 1] ?? 0) + (p.strip.took_s?.[at.length - 1] ?? 0) / 60;
  const x = { domain: [0, end || 1], label: null, ticks: width < 500 ? 4 : 8 };
  const plots = levelsShown(p)
    .filter((l) => armsAt(p, l.name).length > 0 || (p.record.trials ?? []).some((t) => t.level === l.name))
    .map((l) => h("div", {}, h("p", { class: "caption" }, loadOf(p, l.name)), levelStrip(p, l.name, metric, at, width, x)));
  return h("div", {}, ...plots, h("p", { class: "caption" }, "the machine meanwhile, %"), machineStrip(p, at, width, x));
}

/** starts are when the rounds began. */
function roundStarts(p: Payload, at: number[]): number[] {
  const trials = p.record.trials ?? [];
  return at.filter((_, i) => i > 0 && trials[i].round !== trials[i - 1].round);
}

function levelStrip(p: Payload, level: string, metric: string, at: number[], width: number, x: Plot.ScaleOptions): SVGSVGElement {
  const trials = p.record.trials ?? [];
  const unit = unitOf(p, metric);
  const all = trials.map((t, i) => ({ t, x: at[i], y: t.values?.[metric] })).filter((d) => d.t.level === level && isShown(p, d.t.arm));
  const there = all.filter((d) => d.y !== undefined);
  const values = there.map((d) => d.y!);
  const [low, high] = extent(values) ?? [0, 1];
  const room = (high - low || high || 1) * 0.12;
  return chart(width, {
    height: 190,
    marginLeft: 76,
    marginBottom: 26,
    marginTop: 10,
    x,
    y:
      unit === "µs" && high / Math.max(low, 1e-9) > 20
        ? timeAxis(values, true, "", 5)
        : { domain: [low - room, high + room], ticks: 5, tickFormat: (v: number) => amount(unit, v), label: null, grid: true },
    color: { type: "identity" },
    symbol: { type: "identity" } as Plot.ScaleOptions,
    marks: [
      Plot.ruleX(roundStarts(p, at), { stroke: "var(--line)" }),
      Plot.dot(there, {
        x: "x",
        y: "y",
        r: 4.2,
        symbol: (d: { t: Trial }) => shapes[d.t.grade] ?? "circle",
        stroke: (d) => tint(p, d.t.arm),
        strokeWidth: 1.4,
        fill: (d) => (d.t.grade === "F" || isControl(p, d.t.arm) ? "none" : tint(p, d.t.arm)),
        title: (d) => `${d.t.arm}, round ${d.t.round}, grade ${d.t.grade}: ${amount(unit, d.y!)}`,
      }),
      Plot.text(
        all.filter((d) => d.y === undefined),
        {
          x: "x",
          frameAnchor: "bottom",
          text: () => "✕",
          fill: (d) => tint(p, d.t.arm),
          dy: -2,
          title: (d) => `${d.t.arm}, round ${d.t.round}: ${d.t.failure?.reason ?? "not measured"}`,
        },
      ),
    ],
  });
}

const isControl = (p: Payload, arm: string) => !!p.record.arms.find((a) => a.name === arm)?.control;

function machineStrip(p: Payload, at: number[], width: number, x: Plot.ScaleOptions): SVGSVGElement {
  const rows = burdens.map(([key, name], y) => ({
    y,
    name,
    known: at
      .map((x1, i) => ({ y, name, x1, x2: x1 + (p.strip.took_s?.[i] ?? 0) / 60, v: p.strip[key]?.[i] ?? null }))
      .filter((r) => r.v !== null),
  }));
  const said = (r: (typeof rows)[number]) =>
    r.known.length === 0 ? `${r.name}: n/a` : `${r.name}, at most ${percent(Math.max(...r.known.map((d) => d.v!)))}`;
  return chart(width, {
    height: 46 + 38 * rows.length,
    marginLeft: 76,
    marginTop: 4,
    marginBottom: 36,
    x: { ...x, label: "minutes since the first trial →" },
    y: { domain: [rows.length - 0.4, -0.5], axis: null },
    color: { type: "identity" },
    marks: [
      Plot.rect(
        rows.flatMap((r) => r.known),
        {
          x1: "x1",
          x2: "x2",
          y1: (d) => d.y,
          y2: (d) => d.y + 0.5,
          fill: (d) => `var(--h${step(d.v!)})`,
          title: (d) => `${d.name}: ${percent(d.v!)}`,
        },
      ),
      Plot.text(rows, { y: (r) => r.y - 0.22, frameAnchor: "left", textAnchor: "start", text: said, fill: "var(--ink)" }),
    ],
  });
}

/** step is the colour of a share: fine at the bottom, where it begins to matter. */
const step = (v: number): number => Math.min(8, Math.max(0, Math.round(8 * Math.sqrt(Math.max(v, 0) / 100))));
