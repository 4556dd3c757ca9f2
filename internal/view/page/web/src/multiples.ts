// Small multiples: a plot of many lines cannot be read, so each line gets a small plot of its own,
// all with the same scales, with the line that it is compared with.

import { clip } from "./chart";
import { css, h } from "./dom";

/** linesMost is how many lines a plot has. */
export const linesMost = 5;

const [least, gap] = [240, 12]; // px of a small plot, and between two

/** multiples is one plot of all the names, or of more than linesMost a small one each, with what beside adds to it. */
export function multiples(names: string[], width: number, draw: (names: string[], width: number) => SVGSVGElement, beside: (name: string) => string[] = () => []): SVGElement | HTMLElement {
  if (names.length <= linesMost) return draw(names, width);
  const columns = Math.max(1, Math.floor((width + gap) / (least + gap)));
  const each = Math.floor((width - gap * (columns - 1)) / columns);
  const base = new Set(names.flatMap(beside));
  const own = names.filter((n) => !base.has(n));
  return css(h("div", { class: "beside" }, ...own.map((n) =>
    h("div", {}, h("p", { class: "caption" }, clip(n, Math.floor(each / 7))), draw([...beside(n), n], each)))), { "--columns": String(columns) });
}
