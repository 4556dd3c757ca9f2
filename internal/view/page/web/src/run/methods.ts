// How it was measured, how to do it again, and everything that decided it.

import { h } from "../dom";
import { copyable, list, more } from "../layout";
import * as format from "../format";
import type { Result, Words } from "../result";
import { facts, table } from "../table";

/** methods is the appendix, written by package report for this run, and the command that repeats it. */
export function methods(words: Words): HTMLElement {
  return h("div", {},
    h("h3", {}, "The same again"), copyable(words.command),
    words.lost ? h("p", {}, `Not kept in a result: ${words.lost}.`) : null,
    h("h3", {}, "How it was measured"), list(words.methods));
}

/** environment is the machine, the plan, and when. */
export function environment(r: Result, words: Words): HTMLElement {
  return h("div", {},
    h("h3", {}, "Environment"),
    table({ head: ["", ""], rows: [["started", format.time(r.window.started)], ["machine", words.machine], ["dyno", r.dyno], ["result", r.id ?? "not stored"]] }, "Environment"),
    r.fcgi_stderr ? h("div", {}, h("h3", {}, "What the application wrote to stderr"), h("pre", {}, r.fcgi_stderr.text)) : null,
    more("The plan, and all of the environment", () => [
      table(facts({ plan: r.plan, host: r.host, window: r.window, fcgi_stderr: r.fcgi_stderr, objectives: r.objectives }, ""), "Plan and environment")]));
}

const known = ["format", "id", "dyno", "plan", "model", "ended", "cause", "host", "window", "requests", "rate", "latency", "service",
  "phases", "status", "errors", "bytes", "connections", "series", "routes", "generator", "fcgi_stderr", "fleet", "server", "profile", "objectives", "warnings"];

/** unknownParts is what a newer dyno wrote and no view knows: nothing of a result is hidden. */
export function unknownParts(r: Result): HTMLElement | null {
  const unknown = Object.fromEntries(Object.entries(r).filter(([key]) => !known.includes(key)));
  return Object.keys(unknown).length === 0 ? null : more("More", () => [table(facts(unknown, ""), "More")]);
}
