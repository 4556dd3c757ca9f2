// Tables: sortable, numbers to the right, each with the JSON path that it comes from.

import { css, h } from "./dom";
import * as format from "./format";

/** A Cell shows text. One that shows a number of the JSON has its path as key, and the raw value. */
export interface Cell {
  text: string;
  key?: string;
  value?: number | string | null;
  node?: Node; // what is shown instead: a link, a box to tick
  words?: boolean; // the number is among words: the column stays to the left
  sentence?: boolean; // on a telephone it stands below the rest of its row
}

export interface Table {
  head: string[]; // with units, where all of a column have one
  rows: (Cell | string)[][];
  sides?: string; // of its columns, l or r, the last for all that follow; without it those with numbers are to the right
}

/** cell shows a number of the JSON, at the path key, as show writes it; null and undefined as n/a. */
export function cell(key: string, value: number | null | undefined, show: (v: number) => string): Cell {
  return typeof value === "number" ? { text: show(value), key, value } : { text: "n/a", key, value: null };
}

let texts: Record<string, string> = {};

/** setTexts sets how Go writes numbers whose digits another number decides, by their paths in the JSON. */
export const setTexts = (all: Record<string, string>): void => void (texts = all);

/** told shows a number of the JSON, at the path key, as Go writes it; "–" where that has no text for it. */
export const told = (key: string, value: number | null | undefined): Cell =>
  typeof value === "number" && texts[key] === undefined ? { text: "–" } : cell(key, value, () => texts[key]);

/** sentenceCell is a cell with a sentence, which a narrow window does not squeeze. */
export const sentenceCell = (text: string, node: Node | undefined = text ? h("div", { class: "why" }, text) : undefined): Cell => ({ text, node, sentence: true });

/** timeCell is a cell with an instant, in one line. */
export const timeCell = (iso: string): Cell => ({ text: format.time(iso), node: h("span", { class: "nowrap" }, format.time(iso)) });

/** number is an element with a number of the JSON in running text. */
export const number = (key: string, value: number | null | undefined, show: (v: number) => string): HTMLElement => running(cell(key, value, show));

/** running is a cell in running text. */
export const running = (c: Cell): HTMLElement => h("span", cellAttributes(c), c.text);

const isCell = (c: Cell | string | undefined): c is Cell => typeof c === "object";

function cellAttributes(c: Cell): Record<string, string | null> {
  const value = c.value === undefined ? null : c.value === null ? "null" : String(c.value);
  return { "data-key": c.key ?? null, "data-value": value };
}

function sortKey(c: Cell | string | undefined): number | string {
  if (!isCell(c)) return c ?? "";
  return typeof c.value === "number" ? c.value : (c.value ?? c.text);
}

function compareCells(a: Cell | string | undefined, b: Cell | string | undefined): number {
  const [x, y] = [sortKey(a), sortKey(b)];
  if (typeof x === "number" && typeof y === "number") return x - y;
  if (typeof x === "number") return -1;
  if (typeof y === "number") return 1;
  return x.localeCompare(y);
}

const most = 40; // rows that are shown whole; a longer table scrolls
const shortCell = 20; // characters of a cell that stay in one line, as "1.37 ms" and "worse; 1 of grade F"

const phrase = 40; // of one that takes two lines at most, also on a telephone
const shortHead = 14; // characters of a head that stay in one line

/** table makes the element; a click on a head sorts by that column, another one turns it around. */
export function table(t: Table, label: string): HTMLElement {
  const some = (i: number, is: (c: Cell) => boolean) => t.rows.some((r) => isCell(r[i]) && is(r[i] as Cell));
  const isNumber = (i: number) => (t.sides ? t.sides[Math.min(i, t.sides.length - 1)] === "r" : some(i, (c) => c.value !== undefined && !c.words));
  const sides = t.head.map((_, i) => (isNumber(i) ? "number" : some(i, (c) => !!c.sentence) ? "sentences" : null));
  const side = (i: number) => sides[i];
  const look = (i: number, text: string) => side(i) ?? (text === "" ? null : text.length <= shortCell ? "nowrap" : text.length <= phrase ? "phrase" : "words");
  const rows = t.rows.map((r) =>
    h("tr", {}, ...r.map((c, i) =>
      isCell(c) ? h("td", { class: look(i, c.text), ...cellAttributes(c) }, c.node ?? c.text) : h("td", { class: look(i, c) }, c))),
  );
  const body = h("tbody", {}, ...rows);
  const heads = t.head.map((name, i) =>
    name === "" ? h("td", { class: side(i) }) : h("th", { scope: "col", class: (side(i) ?? "") + (name.length > shortHead ? " wordy" : " nowrap"), "aria-sort": "none" },
      h("button", { type: "button", class: "sort", onclick: () => sort(i) }, name)),
  );
  const sort = (column: number) => {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    heads.filter((e) => e.tagName === "TH").forEach((e) => e.setAttribute("aria-sort", "none"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = t.rows.map((_, i) => i).sort((a, b) => compareCells(t.rows[a][column], t.rows[b][column]) * (down ? -1 : 1));
    body.append(...order.map((i) => rows[i]));
  };
  const inner = h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body);
  if (sides.includes("sentences")) css(inner, { "--columns": String(sides.filter((s) => s !== "sentences").length) }).classList.add("told");
  return h("div", { class: rows.length > most ? "scroll long" : "scroll", tabindex: 0, role: "region", "aria-label": label }, inner);
}

/** csv is the table as RFC 4180 has it, with raw numbers. Text that a spreadsheet would compute is quoted. */
export function csv(t: Table): string {
  const field = (c: Cell | string): string => {
    if (isCell(c) && c.value !== undefined) return c.value === null ? "" : String(c.value);
    const text = isCell(c) ? c.text : c;
    const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  return [t.head, ...t.rows].map((r) => r.map(field).join(",")).join("\r\n") + "\r\n";
}

/** facts is a table of an object's values, numbers in their keys' units; nested ones by their path. */
export function facts(object: unknown, path: string, skip: string[] = []): Table {
  const rows: (Cell | string)[][] = [];
  const walk = (v: unknown, at: string, name: string, key: string) => {
    if (skip.includes(at) || key === "hdr") return; // a histogram is for programs
    if (typeof v === "number") rows.push([name, cell(at, v, (n) => format.quantity(key, n))]);
    else if (v === null) rows.push([name, { text: "n/a" }]);
    else if (typeof v === "object") {
      const inner = Object.entries(v as object);
      if (inner.length === 0) rows.push([name, "none"]);
      for (const [k, child] of inner) {
        walk(child, at ? `${at}.${k}` : k, (name ? name + " " : "") + format.keyText(k), /^\d+$/.test(k) ? key : k);
      }
    } else if (v !== undefined) rows.push([name, String(v)]);
  };
  walk(object, path, "", path.split(".").pop() ?? "");
  return { head: ["", "value"], rows };
}
