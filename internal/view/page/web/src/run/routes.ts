// Several requests, side by side.

import { h } from "../dom";
import { more } from "../layout";
import type { Run } from "../result";
import { cell, facts, table, Table } from "../table";

const keys = ["name", "completed", "errors", "mean_us", "p50_us", "p90_us", "p99_us", "max_us", "first_event.p99_us", "gap.p99_us"];

/** routeTable has a row for each route, in the texts of Go. */
export function routeTable(run: Run): Table {
  const [head, ...rows] = run.routes ?? [[]];
  return { head, rows: rows.map((row, i) => row.map((text, k) => {
    const value = keys[k].split(".").reduce((o: any, key) => o?.[key], run.result.routes![i]);
    return typeof value === "number" ? cell(`routes.${i}.${keys[k]}`, value, () => text) : text;
  })) };
}

/** routes is the figure with its table; nothing where there is one request only. */
export const routes = (run: Run, figure: HTMLElement | null): HTMLElement | null =>
  run.routes ? h("div", {}, figure, table(routeTable(run), "Routes"),
    more("All of the routes", () => [table(facts({ routes: run.result.routes }, ""), "Routes in full")])) : null;
