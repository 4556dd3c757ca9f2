// Draws a View as SVG, at a width: the only place that draws plots. Colours are variables of the style sheet, so that a
// plot is light or dark without being drawn again. Go draws the same value in internal/view/drawing/draw.go.

import { dash, fitText, textWidth } from "./chart";
import { css, h, svg } from "./dom";
import { amount } from "./format";
import type { Axis, Mark, Panel, Row, Shape, View } from "./view";

/** A Plot is a field that was drawn, with the scale of its x axis. */
export interface Plot {
  svg: SVGSVGElement;
  x: { apply: (v: number) => number; invert: (px: number) => number };
  y: (v: number) => number;
}

export interface Drawn {
  element: SVGSVGElement | HTMLElement;
  plots: Plot[];
}

const small = 12; // px of a text, as the style sheet has it
const below = 11; // of a second line
const [panelLeast, panelGap, panelField] = [240, 12, 118]; // px
const sidesMost = 0.6; // of the width, that texts at the sides of rows take
const ink = (name: string | undefined): string => `var(--${name || "ink"})`;

/** draw draws a view so many pixels wide. */
export function draw(v: View, width: number): Drawn {
  if (v.panels && v.panels.length > 0) return drawPanels(v.panels, width);
  const p = v.rows && v.rows.length > 0 ? drawRows(v, v.rows, width) : drawField(v, width, v.height ?? Math.min(Math.max(width * 0.42, 220), 420) - 64);
  return { element: p.svg, plots: [p] };
}

/** A Field is a plot while it is drawn: where its edges are, in px. */
interface Field {
  out: SVGElement;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Axis;
  y: Axis;
}

function sheet(width: number, height: number): SVGSVGElement {
  return svg("svg", { width, height: Math.ceil(height), viewBox: `0 0 ${width} ${Math.ceil(height)}`, "font-size": small, "font-family": "system-ui, sans-serif", "aria-hidden": "true" });
}

/** place is where a value is between the ends of an axis, 0 and 1; what lies outside is put at the end. */
function place(a: Axis, v: number): number {
  const [low, high, at] = a.log ? [Math.log(a.low), Math.log(a.high), Math.log(v)] : [a.low, a.high, v];
  return high === low ? 0.5 : Math.min(Math.max((at - low) / (high - low), 0), 1);
}

const xAt = (f: Field, v: number): number => f.left + place(f.x, v) * (f.right - f.left);
const yAt = (f: Field, v: number): number => f.bottom - place(f.y, v) * (f.bottom - f.top);

function plotOf(f: Field): Plot {
  const invert = (px: number) => {
    const share = (px - f.left) / (f.right - f.left);
    return f.x.log ? f.x.low * (f.x.high / f.x.low) ** share : f.x.low + share * (f.x.high - f.x.low);
  };
  return { svg: f.out as SVGSVGElement, x: { apply: (v) => xAt(f, v), invert }, y: (v) => yAt(f, v) };
}

/** drawField draws axes and marks in a field so many pixels high; a title stands above it. */
function drawField(v: { x: Axis; y: Axis; marks?: Mark[] }, width: number, height: number, title = ""): Plot {
  const labels = Math.max(0, ...(v.y.ticks ?? []).map((t) => textWidth(t.text, small)));
  const top = title || v.y.label ? 26 : 8; // the text of the highest tick may stand half above it
  const bottom = v.x.label ? 40 : 24;
  const f: Field = { out: sheet(width, top + height + bottom), left: Math.ceil(labels) + 10, right: width - 14, top, bottom: top + height, x: v.x, y: v.y };
  xAxis(f);
  let last = Infinity;
  for (const t of v.y.ticks ?? []) {
    const y = yAt(f, t.at);
    line(f.out, "line", 1, 1, 0, `M${f.left} ${at(y)}H${f.right}`);
    if (last - y < 13) continue;
    write(f.out, t.text, { x: f.left - 6, y: y + 4, "text-anchor": "end" });
    last = y;
  }
  if (title) write(f.out, fitText(title, width - 4, small, "bold"), { x: 2, y: 13, "font-weight": "bold" });
  else if (v.y.label) write(f.out, "↑ " + v.y.label, { x: 2, y: 12, fill: ink("faint") });
  drawMarks(f, v.marks ?? []);
  return plotOf(f);
}

/** xAxis draws the ticks for which there is room, and the label. */
function xAxis(f: Field): void {
  const width = Number(f.out.getAttribute("width"));
  let last = -Infinity;
  for (const t of f.x.ticks ?? []) {
    const x = xAt(f, t.at);
    const half = textWidth(t.text, small) / 2;
    const middle = Math.min(Math.max(x, half), width - half - 1);
    line(f.out, "line", 1, 1, 0, `M${at(x)} ${f.top}V${f.bottom}`);
    if (middle - half < last + 8) continue;
    write(f.out, t.text, { x: at(middle), y: f.bottom + 16, "text-anchor": "middle", "data-axis": "x" });
    last = middle + half;
  }
  if (f.x.label) write(f.out, f.x.label + " →", { x: f.right, y: f.bottom + 33, "text-anchor": "end", fill: ink("faint") });
}

function drawPanels(all: Panel[], width: number): Drawn {
  const columns = Math.max(1, Math.min(all.length, Math.floor((width + panelGap) / (panelLeast + panelGap))));
  const each = Math.floor((width - panelGap * (columns - 1)) / columns);
  const plots = all.map((p) => drawField(p, each, panelField, p.title));
  return { element: css(h("div", { class: "beside" }, ...plots.map((p) => h("div", {}, p.svg))), { "--columns": String(columns) }), plots };
}

/** drawRows draws a plot with a text at each side of a row; where there is no room they stand above the marks. */
function drawRows(v: View, rows: Row[], width: number): Plot {
  const two = rows.some((r) => r.note || r.below);
  const plain = rows.filter((r) => !r.head);
  const most = (of: (r: Row) => string | undefined, size = small) => Math.max(0, ...plain.map((r) => textWidth(of(r) ?? "", size)));
  const narrow = most((r) => r.label) + most((r) => r.says) + 28 > width * sidesMost;
  const each = narrow ? (rows.some((r) => r.label) ? 44 : 26) : two ? Math.max(20, Math.min(36, 420 / rows.length)) : 26;
  const roomy = two && !narrow && each > 28; // for a second line
  const said = (r: Row) => (roomy ? r.says ?? "" : [r.says, r.note].filter((s) => s).join(", "));
  const sides = { name: 0, value: 0, says: 0 };
  if (!narrow) {
    sides.name = Math.min(Math.max(most((r) => r.label), roomy ? most((r) => r.below, below) : 0) + 14, width * 0.35);
    sides.value = width > 700 && plain.some((r) => r.value) ? most((r) => r.value) + 14 : 0;
    sides.says = Math.min(Math.max(most(said), roomy ? most((r) => r.note, below) : 0) + 14, width * 0.38);
  }
  const f: Field = { out: sheet(width, 6 + each * rows.length + (v.x.label ? 40 : 24)), left: 6 + sides.name + sides.value, right: width - 8 - sides.says, top: 6, bottom: 6 + each * rows.length,
    x: v.x, y: { low: rows.length - 0.5 - (narrow ? 0.18 : 0), high: -0.5 - (narrow ? 0.18 : 0), ticks: [] } };
  xAxis(f);
  drawMarks(f, narrow ? (v.marks ?? []).map(flat) : v.marks ?? []);
  rows.forEach((r, i) => {
    const y = f.top + (i + 0.5) * each + 4;
    const mark = ink(r.ink);
    if (narrow && r.label) blank(f, f.top + i * each, r.head ? each : 20);
    if (r.head) return void halo(write(f.out, fitText(r.label, width - 4, small, "bold"), { x: 2, y, "font-weight": "bold" }));
    if (narrow) {
      const short = r.short ?? [r.says, r.note].filter((s) => s).join(", ");
      const kept = fitText(short, width * 0.62, small);
      write(f.out, fitText(r.label, width - textWidth(kept, small) - 16, small), { x: 2, y: y - 10 });
      halo(write(f.out, kept, { x: width - 2, y: y - 10, "text-anchor": "end", fill: mark }));
      return;
    }
    const second = roomy ? [r.below, r.note] : [];
    const line = (i: 0 | 1) => (second[i] ? y - 6 : y);
    write(f.out, fitText(r.label, sides.name - 10, small), { x: sides.name - 2, y: line(0), "text-anchor": "end" });
    if (second[0]) write(f.out, fitText(second[0], sides.name - 10, below), { x: sides.name - 2, y: y + 8, "text-anchor": "end", fill: ink("faint"), "font-size": below });
    if (sides.value > 0 && r.value) write(f.out, r.value, { x: f.left - 8, y, "text-anchor": "end", fill: ink("faint") });
    write(f.out, fitText(said(r), sides.says - 8, small), { x: f.right + 8, y: line(1), fill: mark });
    if (second[1]) write(f.out, fitText(second[1], sides.says - 8, below), { x: f.right + 8, y: y + 8, fill: ink("faint"), "font-size": below });
  });
  return plotOf(f);
}

/** flat is a bar that leaves room for the texts above it. */
const flat = (m: Mark): Mark => (m.kind === "rect" ? { ...m, y: m.y.map((y) => (y === null ? y : y - (y - Math.round(y)) * 0.4)) } : m);

/** at is a place as an attribute. */
const at = (v: number): string => String(Math.round(v * 10) / 10);

function write(out: SVGElement, text: string, attributes: Record<string, string | number>): SVGElement {
  const e = svg("text", { fill: ink("ink"), ...attributes }, text);
  if (text) out.append(e);
  return e;
}

/** blank covers what runs through the line of a text. */
function blank(f: Field, y: number, height: number): void {
  f.out.append(svg("rect", { x: 0, y: at(y), width: f.out.getAttribute("width"), height: at(height), fill: ink("paper") }));
}

/** halo keeps a text readable over what is drawn below it. */
function halo(e: SVGElement): void {
  for (const [k, v] of Object.entries({ stroke: ink("paper"), "stroke-width": 3, "paint-order": "stroke" })) e.setAttribute(k, String(v));
}

function line(out: SVGElement, name: string | undefined, alpha: number, width: number, dashed: number, d: string): SVGElement {
  const e = svg("path", { d, fill: "none", stroke: ink(name), "stroke-opacity": alpha < 1 ? alpha : null, "stroke-width": width, "stroke-dasharray": dash(dashed) || null });
  if (d) out.append(e);
  return e;
}

function drawMarks(f: Field, all: Mark[]): void {
  for (const m of all) {
    const out = svg("g", { "data-mark": m.kind || "line", "data-name": m.name });
    f.out.append(out);
    marks[m.kind ?? ""]({ ...f, out }, m, m.alpha || 1);
  }
}

/** path joins points; null breaks it. */
function path(points: ([number, number] | null)[]): string {
  let pen = "M";
  return points.map((p) => {
    const d = p === null ? "" : `${pen}${at(p[0])} ${at(p[1])}`;
    pen = p === null ? "M" : "L";
    return d;
  }).join("");
}

const pointAt = (f: Field, x: number | null, y: number | null): [number, number] | null => (x === null || y === null ? null : [xAt(f, x), yAt(f, y)]);

type Draw = (f: Field, m: Mark, alpha: number) => void;

/** marks draw each kind. */
const marks: Record<string, Draw> = {
  "": (f, m, alpha) => told(line(f.out, m.ink, alpha, m.width ?? 1, m.dash ?? 0, path(m.x.map((x, i) => pointAt(f, x, m.y[i])))), m),
  steps: (f, m, alpha) => line(f.out, m.ink, alpha, m.width ?? 1, m.dash ?? 0, path(m.x.flatMap((x, i) => {
    const [from, y] = [m.low?.[i] ?? null, m.y[i]];
    const gap = i > 0 && from !== null && from > (m.x[i - 1] ?? from);
    return [...(gap ? [null] : []), pointAt(f, from, y), pointAt(f, x, y)];
  }))),
  rect: (f, m, alpha) => {
    for (let i = 0; i + 1 < m.x.length; i += 2) {
      const [a, b] = [pointAt(f, m.x[i], m.y[i]), pointAt(f, m.x[i + 1], m.y[i + 1])];
      if (!a || !b) continue;
      const e = svg("rect", { x: at(Math.min(a[0], b[0])), y: at(Math.min(a[1], b[1])), width: at(Math.abs(a[0] - b[0])), height: at(Math.abs(a[1] - b[1])),
        fill: ink(m.ink), "fill-opacity": alpha < 1 ? alpha : null, "shape-rendering": "crispEdges" });
      f.out.append(e);
      told(e, m);
    }
  },
  dot: (f, m, alpha) => m.x.forEach((x, i) => {
    const p = pointAt(f, x, m.y[i]);
    if (!p) return;
    const e = dot(m.shape ?? "", m.ink, p[0], p[1], m.width ?? 4, alpha);
    f.out.append(e);
    told(e, m, m.each?.[i] && `${[m.name, m.each[i]].filter((s) => s).join(", ")}: ${amount(f.y.unit ?? "", m.y[i]!)}`);
  }),
  area: (f, m, alpha) => {
    const there = m.x.map((x, i) => ({ x, y: m.y[i], low: m.low?.[i] ?? null })).filter((p) => p.x !== null && p.y !== null && p.low !== null);
    const d = path([...there.map((p) => pointAt(f, p.x, p.y)), ...there.reverse().map((p) => pointAt(f, p.x, p.low))]);
    if (d) f.out.append(svg("path", { d: d + "Z", fill: ink(m.ink), "fill-opacity": alpha < 1 ? alpha : null }));
  },
  rule: (f, m, alpha) => m.x.forEach((x) => x !== null && told(line(f.out, m.ink, alpha, m.width ?? 1, m.dash ?? 0, `M${at(xAt(f, x))} ${f.top}V${f.bottom}`), m)),
  text: (f, m) => m.x.forEach((x, i) => {
    const p = pointAt(f, x, m.y[i]);
    if (p) halo(write(f.out, fitText(m.name ?? "", (m.left ? p[0] - f.left : f.right - p[0]) - 12, small), { x: at(p[0] + (m.left ? -9 : 9)), y: at(p[1] + 4), "text-anchor": m.left ? "end" : "start", fill: ink(m.ink) }));
  }),
  caption: (f, m) => {
    const [a, b] = [pointAt(f, m.x[0], m.y[0]), pointAt(f, m.x[1], m.y[1])];
    if (a && b) write(f.out, fitText(m.name ?? "", b[0] - a[0] - 6, small), { x: at(a[0] + 3), y: at((a[1] + b[1]) / 2 + 4) });
  },
};

/** told gives an element the words for who points at it. */
function told(e: SVGElement, m: Mark, says = m.says): void {
  if (says) e.append(svg("title", {}, says));
}

/** dot is a shape of that radius. */
export function dot(shape: Shape, name: string | undefined, x: number, y: number, r: number, alpha = 1): SVGElement {
  const fill = { fill: ink(name), "fill-opacity": alpha < 1 ? alpha : null };
  const turned = (n: number, turn: number) => path(Array.from({ length: n }, (_, k): [number, number] => {
    const angle = turn + (2 * Math.PI * k) / n;
    return [x + r * Math.sin(angle), y - r * Math.cos(angle)];
  })) + "Z";
  if (shape === "square") return svg("path", { d: turned(4, Math.PI / 4), ...fill });
  if (shape === "diamond") return svg("path", { d: turned(4, 0), ...fill });
  if (shape === "triangle") return svg("path", { d: turned(3, 0), ...fill });
  if (shape === "cross") return svg("path", { d: `M${at(x - r)} ${at(y - r)}L${at(x + r)} ${at(y + r)}M${at(x - r)} ${at(y + r)}L${at(x + r)} ${at(y - r)}`, fill: "none", stroke: ink(name), "stroke-width": 2 });
  if (shape === "ring") return svg("circle", { cx: at(x), cy: at(y), r, fill: ink("paper"), stroke: ink(name), "stroke-width": 1.8 });
  return svg("circle", { cx: at(x), cy: at(y), r, ...fill });
}
