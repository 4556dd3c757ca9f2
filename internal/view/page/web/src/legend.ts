// The legend of a figure: a mark for each line, area or point, with its name.

import { dash } from "./chart";
import { h, svg } from "./dom";
import { dot } from "./draw";
import type { Key } from "./view";

/** legend is a list of marks with their names. */
export function legend(keys: Key[]): HTMLElement {
  return h("ul", { class: "legend" }, ...keys.map((k) => h("li", {}, swatch(k), h("span", {}, k.name))));
}

/** swatch draws a mark. */
function swatch(k: Key): SVGElement {
  const box = svg("svg", { class: "swatch", width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" });
  if (k.kind === "rect" || k.kind === "area") box.append(svg("rect", { x: 4, y: 1, width: 18, height: 10, fill: `var(--${k.ink})` }));
  else if (k.kind === "dot") box.append(dot(k.shape ?? "", k.ink, 13, 6, 4));
  else box.append(svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: `var(--${k.ink})`, "stroke-width": 2.5, "stroke-dasharray": dash(k.dash ?? 0) || null }));
  return box;
}
