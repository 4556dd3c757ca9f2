// The table of a scenario's checks.

import * as format from "../format";
import type { Check } from "../result";
import { cell } from "../table";
import type { Table } from "../table";

/** checkTable has a row for each check, those that failed most often first. */
export function checkTable(checks: Check[]): Table {
  const order = checks.map((_, i) => i).sort((a, b) => checks[b].failed - checks[a].failed || a - b);
  return {
    head: ["check", "failed", "passed", "share passed"],
    rows: order.map((i) => {
      const { name, failed, passed } = checks[i];
      const made = failed + passed;
      return [name, cell(`checks.${i}.failed`, failed, format.count), cell(`checks.${i}.passed`, passed, format.count),
        made > 0 ? format.finePercent(passed / made) : "–"];
    }),
  };
}
