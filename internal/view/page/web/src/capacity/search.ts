// The probes of a search, in numbers.

import * as format from "../format";
import { cell, Cell, Table } from "../table";
import type { Search } from "./data";

const shows: Record<string, (v: number) => string> = { us: format.duration, percent: format.finePercent, per_s: (v) => format.digits3(v) + "/s" };
const show = (unit: string | undefined) => shows[unit ?? ""] ?? format.rate;

/** probes has every number of every probe. */
export function probes(s: Search): Table {
  const expressions = s.objectives ?? [];
  const all = s.probes ?? [];
  const bounded = expressions.map((_, k) => all.some((p) => p.judged?.[k]?.low !== undefined || p.judged?.[k]?.high !== undefined || p.judged?.[k]?.seconds !== undefined));
  const at = (i: number, key: string) => `probes.${i}.${key}`;
  return {
    head: ["probe", s.axis ?? "rate", "sent", "completed", "measured", ...expressions.flatMap((e, k) => (bounded[k] ? [e, "from", "to", "seconds drawn"] : [e])), "outcome", "for"],
    rows: all.map((p, i): (Cell | string)[] => [
      { text: String(i + 1), value: i + 1 },
      s.axis === undefined ? cell(at(i, "rate_per_s"), p.rate_per_s!, format.rate) : cell(at(i, s.axis), p[s.axis]!, format.count),
      cell(at(i, "sent_per_s"), p.sent_per_s, format.rate),
      cell(at(i, "completed_per_s"), p.completed_per_s, format.rate),
      cell(at(i, "measured_s"), p.measured_s, (v) => format.duration(v * 1e6)),
      ...expressions.flatMap((_, k): (Cell | string)[] => {
        const j = p.judged?.[k];
        const one = (key: "value" | "low" | "high") => (j?.[key] === undefined ? "–" : cell(at(i, `judged.${k}.${key}`), j[key], (v) => format.known(key === "value" && j.over, show(j.unit)(v))));
        return !bounded[k] ? [one("value")] : [one("value"), one("low"), one("high"), j?.seconds === undefined ? "–" : cell(at(i, `judged.${k}.seconds`), j.seconds, format.count)];
      }),
      p.outcome.toUpperCase(),
      p.purpose,
    ]),
  };
}
