// A View is a plot as package chart makes it: axes, marks and texts. What it shows is decided there; draw.ts draws it.

/** A Kind is how a mark is drawn, as package chart has it; the empty one is a line. */
export type Kind = "" | "steps" | "rect" | "dot" | "area" | "caption" | "text" | "rule";
/** A Shape is that of a dot; the empty one is a circle. */
export type Shape = "" | "ring" | "square" | "triangle" | "cross" | "diamond";

export type Column = (number | null)[];

export interface Tick {
  at: number;
  text: string;
}

export interface Axis {
  low: number;
  high: number;
  log?: boolean;
  label?: string;
  ticks: Tick[] | null;
  unit?: string; // of values: see amount in format.ts
  other?: Axis; // that the reader can have in its place
  name?: string; // by which the reader chooses one of the two
}

export interface Row {
  label: string;
  below?: string; // the label, smaller
  value?: string; // between label and field
  says?: string;
  short?: string; // of what it says, where there is little room
  note?: string; // after what it says
  ink?: string;
  head?: boolean;
  of?: string;
}

export interface Mark {
  kind?: Kind;
  name?: string;
  of?: string;
  part?: string; // by which the reader can leave it out
  says?: string;
  each?: string[]; // of each point, for who points at it
  x: Column;
  y: Column;
  low?: Column; // of steps: where they begin; of an area: its other side
  ink?: string; // a variable of the style sheet
  alpha?: number;
  width?: number;
  dash?: number;
  shape?: Shape;
  left?: boolean;
}

export interface Key {
  name: string;
  of?: string;
  ink: string;
  dash?: number;
  kind?: Kind;
  shape?: Shape;
}

export interface Panel {
  title: string;
  of?: string;
  x: Axis;
  y: Axis;
  marks: Mark[];
}

export interface View {
  name: string;
  title: string;
  unit: string;
  summary?: string;
  legend?: Key[];
  x: Axis;
  y: Axis;
  rows?: Row[];
  marks?: Mark[];
  panels?: Panel[];
  height?: number;
  foot?: string[];
  left?: string; // of foot: that not all lines are drawn
  of?: string; // the unit of the values alone
  empty?: string;
  section?: string;
  figure?: string; // that has a choice of several views
  choice?: { of: string; name: string; label?: string }[];
  level?: string;
  cursor?: boolean;
}

/** Figures are views as the page's data has them: the numbers of marks are columns, by their places. */
export interface Figures {
  columns: (Column | string[])[];
  views: View[];
}

/** viewsOf puts the columns where they belong. */
export function viewsOf(f: Figures): View[] {
  const column = <T>(i: unknown): T => f.columns[i as number] as T;
  const whole = (all: Mark[] | undefined) => (all ?? []).map((m): Mark => ({ ...m, x: column(m.x), y: column(m.y),
    ...(m.low === undefined ? {} : { low: column<Column>(m.low) }), ...(m.each === undefined ? {} : { each: column<string[]>(m.each) }) }));
  return f.views.map((v) => ({ ...v, marks: whole(v.marks), panels: v.panels?.map((p) => ({ ...p, marks: whole(p.marks) })) }));
}

/** within is a view whose marks end with its x axis, which may be shorter than they are. */
export const within = (v: View): View => ({ ...v, marks: (v.marks ?? []).map((m) => shortened(m, v.x)), panels: v.panels?.map((p) => ({ ...p, marks: p.marks.map((m) => shortened(m, p.x)) })) });

function shortened(m: Mark, x: Axis): Mark {
  if (m.kind === "rect") return m; // two points each: the axis cuts them
  const end = x.high + (x.high - x.low) * 1e-3; // columns have fewer digits than axes: the last point may lie beyond
  const there = m.x.map((v) => v === null || v <= end);
  return { ...m, x: m.x.filter((_, i) => there[i]), y: m.y.filter((_, i) => there[i]), low: m.low?.filter((_, i) => there[i]), each: m.each?.filter((_, i) => there[i]) };
}

/** without is a view without what is of some variants. Its axes stay as they are. */
export function without(v: View, hidden: (variant: string) => boolean): View {
  const stays = (part: { of?: string }) => part.of === undefined || !hidden(part.of);
  const rows = v.rows ?? [];
  const below = (y: number | null) => (y === null ? null : y - rows.filter((r, i) => !stays(r) && i + 0.5 < y).length);
  const marks = (v.marks ?? []).filter(stays);
  return { ...v, legend: v.legend?.filter(stays), panels: v.panels?.filter(stays), rows: v.rows?.filter(stays),
    marks: rows.every(stays) ? marks : marks.map((m) => ({ ...m, y: m.y.map(below) })) };
}
