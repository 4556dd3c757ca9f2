// The sweep: throughput over what is under way, with the law; and latency over throughput, whose
// bend is where the server is full.

import { Plot, chart, colour, dash, extent, lineMark, logTicks, type Percentile, percentileMark, shortDuration } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import { cell, table, Table } from "../table";
import type { Band, Curve, Point } from "./data";

const counts = (p: Point) => p.x_per_s > 0 && p.n > 0 && p.verdict !== "client-bound";

/** throughput is requests/s over what is under way, the law, and its peak. */
export function throughput(c: Curve, band: Band[]): HTMLElement {
  const all = (c.points ?? []).filter((p) => p.x_per_s > 0 && p.n > 0);
  const ours = all.filter((p) => !counts(p));
  const banded = band.some((b) => b.low_per_s !== undefined);
  const peak = c.fit?.peak_n;
  const range = c.fit?.peak_n_interval;
  return figure({
    id: "throughput",
    title: "Throughput over load",
    unit: "completed requests/s over requests in flight",
    n: `n = ${all.length} runs in ${c.rounds} rounds`,
    interval: !c.fit ? "no law: no interval" : banded ? "band: the law at 95 %, from drawing rounds" : "8 rounds or more would give the law an interval",
    summary: c.fit && peak !== undefined ? `By the law, most throughput is at ${format.digits3(peak)} in flight.` : `Throughput at ${all.length} points.`,
    empty: all.length > 0 ? undefined : "Nothing was completed at any level.",
    legend: [
      { name: "a run", colour: colour(0), shape: "dot" },
      ...(ours.length > 0 ? [{ name: "the generator's limit: no part of the law", colour: colour(3), shape: "square" as const }] : []),
      ...(band.length > 0 ? [lineMark(1, "law")] : []),
      ...(peak !== undefined ? [{ name: "its peak", colour: colour(6), dash: "2 2" }] : []),
    ],
    table: () => points(c),
    draw: (width) => {
      const [, most] = extent([...all.map((p) => p.x_per_s), ...band.map((b) => b.high_per_s ?? b.x_per_s)]) ?? [0, 1];
      const [, widest] = extent(all.map((p) => p.n)) ?? [0, 1];
      return chart(width, {
        x: { type: "linear", domain: [0, widest * 1.05], ticks: width / 70, tickFormat: format.rate, label: "in flight →" },
        y: { type: "linear", domain: [0, most * 1.08], ticks: 6, tickFormat: format.rate, label: "↑ requests/s", grid: true },
        marks: [
          ...(range ? [Plot.rect([range], { x1: "low", x2: (r) => Math.min(r.high ?? widest * 1.05, widest * 1.05), y1: 0, y2: most * 1.08, fill: "var(--c7)", fillOpacity: 0.12 })] : []),
          ...(banded ? [Plot.areaY(band, { x: "n", y1: "low_per_s", y2: "high_per_s", fill: colour(1), fillOpacity: 0.25 })] : []),
          Plot.line(band, { x: "n", y: "x_per_s", stroke: colour(1), strokeDasharray: dash(1), strokeWidth: 2 }),
          ...(peak !== undefined ? [Plot.ruleX([peak], { stroke: colour(6), strokeDasharray: "2 2" })] : []),
          Plot.dot(all.filter(counts), { x: "n", y: "x_per_s", r: 4, stroke: colour(0), strokeWidth: 2 }),
          Plot.dot(ours, { x: "n", y: "x_per_s", r: 4, symbol: "square", stroke: colour(3), strokeWidth: 2 }),
        ],
      });
    },
  });
}

const median = (all: number[]): number => {
  const sorted = [...all].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** response is p99 and p50 over throughput: the hockey stick. Its line goes through each level's medians. */
export function response(c: Curve): HTMLElement {
  const all = (c.points ?? []).filter((p) => p.x_per_s > 0 && p.p50_us > 0 && p.p99_us > 0);
  const levels = [...new Set(all.map((p) => p.level))].sort((a, b) => a - b);
  const through = levels.map((level) => {
    const at = all.filter((p) => p.level === level);
    return { x: median(at.map((p) => p.x_per_s)), p50_us: median(at.map((p) => p.p50_us)), p99_us: median(at.map((p) => p.p99_us)), over: 2 * at.filter((p) => p.over?.includes("p99")).length >= at.length };
  });
  const curves: ["p99_us" | "p50_us", Percentile][] = [["p99_us", "p99"], ["p50_us", "p50"]];
  return figure({
    id: "response",
    title: "Latency over throughput",
    unit: "latency, logarithmic, over completed requests/s",
    n: `n = ${all.length} runs at ${levels.length} levels`,
    interval: "points: runs; line: the levels' medians, in the levels' order",
    summary: through.map((t, i) => `level ${format.rate(levels[i])}: ${format.digits3(t.x)}/s, p99 ${format.known(t.over, format.duration(t.p99_us))}`).join("; "),
    empty: all.length > 0 ? undefined : "Nothing was completed at any level.",
    legend: curves.map(([, name]) => percentileMark(name)),
    table: () => points(c),
    draw: (width) => {
      const [low, high] = extent(all.flatMap((p) => [p.p50_us, p.p99_us]), true) ?? [1, 10];
      const [, most] = extent(all.map((p) => p.x_per_s)) ?? [0, 1];
      return chart(width, {
        x: { type: "linear", domain: [0, most * 1.06], ticks: width / 80, tickFormat: format.rate, label: "requests/s →" },
        y: { type: "log", domain: [low / 1.3, high * 1.3], ticks: logTicks(low / 1.3, high * 1.3, 7), tickFormat: shortDuration, label: "↑ latency", grid: true },
        marks: curves.flatMap(([key, name], i) => {
          const { colour: stroke, dash } = percentileMark(name);
          return [Plot.line(through, { x: "x", y: key, stroke, strokeDasharray: dash, strokeWidth: 2 }),
            Plot.dot(all, { x: "x_per_s", y: key, r: 3, symbol: i === 0 ? "circle" : "triangle", stroke })];
        }),
      });
    },
  });
}

/** points has every number of every run, in the order in which they were made. */
function points(c: Curve): Table {
  return {
    head: [c.axis, "round", "in flight", "requests/s", "p50", "p99", "errors", "off the law", "verdict"],
    rows: (c.points ?? []).map((p, i) => {
      const at = (key: string) => `points.${i}.${key}`;
      return [
        cell(at("level"), p.level, format.rate), cell(at("round"), p.round, format.count), cell(at("n"), p.n, format.rate),
        cell(at("x_per_s"), p.x_per_s, format.rate), ...(["p50", "p99"] as const).map((name) => cell(at(`${name}_us`), p[`${name}_us`], (v) => format.known(p.over?.includes(name), format.duration(v)))),
        cell(at("errors"), p.errors, format.count), counts(p) ? residual(c, i) : "–", p.cause ?? (p.not_judged ? "not judged" : p.verdict),
      ];
    }),
  };
}

/** residual is how far a point is from the law. The law's are of the points that count, in their order. */
function residual(c: Curve, i: number) {
  const place = (c.points ?? []).slice(0, i).filter(counts).length;
  const off = c.fit?.residuals[place];
  return off === undefined ? "–" : cell(`fit.residuals.${place}`, off, (v) => format.percent(100 * v));
}

/** pointsTable is the table of all runs. */
export function pointsTable(c: Curve): HTMLElement {
  return table(points(c), "Runs");
}
