// What was offered, sent and completed over time, what was in flight, and the bytes.

import { Plot, chart, colour, dash, extent, lineMark, trimZeros } from "../chart";
import type { Cursors } from "../cursor";
import { figure } from "../figure";
import * as format from "../format";
import { ended, oneRun } from "../result";
import type { Result } from "../result";
import { cell } from "../table";
import { Interval, intervalCountText, perSecond, stepCorners } from "./time";

interface Curve {
  name: string;
  key: string; // of the point
  y: { t: number; y: number | null }[];
  at: (v: Interval) => number | null;
  style: number; // of its colour and dash
}

/** offered is the rate that the plan asks for over the window, of requests or of iterations: corners of straight lines. */
function offered(r: Result): { t: number; y: number }[] {
  const rate = r.plan.rate ?? 0;
  if (r.model !== "open") return [];
  if (!r.plan.stages?.length) {
    const y = r.iterations?.rate.offered ?? r.rate.offered ?? rate;
    return [{ t: 0, y }, { t: r.window.measured_s, y }];
  }
  const corners = [{ t: 0, y: rate }];
  for (const s of r.plan.stages) corners.push({ t: corners[corners.length - 1].t + s.duration_s, y: s.rate });
  const end = corners[corners.length - 1];
  if (end.t < r.window.measured_s) corners.push({ t: r.window.measured_s, y: end.y });
  return corners;
}

interface Over {
  id: string;
  title: string;
  unit: string;
  axis: string;
  show: (v: number) => string;
  curves: Curve[];
  planned?: { t: number; y: number }[];
  none?: string; // what to say where all is 0
  columns?: string[]; // keys of the point that the table has instead of the curves'
}

const offeredStyle = 3;

/** overTime draws curves over the window's time, with a cursor that others share. */
function overTime(o: Over, all: Interval[], cursors: Cursors): HTMLElement {
  const mark = (style: number, name: string) => ({ ...lineMark(style, name), dash: dash(style) });
  const planned = o.planned?.length ? o.planned : null;
  const rated = all.filter((v) => v.rates);
  const columns = o.columns ?? o.curves.map((c) => c.key);
  const values = o.curves.flatMap((c) => c.y.map((p) => p.y)).concat(planned?.map((p) => p.y) ?? []);
  const [, high] = extent(values) ?? [0, 1];
  const say = (v: Interval) => o.curves.map((c) => `${c.name} ${c.at(v) === null ? "–" : o.show(c.at(v)!)}`).join(", ");
  return figure({
    id: o.id,
    title: o.title,
    unit: o.unit,
    n: intervalCountText(rated),
    interval: oneRun,
    summary: `${o.title} over ${format.duration((all.at(-1)?.to ?? 0) * 1e6)}: at most ${o.show(high)}.`,
    empty: rated.length === 0 ? "No interval of the window is long enough to show." : high > 0 ? undefined : o.none,
    legend: [...(planned ? [mark(offeredStyle, "offered")] : []), ...o.curves.map((c) => mark(c.style, c.name))],
    table: () => ({
      head: ["t s", ...columns.map(format.keyText)],
      rows: all.map((v) => [
        cell(`series.${v.i}.t_s`, v.to, (n) => String(Number(n.toFixed(3)))),
        ...columns.map((key) => key.startsWith("iterations") && !(key in v.point) ? "0" : cell(`series.${v.i}.${key}`, (v.point as any)[key], (n) => format.quantity(key, n))),
      ]),
    }),
    cursor: { group: cursors, times: rated.map((v) => v.to), read: (i) => `${rated[i].to.toFixed(1)} s: ${say(rated[i])}` },
    draw: (width) => chart(width, {
      x: { type: "linear", domain: [0, rated.at(-1)?.to ?? 1], label: "time of the window, s →" },
      y: { type: "linear", domain: [0, high * 1.05 || 1], label: `↑ ${o.axis}`, ticks: 6, tickFormat: (v: number) => trimZeros(o.show(v)), grid: true },
      marks: [
        ...(planned ? [Plot.line(planned, { x: "t", y: "y", stroke: colour(offeredStyle), strokeDasharray: dash(offeredStyle), strokeWidth: 2.5 })] : []),
        ...o.curves.map((c) => Plot.line(c.y, { x: "t", y: "y", stroke: colour(c.style), strokeDasharray: dash(c.style), strokeWidth: 1.75 })),
      ],
    }),
  });
}

function curve(all: Interval[], name: string, key: "sent" | "completed" | "errors" | "iterations" | "iterations_failed" | "bytes_received" | "bytes_sent", style: number): Curve {
  const at = (v: Interval) => perSecond(v, key === "completed" || key === "iterations" ? ended(v.point, key) : v.point[key] ?? 0);
  return { name, key, at, y: stepCorners(all, at), style };
}

/** throughput is requests a second: offered, sent, completed. */
export function throughput(r: Result, all: Interval[], cursors: Cursors): HTMLElement {
  return overTime({
    id: "throughput", title: "Throughput", unit: "requests/s over time", axis: "requests/s", show: format.rate,
    curves: [curve(all, "sent", "sent", 1), curve(all, "completed", "completed", 0)],
    columns: ["sent", "completed", "errors", "in_flight"], planned: r.iterations ? [] : offered(r),
  }, all, cursors);
}

/** iterations is those of a scenario a second: offered, completed, failed; nothing where there is no scenario. */
export function iterations(r: Result, all: Interval[], cursors: Cursors): HTMLElement | null {
  if (!r.iterations) return null;
  return overTime({
    id: "iterations", title: "Iterations", unit: "iterations/s over time", axis: "iterations/s", show: format.rate,
    curves: [curve(all, "completed", "iterations", 0), curve(all, "failed", "iterations_failed", 1)], planned: offered(r),
    none: "No iteration ended in any second of the window.",
  }, all, cursors);
}

/** inFlight is how many requests were in flight at each interval's end. */
export function inFlight(all: Interval[], cursors: Cursors): HTMLElement {
  const at = (v: Interval) => v.point.in_flight ?? null;
  const y = all.filter((v) => v.rates).map((v) => ({ t: v.to, y: at(v) }));
  return overTime({
    id: "in-flight", title: "In flight", unit: "requests in flight at the end of each second", axis: "requests", show: format.rate,
    curves: [{ name: "in flight", key: "in_flight", at, y, style: 0 }],
  }, all, cursors);
}

/** traffic is bytes a second, as on the wire. */
export function traffic(all: Interval[], cursors: Cursors): HTMLElement {
  return overTime({
    id: "traffic", title: "Bytes", unit: "bytes/s over time, headers and TLS included", axis: "bytes/s", show: format.bytes,
    curves: [curve(all, "in", "bytes_received", 0), curve(all, "out", "bytes_sent", 1)],
  }, all, cursors);
}

/** failures is errors a second. */
export function failures(all: Interval[], cursors: Cursors): HTMLElement {
  return overTime({
    id: "errors", title: "Errors", unit: "errors/s over time", axis: "errors/s", show: format.rate,
    curves: [curve(all, "errors", "errors", 1)],
    none: "No error in any second of the window.",
  }, all, cursors);
}
