// The numbers that matter, and the text report in words.

import { h } from "../dom";
import { list } from "../layout";
import type { Tile, Words } from "../result";
import { number, table } from "../table";

/** inWords is the text report: the load, the objectives, and a line for each fact. */
export function inWords(words: Words): HTMLElement {
  return h("div", {},
    h("p", {}, h("strong", {}, "Load: "), words.model),
    list(words.objectives, "Objectives"),
    facts(words));
}

/** tiles are the numbers that are asked for first; null without any. */
export const tiles = (all: Tile[] | null): HTMLElement | null => (all?.length ? h("dl", { class: "tiles" },
  ...all.map((t) => tile(t.name, t.key!, t.value, () => t.text))) : null);

/** tile is one of them, if it is there. */
export function tile(name: string, key: string, value: unknown, show: (v: number) => string): HTMLElement | null {
  return typeof value !== "number" ? null : h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, number(key, value, show)));
}

/** facts is the rest of the text report, line by line. */
export function facts(words: Words): HTMLElement {
  return table({ head: ["", ""], rows: words.facts.map((f) => [f.name, f.text]) }, "The result in words");
}
