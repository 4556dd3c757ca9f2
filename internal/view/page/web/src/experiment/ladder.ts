// What more load does to each variant: a measure over levels that differ in nothing else, with the
// law of throughput where there are levels enough for one; and latency over throughput, whose bend
// is where a server is full.

import { chart, extent, logTicks, Plot, shortDuration, timeAxis } from "../chart";
import { multiples } from "../multiples";
import { figure } from "../figure";
import { count, digits3, rate, fourDigits } from "../format";
import { Cell, cell, Table } from "../table";
import { amount } from "./amount";
import { baselinesOf, Interval, Ladder, legendOf, Payload, stroke, tint, unitOf } from "./data";
import { levelsShown, isShown } from "./shown";

/** ladders has two plots for each ladder of levels. */
export function ladders(p: Payload): Node[] {
  return (p.ladders ?? []).flatMap((l, k) => [ladderFigure(p, l, k), latencyFigure(p, l, k)]);
}

interface Rung {
  arm: string;
  at: number;
  level: string;
  i: number; // of record.cells
  median: Interval;
  trials: number;
}

/** rungs are the medians of a measure along a ladder, arm by arm. */
function rungs(p: Payload, l: Ladder, metric: string): Rung[] {
  const cells = p.record.cells ?? [];
  const levels = levelsShown(p).map((one) => one.name);
  return p.record.arms.filter((a) => isShown(p, a.name)).flatMap((a) =>
    l.levels.flatMap((level, k) => {
      if (!levels.includes(level)) return [];
      const i = cells.findIndex((c) => c.arm === a.name && c.level === level && c.metric === metric);
      return i < 0 ? [] : [{ arm: a.name, at: l.at[k], level, i, median: cells[i].median, trials: cells[i].trials }];
    }),
  );
}

const lawsOf = (p: Payload, l: Ladder) => (l.laws ?? []).filter((d) => isShown(p, d.arm));
const sure = (r: Rung) => r.median.level >= 0.95 - 1e-9;
const armsOf = (all: Rung[]) => [...new Set(all.map((r) => r.arm))];
const loads = (l: Ladder) => (l.open ? "requests/s offered" : "connections");

function measuredMetrics(p: Payload, l: Ladder): string[] {
  const cells = (p.record.cells ?? []).filter((c) => l.levels.includes(c.level));
  return [...new Set([...p.metrics, ...cells.map((c) => c.metric)])].filter((m) => cells.some((c) => c.metric === m));
}

function trialsText(all: Rung[]): string {
  const [least, most] = extent(all.map((r) => r.trials)) ?? [0, 0];
  return `n = ${least === most ? count(most) : `${count(least)} to ${count(most)}`} trials of each variant at each level`;
}

function ladderFigure(p: Payload, l: Ladder, k: number): HTMLElement {
  const metrics = measuredMetrics(p, l);
  const all = rungs(p, l, metrics[0] ?? "");
  const laws = lawsOf(p, l);
  return figure({
    id: `ladder-${k}`,
    title: `Over load, ${l.open ? "open" : "closed"} levels`,
    unit: `medians of the chosen measure over ${loads(l)}, logarithmic`,
    n: trialsText(all),
    interval: all.some(sure) ? "band: 95 % interval of the median" : "no band: it takes 6 trials",
    note: laws.length > 0 ? "thin, of throughput: the universal scalability law, fitted to the trials" : "",
    summary: `Medians over ${loads(l)} from ${rate(l.at[0])} to ${rate(l.at[l.at.length - 1])}; ` +
      laws.map((d) => `${d.arm}: ${d.peak_n === undefined ? "no peak in the range" : `most throughput at ${digits3(d.peak_n)}`}`).join("; "),
    empty: metrics.length > 0 ? undefined : "Nothing was measured at these levels.",
    legend: legendOf(p, armsOf(all)),
    toggles: [{ key: "measure", label: "measure", options: metrics.map((m) => [m, m]) }],
    table: () => climbTable(p, l, k, metrics),
    draw: (width, choice) => multiples(armsOf(rungs(p, l, choice("measure"))), width, (arms, each) => drawClimb(p, l, choice("measure"), arms, each), (arm) => baselinesOf(p, arm)),
  });
}

function climbTable(p: Payload, l: Ladder, k: number, metrics: string[]): Table {
  const rows = metrics.flatMap((m) =>
    rungs(p, l, m).map((r): (Cell | string)[] => {
      const of = (end: "estimate" | "low" | "high") => cell(`record.cells.${r.i}.median.${end}`, r.median[end], digits3);
      const limits = sure(r) ? [of("low"), of("high")] : ["–", "–"];
      const at = cell(`ladders.${k}.at.${l.levels.indexOf(r.level)}`, r.at, rate);
      return [r.arm, at, `${m} (${unitOf(p, m)})`, of("estimate"), ...limits, cell(`record.cells.${r.i}.trials`, r.trials, count)];
    }),
  );
  const laws = lawsOf(p, l).flatMap((d): (Cell | string)[][] => {
    const j = l.laws!.indexOf(d);
    const of = (path: string, v: number | undefined, show: (v: number) => string) => cell(`ladders.${k}.laws.${j}.${path}`, v, show);
    const parameters: [string, number | undefined, string][] = [
      ["law.gamma_per_s", d.law.gamma_per_s, "γ (req/s of one)"],
      ["law.sigma", d.law.sigma, "σ (contention)"],
      ["law.kappa", d.law.kappa, "κ (coherency)"],
      ["r2", d.r2, "share explained, R²"],
      ["peak_n", d.peak_n, "peak at (connections)"],
      ["peak_per_s", d.peak_per_s, "peak (req/s)"],
    ];
    return parameters
      .filter(([, v]) => v !== undefined)
      .map(([path, v, name]) => [d.arm, "", "law: " + name, of(path, v, fourDigits), "", "", of("trials", d.trials, count)]);
  });
  return { head: ["variant", loads(l), "measure", "median", "low", "high", "trials"], rows: [...rows, ...laws] };
}

function loadAxis(l: Ladder, width: number): Plot.ScaleOptions {
  const [low, high] = [l.at[0], l.at[l.at.length - 1]];
  const few = l.at.length <= Math.max(3, width / 90);
  const ticks = few ? [...new Set(l.at)] : logTicks(low, high, width / 80);
  return { type: "log", domain: [low / 1.1, high * 1.1], ticks, tickFormat: rate, label: loads(l) + " →", grid: true };
}

/** drawClimb draws some of the arms, on the scales of all. */
function drawClimb(p: Payload, l: Ladder, metric: string, arms: string[], width: number): SVGSVGElement {
  const every = rungs(p, l, metric);
  const all = every.filter((r) => arms.includes(r.arm));
  const unit = unitOf(p, metric);
  const known = metric === "throughput" ? lawsOf(p, l) : [];
  const laws = known.filter((d) => arms.includes(d.arm));
  const values = [...every.flatMap((r) => (sure(r) ? [r.median.low, r.median.high] : [r.median.estimate])), ...known.flatMap((d) => d.x_per_s)];
  const [low, high] = extent(values) ?? [0, 1];
  const log = unit === "µs" && high / Math.max(low, 1e-9) > 20;
  return chart(width, {
    marginLeft: 84,
    x: loadAxis(l, width - 102),
    y: log
      ? timeAxis(values, true, "")
      : { domain: [0, high * 1.06 || 1], ticks: 6, tickFormat: (v: number) => (v === 0 ? "0" : amount(unit, v)), label: null, grid: true },
    color: { type: "identity" },
    marks: [
      Plot.areaY(all.filter(sure), { x: "at", y1: (r) => r.median.low, y2: (r) => r.median.high, z: "arm", fill: (r) => tint(p, r.arm), fillOpacity: 0.18 }),
      ...laws.map((d) => Plot.line(d.n.map((n, i) => ({ n, x: d.x_per_s[i] })), { x: "n", y: "x", stroke: tint(p, d.arm), strokeWidth: 0.9 })),
      ...armsOf(all).map((arm) =>
        Plot.line(
          all.filter((r) => r.arm === arm),
          { x: "at", y: (r) => r.median.estimate, stroke: tint(p, arm), strokeWidth: 2, strokeDasharray: stroke(p, arm) || undefined, marker: "dot" },
        ),
      ),
    ],
  });
}

const latencies = ["p99", "p50", "p99.9", "p95", "mean", "max"];

function latencyFigure(p: Payload, l: Ladder, k: number): HTMLElement {
  const known = measuredMetrics(p, l).filter((m) => latencies.includes(m));
  const order = latencies.filter((m) => known.includes(m));
  const pairs = (metric: string) => {
    const done = rungs(p, l, "throughput");
    return rungs(p, l, metric).flatMap((y) => {
      const x = done.find((r) => r.arm === y.arm && r.level === y.level);
      return x ? [{ arm: y.arm, x, y }] : [];
    });
  };
  const first = pairs(order[0] ?? "");
  return figure({
    id: `bend-${k}`,
    title: `Latency over throughput, ${l.open ? "open" : "closed"} levels`,
    unit: `medians of the chosen latency, logarithmic, over those of throughput`,
    n: trialsText(first.map((d) => d.y)),
    interval: first.some((d) => sure(d.y)) ? "bars: 95 % intervals of both medians" : "no bars: they take 6 trials",
    note: "a line goes through a variant's levels, from the least loaded to the most",
    summary: first.map((d) => `${d.arm} at ${d.y.level}: ${digits3(d.x.median.estimate)}/s, ${order[0]} ${shortDuration(d.y.median.estimate)}`).join("; "),
    empty: first.length > 0 ? undefined : "Latency and throughput were not both measured at these levels.",
    legend: legendOf(p, [...new Set(first.map((d) => d.arm))]),
    toggles: [{ key: "measure", label: "latency", options: order.map((m) => [m, m]) }],
    table: () => ({
      head: ["variant", "level", "requests/s", "latency", "median"],
      rows: order.flatMap((m) => pairs(m).map((d): (Cell | string)[] => [
        d.arm,
        d.y.level,
        cell(`record.cells.${d.x.i}.median.estimate`, d.x.median.estimate, digits3),
        m,
        cell(`record.cells.${d.y.i}.median.estimate`, d.y.median.estimate, shortDuration),
      ])),
    }),
    draw: (width, choice) => {
      const every = pairs(choice("measure"));
      return multiples([...new Set(every.map((d) => d.arm))], width, (arms, each) => bend(every, arms, each), (arm) => baselinesOf(p, arm));
    },
  });

  /** bend draws some of the arms, on the scales of all. */
  function bend(every: ReturnType<typeof pairs>, arms: string[], width: number): SVGSVGElement {
    const all = every.filter((d) => arms.includes(d.arm));
    const ends = (r: Rung) => (sure(r) ? [r.median.low, r.median.high] : [r.median.estimate]);
    const [, most] = extent(every.flatMap((d) => ends(d.x))) ?? [0, 1];
    const bars = all.filter((d) => sure(d.x) && sure(d.y));
    const ink = { stroke: (d: (typeof all)[number]) => tint(p, d.arm), strokeOpacity: 0.7, strokeWidth: 1.5 };
    return chart(width, {
      marginLeft: 66,
      x: { domain: [0, most * 1.06 || 1], ticks: width / 90, tickFormat: rate, label: "requests/s →" },
      y: timeAxis(every.flatMap((d) => ends(d.y)), true, "↑ latency"),
      color: { type: "identity" },
      marks: [
        Plot.link(bars, { x1: (d) => d.x.median.low, x2: (d) => d.x.median.high, y1: (d) => d.y.median.estimate, y2: (d) => d.y.median.estimate, ...ink }),
        Plot.link(bars, { x1: (d) => d.x.median.estimate, x2: (d) => d.x.median.estimate, y1: (d) => d.y.median.low, y2: (d) => d.y.median.high, ...ink }),
        ...[...new Set(all.map((d) => d.arm))].map((arm) =>
          Plot.line(
            all.filter((d) => d.arm === arm),
            { x: (d) => d.x.median.estimate, y: (d) => d.y.median.estimate, stroke: tint(p, arm), strokeWidth: 1.6, strokeDasharray: stroke(p, arm) || undefined, marker: "dot" },
          ),
        ),
      ],
    });
  }
}
