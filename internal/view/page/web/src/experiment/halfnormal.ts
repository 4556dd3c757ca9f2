// The effects of a screening at a level, in numbers.

import { fourDigits, ratioAlone, ratioIn } from "../format";
import { Cell, cell, Table } from "../table";
import { Payload } from "./data";

/** effectTable has a row for each effect on each measure, and for what noise does. */
export function effectTable(p: Payload, level: string): Table {
  const verdicts = p.forest ?? [];
  const here = (p.half_normals ?? []).map((plot, k) => ({ plot, k })).filter(({ plot }) => plot.level === level);
  const rows = here.flatMap(({ plot, k }) => {
    const factor = (x: number) => (plot.simultaneous_margin_of_error ? ratioIn(x, 1, plot.simultaneous_margin_of_error) : ratioAlone(x));
    const effects = plot.effects.map((e, i): (Cell | string)[] => [
      plot.metric,
      e.name,
      cell(`half_normals.${k}.effects.${i}.size`, e.size, factor),
      cell(`half_normals.${k}.effects.${i}.quantile`, e.quantile, fourDigits),
      verdicts[e.comparison]?.words ?? "",
      e.stands_out ? "yes" : "no",
    ]);
    const margin = (name: string, key: "noise" | "margin_of_error" | "simultaneous_margin_of_error"): (Cell | string)[][] =>
      plot[key] === undefined ? [] : [[plot.metric, name, cell(`half_normals.${k}.${key}`, plot[key], factor), "", "", ""]];
    return [
      ...effects,
      ...margin("noise (pseudo standard error)", "noise"),
      ...margin("margin of error", "margin_of_error"),
      ...margin("simultaneous margin of error", "simultaneous_margin_of_error"),
    ];
  });
  return { head: ["measure", "effect", "size (factor)", "quantile", "verdict", "stands out"], rows };
}
