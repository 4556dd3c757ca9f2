// The page of a search for a rate, or of a sweep.

import { h } from "../dom";
import * as format from "../format";
import { banner, copyable, list, more, page } from "../layout";
import type { Words } from "../result";
import { facts, table } from "../table";
import type { Table } from "../table";
import { tile } from "../run/verdict";
import type { Capacity, Search } from "./data";
import { viewsOf } from "../view";
import { viewFigure } from "../viewfigure";
import { points } from "./sweep";
import { probes } from "./search";

/** show fills the document with whichever of the two the payload has. */
export function show(p: Capacity): void {
  const views = p.search ? search(p.search, p) : p.curve ? sweep(p) : [];
  page("Capacity of " + p.words.what, p.words.how, [...views, { id: "methods", title: "Methods", content: [methods(p.words, p.search ?? p.curve ?? {})] }]);
}

const rate = (v: number) => format.rate(v) + "/s";

function search(s: Search, p: Capacity) {
  const kind = s.end === "found" ? "good" : s.end === "missed" ? "bad" : "doubt";
  return [
    { id: "verdict", title: "Verdict", content: [
      banner(kind, p.words.verdict, [list(p.words.reasons ?? [])].filter((n) => n !== null)),
      ...(p.words.warnings ?? []).map((w) => banner("doubt", w)),
      h("dl", { class: "tiles" },
        tile("certified", "certified_per_s", s.certified_per_s, rate), tile("met at", "low_per_s", s.low_per_s, rate),
        tile("not met at", "high_per_s", s.high_per_s, rate),
        tile("certified", "count.certified", s.count?.certified, format.count), tile("met with", "count.low", s.count?.low, format.count),
        tile("not met with", "count.high", s.count?.high, format.count), tile("a closed loop reached", "closed_loop_per_s", s.closed_loop_per_s, rate)),
    ] },
    { id: "search", title: "Search", content: [...figures(p, probes(s), "Probes"), factTable(p.words)] },
  ];
}

function sweep(p: Capacity) {
  const c = p.curve!;
  return [
    { id: "verdict", title: "Verdict", content: [
      banner(c.fit ? "good" : "doubt", p.words.verdict), ...(p.words.warnings ?? []).map((w) => banner("doubt", w)), factTable(p.words)] },
    { id: "curve", title: "Throughput over load", content: figures(p, points(c), "Runs") },
  ];
}

/** figures are those of the payload that show something, and their table; why there is none. */
function figures(p: Capacity, t: Table, label: string): HTMLElement[] {
  const all = viewsOf(p.figures);
  const shown = all.filter((v) => !v.empty).map((v) => viewFigure({ views: [v], table: () => t }));
  return [shown.length > 0 ? h("div", { class: "views" }, ...shown) : h("p", { class: "empty" }, all[0]?.empty ?? ""),
    ...(t.rows.length > 0 ? [table(t, label)] : [])];
}

function factTable(words: Words): HTMLElement | null {
  const all = words.facts ?? [];
  return all.length === 0 ? null : table({ head: ["", ""], rows: all.map((f) => [f.name, f.text]) }, "In words");
}

function methods(words: Words, all: object): HTMLElement {
  return h("div", {},
    h("h3", {}, "The same again"), copyable(words.command),
    words.lost ? h("p", {}, `Not kept: ${words.lost}.`) : null,
    h("h3", {}, "How it was measured"), list(words.methods),
    h("h3", {}, "Environment"), h("p", {}, words.machine),
    more("Everything that was kept", () => [table(facts(all, ""), "Everything that was kept")]));
}
