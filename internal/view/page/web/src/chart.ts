// What all plots have in common, over Observable Plot: margins, colours with a dash or a shape
// each, logarithmic axes of time and of percentiles. Colours are variables of the style sheet, so
// that a plot is light or dark without being drawn again.

import * as Plot from "@observablehq/plot";
import * as format from "./format";
import type { Mark } from "./legend";

export { Plot };

const colours = 8; // in the style sheet, --c1 to --c8
const dashes = ["", "6 3", "2 2", "8 3 2 3", "1 3", "12 3", "4 2 1 2 1 2", "10 2 4 2"];
const symbols = ["circle", "triangle", "square", "diamond", "cross", "star", "wye", "asterisk"] as const;

/** colour, dash and symbol are the i-th of those that tell lines and points apart. */
export const colour = (i: number): string => `var(--c${(i % colours) + 1})`;
export const dash = (i: number): string => dashes[i % dashes.length];
export const symbol = (i: number): (typeof symbols)[number] => symbols[i % symbols.length];

const areas = 6; // --a1 to --a6

/** areaColour is the colour of the i-th area: it has no dash, so that each two differ for every eye. */
export const areaColour = (i: number): string => `var(--a${(i % areas) + 1})`;

/** heatSteps is how many colours a heat map has, in the style sheet --h0 to --h8. */
export const heatSteps = 9;
export const heatColour = (step: number): string => `var(--h${Math.min(Math.max(Math.round(step), 0), heatSteps - 1)})`;

/** lineMark is a mark of the legend for the i-th line. */
export const lineMark = (i: number, name: string): Mark => ({ name, colour: colour(i), dash: dash(i), shape: "line" });

const percentiles = { p50: 1, p99: 3, max: 6 }; // colours that stand out against shades of a heat map
export type Percentile = keyof typeof percentiles;

/** percentileMark is the line of a percentile: it has one colour and one dash in every plot. */
export const percentileMark = (name: Percentile): Mark & { dash: string } =>
  ({ name, colour: colour(percentiles[name]), dash: dash(Object.keys(percentiles).indexOf(name)), shape: "line" });

/** curveMark is the mark of the i-th curve: that of its percentile, if it is one. */
export const curveMark = (c: { name: string; style?: number; percentile?: Percentile }, i: number): Mark =>
  c.percentile ? { ...percentileMark(c.percentile), name: c.name } : lineMark(c.style ?? i, c.name);

/** chart draws a plot of our manner. Its scales can be asked for, as of every plot. */
export function chart(width: number, options: Plot.PlotOptions): SVGSVGElement {
  const drawn = Plot.plot({
    width,
    height: Math.round(Math.min(Math.max(width * 0.42, 220), 420)),
    marginLeft: 60,
    marginRight: 18,
    marginTop: 26,
    marginBottom: 38,
    style: { fontSize: "12px", background: "none" },
    ...options,
    marks: [...ticksOf(options), ...(options.marks ?? [])],
  }) as SVGSVGElement & Plot.Plot;
  // The page's policy allows no style sheet but its own, which has these rules.
  drawn.querySelectorAll("style").forEach((e) => e.remove());
  drawn.setAttribute("aria-hidden", "true"); // the figure has the sentence that says what it shows
  return drawn;
}

/** ticksOf are axes that write what they are told to. Plot's own leave ticks of a logarithm unwritten. */
function ticksOf(o: Plot.PlotOptions): Plot.Markish[] {
  const given = (s: Plot.ScaleOptions | null | undefined) => s?.type === "log" && Array.isArray(s.ticks) && typeof s.tickFormat === "function";
  const text = (s: Plot.ScaleOptions) => ({ text: (v: number) => (s.tickFormat as (v: number) => string)(v), label: s.label ?? null });
  return [
    ...(given(o.x) ? [Plot.axisX(o.x!.ticks as number[], text(o.x!))] : []),
    ...(given(o.y) ? [Plot.axisY(o.y!.ticks as number[], text(o.y!))] : []),
  ];
}

/** logTicks are round values from low to high on a logarithmic axis, as many as most allows. */
export function logTicks(low: number, high: number, most: number): number[] {
  if (!(low > 0) || !(high >= low)) return [];
  const decades: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) decades.push(e);
  const of = (steps: number[], every: number) =>
    decades.filter((e) => e % every === 0).flatMap((e) => steps.map((s) => Number(`${s}e${e}`)))
      .filter((v) => v >= low * 0.999 && v <= high * 1.001);
  const candidates = [of([1, 2, 3, 4, 5, 6, 7, 8, 9], 1), of([1, 2, 5], 1), of([1, 3], 1), of([1], 1), of([1], 2), of([1], 3)];
  const apart = (0.8 * Math.log(high / low)) / most; // of two neighbours
  const fits = (ticks: number[]) => ticks.length > 0 && ticks.length <= most && ticks.every((v, i) => i === 0 || Math.log(v / ticks[i - 1]) >= apart);
  return candidates.find(fits) ?? [low, high];
}

/** extent is the least and the largest of the values that are finite, and above 0 if wanted; null of none. */
export function extent(values: Iterable<number | null | undefined>, positive = false): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (typeof v !== "number" || !Number.isFinite(v) || (positive && v <= 0)) continue;
    [low, high] = [Math.min(low, v), Math.max(high, v)];
  }
  return low <= high ? [low, high] : null;
}

/** timeAxis is an axis of latencies in µs, logarithmic or from 0. */
export function timeAxis(values: Iterable<number | null | undefined>, log: boolean, label: string, most = 7): Plot.ScaleOptions {
  const [low, high] = extent(values, log) ?? [1, 10];
  if (!log) return { type: "linear", domain: [0, high * 1.05 || 1], ticks: most, tickFormat: shortDuration, label, grid: true };
  const domain = [low / 1.15, high * 1.15];
  return { type: "log", domain, ticks: logTicks(domain[0], domain[1], most), tickFormat: shortDuration, label, grid: true };
}

/** shortDuration is a duration without decimals that say nothing: 10 ms, 1.5 s. */
export const shortDuration = (us: number): string => trimZeros(format.duration(us));

/** trimZeros takes from a number that has a unit, or none, the zeros at the end of its decimals. */
export const trimZeros = (s: string): string => s.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

/** percentileX is where a quantile is on an axis of percentiles: 1/(1−q). */
export const percentileX = (q: number): number => 1 / (1 - q);

/** percentileAxis is the axis of a spectrum, up to the quantile most. */
export function percentileAxis(most: number, width: number): Plot.ScaleOptions {
  const high = Math.max(percentileX(most), 2);
  const all = [1, 2, 4, 10, 20, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].filter((v) => v <= high * 1.001);
  const ticks = width < 500 ? all.filter((v) => v !== 4 && v !== 20) : all;
  const name = (v: number) => String(Number((100 - 100 / v).toFixed(8)));
  return { type: "log", domain: [1, high * 1.05], ticks, tickFormat: name, label: "percentile →", grid: true };
}

/** nameMargin is the margin for names along an axis, and nameInMargin a name that fits into it, with others beside. */
export const nameMargin = (width: number): number => Math.min(width * 0.38, 240);
export const nameInMargin = (name: string, width: number, others = 0): string => clip(name, Math.floor(nameMargin(width) / 6.9) - 1 - others);

let pen: CanvasRenderingContext2D | null = null; // that measures

/** textWidth is how wide a text is in pixels, written so large. */
export function textWidth(s: string, size: number, weight = "normal"): number {
  pen ??= document.createElement("canvas").getContext("2d")!;
  pen.font = `${weight} ${size}px system-ui, sans-serif`; // as the style sheet has it for plots
  return pen.measureText(s).width;
}

/** textLines is a text in lines of at most so many pixels. */
export function textLines(s: string, width: number, size: number, weight = "normal"): string[] {
  const lines: string[] = [];
  for (const word of s.split(" ").filter((w) => w)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer, size, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(fitText(word, width, size, weight));
  }
  return lines;
}

/** fitText is as much of a name as is at most so many pixels wide, written so large; "" where that is next to nothing. */
export function fitText(s: string, width: number, size: number, weight = "normal"): string {
  const fits = (text: string) => textWidth(text, size, weight) <= width;
  if (fits(s)) return s;
  const all = [...s];
  let [least, most] = [0, all.length];
  while (least < most) {
    const n = (least + most + 1) >> 1;
    if (fits(all.slice(0, n).join("") + "…")) least = n;
    else most = n - 1;
  }
  return least < 2 ? "" : all.slice(0, least).join("") + "…";
}

/** clip is at most n characters of a name. */
export function clip(s: string, n: number): string {
  const all = [...s];
  return all.length <= n ? s : all.slice(0, Math.max(n - 1, 1)).join("") + "…";
}
