// How servers come to speed, in numbers.

import { h } from "../dom";
import { count, duration, percent } from "../format";
import { Cell, cell, table } from "../table";
import { Payload } from "./data";
import { levelsShown, isShown } from "./shown";

/** comings is how long servers took, in a table. */
export function comings(p: Payload): HTMLElement | null {
  if ((p.comings ?? []).length === 0) return null;
  return h(
    "div",
    {},
    h("h3", {}, "From the start of the processes"),
    h("p", { class: "caption" }, "Medians of the trials with their 95 % intervals."),
    table(comingsTable(p), "Time to the first right answer and to steady throughput"),
  );
}

/** startsTable has a row for each trial: its start, and what MSER-5 says of its window. */
export function startsTable(p: Payload, level: string) {
  const trials = p.record.trials ?? [];
  const here = (p.starts ?? []).map((s, i) => ({ s, i })).filter(({ i }) => trials[i].level === level && trials[i].round < 1001 && isShown(p, trials[i].arm));
  const rows = here.map(({ s, i }): (Cell | string)[] => {
    const t = (p.record.trials ?? [])[i];
    const of = (key: "cut_s" | "at_s" | "change" | "standard_errors", show: (v: number) => string) =>
      s.cut === undefined ? "–" : s.cut[key] === undefined ? "" : cell(`starts.${i}.cut.${key}`, s.cut[key], show);
    const verdict = !s.cut ? "too few seconds" : s.cut.cold ? "not warm" : s.cut.settled ? "warm" : "not at rest";
    return [
      t.arm,
      cell(`record.trials.${i}.round`, t.round, count),
      cell(`starts.${i}.ready_s`, s.ready_s, (v) => duration(v * 1e6)),
      s.steady ?? "",
      of("cut_s", (v) => duration(v * 1e6)),
      of("at_s", (v) => duration(v * 1e6)),
      of("change", (v) => percent(100 * v)),
      of("standard_errors", (v) => v.toFixed(1)),
      verdict,
    ];
  });
  return {
    head: [
      "variant",
      "round",
      "first right answer",
      "warm-up steady",
      "MSER-5 leaves out",
      "and begins at",
      "throughput is higher without, by",
      "standard errors",
      "window",
    ],
    rows,
  };
}

function comingsTable(p: Payload) {
  const rows: (Cell | string)[][] = [];
  (p.comings ?? []).forEach((c, i) => {
    if (!isShown(p, c.arm) || !levelsShown(p).some((l) => l.name === c.level)) return;
    const of = (what: "ready" | "steady", end: "low" | "estimate" | "high") =>
      cell(`comings.${i}.${what}.${end}`, c[what]?.[end], (s) => duration(s * 1e6));
    rows.push([
      c.level,
      c.arm,
      of("ready", "estimate"),
      of("ready", "low"),
      of("ready", "high"),
      of("steady", "estimate"),
      of("steady", "low"),
      of("steady", "high"),
      cell(`comings.${i}.trials`, c.trials, count),
    ]);
  });
  return { head: ["level", "variant", "first right answer", "low", "high", "steady", "low ", "high ", "trials"], rows };
}
