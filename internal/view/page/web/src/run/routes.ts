// Several requests, side by side.

import { h } from "../dom";
import * as format from "../format";
import { lowest } from "../percentile";
import type { Result } from "../result";
import { cell, table, Table } from "../table";

/** ofStreams are the columns of routes of streams, if there are any. */
const ofStreams = (r: Result) => ((r.routes ?? []).some((x) => x.first_event) ? (["first_event", "gap"] as const) : []);

/** routeTable has a row for each route. */
export const routeTable = (r: Result): Table => ({
  head: ["route", "completed", "errors", "mean", "p50", "p90", "p99", "max", ...ofStreams(r).map((k) => format.keyText(k) + " p99")],
  rows: (r.routes ?? []).map((x, i) => [x.name, cell(`routes.${i}.completed`, x.completed, format.count),
    cell(`routes.${i}.errors`, x.errors, format.count),
    ...(["mean_us", "p50_us", "p90_us", "p99_us", "max_us"] as const).map((k) => (x[k] === undefined ? "–" : cell(`routes.${i}.${k}`, x[k], lowest(x.completed, x.over, k)))),
    ...ofStreams(r).map((k) => (x[k] === undefined ? "–" : cell(`routes.${i}.${k}.p99_us`, x[k].p99_us, format.duration)))]),
});

/** routes is the figure with its table; nothing where there is one request only. */
export const routes = (r: Result, figure: HTMLElement | null): HTMLElement | null =>
  (r.routes ?? []).length === 0 ? null : h("div", {}, figure, table(routeTable(r), "Routes"));
