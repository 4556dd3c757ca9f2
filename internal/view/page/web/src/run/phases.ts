// Parts of an exchange's and a connection's time: as a table of all statistics, and side by side.

import { Plot, chart, extent, logTicks, shortDuration } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import { lowest, percentile } from "../percentile";
import { oneRun } from "../result";
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

/** phases draws each distribution as its range, its middle, and its tail. */
export function phases(r: Result): HTMLElement {
  const all = distributions(r).filter((a) => Number(a.d.max_us) > 0);
  const at = (a: Named, k: string) => Math.max(Number(a.d[k]), 1e-3); // on a logarithmic axis
  return figure({
    id: "phases",
    title: "Phases",
    unit: "time, logarithmic: thin from least to most, thick from p50 to p99, dot p50",
    n: all.length > 0 ? `n = ${format.count(all[0].d.count)} requests, ${r.phases.connect ? format.count(r.phases.connect.count) : "no"} connects` : "n = 0",
    interval: oneRun,
    summary: all.map((a) => `${a.name}: ${["p50", "p99"].map((p) => `${p} ${lowest(a.d.count, a.d.over, `${p}_us`)(at(a, `${p}_us`))}`).join(", ")}`).join("; "),
    empty: all.length > 0 ? undefined : "Nothing was timed: nothing completed and no connection was opened.",
    table: () => ({
      head: ["", "min µs", "p50 µs", "p99 µs", "max µs"],
      rows: all.map((a) => [a.name, ...["min_us", "p50_us", "p99_us", "max_us"].map((k) => cell(`${a.key}.${k}`, a.d[k] as number, lowest(a.d.count, a.d.over, k)))]),
    }),
    draw: (width) => {
      const [low, high] = extent(all.flatMap((a) => [at(a, "min_us"), at(a, "max_us")])) ?? [1, 10];
      return chart(width, {
        height: 70 + 34 * all.length,
        marginLeft: 98,
        x: { type: "log", domain: [low / 1.2, high * 1.2], ticks: logTicks(low / 1.2, high * 1.2, width / 75), tickFormat: shortDuration, label: "time →", grid: true },
        y: { type: "band", domain: all.map((a) => a.name), label: null },
        marks: [
          Plot.ruleY(all, { y: "name", x1: (a) => at(a, "min_us"), x2: (a) => at(a, "max_us"), stroke: "var(--c7)", strokeWidth: 1.5 }),
          Plot.ruleY(all, { y: "name", x1: (a) => at(a, "p50_us"), x2: (a) => at(a, "p99_us"), stroke: "var(--c1)", strokeWidth: 8 }),
          Plot.dot(all, { y: "name", x: (a) => at(a, "p50_us"), r: 6, fill: "var(--paper)", stroke: "var(--c1)", strokeWidth: 2.5 }),
        ],
      });
    },
  });
}
