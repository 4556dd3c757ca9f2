// Parts of an exchange's and a connection's time, as tables.

import * as format from "../format";
import { lowest, percentile } from "../percentile";
import type { Distribution, Result } from "../result";
import { cell, table, Table } from "../table";

interface Named {
  name: string;
  key: string;
  d: Distribution;
}

const names: [key: string, name: string][] = [["latency", "latency"], ["service", "service time"], ["error_latency", "error latency"],
  ["iterations.time", "iteration"], ["iterations.failed_time", "failed iteration"],
  ["phases.first_byte", "first byte"], ["phases.connect", "connect"], ["phases.tls", "TLS"],
  ["phases.tls_full", "TLS, full"], ["phases.tls_resumed", "TLS, resumed"], ["phases.dns", "DNS"],
  ["probe.latency", "probe latency"], ["probe.service", "probe service"],
  ["probe.error_latency", "probe error latency"]];

function distributions(r: Result): Named[] {
  const of = (path: string) => path.split(".").reduce((o: any, key) => o?.[key], r) as Distribution | undefined;
  const more = Object.keys(r.phases).map((k) => `phases.${k}`).filter((k) => !names.some(([key]) => key === k));
  return [...names, ...more.map((k): [string, string] => [k, format.keyText(k.slice(7))])]
    .flatMap(([key, name]) => { const d = of(key); return d ? [{ name, key, d }] : []; });
}

/** durations has a row for each statistic and a column for each distribution. */
export function durations(r: Result): HTMLElement | null {
  const all = distributions(r);
  if (all.length === 0) return null;
  const statistics = [...new Set(all.flatMap((a) => Object.keys(a.d)))].filter((k) => k !== "hdr" && k !== "count" && k !== "over");
  const name = (k: string) => k.replace(/_us$/, "").replace(/^p(\d+)_/, "p$1.");
  const value = (a: Named, k: string) => {
    return cell(`${a.key}.${k}`, a.d[k] as number, percentile(a.d, k));
  };
  const rows: Table["rows"] = statistics.map((k) => [name(k), ...all.map((a) => value(a, k))]);
  rows.push(["count", ...all.map((a) => cell(`${a.key}.count`, a.d.count, format.count))]);
  return table({ head: ["", ...all.map((a) => a.name)], rows }, "Durations");
}

/** phaseTable has a row for each distribution that has a figure. */
export const phaseTable = (r: Result): Table => ({
  head: ["", "min µs", "p50 µs", "p99 µs", "max µs"],
  rows: distributions(r).filter((a) => Number(a.d.max_us) > 0).map((a) => [a.name, ...["min_us", "p50_us", "p99_us", "max_us"].map((k) => cell(`${a.key}.${k}`, a.d[k] as number, lowest(a.d.count, a.d.over, k)))]),
});
