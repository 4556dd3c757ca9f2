// Numbers of live pages, cursors and long tables, as package format writes them: test/format.test.ts and
// internal/view/format/page_test.go hold both to one table, internal/view/page/testdata/formats.json. Those whose digits
// another number decides, such as ratios with an interval, Go writes alone (see told in table.ts).

/** count is a whole number with thousands separated: 200,000. */
export function count(n: number): string {
  if (!Number.isFinite(n)) return "–";
  const digits = BigInt(Math.round(Math.abs(n))).toString();
  return (n < 0 && digits !== "0" ? "-" : "") + digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** fixed is toFixed, but of two numbers equally near it takes the even one, as Go does. */
function fixed(f: number, decimals: number): string {
  const all = Math.abs(f).toFixed(decimals + 25); // exact: a tie ends in 5 and zeros
  const [kept, rest] = [all.slice(0, -25), all.slice(-25)];
  const tie = /^50*$/.test(rest);
  return tie && /[02468]\.?$/.test(kept) ? (f < 0 ? "-" : "") + kept.replace(/\.$/, "") : f.toFixed(decimals);
}

/** known is what is said of a value that is only known to be higher, if it is over: "over 2.00 s". */
export const known = (over: boolean | undefined, text: string): string => (over ? "over " + text : text);

/** digits3 is f to three significant digits, or to the whole number from 1,000. */
export function digits3(f: number): string {
  const a = Math.abs(f);
  if (!Number.isFinite(f)) return "–";
  if (a >= 999.5) return count(f);
  if (a >= 99.95) return fixed(f, 0);
  if (a >= 9.995) return fixed(f, 1);
  return fixed(f, 2);
}

/** rate is digits3 where whole numbers have no decimals: 12.5, 100, 20,000. */
export function rate(f: number): string {
  return Number.isInteger(f) && Math.abs(f) < 1e15 ? count(f) : digits3(f);
}

type Unit = [size: number, name: string];
const times: Unit[] = [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]];
const sizes: Unit[] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

function inLargestUnit(units: Unit[], f: number): string {
  const smallest = units[units.length - 1];
  const [size, name] = units.find(([size]) => Math.abs(f) >= size * 0.9995) ?? smallest;
  return f === 0 ? "0 " + name : digits3(f / size) + " " + name;
}

/** duration is a time, given in µs: 83.1 µs, 4.12 ms, 1.20 s. */
export function duration(us: number): string {
  return us === 0 ? "0 s" : inLargestUnit(times, us);
}

/** bytes is a size in powers of 1,000. */
export function bytes(n: number): string {
  return Math.abs(n) < 999.5 ? count(n) + " B" : inLargestUnit(sizes, n);
}

/** amount is a value in the unit of an axis, as chart.Amount of Go has it. */
export function amount(unit: string, v: number): string {
  if (unit === "percent") return finePercent(v / 100);
  if (unit === "ratio") return String(Number(v.toFixed(4)));
  if (unit === "percentile") return "p" + Number((100 - 100 / v).toFixed(7));
  if (unit.startsWith("µs")) return duration(v) + unit.slice(2);
  if (unit === "MB") return bytes(v * 1e6);
  if (unit.startsWith("bytes")) return bytes(v);
  return rate(v) + (unit ? " " + unit : "");
}

/** trimZeros takes from a number that has a unit, or none, the zeros at the end of its decimals. */
export const trimZeros = (s: string): string => s.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

/** percent is a share of 100. */
export function percent(f: number): string {
  return digits3(f) + " %";
}

/** fourDigits is a number that may be far below 1, to four significant digits: 0.002183. */
export const fourDigits = (x: number): string => significant(x, 4);

/** exponent is the power of ten in f, which is not 0: 2 of 123. */
const exponent = (f: number): number => Number(f.toExponential(16).split("e")[1]) || 0;

/** separated is a decimal number with its thousands separated. */
function separated(s: string): string {
  const [whole, rest] = s.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest === undefined ? "" : "." + rest);
}

/** significant is f to n digits, without zeros at the end and without an exponent; whole numbers have all digits. */
export function significant(f: number, n: number): string {
  if (!Number.isFinite(f)) return "–";
  if (f === 0) return "0";
  const s = fixed(f, Math.min(Math.max(n - 1 - exponent(f), 0), 70));
  return separated(s.includes(".") ? s.replace(/\.?0+$/, "") : s);
}

/** percentage is a share to n digits of a percentage. One of ten and more is said to be so. */
function percentage(share: number, n: number): string {
  const a = Math.abs(share);
  if (Number.isNaN(share)) return "–";
  if (a >= 10) return "more than ten times";
  if (a > 0 && a < 1e-7) return "below 0.00001 %";
  return significant(100 * share, n) + " %";
}

/** finePercent is a share as a percentage that is held against a limit, or against 100 %. It has four digits; near 100 % it
    has more, so that two digits tell what is missing: 99.9988 %. */
export function finePercent(share: number): string {
  const missing = 100 * (1 - share);
  return percentage(share, missing > 0 ? Math.max(4, 3 - exponent(missing)) : 4);
}

/** time is an instant, given as ISO 8601, in UTC: 2026-01-02 15:04:05 UTC. */
export function time(iso: string): string {
  const t = new Date(iso);
  return Number.isNaN(t.getTime()) ? iso : t.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

/** quantity is a number of the JSON in the unit that its key ends with. */
export function quantity(key: string, v: number): string {
  const per = key.endsWith("_per_request");
  const unit = key.replace(/_per_request$/, "");
  if (unit.endsWith("_us")) return duration(v);
  if (unit.endsWith("_ns")) return duration(v / 1e3);
  if (unit.endsWith("_s") && !unit.endsWith("per_s")) return duration(v * 1e6);
  if (unit.endsWith("_bytes") || unit.startsWith("bytes")) return bytes(v);
  if (unit.endsWith("_percent")) return percent(v);
  if (per || unit.endsWith("_per_s") || unit.endsWith("rate")) return rate(v);
  return Number.isInteger(v) ? count(v) : fourDigits(v);
}

/** keyText is a key of the JSON as text: cpu_us_per_request is "cpu per request". */
export function keyText(key: string): string {
  return key.replace(/_(us|ns|s|bytes|percent)(?=$|_per_)/, "").replaceAll("_", " ");
}
