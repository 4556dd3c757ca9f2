// Measures over levels that differ in nothing but how much they load, in numbers.

import { count, digits3, duration, rate } from "../format";
import { Cell, cell, Table, told } from "../table";
import { Interval, Ladder, Payload, unitOf } from "./data";
import { levelsShown, isShown } from "./shown";

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
const loads = (l: Ladder) => (l.open ? "requests/s offered" : "connections");

function measuredMetrics(p: Payload, l: Ladder): string[] {
  const cells = (p.record.cells ?? []).filter((c) => l.levels.includes(c.level));
  return [...new Set([...p.metrics, ...cells.map((c) => c.metric)])].filter((m) => cells.some((c) => c.metric === m));
}

/** climbTable has the medians along the k-th ladder, and the laws. */
export function climbTable(p: Payload, k: number): Table {
  const l = p.ladders![k];
  const metrics = measuredMetrics(p, l);
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
    const at = `ladders.${k}.laws.${j}.`;
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
      .map(([path, v, name]) => [d.arm, "", "law: " + name, told(at + path, v), "", "", cell(at + "trials", d.trials, count)]);
  });
  return { head: ["variant", loads(l), "measure", "median", "low", "high", "trials"], rows: [...rows, ...laws] };
}

const latencies = ["p99", "p50", "p99.9", "p95", "mean", "max"];

/** bendTable has each latency beside throughput along the k-th ladder. */
export function bendTable(p: Payload, k: number): Table {
  const l = p.ladders![k];
  const done = rungs(p, l, "throughput");
  return {
    head: ["variant", "level", "requests/s", "latency", "median"],
    rows: latencies.filter((m) => measuredMetrics(p, l).includes(m)).flatMap((m) => rungs(p, l, m).flatMap((y): (Cell | string)[][] => {
      const x = done.find((r) => r.arm === y.arm && r.level === y.level);
      return !x ? [] : [[y.arm, y.level, cell(`record.cells.${x.i}.median.estimate`, x.median.estimate, digits3), m,
        cell(`record.cells.${y.i}.median.estimate`, y.median.estimate, duration)]];
    })),
  };
}
