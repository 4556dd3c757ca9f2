// The last results as cards: what each is of, its rate and p99 with their change from the one before of the same load,
// the line of that load's results so far, and what its report says first.

import { extent } from "../chart";
import { h, svg } from "../dom";
import * as format from "../format";
import { copyButton } from "../layout";
import { number } from "../table";
import { requestJSON } from "./api";

/** Stored is a result in the list. */
export interface Stored {
  id: string;
  started?: string;
  url?: string;
  model?: string;
  load?: string;
  completed?: number;
  p99_us?: number;
  p99_over?: boolean;
  errors_percent?: number;
  verdict?: string;
  note?: string;
  partial?: string;
  streams?: StreamFigure[]; // the same for each result of streams
  series: number;
  completed_change?: Change;
  p99_change?: Change;
  since?: string;
}

/** A StreamFigure is a number of a result's streams, with the head of its column. */
interface StreamFigure {
  name: string;
  unit: string;
  value?: number; // absent: there is none
  over?: boolean; // it is only known to be higher
}

/** A Change is by how much a value differs from the one before, and whether it is more (1), less (-1) or neither (0). */
interface Change {
  text: string;
  sign: number;
}

/** Answered is the beginning of a report. */
export interface Answered {
  box: "clear" | "note" | "doubt" | "bad";
  summary: string;
  card: Row[]; // three lines
  more: Row[] | null;
}

/** A Row is a line of a document. */
interface Row {
  name: string;
  text: string;
  aside?: boolean;
}

const marks = { clear: ["good", "✓"], note: ["plain", "i"], doubt: ["doubt", "!"], bad: ["bad", "✕"] } as const;
const mostRuns = 30; // in a line

/** Changes are the change points of p99, in words, by the first result after each. */
export type Changes = Map<string, string>;

const leastRuns = 8; // of a load, before it can have a change point: four on each side

/** changesOf asks for the change points, if any load has been run often enough for one. */
export async function changesOf(all: Stored[]): Promise<Changes> {
  const runs = new Map<number, number>();
  for (const r of all) runs.set(r.series, (runs.get(r.series) ?? 0) + 1);
  const found: Changes = new Map();
  if (![...runs.values()].some((n) => n >= leastRuns)) return found;
  const past: { series: { runs: { id: string }[]; changes: { at: number; words: string }[] | null }[] } = await requestJSON("GET", "/api/history?metric=p99&machine=all");
  for (const s of past.series) for (const c of s.changes ?? []) found.set(s.runs[c.at]?.id ?? "", c.words);
  return found;
}

/** cards are cards of results; noteEditor makes what shows and changes the note on one. */
export function cards(shown: Stored[], all: Stored[], changes: Changes, chosen: Set<string>, choose: (id: string, on: boolean) => void, noteEditor: (r: Stored) => Node): HTMLElement {
  return h("ul", { class: "cards", "aria-label": "Results" }, ...shown.map((r, i) => card(r, i, all, changes, chosen, choose, noteEditor)));
}

function card(r: Stored, i: number, all: Stored[], changes: Changes, chosen: Set<string>, choose: (id: string, on: boolean) => void, noteEditor: (r: Stored) => Node): HTMLElement {
  const report = "/results/" + encodeURIComponent(r.id);
  const box = h("input", { type: "checkbox", "aria-label": `compare ${r.id}`, checked: chosen.has(r.id), onchange: () => choose(r.id, box.checked) });
  const said = h("div", { class: "said" }, r.verdict ?? "");
  const share = h("span", { class: "toolbar" }, h("a", { href: report + "?download", download: `${r.id}.html`, "aria-label": `download the page of ${r.id}` }, "download"));
  requestJSON("GET", `/api/results/${encodeURIComponent(r.id)}/answer`).then((a: Answered) => {
    said.replaceChildren(...verdict(a));
    share.append(copyButton(a.summary, "copy summary"));
  }, () => undefined); // the card has the verdict in a word
  return h("li", { class: "card", "data-id": r.id },
    h("div", { class: "top" }, h("label", { class: "tick" }, box), h("h3", {}, h("a", { href: report }, r.url ?? r.id))),
    h("p", { class: "caption" }, r.load ?? r.model ?? ""),
    h("div", { class: "figures" },
      figureOf("requests/s", `${i}.completed`, r.completed, format.digits3, r.completed_change, 1),
      figureOf("p99", `${i}.p99_us`, r.p99_us, (v) => format.known(r.p99_over, format.duration(v)), r.p99_change, -1),
      ...(r.streams ?? []).map((f, k) => (f.value === undefined ? null : figureOf(f.name, `${i}.streams.${k}.value`, f.value, streamText(f), undefined, 0))),
      sparkline(r, all, changes)),
    said,
    r.partial ? h("p", { class: "caption" }, "partial: " + r.partial) : null,
    h("p", { class: "caption foot" }, h("span", { class: "nowrap" }, format.time(r.started ?? "")), " · ", r.id, " · ", noteEditor(r)),
    share);
}

/** streamText writes a number of streams below a head that has its unit, but for times. */
export const streamText = (f: StreamFigure) => (v: number): string => format.known(f.over, f.unit === "µs" ? format.duration(v) : format.digits3(v));

/** verdict is what the report says first, with the mark of its box. */
export function verdict(a: Answered): Node[] {
  const [kind, mark] = marks[a.box];
  const line = (r: Row) => h("span", { class: r.aside ? `why-not ${kind}` : "line" }, r.name === "" || r.aside ? r.text : `${r.name}: ${r.text}`);
  const rest = !a.more ? null : h("details", { class: "more" }, h("summary", {}, "More"),
    h("ul", { class: "cautions" }, ...a.more.map((r) => h("li", {}, r.aside ? r.text : `${r.name}: ${r.text}`))));
  return [h("span", { class: `mark ${kind}`, "aria-hidden": "true" }, mark), h("div", {}, ...a.card.map(line), rest)];
}

/** figureOf is a figure with its change, which one run each does not judge: it has no colour. */
function figureOf(name: string, key: string, value: number | undefined, show: (v: number) => string, change: Change | undefined, better: number): HTMLElement {
  const word = !change ? "" : change.sign === 0 ? " as before" : change.sign === better ? " (better)" : " (worse)";
  return h("dl", { class: "figure" }, h("dt", {}, name),
    h("dd", {}, value === undefined ? "–" : number(key, value, show), change ? h("span", { class: "change", title: `than the last of the same load${word}` }, " " + change.text) : null));
}

const [width, height, rim] = [120, 34, 4];

/** sparkline is p99 of the results of the same load up to this one, the newest last, with its change points; nothing if
    it is the first. */
function sparkline(r: Stored, all: Stored[], changes: Changes): HTMLElement {
  const at = all.indexOf(r);
  const runs = all.slice(at).filter((o) => o.series === r.series && !o.partial && o.p99_us !== undefined).slice(0, mostRuns).reverse();
  const values = runs.map((o) => o.p99_us!);
  const span = extent(values);
  if (values.length < 2 || !span) {
    const first = !all.slice(at + 1).some((o) => o.series === r.series);
    return h("span", { class: "caption" }, first ? "the first of this load" : "");
  }
  const x = (i: number) => rim + (i * (width - 2 * rim)) / (values.length - 1);
  const y = (v: number) => height - rim - ((v - Math.min(span[0], 0)) / (span[1] || 1)) * (height - 2 * rim);
  const turns = runs.flatMap((o, i) => (i > 0 && changes.has(o.id) ? [{ i, words: changes.get(o.id)! }] : []));
  const said = [`p99 of the last ${values.length} of this load: ${runs.map((o) => format.known(o.p99_over, format.duration(o.p99_us!))).join(", ")}`, ...turns.map((t) => t.words)].join("; ");
  const line = svg("svg", { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said },
    svg("title", {}, said),
    ...turns.map((t) => svg("line", { class: "turn", x1: (x(t.i) + x(t.i - 1)) / 2, x2: (x(t.i) + x(t.i - 1)) / 2, y1: 0, y2: height, stroke: "var(--doubt)", "stroke-width": 1.5, "stroke-dasharray": "3 2" })),
    svg("polyline", { points: values.map((v, i) => `${x(i)},${y(v)}`).join(" "), fill: "none", stroke: "var(--c1)", "stroke-width": 1.5 }),
    svg("circle", { cx: x(values.length - 1), cy: y(values.at(-1)!), r: 2.5, fill: "var(--c1)" }));
  return h("dl", { class: "figure" }, h("dt", {}, `p99, last ${values.length} runs`), h("dd", {}, line));
}
