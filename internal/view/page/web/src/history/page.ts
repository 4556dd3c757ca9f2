// The history: what is stored, as series of one configuration on one machine, each with a plot of a
// measure and the changes that were found in it; and experiments, each with its earlier runs.

import { Cursors } from "../cursor";
import { h } from "../dom";
import * as format from "../format";
import { banner, list, more } from "../layout";
import { requestJSON, problemText } from "../live/api";
import { frame, section } from "../live/frame";
import * as state from "../state";
import { Cell, cell, sentenceCell, table, Table, timeCell } from "../table";
import { viewsOf } from "../view";
import type { Figures, View } from "../view";
import { viewFigure } from "../viewfigure";
import { linesTable, pastViews } from "./past";
import type { Past, Turn } from "./past";

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
  figures: Figures;
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
      last < 0 ? "–" : cell(`series.${k}.runs.${last}.value`, s.runs[last].value, (v) => format.known(s.runs[last].over, format.amount(unitOf(all, all.metric), v))),
      sentenceCell(turn?.words ?? ""),
    ];
  });
  return table({ head: ["series", "URL", "load", ...(several ? ["machine"] : []), "runs", "newest", `${all.metric}, newest`, "last change"], rows }, "Series of results");
}

const day = 24 * 60 * 60 * 1000; // ms, which the axis of time counts in

function seriesView(all: History, s: Series, k: number): HTMLElement {
  const id = "series-" + s.id;
  const notes = s.runs.filter((r) => r.note).map((r, i) => `${i + 1}: ${format.time(r.started)}: ${r.note}`);
  const turns = (s.changes ?? []).map((c) => `since ${format.time(s.runs[c.at]?.started ?? "")}, ${c.words}`);
  const runX = (i: number) => (state.get(`${id}.along`) === "time" ? (Date.parse(s.runs[i].started) - Date.parse(s.runs[0].started)) / day : i + 1);
  return viewFigure({
    views: viewsOf(s.figures),
    table: () => runTable(all, s, k),
    below: () => list([...turns, ...notes], "Changes and notes"),
    cursors: new Cursors(),
    click: ({ plots: [plot] }, [x, y]) => {
      const far = s.runs.map((r, i) => Math.hypot(plot.x.apply(runX(i)) - x, plot.y(r.value) - y));
      const nearest = far.indexOf(Math.min(...far));
      if (far[nearest] < 16) h("a", { href: report(s.runs[nearest].id) }).click();
    },
  });
}

function runTable(all: History, s: Series, k: number): Table {
  const unit = unitOf(all, all.metric);
  const rows = s.runs.map((r, i): (Cell | string)[] => {
    const at = (s.changes ?? []).findIndex((c) => c.at === i);
    const of = (key: "ratio" | "low" | "high") => (at < 0 ? "" : cell(`series.${k}.changes.${at}.${key}`, s.changes![at][key], () => s.changes![at].texts[key]));
    return [
      { text: String(i + 1), value: i + 1 }, link(report(r.id), r.id), timeCell(r.started),
      cell(`series.${k}.runs.${i}.value`, r.value, (v) => format.known(r.over, format.amount(unit, v))), r.verdict, r.note ?? "", at < 0 ? "" : s.changes![at].verdict, of("ratio"), of("low"), of("high"),
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
    const look = { key: "past." + id, shown: () => true, unit: (m: string) => unitOf(all, m), link: labReport };
    const figures = new Map<string, View[]>();
    for (const v of viewsOf(p.figures!).filter((v) => !v.empty)) figures.set(v.figure!, [...(figures.get(v.figure!) ?? []), v]);
    body.replaceChildren(
      h("div", { class: "views" }, ...[...figures.values()].map((views) => viewFigure({ views, table: () => linesTable(p, { ...look, level: views[0].level ?? "" }) }))),
      ...pastViews(p, { ...look, id: "past-" + id }).filter((n) => n !== null));
  }, (problem) => body.replaceChildren(banner("bad", problemText(problem))));
  return body;
}
