// What the users of a scenario did: their iterations, and their checks.

import { h } from "../dom";
import * as format from "../format";
import { more } from "../layout";
import type { Result } from "../result";
import { cell, facts, table } from "../table";
import { checkTable } from "./checks";

/** scenario has the iterations and a table of checks; nothing where there is no scenario. */
export function scenario(r: Result): HTMLElement | null {
  const i = r.iterations;
  if (!i) return null;
  const { time: _, failed_time: __, ...counts } = i; // the durations are with the others
  const key = (k: string) => `iterations.${k}`;
  const columns = ["users", "started", "completed", "failed", "unfinished", "due", "waiting", "started_after"]
    .filter((k) => typeof i[k] === "number");
  const rows = [columns.map((k) => cell(key(k), i[k] as number, format.count))];
  const checks = r.checks ?? [];
  return h("div", {},
    table({ head: columns.map(format.keyText), rows }, "Iterations"),
    checks.length > 0 ? table(checkTable(checks), "Checks") : null,
    more("All of the iterations", () => [table(facts({ iterations: counts }, ""), "Iterations in full")]));
}
