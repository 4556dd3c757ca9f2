// The effects of a screening at a level, in numbers.

import { Cell, Table, told } from "../table";
import { Payload } from "./data";

/** effectTable has a row for each effect on each measure, and for what noise does. */
export function effectTable(p: Payload, level: string): Table {
  const verdicts = p.forest ?? [];
  const here = (p.half_normals ?? []).map((plot, k) => ({ plot, k })).filter(({ plot }) => plot.level === level);
  const rows = here.flatMap(({ plot, k }) => {
    const effects = plot.effects.map((e, i): (Cell | string)[] => [
      plot.metric,
      e.name,
      told(`half_normals.${k}.effects.${i}.size`, e.size),
      told(`half_normals.${k}.effects.${i}.quantile`, e.quantile),
      verdicts[e.comparison]?.words ?? "",
      e.stands_out ? "yes" : "no",
    ]);
    const margin = (name: string, key: "noise" | "margin_of_error" | "simultaneous_margin_of_error"): (Cell | string)[][] =>
      plot[key] === undefined ? [] : [[plot.metric, name, told(`half_normals.${k}.${key}`, plot[key]), "", "", ""]];
    return [
      ...effects,
      ...margin("noise (pseudo standard error)", "noise"),
      ...margin("margin of error", "margin_of_error"),
      ...margin("simultaneous margin of error", "simultaneous_margin_of_error"),
    ];
  });
  return { head: ["measure", "effect", "size (factor)", "quantile", "verdict", "stands out"], rows };
}
