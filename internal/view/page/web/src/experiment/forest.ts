// Every comparison at a level, in numbers.

import { bothWays, factorIn } from "../format";
import { Cell, cell, Table } from "../table";
import { bounded, Payload } from "./data";
import { isShown } from "./shown";

/** forestTable has a row for each comparison at a level. */
export function forestTable(p: Payload, level: string): Table {
  const here = (p.record.verdicts ?? []).map((c, i) => ({ c, i })).filter(({ c }) => c.level === level && isShown(p, c.variant));
  const rows = here.map(({ c, i }): (Cell | string)[] => {
    const factor = factorIn(c.low, c.high, c.confidence);
    const single = factorIn(c.alone?.low ?? NaN, c.alone?.high ?? NaN);
    return [
      c.metric,
      c.variant,
      cell(`record.verdicts.${i}.ratio`, c.ratio, (v) => bounded(c.bound, factor(v))),
      cell(`record.verdicts.${i}.low`, c.low, factor),
      cell(`record.verdicts.${i}.high`, c.high, factor),
      cell(`record.verdicts.${i}.alone.low`, c.alone?.low, single),
      cell(`record.verdicts.${i}.alone.high`, c.alone?.high, single),
      cell(`record.verdicts.${i}.floor`, c.floor, bothWays),
      p.forest![i].words,
      cell(`record.verdicts.${i}.trials`, c.trials, String),
    ];
  });
  return {
    head: [
      "measure",
      "variant",
      "ratio",
      "low",
      "high",
      "low, alone",
      "high, alone",
      "A/A floor",
      "verdict",
      "pairs",
    ],
    rows,
  };
}
