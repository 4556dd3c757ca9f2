// Values of measures, with their units.

import { bytes, duration, rate } from "../format";

/** amount is a value of a measure, with its unit. */
export function amount(unit: string, v: number): string {
  if (unit.startsWith("µs")) return duration(v) + unit.slice(2);
  if (unit === "MB") return bytes(v * 1e6);
  if (unit.startsWith("bytes")) return bytes(v);
  return rate(v) + (unit ? " " + unit : "");
}
