// The latency heat map: how many exchanges took how long, second by second, under lines of
// percentiles. It shows what percentiles hide: two groups, a pause, a job that comes and goes.

import { Plot, chart, extent, heatColour as shade, heatSteps, type Percentile, percentileMark, timeAxis } from "../chart";
import type { Cursors } from "../cursor";
import { figure } from "../figure";
import * as format from "../format";
import type { Mark } from "../legend";
import { oneRun } from "../result";
import { cell, Cell, Table } from "../table";
import { Interval, intervalCountText, stepCorners } from "./time";

const perDecade = 8; // buckets, as format dyno.result/1 has them
const bound = (bucket: number) => 10 ** (bucket / perDecade); // µs

const lines: [key: "p50_us" | "p99_us" | "max_us", name: Percentile][] = [["p50_us", "p50"], ["p99_us", "p99"], ["max_us", "max"]];

interface Box {
  from: number;
  to: number;
  bucket: number;
  n: number;
}

/** heatBoxes are the counts, with as many seconds together as there are pixels for. */
function heatBoxes(all: Interval[], most: number): Box[] {
  const together = Math.max(1, Math.ceil(all.length / most));
  const out: Box[] = [];
  for (let i = 0; i < all.length; i += together) {
    const group = all.slice(i, i + together);
    const counts = new Map<number, number>();
    for (const v of group) for (const [bucket, n] of v.point.heat ?? []) counts.set(bucket, (counts.get(bucket) ?? 0) + n);
    for (const [bucket, n] of counts) out.push({ from: group[0].from, to: group[group.length - 1].to, bucket, n });
  }
  return out;
}

/** heat draws latency over the window's time. */
export function heat(all: Interval[], cursors: Cursors, unanswered = ""): HTMLElement {
  const rated = all.filter((v) => v.rates);
  const timed = rated.filter((v) => v.point.completed > 0 && (v.point.p50_us ?? 0) > 0);
  const there = rated.some((v) => (v.point.heat?.length ?? 0) > 0);
  const least = 4; // pixels of a box
  const top = Math.max(1, ...heatBoxes(rated, 300).map((b) => b.n));
  const step = (n: number) => (top <= 1 ? heatSteps - 1 : Math.round((Math.log(n) / Math.log(top)) * (heatSteps - 1)));
  const legend = lines.map(([, name]) => percentileMark(name));
  const shades = there ? [0, 4, 8].map((s): Mark => ({ name: `${format.count(Math.max(1, top ** (s / (heatSteps - 1))))}`, colour: shade(s), shape: "area" })) : [];
  if (shades.length > 0) shades[2].name += " requests";
  return figure({
    id: "heat",
    title: "Latency over time",
    unit: "latency over time; colour: requests (both logarithmic)",
    n: intervalCountText(rated),
    interval: oneRun,
    note: [there || timed.length === 0 ? "" : "this result has no heat map (an older dyno wrote it): percentiles only", unanswered].filter((s) => s).join("; "),
    summary: latencySummary(timed),
    empty: timed.length > 0 ? undefined : "Nothing completed in any whole interval.",
    legend: [...legend, ...shades],
    table: () => heatTable(all),
    cursor: { group: cursors, times: timed.map((v) => v.to), read: (i) => readingsAt(timed[i]) },
    draw: (width) => {
      const drawn = heatBoxes(rated, width / least);
      const values = [...timed.flatMap((v) => lines.map(([k]) => v.point[k])), ...drawn.flatMap((b) => [bound(b.bucket), bound(b.bucket + 1)])];
      return chart(width, {
        x: { type: "linear", domain: [0, rated.at(-1)?.to ?? 1], label: "time of the window, s →" },
        y: { ...timeAxis(values, true, "↑ latency"), grid: false },
        marks: [
          Plot.rect(drawn, { x1: "from", x2: "to", y1: (b) => bound(b.bucket), y2: (b) => bound(b.bucket + 1), fill: (b) => shade(step(b.n)), inset: 0, shapeRendering: "crispEdges" }),
          ...lines.flatMap(([k], i) => {
            const path = { x: "t", y: "y" };
            const y = stepCorners(rated, (v) => (v.point.completed > 0 ? v.point[k] : null));
            // A rim keeps the line apart from whatever shade it crosses.
            return [Plot.line(y, { ...path, stroke: "var(--paper)", strokeWidth: 4.5, strokeOpacity: 0.75 }),
              Plot.line(y, { ...path, stroke: legend[i].colour, strokeDasharray: legend[i].dash, strokeWidth: 2 })];
          }),
        ],
      });
    },
  });
}

function readingsAt(v: Interval): string {
  return `${v.to.toFixed(1)} s: ` + lines.map(([k, name]) => `${name} ${format.duration(v.point[k] ?? 0)}`).join(", ");
}

function latencySummary(timed: Interval[]): string {
  const [low, high] = extent(timed.map((v) => v.point.p99_us)) ?? [0, 0];
  return `Latency over time: the p99 of a second is between ${format.duration(low)} and ${format.duration(high)}.`;
}

/** heatTable has a row for each interval: its percentiles, and its counts by bucket. */
function heatTable(all: Interval[]): Table {
  const buckets = [...new Set(all.flatMap((v) => (v.point.heat ?? []).map(([b]) => b)))].sort((a, b) => a - b);
  const times = ["mean_us", "p50_us", "p99_us", "max_us"] as const;
  return {
    head: ["t s", ...times.map((k) => format.keyText(k) + " µs"), ...buckets.map((b) => "≥ " + format.duration(bound(b)))],
    rows: all.map((v): (Cell | string)[] => {
      const at = new Map((v.point.heat ?? []).map(([b, n], k) => [b, { n, k }]));
      return [
        cell(`series.${v.i}.t_s`, v.to, (n) => String(Number(n.toFixed(3)))),
        ...times.map((k) => (v.point[k] === undefined ? "" : cell(`series.${v.i}.${k}`, v.point[k], format.duration))),
        ...buckets.map((b) => {
          const c = at.get(b);
          return c === undefined ? "" : cell(`series.${v.i}.heat.${c.k}.1`, c.n, format.count);
        }),
      ];
    }),
  };
}
