// What earlier runs of the same experiment found on the same machine, beside the one shown: in its
// report, and in the dashboard.

import { h } from "../dom";
import { count, digits3, known, time } from "../format";
import * as state from "../state";
import { Cell, cell, sentenceCell, table, Table, timeCell } from "../table";
import type { Figures } from "../view";

type Column = (number | null)[];

/** A Turn is a change point: the first run after it, and whether that is worse. */
export interface Turn {
  at: number; // of the runs, from 0
  verdict: string;
  ratio: number;
  low: number;
  high: number;
  words: string;
  texts: { ratio: string; low: string; high: string }; // the numbers as they are written
}

export interface PastLine {
  arm: string;
  level: string;
  metric: string;
  median: Column;
  over?: boolean[]; // medians that are only known to be higher
  low: Column;
  high: Column;
  changes?: Turn[];
}

export interface Past {
  runs: { id: string; started: string; dyno: string; trials: number }[];
  left_out?: number;
  lines: PastLine[] | null;
  figures?: Figures; // of a past that stands alone
  differs?: { key: string; values: string[]; of: number[] }[];
}

/** A Look is how a page shows a past: where its numbers are in the JSON, and what its names mean. */
export interface Look {
  key: string; // of the past in the JSON
  shown: (arm: string) => boolean;
  unit: (metric: string) => string;
  link: (run: string) => string | null; // to its report
}

/** pastViews has the changes, and what two runs did not have in common; id is before the keys of what is chosen. */
export function pastViews(p: Past, look: Look & { id: string }): (Node | null)[] {
  const left = p.left_out ? h("p", { class: "caption" }, `${count(p.left_out)} older runs are not shown.`) : null;
  return [left, changes(p, look), ...differences(p, look.id)];
}

/** run is a cell that names a run, with the way to its report where there is one. */
function run(p: Past, look: Look, i: number): Cell {
  const id = p.runs[i].id;
  const href = look.link(id);
  return { text: id, node: href ? h("a", { href, class: "nowrap" }, id) : h("span", { class: "nowrap" }, id) };
}

/** linesTable has a row for each median at a level. */
export function linesTable(p: Past, look: Look & { level: string }): Table {
  const here = (p.lines ?? []).map((line, k) => ({ line, k })).filter(({ line }) => line.level === look.level && look.shown(line.arm));
  const rows = p.runs.flatMap((r, i) => here.map(({ line, k }): (Cell | string)[] => {
    const of = (key: "median" | "low" | "high") => (line[key][i] === null ? "–" : cell(`${look.key}.lines.${k}.${key}.${i}`, line[key][i], (v) => known(key === "median" && line.over?.[i], digits3(v))));
    return [
      { text: String(i + 1), value: i + 1 }, run(p, look, i), timeCell(r.started), r.dyno, cell(`${look.key}.runs.${i}.trials`, r.trials, count),
      line.arm, `${line.metric} (${look.unit(line.metric)})`, of("median"), of("low"), of("high"),
    ];
  }));
  return { head: ["run", "folder", "started", "dyno", "trials", "variant", "measure", "median", "low", "high"], rows };
}

/** changes is a table of all that were found. */
function changes(p: Past, look: Look): HTMLElement | null {
  const rows = (p.lines ?? []).flatMap((line, k) => (line.changes ?? []).map((t, j): (Cell | string)[] => {
    const of = (key: "ratio" | "low" | "high") => cell(`${look.key}.lines.${k}.changes.${j}.${key}`, t[key], () => t.texts[key]);
    return [line.level, line.arm, line.metric, run(p, look, t.at), timeCell(p.runs[t.at].started), of("ratio"), of("low"), of("high"), sentenceCell(t.words)];
  }));
  if (rows.length === 0) return null;
  return h("div", {}, h("h3", {}, "Changes"),
    table({ head: ["level", "variant", "measure", "since", "started", "ratio", "low", "high", "in words"], rows }, "Changes from run to run"));
}

/** differences is what the run shown and another, to choose, did not run in and on alike. */
function differences(p: Past, id: string): Node[] {
  const last = p.runs.length - 1;
  const key = id + ".with";
  const chosen = () => Math.min(Math.max(Math.round(Number(state.get(key, String(last)))) || 1, 1), last) - 1;
  const e = h("select", { onchange: () => state.set(key, e.value) },
    ...p.runs.slice(0, last).map((r, i) => h("option", { value: i + 1, selected: i === chosen() }, `${i + 1}: ${time(r.started)}, ${r.id}`)));
  const body = h("div", { id: id + "-diff" });
  const fill = () => {
    e.value = String(chosen() + 1);
    const a = chosen();
    const value = (d: { values: string[]; of: number[] }, i: number) => (d.of[i] === undefined || d.of[i] < 0 ? "–" : d.values[d.of[i]]);
    const rows = (p.differs ?? []).filter((d) => d.of[a] !== d.of[last]).map((d) => [d.key, value(d, a), value(d, last)]);
    body.replaceChildren(rows.length === 0 ? h("p", { class: "empty" }, "Nothing that is known of: system, machine, programs and versions are the same.")
      : table({ head: ["", `run ${a + 1}`, "the one shown"], rows }, "What the two runs did not have in common"));
  };
  state.follow(body, (changed) => changed === key && fill());
  fill();
  return [h("h3", {}, "What has changed since"), h("div", { class: "toolbar" }, h("label", {}, "run ", e)), body];
}
