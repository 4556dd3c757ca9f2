// The history: what is stored, as series of one configuration on one machine, each with a plot of a
// measure and the changes that were found in it; and experiments, each with its earlier runs.

import { colour, dash } from "../chart";
import { Cursors } from "../cursor";
import { h } from "../dom";
import { figure } from "../figure";
import * as format from "../format";
import { amount } from "../experiment/amount";
import { banner, list, more } from "../layout";
import { requestJSON, problemText } from "../live/api";
import { frame, section } from "../live/frame";
import * as state from "../state";
import { Cell, cell, sentenceCell, table, Table, timeCell } from "../table";
import { choices, drawCourse, dotX } from "./course";
import type { Course, Dot, Stretch, Turn } from "./course";
import { pastViews } from "./past";
import type { Past } from "./past";

interface Run {
  id: string;
  started: string;
  value: number;
  over?: boolean; // value is only known to be higher
  verdict: string;
  note?: string;
}

interface Series {
  id: string;
  name: string;
  url: string;
  load: string;
  machine: string;
  runs: Run[];
  changes: Turn[] | null;
  stretches: Stretch[] | null;
}

interface LabRun {
  id: string;
  started: string;
  state: string;
  trials: number;
  different: number;
  compared: number;
  gate?: string;
  dyno: string;
}

interface History {
  metric: string;
  measures: { name: string; unit: string; better: number }[];
  machine: string;
  machines: { id: string; words: string; results: number; this?: boolean }[];
  series: Series[];
  experiments: { name: string; quick?: boolean; machine: string; runs: LabRun[] }[];
  problems: string[];
}

const plotsMost = 40; // series that are drawn, those with the newest results
const unitOf = (all: History, metric: string) => all.measures.find((m) => m.name === metric)?.unit ?? "";
const report = (id: string) => "/results/" + encodeURIComponent(id);
const labReport = (id: string) => `/labs/${encodeURIComponent(id)}/report`;
const link = (href: string, text: string): Cell => ({ text, node: h("a", { href, class: "nowrap" }, text) });

/** show fills the document, and asks again when another measure or machine is chosen. */
export function show(): void {
  const bar = h("div", { class: "toolbar" });
  const results = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  const labs = h("div", { class: "stored" });
  frame("History", "What is stored, as it went: series of one configuration on one machine",
    bar, section("series", "Results", results), section("labs", "Experiments", labs));
  let asked = 0;
  const fill = async () => {
    const mine = ++asked;
    const query = new URLSearchParams({ metric: state.get("metric"), machine: state.get("machine") });
    try {
      const all: History = await requestJSON("GET", "/api/history?" + query);
      if (mine !== asked) return; // another was chosen meanwhile
      bar.replaceChildren(...toolbar(all));
      results.replaceChildren(...resultViews(all));
      labs.replaceChildren(...labViews(all));
    } catch (problem) {
      if (mine === asked) results.replaceChildren(banner("bad", problemText(problem)));
    }
  };
  state.onChange((key) => (key === "metric" || key === "machine") && fill());
  fill();
}

function toolbar(all: History): Node[] {
  const choose = (key: string, label: string, chosen: string, options: [string, string][]) => {
    const e = h("select", { id: key, onchange: () => state.set(key, e.value) },
      ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    return h("label", {}, label + " ", e);
  };
  const filter = h("input", { type: "search", id: "filter", value: state.get("filter"), placeholder: "URL, load, note, ID",
    oninput: () => state.set("filter", filter.value) });
  return [
    choose("metric", "measure", all.metric, all.measures.map((m) => [m.name, m.name])),
    choose("machine", "machine", all.machine, [
      ...all.machines.map((m): [string, string] => [m.id, `${m.words}${m.this ? " (this one)" : ""}: ${format.count(m.results)}`]), ["all", "all"]]),
    h("label", {}, "filter ", filter),
  ];
}

/** seriesHasWords reports whether a series has every word of the filter. */
function seriesHasWords(s: Series, filter: string): boolean {
  const text = [s.name, s.url, s.load, s.machine, ...s.runs.flatMap((r) => [r.id, r.note ?? ""])].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function resultViews(all: History): Node[] {
  const troubles = all.problems.map((p) => banner("doubt", p));
  if (all.series.length === 0) {
    return [...troubles, h("p", { class: "empty" }, "Nothing of this machine is stored yet: dyno run, and the form on the page Load, store what they measure.")];
  }
  const body = h("div", {});
  const draw = () => {
    const there = all.series.map((s, k) => ({ s, k })).filter(({ s }) => seriesHasWords(s, state.get("filter")));
    const drawn = there.filter(({ s }) => s.runs.length > 1);
    const left = drawn.length - plotsMost;
    body.replaceChildren(
      seriesTable(all, there),
      h("div", { class: "views" }, ...drawn.slice(0, plotsMost).map(({ s, k }) => seriesView(all, s, k))),
      ...(left > 0 ? [h("p", { class: "caption" }, `${format.count(left)} more series; filter to see them.`)] : []));
  };
  state.follow(body, (key) => key === "filter" && draw());
  draw();
  return [...troubles, body];
}

/** seriesTable has a row for each series: how it stands, and what was found last. */
function seriesTable(all: History, there: { s: Series; k: number }[]): HTMLElement {
  if (there.length === 0) return h("p", { class: "empty" }, "None of them has these words.");
  const several = all.machine === "all";
  const rows = there.map(({ s, k }): (Cell | string)[] => {
    const last = s.runs.length - 1;
    const turn = (s.changes ?? []).at(-1);
    return [
      s.name, s.url, s.load, ...(several ? [s.machine] : []), { text: format.count(s.runs.length), value: s.runs.length },
      last < 0 ? "" : link(report(s.runs[last].id), format.time(s.runs[last].started)),
      last < 0 ? "–" : cell(`series.${k}.runs.${last}.value`, s.runs[last].value, (v) => format.known(s.runs[last].over, amount(unitOf(all, all.metric), v))),
      turn ? sentenceCell(turn.words) : "",
    ];
  });
  return table({ head: ["series", "URL", "load", ...(several ? ["machine"] : []), "runs", "newest", `${all.metric}, newest`, "last change"], rows }, "Series of results");
}

const looks: Record<string, Dot["look"]> = { suspect: "hollow", "client-bound": "cross", failing: "cross" };

/** courseOf is a series as a line: runs that have notes are numbered by them. */
function courseOf(s: Series, unit: string): Course {
  let notes = 0;
  const dots = s.runs.map((r, i): Dot => ({
    i, at: Date.parse(r.started), value: r.value, look: looks[r.verdict], label: r.note ? String(++notes) : undefined,
    title: `${r.id}, ${format.time(r.started)}: ${format.known(r.over, amount(unit, r.value))}, ${r.verdict}${r.note ? `: ${r.note}` : ""}`,
  }));
  return { name: s.name, colour: colour(0), dash: dash(0), dots, turns: s.changes ?? [], stretches: s.stretches ?? [] };
}

function seriesView(all: History, s: Series, k: number): HTMLElement {
  const unit = unitOf(all, all.metric);
  const course = courseOf(s, unit);
  const id = "series-" + s.id;
  const better = all.measures.find((m) => m.name === all.metric)!.better;
  const time = () => state.get(`${id}.along`) === "time";
  const notes = s.runs.filter((r) => r.note);
  return figure({
    id,
    title: `${s.name}: ${s.url}`,
    unit: `${all.metric} in ${unit}, ${better > 0 ? "more" : "less"} is better; ${s.load}`,
    n: `n = ${format.count(s.runs.length)} results`,
    interval: "a run each: no interval",
    note: "a click opens a report; ○ suspect, ✕ client-bound; numbers: notes; lines across: changes (E-divisive)",
    summary: [`${all.metric} of ${s.runs.length} results, the last ${format.known(s.runs[s.runs.length - 1].over, amount(unit, s.runs[s.runs.length - 1].value))}`, ...(s.changes ?? []).map((c) => c.words)].join(". "),
    toggles: choices,
    table: () => runTable(all, s, k),
    cursor: {
      group: new Cursors(),
      get times() {
        return course.dots.map((d) => dotX(d, time()));
      },
      read: (i) => course.dots[i].title,
    },
    draw: (width, choice) => {
      const drawn = drawCourse(width, [course], unit, choice("along") === "time", choice("from") === "zero");
      drawn.addEventListener("click", (e) => openNearestRun(drawn, e, course, choice("along") === "time", (i) => report(s.runs[i].id)));
      const noted = notes.map((r, i) => `${i + 1}: ${format.time(r.started)}: ${r.note}`);
      const turns = (s.changes ?? []).map((c) => `since ${format.time(s.runs[c.at]?.started ?? "")}, ${c.words}`);
      return h("div", {}, drawn, list([...turns, ...noted], "Changes and notes"));
    },
  });
}

/** openNearestRun opens the report of the run that is nearest to a click. */
function openNearestRun(plot: SVGSVGElement, e: MouseEvent, c: Course, time: boolean, href: (run: number) => string): void {
  const box = plot.getBoundingClientRect();
  const scale = (plot as unknown as { scale: (name: string) => { apply(v: number): number } }).scale;
  const shrunk = box.width / Number(plot.getAttribute("width"));
  const far = (d: Dot) => Math.hypot(scale("x").apply(dotX(d, time)) * shrunk - (e.clientX - box.left), scale("y").apply(d.value) * shrunk - (e.clientY - box.top));
  const nearest = c.dots.map((d) => ({ d, far: far(d) })).sort((a, b) => a.far - b.far)[0];
  if (nearest && nearest.far < 16) h("a", { href: href(nearest.d.i) }).click();
}

function runTable(all: History, s: Series, k: number): Table {
  const unit = unitOf(all, all.metric);
  const rows = s.runs.map((r, i): (Cell | string)[] => {
    const at = (s.changes ?? []).findIndex((c) => c.at === i);
    const of = (key: "ratio" | "low" | "high") => (at < 0 ? "" : cell(`series.${k}.changes.${at}.${key}`, s.changes![at][key], format.factorIn(s.changes![at].low, s.changes![at].high)));
    return [
      { text: String(i + 1), value: i + 1 }, link(report(r.id), r.id), timeCell(r.started),
      cell(`series.${k}.runs.${i}.value`, r.value, (v) => format.known(r.over, amount(unit, v))), r.verdict, r.note ?? "", at < 0 ? "" : s.changes![at].verdict, of("ratio"), of("low"), of("high"),
    ];
  });
  return { head: ["run", "ID", "started", all.metric, "generator", "note", "change", "ratio", "low", "high"], rows };
}

/** labViews has the experiments of a name together, with what they found on demand. */
function labViews(all: History): Node[] {
  if (all.experiments.length === 0) return [h("p", { class: "empty" }, "No experiment of this machine is stored: dyno lab run.")];
  const rows = all.experiments.flatMap((e, k) => e.runs.map((r, i): (Cell | string)[] => [
    e.name + (e.quick ? " (quick)" : ""), link("/lab?id=" + encodeURIComponent(r.id), r.id), timeCell(r.started), r.state, r.dyno,
    cell(`experiments.${k}.runs.${i}.trials`, r.trials, format.count),
    cell(`experiments.${k}.runs.${i}.different`, r.different, format.count), cell(`experiments.${k}.runs.${i}.compared`, r.compared, format.count),
    r.gate ?? "", link(labReport(r.id), "report"),
  ]));
  const pasts = all.experiments.filter((e) => e.runs.length > 1).map((e) => more(
    `${e.name}${e.quick ? " (quick)" : ""}: what its runs found, one after the other`, () => [pastOf(all, e.runs[0].id)]));
  return [
    table({ head: ["experiment", "folder", "started", "state", "dyno", "trials", "different", "compared", "gate", ""], rows }, "Stored experiments"),
    ...pasts,
  ];
}

/** pastOf fills itself with the past of an experiment. */
function pastOf(all: History, id: string): HTMLElement {
  const body = h("div", { class: "past" }, h("p", { class: "empty" }, "Looking …"));
  requestJSON("GET", "/api/history/labs/" + encodeURIComponent(id)).then((p: Past | null) => {
    if (!p) {
      body.replaceChildren(h("p", { class: "empty" }, "Its other runs were of another file, or on other CPUs, or did not come to their end."));
      return;
    }
    const arms = [...new Set((p.lines ?? []).map((l) => l.arm))];
    const levels = [...new Set((p.lines ?? []).map((l) => l.level))];
    body.replaceChildren(...pastViews(p, {
      key: "past." + id,
      id: "past-" + id,
      levels: levels.map((name, i) => ({ name, id: "l" + i, words: "" })),
      shown: () => true,
      unit: (m) => unitOf(all, m),
      mark: (arm) => ({ name: arm, colour: colour(arms.indexOf(arm)), dash: dash(arms.indexOf(arm)), shape: "line" }),
      link: labReport,
    }).filter((n) => n !== null));
  }, (problem) => body.replaceChildren(banner("bad", problemText(problem))));
  return body;
}
