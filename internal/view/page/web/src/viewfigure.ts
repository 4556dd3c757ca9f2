// A figure of views: the frame, what the reader can choose, and what the cursor reads out.

import { Cursors } from "./cursor";
import { h } from "./dom";
import { draw, Drawn } from "./draw";
import { figure, Toggle } from "./figure";
import { amount } from "./format";
import type { Table } from "./table";
import { Axis, Column, Mark, View, within, without } from "./view";

export interface Shown {
  views: View[] | (() => View[]); // of one figure; the reader chooses if there are several
  table?: (shown: View) => Table; // absent: what is drawn
  click?: (drawn: Drawn, at: [x: number, y: number]) => void;
  below?: () => HTMLElement | null; // the plot
  cursors?: Cursors;
  hidden?: (variant: string) => boolean; // what the reader has left out
}

/** viewFigure frames views. */
export function viewFigure(o: Shown): HTMLElement {
  const views = typeof o.views === "function" ? o.views : () => o.views as View[];
  const [first] = views();
  const id = first.figure ?? first.name;
  const toggles = togglesOf(views());
  let chosen = (key: string) => toggles.find((t) => t.key === key)?.options[0][0] ?? "";
  const shown = (): View => {
    const found = views().find((v) => (v.choice ?? []).every((c) => chosen(c.of) === c.name)) ?? views()[0];
    const left = new Set(partsOf(found).filter((part) => chosen(part) === "no"));
    const stays = (m: Mark) => !m.part || !left.has(m.part);
    const other = (a: Axis, key: string) => (a.other && chosen(key) === a.other.name ? a.other : a);
    const of = (p: { x: Axis; y: Axis; marks?: Mark[] }) => ({ x: other(p.x, "span"), y: other(p.y, "scale"), marks: (p.marks ?? []).filter(stays) });
    const view = within({ ...found, ...of(found), panels: found.panels?.map((p) => ({ ...p, ...of(p) })) });
    return o.hidden ? without(view, o.hidden) : view;
  };
  let times: number[] = [];
  return figure({
    id,
    get title() { return shown().title; },
    get unit() { return shown().unit; },
    get n() { return (shown().foot ?? []).join(" · "); },
    get summary() { return shown().summary || [shown().title, shown().unit].join(": "); },
    get legend() { return shown().legend ?? []; },
    empty: typeof o.views === "function" || views().some((v) => !v.empty) ? undefined : first.empty,
    toggles,
    table: () => (o.table ?? drawnTable)(shown()),
    cursor: o.cursors && first.cursor ? { group: o.cursors, get times() { return times; }, read: (i) => readingsAt(shown(), times[i]) } : undefined,
    draw: (width, choice) => {
      chosen = choice;
      const view = shown();
      if (view.empty) return h("p", { class: "empty" }, view.empty);
      times = timesOf(view);
      const drawn = draw(view, width);
      if (o.click) drawn.element.addEventListener("click", (e) => o.click!(drawn, placeOf(drawn.plots[0].svg, e as MouseEvent)));
      const below = o.below?.();
      return below ? { ...drawn, element: h("div", {}, drawn.element, below) } : drawn;
    },
  });
}

/** togglesOf are the choices between views, and that of the scale where an axis has another. */
function togglesOf(all: View[]): Toggle[] {
  const toggles: Toggle[] = [];
  for (const c of all.flatMap((v) => v.choice ?? [])) {
    let t = toggles.find((t) => t.key === c.of);
    if (!t) toggles.push((t = { key: c.of, label: c.of, options: [] }));
    if (!t.options.some(([name]) => name === c.name)) t.options.push([c.name, c.label ?? c.name]);
  }
  const axes = (of: "x" | "y") => all.flatMap((v) => [v[of], ...(v.panels ?? []).map((p) => p[of])]).find((a) => a.other);
  for (const [key, label, axis] of [["scale", "scale", axes("y")], ["span", "to", axes("x")]] as const) {
    if (axis) toggles.push({ key, label, options: [axis, axis.other!].map((a) => [a.name!, a.name!]) });
  }
  for (const part of new Set(all.flatMap(partsOf))) toggles.push({ key: part, label: part, options: [["yes", "each"], ["no", "together"]] });
  return toggles;
}

const partsOf = (v: View): string[] => [...new Set(marksOf(v).flatMap((m) => m.part ?? []))];

/** placeOf is where a plot was clicked, in its own pixels. */
function placeOf(plot: SVGSVGElement, e: MouseEvent): [number, number] {
  const box = plot.getBoundingClientRect();
  const shrunk = box.width / Number(plot.getAttribute("width"));
  return [(e.clientX - box.left) / shrunk, (e.clientY - box.top) / shrunk];
}

const marksOf = (v: View): Mark[] => [...(v.marks ?? []), ...(v.panels ?? []).flatMap((p) => p.marks)];
const known = (c: Column): number[] => c.filter((x) => x !== null);

/** timesOf are the ends of the intervals of a view over time: those of steps, or the points of lines where there is none. */
function timesOf(v: View): number[] {
  const named = marksOf(v).filter((m) => m.name);
  const steps = named.filter((m) => m.kind === "steps");
  return [...new Set((steps.length > 0 ? steps : named).flatMap((m) => known(m.x)))].sort((a, b) => a - b);
}

const mostRead = 8; // lines that the cursor reads out

/** readingsAt is what the lines are at the end of an interval. */
function readingsAt(v: View, t: number): string {
  const told = marksOf(v).flatMap((m) => m.each?.[m.x.indexOf(t)] ?? []);
  if (told.length > 0) return told.join("; ");
  const lines = new Map<string, Mark>(marksOf(v).filter((m) => m.name && (m.kind === "steps" || !m.kind)).map((m) => [m.name!, m]));
  const all = [...lines].flatMap(([name, m]) => {
    const i = m.x.indexOf(t);
    const y = i < 0 ? null : m.y[i];
    return i < 0 && m.kind !== "steps" ? [] : [`${name} ${y === null ? "–" : amount((v.panels?.[0]?.y ?? v.y).unit ?? "", y)}`];
  });
  return `${t.toFixed(1)} s: ${all.slice(0, mostRead).join(", ")}${all.length > mostRead ? " …" : ""}`;
}

/** drawnTable is what a view draws, point by point. */
function drawnTable(v: View): Table {
  const point = (unit: string, x: number | null) => (x === null ? "–" : { text: amount(unit, x), value: x });
  const [x, y] = [v.panels?.[0]?.x ?? v.x, v.panels?.[0]?.y ?? v.y].map((a) => a.unit ?? "");
  if (v.rows) return { head: ["", v.x.label ?? ""], rows: v.rows.map((r) => [r.label, [r.says, r.note].filter((s) => s).join(", ")]) };
  return {
    head: ["", v.x.label || "x", v.y.label || "y"],
    rows: marksOf(v).filter((m) => m.name && (m.kind === "steps" || m.kind === "dot" || !m.kind)).flatMap((m) => m.x.map((at, i) => [m.name!, point(x, at), point(y, m.y[i])])),
  };
}
