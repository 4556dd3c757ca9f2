// Tables of what figures over the window's time show, with the numbers of the JSON.

import * as format from "../format";
import { cell } from "../table";
import type { Cell, Table } from "../table";
import type { Point, Result } from "../result";

const perDecade = 8; // buckets, as format dyno.result/1 has them
const bound = (bucket: number) => 10 ** (bucket / perDecade); // µs

const seconds = (n: number) => String(Number(n.toFixed(3)));

/** rows has a row for each interval of the series. */
const rows = (r: Result, columns: (p: Point, i: number) => (Cell | string)[]): Table["rows"] =>
  (r.series ?? []).map((p, i) => [cell(`series.${i}.t_s`, p.t_s, seconds), ...columns(p, i)]);

/** columns are the points' own, by their keys. */
const columns = (...keys: string[]) => (r: Result): Table => ({
  head: ["t s", ...keys.map(format.keyText)],
  rows: rows(r, (p, i) => keys.map((key) =>
    key.startsWith("iterations") && !(key in p) ? "0" : cell(`series.${i}.${key}`, (p as any)[key], (n) => format.quantity(key, n)))),
});

/** codes has a column for each status code, the most frequent first. */
function codes(r: Result): Table {
  const sums = new Map<string, number>();
  for (const p of r.series ?? []) for (const [code, n] of Object.entries(p.status ?? {})) sums.set(code, (sums.get(code) ?? 0) + n);
  const known = [...sums].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).map(([code]) => code);
  return { head: ["t s", ...known], rows: rows(r, (p, i) => known.map((code) => (p.status?.[code] === undefined ? "" : cell(`series.${i}.status.${code}`, p.status[code], format.count)))) };
}

/** agents has a column for each part of the load. */
function agents(r: Result): Table {
  const n = (r.series ?? []).reduce((so, p) => Math.max(so, p.completed_by_part?.length ?? 0), 0);
  const names = Array.from({ length: n }, (_, k) => r.fleet?.agents?.[k]?.name ?? `part ${k + 1}`);
  return { head: ["t s", ...names], rows: rows(r, (p, i) => names.map((_, k) => cell(`series.${i}.completed_by_part.${k}`, p.completed_by_part?.[k], format.count))) };
}

/** heat has the percentiles of each interval, and its counts by bucket. */
function heat(r: Result): Table {
  const buckets = [...new Set((r.series ?? []).flatMap((p) => (p.heat ?? []).map(([b]) => b)))].sort((a, b) => a - b);
  const times = ["mean_us", "p50_us", "p99_us", "max_us"] as const;
  return {
    head: ["t s", ...times.map((k) => format.keyText(k) + " µs"), ...buckets.map((b) => "≥ " + format.duration(bound(b)))],
    rows: rows(r, (p, i) => {
      const at = new Map((p.heat ?? []).map(([b, n], k) => [b, { n, k }]));
      return [
        ...times.map((k) => (p[k] === undefined ? "" : cell(`series.${i}.${k}`, p[k], format.duration))),
        ...buckets.map((b) => (at.has(b) ? cell(`series.${i}.heat.${at.get(b)!.k}.1`, at.get(b)!.n, format.count) : "")),
      ];
    }),
  };
}

/** overTime are the tables by the figures' names. */
export const overTime: Record<string, (r: Result) => Table> = {
  throughput: columns("sent", "completed", "errors", "in_flight"),
  iterations: columns("iterations", "iterations_failed"),
  "in-flight": columns("in_flight"),
  "first-events": columns("first_event_p50_us", "first_event_p99_us"),
  gaps: columns("gap_p50_us", "gap_p99_us"),
  traffic: columns("bytes_received", "bytes_sent"),
  errors: columns("errors"),
  codes, agents, heat,
};
