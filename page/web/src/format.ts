// Numbers as package report writes them: test/format.test.ts and report/units_test.go hold both to
// one table, page/testdata/formats.json.

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

function within(units: Unit[], f: number): string {
  const smallest = units[units.length - 1];
  const [size, name] = units.find(([size]) => Math.abs(f) >= size * 0.9995) ?? smallest;
  return f === 0 ? "0 " + name : digits3(f / size) + " " + name;
}

/** duration is a time, given in µs: 83.1 µs, 4.12 ms, 1.20 s. */
export function duration(us: number): string {
  return us === 0 ? "0 s" : within(times, us);
}

/** bytes is a size in powers of 1,000. */
export function bytes(n: number): string {
  return Math.abs(n) < 999.5 ? count(n) + " B" : within(sizes, n);
}

/** percent is a share of 100. */
export function percent(f: number): string {
  return digits3(f) + " %";
}

/** ratio is a factor: 1.18 ×. */
export function ratio(x: number): string {
  return digits3(x) + " ×";
}

/** small is a number that may be far below 1, to four significant digits: 0.002183. */
export function small(x: number): string {
  return Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "–";
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
  return Number.isInteger(v) ? count(v) : small(v);
}

/** words is a key of the JSON as text: cpu_us_per_request is "cpu per request". */
export function words(key: string): string {
  return key.replace(/_(us|ns|s|bytes|percent)(?=$|_per_)/, "").replaceAll("_", " ");
}
