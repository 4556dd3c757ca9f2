// What earlier runs of the same experiment found on the same machine, beside the one shown: in its
// report, and in the dashboard.

import { h } from "../dom";
import { figure } from "../figure";
import { count, digits3, factorIn, known, time } from "../format";
import type { Mark } from "../legend";
import * as state from "../state";
import { Cell, cell, sentenceCell, table, Table, timeCell } from "../table";
import { amount } from "../experiment/amount";
import { choices, drawCourse } from "./course";
import { multiples } from "../multiples";
import type { Course, Dot, Stretch, Turn } from "./course";

type Column = (number | null)[];

export interface PastLine {
  arm: string;
  level: string;
  metric: string;
  median: Column;
  over?: boolean[]; // medians that are only known to be higher
  low: Column;
  high: Column;
  changes?: Turn[];
  stretches?: Stretch[];
}

export interface Past {
  runs: { id: string; started: string; dyno: string; trials: number }[];
  left_out?: number;
  lines: PastLine[] | null;
  differs?: { key: string; values: string[]; of: number[] }[];
}

/** A Look is how a page shows a past: where its numbers are in the JSON, and what its names mean. */
export interface Look {
  key: string; // of the past in the JSON
  id: string; // before the ids of its figures
  levels: { name: string; id: string; words: string }[];
  shown: (arm: string) => boolean;
  first?: string; // the measure shown first
  unit: (metric: string) => string;
  mark: (arm: string) => Mark;
  link: (run: string) => string | null; // to its report
}

/** pastViews has a plot for each level, the changes, and what two runs did not have in common. */
export function pastViews(p: Past, look: Look): (Node | null)[] {
  const views = look.levels.map((l) => view(p, look, l)).filter((f) => f !== null);
  const left = p.left_out ? h("p", { class: "caption" }, `${count(p.left_out)} older runs are not shown.`) : null;
  return [h("div", { class: "views" }, ...views), left, changes(p, look), ...differences(p, look)];
}

/** linesAt are the lines of a level, with their places in the JSON. */
const linesAt = (p: Past, look: Look, level: string) =>
  (p.lines ?? []).map((line, k) => ({ line, k })).filter(({ line }) => line.level === level && look.shown(line.arm));

function courseOf(p: Past, line: PastLine, mark: Mark, unit: string): Course {
  const dots = p.runs.flatMap((r, i): Dot[] => {
    const value = line.median[i];
    if (value === null) return [];
    return [{ i, at: Date.parse(r.started), value, low: line.low[i], high: line.high[i], title: `${line.arm}, ${time(r.started)}, ${r.id}: ${known(line.over?.[i], amount(unit, value))}` }];
  });
  return { name: line.arm, colour: mark.colour, dash: mark.dash ?? "", dots, turns: line.changes ?? [], stretches: line.stretches ?? [] };
}

function view(p: Past, look: Look, level: Look["levels"][number]): HTMLElement | null {
  const here = linesAt(p, look, level.name);
  const metrics = [...new Set(here.map(({ line }) => line.metric))];
  const order = look.first && metrics.includes(look.first) ? [look.first, ...metrics.filter((m) => m !== look.first)] : metrics;
  if (order.length === 0) return null;
  const arms = [...new Set(here.map(({ line }) => line.arm))];
  const bars = here.some(({ line }) => line.low.some((v) => v !== null));
  return figure({
    id: `${look.id}-${level.id}`,
    title: `Runs of this experiment, at ${level.words || level.name}`,
    unit: "medians of the chosen measure, run after run",
    n: `n = ${count(p.runs.length)} runs`,
    interval: bars ? "bars: 95 % intervals of the medians" : "no bars: they take 6 trials",
    note: "the last is the one shown; lines across: changes (E-divisive), bands: medians between them",
    summary: here.filter(({ line }) => line.metric === order[0])
      .map(({ line }) => `${line.arm}, ${line.metric}: ${line.median.flatMap((v, i) => (v === null ? [] : [known(line.over?.[i], amount(look.unit(line.metric), v))])).join(", ")}`).join("; "),
    legend: arms.map(look.mark),
    toggles: [{ key: "measure", label: "measure", options: order.map((m) => [m, m]) }, ...choices],
    table: () => linesTable(p, look, here),
    draw: (width, choice) => {
      const metric = choice("measure");
      const shown = here.filter(({ line }) => line.metric === metric).map(({ line }) => courseOf(p, line, look.mark(line.arm), look.unit(metric)));
      const [time, zero] = [choice("along") === "time", choice("from") === "zero"];
      return multiples(shown.map((c) => c.name), width, (names, each) =>
        drawCourse(each, shown.filter((c) => names.includes(c.name)), look.unit(metric), time, zero, shown));
    },
  });
}

/** run is a cell that names a run, with the way to its report where there is one. */
function run(p: Past, look: Look, i: number): Cell {
  const id = p.runs[i].id;
  const href = look.link(id);
  return { text: id, node: href ? h("a", { href, class: "nowrap" }, id) : h("span", { class: "nowrap" }, id) };
}

function linesTable(p: Past, look: Look, here: { line: PastLine; k: number }[]): Table {
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
    const of = (key: "ratio" | "low" | "high") => cell(`${look.key}.lines.${k}.changes.${j}.${key}`, t[key], factorIn(t.low, t.high));
    return [line.level, line.arm, line.metric, run(p, look, t.at), timeCell(p.runs[t.at].started), of("ratio"), of("low"), of("high"), sentenceCell(t.words)];
  }));
  if (rows.length === 0) return null;
  return h("div", {}, h("h3", {}, "Changes"),
    table({ head: ["level", "variant", "measure", "since", "started", "ratio", "low", "high", "in words"], rows }, "Changes from run to run"));
}

/** differences is what the run shown and another, to choose, did not run in and on alike. */
function differences(p: Past, look: Look): Node[] {
  const last = p.runs.length - 1;
  const key = look.id + ".with";
  const chosen = () => Math.min(Math.max(Math.round(Number(state.get(key, String(last)))) || 1, 1), last) - 1;
  const e = h("select", { onchange: () => state.set(key, e.value) },
    ...p.runs.slice(0, last).map((r, i) => h("option", { value: i + 1, selected: i === chosen() }, `${i + 1}: ${time(r.started)}, ${r.id}`)));
  const body = h("div", { id: look.id + "-diff" });
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
