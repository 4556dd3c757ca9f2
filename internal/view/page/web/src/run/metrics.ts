// The table of what a script counted itself.

import * as format from "../format";
import type { Metric } from "../result";
import { cell } from "../table";
import type { Table } from "../table";

/** metricTable has a row for each counter and each histogram. Their units are the script's. */
export function metricTable(metrics: Metric[]): Table {
  const number = (v: number) => format.significant(v, 6);
  return {
    head: ["metric", "value", "count", "mean", "p50", "p99", "max"],
    rows: metrics.map((m, i) => {
      if (typeof m.value === "number") return [m.name, cell(`metrics.${i}.value`, m.value, number), "", "", "", "", ""];
      if (!m.values) return [m.name, "", "0", "", "", "", ""];
      const of = (key: "mean" | "p50" | "p99" | "max") => cell(`metrics.${i}.values.${key}`, m.values?.[key], number);
      return [m.name, "", cell(`metrics.${i}.values.count`, m.values.count, format.count), of("mean"), of("p50"), of("p99"), of("max")];
    }),
  };
}
