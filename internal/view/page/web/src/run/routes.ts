// Several requests, side by side.

import { h } from "../dom";
import { more } from "../layout";
import type { Run } from "../result";
import { facts, table } from "../table";

/** routes is the figure with its table; nothing where there is one request only. */
export const routes = (run: Run, figure: HTMLElement | null): HTMLElement | null =>
  run.routes ? h("div", {}, figure, table(run.routes, "Routes"),
    more("All of the routes", () => [table(facts({ routes: run.result.routes }, ""), "Routes in full")])) : null;
