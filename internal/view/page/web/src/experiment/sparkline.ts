// A line of the size of a word: each trial's figure in the order of the rounds, over the interval of
// their median. Those of a level share their scale, so that lines one below the other compare.

import { svg } from "../dom";
import { extent } from "../chart";
import { Payload, tint, Trial, unitOf } from "./data";
import { amount } from "../format";

const [width, height, rim] = [132, 30, 5];

/** valuesOf are the trials of a cell that have a figure by a measure, in the order of the rounds. */
export function valuesOf(p: Payload, arm: string, level: string, metric: string): { trial: Trial; value: number }[] {
  const counted = (p.counted ?? []).find((c) => c.arm === arm && c.level === level)?.trials ?? [];
  return counted.flatMap((i) => {
    const trial = (p.record.trials ?? [])[i];
    const value = trial?.values?.[metric];
    return value === undefined ? [] : [{ trial, value }];
  });
}

/** sparkline draws a cell's trials by a measure; null of none. */
export function sparkline(p: Payload, arm: string, level: string, metric: string): SVGElement | null {
  const all = valuesOf(p, arm, level, metric);
  const median = (p.record.cells ?? []).find((c) => c.arm === arm && c.level === level && c.metric === metric)?.median;
  const known = p.record.arms.flatMap((a) => valuesOf(p, a.name, level, metric).map((d) => d.value));
  const span = extent(known);
  if (all.length === 0 || !span) return null;
  const x = (i: number) => (all.length === 1 ? width / 2 : rim + (i * (width - 2 * rim)) / (all.length - 1));
  const range = span[1] - span[0];
  const y = (v: number) => (range === 0 ? height / 2 : height - rim - ((v - span[0]) / range) * (height - 2 * rim));
  const ink = tint(p, arm);
  const sure = median && median.level >= 0.95 - 1e-9;
  const said = all.map((d) => amount(unitOf(p, metric), d.value)).join(", ");
  return svg(
    "svg",
    { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${arm}, ${metric} of ${all.length} trials: ${said}` },
    svg("title", {}, said),
    sure ? svg("rect", { x: 0, width, y: y(median.high), height: Math.max(y(median.low) - y(median.high), 1), fill: ink, "fill-opacity": 0.2 }) : null,
    svg("polyline", { points: all.map((d, i) => `${x(i)},${y(d.value)}`).join(" "), fill: "none", stroke: ink, "stroke-width": 1.2 }),
    ...all.map((d, i) =>
      svg("circle", { cx: x(i), cy: y(d.value), r: 2.2, fill: d.trial.grade === "A" ? ink : "var(--paper)", stroke: ink, "stroke-width": 1.2 }),
    ),
  );
}
