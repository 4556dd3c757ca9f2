// The legend of a figure: a mark for each line, area or point, with its name.

import { h, svg } from "./dom";

/** A Mark is a line of the legend: what is drawn how. */
export interface Mark {
  name: string;
  colour: string; // as CSS writes it
  dash?: string; // as stroke-dasharray has it: what colours say, shapes say too
  shape?: "line" | "area" | "dot" | "cross" | "diamond" | "square";
}

/** legend is a list of marks with their names. */
export function legend(marks: Mark[]): HTMLElement {
  return h("ul", { class: "legend" }, ...marks.map((m) => h("li", {}, swatch(m), m.name)));
}

/** swatch draws a mark. */
function swatch(m: Mark): SVGElement {
  const shape = m.shape ?? "line";
  const box = svg("svg", { class: "swatch", width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" });
  if (shape === "area") box.append(svg("rect", { x: 4, y: 1, width: 18, height: 10, fill: m.colour }));
  else if (shape === "dot") box.append(svg("circle", { cx: 13, cy: 6, r: 4, fill: m.colour }));
  else if (shape === "square") box.append(svg("rect", { x: 9, y: 2, width: 8, height: 8, fill: m.colour }));
  else if (shape === "diamond") box.append(svg("path", { d: "M13 0L18 6L13 12L8 6Z", fill: m.colour }));
  else if (shape === "cross") box.append(svg("path", { d: "M9 2L17 10M17 2L9 10", stroke: m.colour, "stroke-width": 2.5 }));
  else box.append(svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, stroke: m.colour, "stroke-width": 2.5, "stroke-dasharray": m.dash || null }));
  return box;
}
