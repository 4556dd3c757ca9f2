// Numbers of live pages, cursors and tables. The rules are Go's: package format writes its forms before the script, and here
// they are only carried out, because nobody asks Go while a cursor moves or a load runs, and a page has the numbers of its
// tables once. Those whose digits another number decides, such as ratios with an interval, come as texts (see told in table.ts).

interface Form {
  steps: { from: number; size: number; decimals: number; unit: string; only?: boolean }[];
  trim?: boolean; // no zeros at the end of decimals
  whole?: boolean; // whole numbers have no decimals
}

declare const numbersOfGo: { forms: Record<string, Form>; units: { begins: string; form: string; times: number; rest: boolean }[] };

/** write writes a number in a form. */
function write(form: string, v: number, trim = false): string {
  if (!Number.isFinite(v)) return "–";
  const f = numbersOfGo.forms[form];
  const s = f.steps.find((s) => Math.abs(v) >= s.from)!;
  if (s.only) return s.unit;
  const digits = fixed(Math.abs(v / s.size), f.whole && Number.isInteger(v) ? 0 : s.decimals);
  const text = (trim || f.trim) && digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  return (v < 0 && text !== "0" ? "-" : "") + text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ",")) + s.unit;
}

/** fixed is toFixed, but of two numbers equally near it takes the even one, as Go does. */
function fixed(f: number, decimals: number): string {
  const all = f.toFixed(decimals + 25); // exact: a tie ends in 5 and zeros
  const kept = all.slice(0, -25).replace(/\.$/, "");
  return /^50*$/.test(all.slice(-25)) && /[02468]$/.test(kept) ? kept : f.toFixed(decimals);
}

const as = (form: string) => (v: number): string => write(form, v);
/** The forms are those of package format: count is 200,000, digits3 12.3, rate 12.5 or 20,000, duration 4.12 ms of µs. */
export const [count, digits3, rate, percent, finePercent, duration, bytes] = ["count", "digits3", "rate", "percent", "fine", "duration", "bytes"].map(as);

/** percentile is a quantile as people name it: p99.9. */
export const percentile = (q: number): string => "p" + write("percentile", 100 * q);

/** known is what is said of a value that is only known to be higher, if it is over: "over 2.00 s". */
export const known = (over: boolean | undefined, text: string): string => (over ? "over " + text : text);

/** amount is a value in the unit of an axis or a measure; on an axis it is trimmed. */
export function amount(unit: string, v: number, trim = false): string {
  if (unit === "percentile") return percentile(1 - 1 / v);
  const u = numbersOfGo.units.find((u) => unit.startsWith(u.begins))!;
  const rest = u.rest ? unit.slice(u.begins.length) : "";
  return write(u.form, v * u.times, trim) + (rest && !u.begins ? " " + rest : rest);
}

/** time is an instant, given as ISO 8601, in UTC: 2026-01-02 15:04:05 UTC. */
export function time(iso: string): string {
  const t = new Date(iso);
  return Number.isNaN(t.getTime()) ? iso : t.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

/** keyed are the forms of numbers of the JSON, by the ends of their keys. */
const keyed: [end: RegExp, form: string, times: number][] = [
  [/_us$/, "duration", 1], [/_ns$/, "duration", 1e-3], [/_bytes$|^bytes/, "bytes", 1], [/_percent$/, "percent", 1], [/per_s$|rate$/, "rate", 1], [/_s$/, "duration", 1e6]];

/** quantity is a number of the JSON in the unit that its key ends with. */
export function quantity(key: string, v: number): string {
  const unit = key.replace(/_per_request$/, "");
  const [, form, times] = keyed.find(([end]) => end.test(unit)) ?? [, unit !== key ? "rate" : Number.isInteger(v) ? "count" : "number", 1];
  return write(form, v * times);
}

/** keyText is a key of the JSON as text: cpu_us_per_request is "cpu per request". */
export function keyText(key: string): string {
  return key.replace(/_(us|ns|s|bytes|percent)(?=$|_per_)/, "").replaceAll("_", " ");
}
