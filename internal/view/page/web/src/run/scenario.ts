// What users did: their iterations, the checks of responses, and what a script counted.

import { h } from "../dom";
import * as format from "../format";
import { more } from "../layout";
import type { Iterations, Result } from "../result";
import { cell, facts, table } from "../table";
import { checkTable } from "./checks";
import { metricTable } from "./metrics";

/** scenario has the iterations and tables of checks and metrics, each where there are any. */
export function scenario(r: Result): HTMLElement | null {
  const checks = r.checks ?? [];
  const metrics = r.metrics ?? [];
  if (!r.iterations && checks.length + metrics.length === 0) return null;
  return h("div", {},
    ...(r.iterations ? iterationCounts(r.iterations) : []),
    checks.length > 0 ? table(checkTable(checks), "Checks") : null,
    metrics.length > 0 ? table(metricTable(metrics), "Metrics") : null);
}

function iterationCounts(i: Iterations): Node[] {
  const { time: _, failed_time: __, ...counts } = i; // the durations are with the others
  const columns = ["users", "started", "completed", "failed", "unfinished", "due", "waiting", "started_after"]
    .filter((k) => typeof i[k] === "number");
  const rows = [columns.map((k) => cell(`iterations.${k}`, i[k] as number, format.count))];
  return [table({ head: columns.map(format.keyText), rows }, "Iterations"),
    more("All of the iterations", () => [table(facts({ iterations: counts }, ""), "Iterations in full")])];
}
