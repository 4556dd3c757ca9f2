// Several requests, side by side.

import { h } from "../dom";
import { Plot, chart, extent, logTicks, nameInMargin, nameMargin, shortDuration } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import { lowest } from "../percentile";
import { oneRun } from "../result";
import type { Result, Route } from "../result";
import { cell, table, Table } from "../table";

const most = 40; // routes that are drawn; the table has all

/** routes draws each route's p50 to p99, the slowest first; nothing where there is one request only. */
export function routes(r: Result): HTMLElement | null {
  const all = r.routes ?? [];
  if (all.length === 0) return null;
  const timed = all.filter((x) => x.completed > 0 && (x.p99_us ?? 0) > 0).sort((a, b) => b.p99_us! - a.p99_us!);
  const drawn = timed.slice(0, most);
  const rows: Table["rows"] = all.map((x, i) => [x.name, cell(`routes.${i}.completed`, x.completed, format.count),
    cell(`routes.${i}.errors`, x.errors, format.count),
    ...(["mean_us", "p50_us", "p90_us", "p99_us", "max_us"] as const).map((k) => (x[k] === undefined ? "–" : cell(`routes.${i}.${k}`, x[k], lowest(x.completed, x.over, k))))]);
  const t = { head: ["route", "completed", "errors", "mean", "p50", "p90", "p99", "max"], rows };
  return h("div", {}, figure({
    id: "routes",
    title: "Routes",
    unit: "latency, logarithmic: from p50 to p99, dot p90",
    n: `n = ${all.length} routes${drawn.length < timed.length ? `, the ${drawn.length} slowest shown` : ""}`,
    interval: oneRun,
    summary: drawn.slice(0, 5).map((x) => `${x.name}: p99 ${lowest(x.completed, x.over, "p99_us")(x.p99_us!)}`).join("; "),
    empty: drawn.length > 0 ? undefined : "No route has a completed request.",
    table: () => t,
    draw: (width) => {
      const [low, high] = extent(drawn.flatMap((x) => [x.p50_us, x.p99_us]), true) ?? [1, 10];
      const name = (x: Route) => `${all.indexOf(x) + 1}  ${nameInMargin(x.name, width, 4)}`;
      return chart(width, {
        height: 70 + 24 * drawn.length,
        marginLeft: nameMargin(width),
        x: { type: "log", domain: [low / 1.2, high * 1.2], ticks: logTicks(low / 1.2, high * 1.2, (width - nameMargin(width)) / 70), tickFormat: shortDuration, label: "latency →", grid: true },
        y: { type: "band", domain: drawn.map(name), label: null },
        marks: [
          Plot.ruleY(drawn, { y: name, x1: "p50_us", x2: "p99_us", stroke: "var(--c1)", strokeWidth: 7 }),
          Plot.dot(drawn, { y: name, x: "p90_us", r: 4, fill: "var(--paper)", stroke: "var(--c1)", strokeWidth: 2 }),
        ],
      });
    },
  }), table(t, "Routes"));
}
