// The table of variants by levels: medians with their intervals, letters of those that the trials
// do not tell apart, what a request costs, and each trial in a line of its own.

import { h } from "../dom";
import { download } from "../export";
import { digits3 } from "../format";
import * as state from "../state";
import { Cell, csv, table, told } from "../table";
import { loadOf, Payload, unitOf } from "./data";
import { pointsFew } from "./panel";
import { levelsShown, isShown } from "./shown";
import { sparkline, valuesOf } from "./sparkline";

/** matrix is one table for closed levels and one for open ones. */
export function matrix(p: Payload): (Node | null)[] {
  return [matrixOf(p, "medians-closed", "Closed loops", false), matrixOf(p, "medians-open", "Open loops", true)];
}

/** matrixOf is the table of the levels of a kind; a choice says which measure the lines are of. */
function matrixOf(p: Payload, id: string, title: string, open: boolean): HTMLElement | null {
  const levels = levelsShown(p).filter((l) => l.open === open).map((l) => l.name);
  const metrics = columns(p);
  const key = id + ".of";
  const chosen = () => (metrics.includes(state.get(key)) ? state.get(key) : metrics[0]);
  if (tableOf(p, levels, chosen()).rows.length === 0) return null;
  const body = h("div", {});
  const select = h("select", { onchange: () => state.set(key, select.value) }, ...metrics.map((m) => h("option", { value: m }, m)));
  const fill = () => {
    select.value = chosen();
    body.replaceChildren(table(tableOf(p, levels, chosen()), `${title}: variants by levels`));
  };
  state.follow(body, (changed) => changed === key && fill());
  fill();
  const take = () => download(id + ".csv", new Blob([csv(tableOf(p, levels, chosen()))], { type: "text/csv" }));
  return h(
    "div",
    { id },
    h("h3", {}, title),
    h(
      "p",
      { class: "caption" },
      levels.map((l) => loadOf(p, l)).join(" · ") +
        ". Medians of the trials; half of the width of their 95 % interval is behind ±. Variants that share a letter " +
        "cannot be told apart by these trials; a is best." +
        (isTraced(p) ? " Lines: each trial, in the order of the rounds, all of a level on one scale (hollow: not of grade A; band: the median's interval)." : ""),
    ),
    h(
      "div",
      { class: "toolbar" },
      ...(isTraced(p) ? [h("label", {}, "lines of ", select)] : []),
      h("button", { type: "button", "aria-label": `${title} as CSV`, onclick: take }, "CSV"),
    ),
    body,
  );
}

/** columns are what is judged, and what a request costs in any case. */
function columns(p: Payload): string[] {
  const all = [...p.metrics, "throughput", "p50", "p99", "cpu", "bytes", "memory"];
  return [...new Set(all)].filter((m) => (p.record.cells ?? []).some((c) => c.metric === m));
}

function tableOf(p: Payload, levels: string[], lines: string) {
  const cells = p.record.cells ?? [];
  const metrics = columns(p);
  const rows: (Cell | string)[][] = [];
  const traced = isTraced(p);
  for (const level of levels) {
    for (const arm of p.record.arms) {
      const mine = (metric: string) => cells.findIndex((c) => c.arm === arm.name && c.level === level && c.metric === metric);
      if (metrics.every((m) => mine(m) < 0) || !isShown(p, arm.name)) continue;
      const trials = p.counted?.find((c) => c.arm === arm.name && c.level === level)?.trials.length ?? 0;
      rows.push([
        level,
        arm.name,
        ...(traced ? [trialsCell(p, arm.name, level, lines)] : []),
        ...metrics.map((m) => medianCell(p, mine(m))),
        { text: String(trials), value: trials },
      ]);
    }
  }
  return { head: ["level", "variant", ...(traced ? [`each trial's ${lines}`] : []), ...metrics.map((m) => `${m} (${unitOf(p, m)})`), "trials"], rows };
}

/** isTraced reports whether cells have so many trials that a line of them says something. */
const isTraced = (p: Payload): boolean => (p.counted ?? []).some((c) => c.trials.length > pointsFew);

/** trialsCell is the line of a cell's trials; as text their figures. */
function trialsCell(p: Payload, arm: string, level: string, metric: string): Cell {
  const text = valuesOf(p, arm, level, metric).map((d) => digits3(d.value)).join(" ");
  return { text: text || "n/a", node: sparkline(p, arm, level, metric) ?? undefined };
}

function medianCell(p: Payload, i: number): Cell {
  const c = p.record.cells?.[i];
  if (!c) return { text: "n/a", value: null };
  const shown = told(`record.cells.${i}.median.estimate`, c.median.estimate);
  const rank = (p.record.ranks ?? []).find((r) => r.level === c.level && r.metric === c.metric);
  if (!rank) return shown;
  const letters = rank.groups[rank.arms.indexOf(c.arm)] ?? "";
  return { ...shown, text: `${shown.text} ${letters}`.trim(), node: h("span", {}, shown.text, h("span", { class: "letters" }, letters && " " + letters)) };
}
