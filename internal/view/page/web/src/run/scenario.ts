// What users did: their iterations, the checks of responses, and what a script counted.

import { h } from "../dom";
import * as format from "../format";
import { more } from "../layout";
import type { Iterations, Run } from "../result";
import { cell, facts, table } from "../table";

/** scenario has the iterations and tables of checks and metrics, each where there are any. */
export function scenario(run: Run): HTMLElement | null {
  const { iterations } = run.result;
  if (!iterations && !run.checks && !run.metrics) return null;
  return h("div", {},
    ...(iterations ? iterationCounts(iterations) : []),
    run.checks ? table(run.checks, "Checks") : null,
    run.metrics ? table(run.metrics, "Metrics") : null);
}

function iterationCounts(i: Iterations): Node[] {
  const { time: _, failed_time: __, ...counts } = i; // the durations are with the others
  const columns = ["users", "started", "completed", "failed", "unfinished", "due", "waiting", "started_after"]
    .filter((k) => typeof i[k] === "number");
  const rows = [columns.map((k) => cell(`iterations.${k}`, i[k] as number, format.count))];
  return [table({ head: columns.map(format.keyText), rows }, "Iterations"),
    more("All of the iterations", () => [table(facts({ iterations: counts }, ""), "Iterations in full")])];
}
