// The search: every probe in its order, the bracket as it shrinks, and how each objective's value
// grew with the rate.

import { Plot, chart, extent, logTicks, shortDuration } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import type { Mark } from "../legend";
import { cell, Cell, table, Table } from "../table";
import type { Judged, Probe, Search } from "./data";

const outcomes: [outcome: string, name: string, colour: string, symbol: "circle" | "times" | "diamond" | "square"][] = [
  ["pass", "passed", "var(--c3)", "circle"],
  ["fail", "failed", "var(--c2)", "times"],
  ["undecided", "undecided", "var(--c5)", "diamond"],
  ["client-bound", "the generator's limit", "var(--c4)", "square"],
];

const known = (p: Probe) => outcomes.some(([outcome]) => outcome === p.outcome);

function legend(all: Probe[]): Mark[] {
  return outcomes.filter(([outcome]) => all.some((p) => p.outcome === outcome))
    .map(([, name, colour, symbol]) => ({ name, colour, shape: ({ circle: "dot", times: "cross", diamond: "diamond", square: "square" } as const)[symbol] }));
}

/** dots are the probes, told apart by colour and shape. */
function dots<T>(all: T[], of: (d: T) => Probe, x: (d: T) => number, y: (d: T) => number) {
  return outcomes.map(([outcome, , colour, symbol]) =>
    Plot.dot(all.filter((d) => of(d).outcome === outcome), { x, y, symbol, r: 5, stroke: colour, fill: symbol === "times" ? "none" : colour, strokeWidth: 2.5 }));
}

/** trace is every probe in its order, and the bracket: met below, not met above. */
export function trace(s: Search, counts: string): HTMLElement {
  const all = s.probes ?? [];
  let [low, high] = [0, 0];
  const bracket = all.map((p, i) => {
    if (p.outcome === "pass") low = Math.max(low, p.rate_per_s);
    if (p.outcome === "fail" || p.outcome === "client-bound") high = high ? Math.min(high, p.rate_per_s) : p.rate_per_s;
    return { i: i + 1, low: low || null, high: high || null };
  });
  const rates = all.map((p) => p.rate_per_s);
  return figure({
    id: "trace",
    title: "The search",
    unit: `offered ${counts}/s, logarithmic, over the probes in their order`,
    n: `n = ${all.length} probes`,
    interval: "lines: the bracket, met below and not met above",
    summary: all.map((p) => `${format.rate(p.rate_per_s)}/s ${p.outcome}`).join("; "),
    empty: all.some(known) ? undefined : "No probe came to an outcome.",
    legend: [...legend(all), { name: "highest met", colour: "var(--c3)", dash: "" }, { name: "lowest not met", colour: "var(--c2)", dash: "6 3" }],
    table: () => probes(s),
    draw: (width) => {
      const [from, to] = extent(rates, true) ?? [1, 10];
      return chart(width, {
        x: { type: "linear", domain: [0.5, all.length + 0.5], ticks: Math.min(all.length, width / 50), tickFormat: (v: number) => (Number.isInteger(v) ? String(v) : ""), label: "probe →" },
        y: { type: "log", domain: [from / 1.2, to * 1.2], ticks: logTicks(from / 1.2, to * 1.2, 7), tickFormat: format.rate, label: `↑ ${counts}/s`, grid: true },
        marks: [
          Plot.line(bracket, { x: "i", y: "low", stroke: "var(--c3)", strokeWidth: 1.5, curve: "step-after" }),
          Plot.line(bracket, { x: "i", y: "high", stroke: "var(--c2)", strokeWidth: 1.5, strokeDasharray: "6 3", curve: "step-after" }),
          ...dots(all.map((p, i) => ({ p, i: i + 1 })), (d) => d.p, (d) => d.i, (d) => d.p.rate_per_s),
        ],
      });
    },
  });
}

const shows: Record<string, (v: number) => string> = { us: format.duration, percent: (v) => format.finePercent(v / 100), per_s: (v) => format.digits3(v) + "/s" };
const show = (unit: string | undefined) => shows[unit ?? ""] ?? format.rate;

/** objectives draw each objective's value over the rate, with its bounds and its limit. */
export function objectives(s: Search, limits: { value: number; unit?: string }[], counts: string): HTMLElement[] {
  return (s.objectives ?? []).map((expr, i) => objective(s, expr, i, limits[i], counts));
}

function objective(s: Search, expr: string, i: number, limit: { value: number; unit?: string } | undefined, counts: string): HTMLElement {
  type Drawn = { p: Probe; j: Judged; value: number };
  const all: Drawn[] = (s.probes ?? []).flatMap((p) => {
    const j = p.judged?.[i];
    return j?.value !== undefined && known(p) ? [{ p, j, value: j.value }] : [];
  });
  const log = limit?.unit === "us";
  const values = all.flatMap((d) => [d.value, d.j.low, d.j.high]).concat(limit?.value);
  const bounded = all.some((d) => d.j.low !== undefined || d.j.high !== undefined);
  return figure({
    id: `objective-${i + 1}`,
    title: expr,
    unit: `${log ? "latency, logarithmic" : limit?.unit ?? "value"} over offered ${counts}/s, logarithmic`,
    n: `n = ${all.length} probes`,
    interval: bounded ? "bars: bounds, each at 95 %" : "judged by its value: it has no bounds",
    summary: all.map((d) => `${format.rate(d.p.rate_per_s)}/s: ${format.known(d.j.over, show(limit?.unit)(d.value))}`).join("; "),
    empty: all.length > 0 ? undefined : "No probe measured it.",
    legend: [...legend(all.map((d) => d.p)), { name: `limit ${limit ? show(limit.unit)(limit.value) : ""}`, colour: "var(--bad)", dash: "6 3" }],
    table: () => probes(s),
    draw: (width) => {
      const [from, to] = extent(all.map((d) => d.p.rate_per_s), true) ?? [1, 10];
      const [least, most] = extent(values, log) ?? [1, 10];
      const y = log
        ? { type: "log" as const, domain: [least / 1.3, most * 1.3], ticks: logTicks(least / 1.3, most * 1.3, 7), tickFormat: shortDuration, label: "↑ latency", grid: true }
        : { type: "linear" as const, domain: [0, most * 1.1 || 1], ticks: 6, tickFormat: show(limit?.unit), label: "↑ value", grid: true };
      return chart(width, {
        x: { type: "log", domain: [from / 1.2, to * 1.2], ticks: logTicks(from / 1.2, to * 1.2, width / 80), tickFormat: format.rate, label: `offered ${counts}/s →`, grid: true },
        y,
        marks: [
          ...(limit ? [Plot.ruleY([limit.value], { stroke: "var(--bad)", strokeDasharray: "6 3", strokeWidth: 1.5 })] : []),
          Plot.link(all.filter((d) => d.j.low !== undefined && d.j.high !== undefined), {
            x: (d: Drawn) => d.p.rate_per_s, y1: (d: Drawn) => Math.max(d.j.low!, log ? least : 0), y2: (d: Drawn) => d.j.high!, stroke: "var(--c7)", strokeWidth: 2 }),
          ...dots(all, (d) => d.p, (d) => d.p.rate_per_s, (d) => Math.max(d.value, log ? least : 0)),
        ],
      });
    },
  });
}

/** probes has every number of every probe. */
function probes(s: Search): Table {
  const expressions = s.objectives ?? [];
  const all = s.probes ?? [];
  const bounded = expressions.map((_, k) => all.some((p) => p.judged?.[k]?.low !== undefined || p.judged?.[k]?.high !== undefined || p.judged?.[k]?.seconds !== undefined));
  const at = (i: number, key: string) => `probes.${i}.${key}`;
  return {
    head: ["probe", "rate", "sent", "completed", "measured", ...expressions.flatMap((e, k) => (bounded[k] ? [e, "from", "to", "seconds drawn"] : [e])), "outcome", "for"],
    rows: all.map((p, i): (Cell | string)[] => [
      { text: String(i + 1), value: i + 1 },
      cell(at(i, "rate_per_s"), p.rate_per_s, format.rate),
      cell(at(i, "sent_per_s"), p.sent_per_s, format.rate),
      cell(at(i, "completed_per_s"), p.completed_per_s, format.rate),
      cell(at(i, "measured_s"), p.measured_s, (v) => format.duration(v * 1e6)),
      ...expressions.flatMap((_, k): (Cell | string)[] => {
        const j = p.judged?.[k];
        const one = (key: "value" | "low" | "high") => (j?.[key] === undefined ? "–" : cell(at(i, `judged.${k}.${key}`), j[key], (v) => format.known(key === "value" && j.over, show(j.unit)(v))));
        return !bounded[k] ? [one("value")] : [one("value"), one("low"), one("high"), j?.seconds === undefined ? "–" : cell(at(i, `judged.${k}.seconds`), j.seconds, format.count)];
      }),
      p.outcome.toUpperCase(),
      p.purpose,
    ]),
  };
}

/** probesTable is the table of all probes. */
export function probesTable(s: Search): HTMLElement {
  return table(probes(s), "Probes");
}
