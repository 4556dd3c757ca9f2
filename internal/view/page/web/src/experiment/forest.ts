// Every comparison at a level, in numbers.

import { Cell, cell, Table, told } from "../table";
import { Payload } from "./data";
import { isShown } from "./shown";

/** forestTable has a row for each comparison at a level. */
export function forestTable(p: Payload, level: string): Table {
  const here = (p.record.verdicts ?? []).map((c, i) => ({ c, i })).filter(({ c }) => c.level === level && isShown(p, c.variant));
  const rows = here.map(({ c, i }): (Cell | string)[] => {
    const of = (path: string, v: number | undefined) => told(`record.verdicts.${i}.${path}`, v);
    return [
      c.metric,
      c.variant,
      of("ratio", c.ratio),
      of("low", c.low),
      of("high", c.high),
      of("alone.low", c.alone?.low),
      of("alone.high", c.alone?.high),
      of("floor", c.floor),
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
