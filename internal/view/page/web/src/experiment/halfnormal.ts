// The half-normal plot of a screening: the effects of a measure by their size, over the quantiles that
// noise alone would give them, with Lenth's margins of error. Noise lies along the line; what is real
// lies to the right of it.

import { chart, extent, fitText, Plot } from "../chart";
import { figure } from "../figure";
import { count, fourDigits, ratioAlone, ratioIn } from "../format";
import { Cell, cell, Table } from "../table";
import { HalfNormal, halo, Judged, loadOf, Payload, ratioTicks, slug, verdictColour } from "./data";
import { levelsShown } from "./shown";

/** halfNormals has a plot for each level of a screening, with a choice of measures. */
export function halfNormals(p: Payload): Node[] {
  return levelsShown(p).flatMap((l) => {
    const here = (p.half_normals ?? []).map((plot, k) => ({ plot, k })).filter(({ plot }) => plot.level === l.name);
    return here.length > 0 ? [halfNormal(p, l.name, here)] : [];
  });
}

interface Place {
  plot: HalfNormal;
  k: number; // of half_normals
}

function halfNormal(p: Payload, level: string, here: Place[]): HTMLElement {
  const verdicts = p.forest ?? [];
  const effects = extent(here.map(({ plot }) => plot.effects.length))!;
  const known = here.some(({ plot }) => plot.noise !== undefined);
  return figure({
    id: "half-normal-" + slug(p, level),
    title: `Half-normal plot at ${loadOf(p, level)}`,
    unit: "size of each effect on the chosen measure, a factor up or down, by the quantile that noise alone would give it",
    n: `n = ${effects[0] === effects[1] ? count(effects[0]) : effects.map(count).join(" to ")} effects, of settings and of two together`,
    interval: known
      ? "noise passes the margin of error in 5 % of effects, and the simultaneous one in 5 % of screenings (Lenth)"
      : "no margins of error: these take six effects that are not all alike",
    note: "an effect of two together is drawn with the square root of its factor, so that the noise of all is the same",
    summary: here.map(({ plot }) => standingOut(plot)).join("; "),
    legend: [
      { name: "stands out, better", colour: "var(--good)", shape: "dot" },
      { name: "stands out, worse", colour: "var(--bad)", shape: "dot" },
      { name: "does not stand out ○", colour: "var(--faint)", shape: "dot" },
      ...(known
        ? ([
            { name: "noise", colour: "var(--faint)", dash: "2 3" },
            { name: "margin of error", colour: "var(--ink)", dash: "6 3" },
            { name: "simultaneous margin of error", colour: "var(--ink)" },
          ] as const)
        : []),
    ],
    toggles: [{ key: "measure", label: "measure", options: here.map(({ plot }) => [plot.metric, plot.metric]) }],
    table: () => effectTable(verdicts, here),
    draw: (width, choice) => drawHalfNormal(here.find(({ plot }) => plot.metric === choice("measure"))!.plot, verdicts, width),
  });
}

/** standingOut says which effects do. */
function standingOut(plot: HalfNormal): string {
  const names = plot.effects.filter((e) => e.stands_out).map((e) => e.name);
  return `${plot.metric}: ${names.length > 0 ? names.reverse().join(", ") : "nothing"} stands out`;
}

function effectTable(verdicts: Judged[], here: Place[]): Table {
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

const [marginLeft, marginRight, marginTop, marginBottom] = [46, 18, 26, 40];
const lineHeight = 15; // px between two labels, at least

interface Label {
  size: number;
  quantile: number;
  text: string;
  right: boolean; // of the point
}

function drawHalfNormal(plot: HalfNormal, verdicts: Judged[], width: number): SVGSVGElement {
  const height = Math.round(Math.min(Math.max(width * 0.42, 300), 420));
  const [noise, together] = [plot.noise ?? 1, plot.simultaneous_margin_of_error ?? 1];
  const high = Math.max(together, ...plot.effects.map((e) => e.size), 1.001) ** 1.06;
  const top = Math.max(...plot.effects.map((e) => e.quantile)) * 1.08;
  const reach = Math.min(top, Math.log(high) / Math.log(noise)); // of the line of noise: Infinity without noise
  const labels = labelled(plot, width - marginLeft - marginRight, (height - marginTop - marginBottom) / top, high);
  const colourOf = (e: HalfNormal["effects"][number]) => (e.stands_out ? verdictColour(verdicts[e.comparison]?.verdict) : "var(--faint)");
  return chart(width, {
    height,
    marginLeft,
    marginRight,
    marginTop,
    marginBottom,
    x: { type: "log", domain: [1, high], ticks: ratioTicks(1, high, width < 450 ? 4 : 8), tickFormat: String, label: "factor, up or down →", grid: true },
    y: { domain: [0, top], ticks: 5, label: "quantile of |z|", grid: true },
    color: { type: "identity" },
    marks: [
      ...(plot.noise === undefined
        ? []
        : [
            Plot.line([[1, 0], [noise ** reach, reach]], { stroke: "var(--faint)", strokeWidth: 1.5, strokeDasharray: "2 3" }),
            Plot.ruleX([plot.margin_of_error!].filter((x) => x <= high), { stroke: "var(--ink)", strokeWidth: 1.2, strokeDasharray: "6 3" }),
            Plot.ruleX([together], { stroke: "var(--ink)", strokeWidth: 1.2 }),
          ]),
      Plot.dot(plot.effects, { x: "size", y: "quantile", r: 4.5, strokeWidth: 1.6, stroke: colourOf, fill: (e) => (e.stands_out ? colourOf(e) : "var(--paper)") }),
      ...[true, false].map((right) =>
        Plot.text(labels.filter((l) => l.right === right), { x: "size", y: "quantile", text: "text", dx: right ? 9 : -9, textAnchor: right ? "start" : "end", ...halo })),
    ],
  });
}

/** labelled are the names of what stands out, from the largest on, each on the side that has more room; one that would lie over
    another is left out. perQuantile is px. */
function labelled(plot: HalfNormal, width: number, perQuantile: number, high: number): Label[] {
  const labels: Label[] = [];
  let last = Infinity;
  for (const e of [...plot.effects].reverse()) {
    if (!e.stands_out || (last - e.quantile) * perQuantile < lineHeight) continue;
    const at = (width * Math.log(e.size)) / Math.log(high);
    const right = at < width / 2;
    labels.push({ size: e.size, quantile: e.quantile, right, text: fitText(e.name, (right ? width - at : at) - 16, 12) });
    last = e.quantile;
  }
  return labels;
}
