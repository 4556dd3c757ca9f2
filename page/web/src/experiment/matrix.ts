// The table of variants by levels: medians with their intervals, letters of those that the trials
// do not tell apart, and what a request costs.

import { h } from "../dom";
import { bytes, digits3, duration, rate } from "../format";
import { Cell, cell, table } from "../table";
import { loadOf, Payload, unitOf } from "./data";

/** matrix is one table for closed levels and one for open ones. */
export function matrix(p: Payload): (Node | null)[] {
  const kinds: [string, boolean][] = [
    ["Closed loops", false],
    ["Open loops", true],
  ];
  return kinds.map(([title, open]) => {
    const levels = p.levels.filter((l) => l.open === open).map((l) => l.name);
    const t = tableOf(p, levels);
    if (t.rows.length === 0) return null;
    return h(
      "div",
      {},
      h("h3", {}, title),
      h(
        "p",
        { class: "caption" },
        levels.map((l) => loadOf(p, l)).join(" · ") +
          ". Medians of the trials; half of the width of their 95 % interval is behind ±. Variants that share a letter " +
          "cannot be told apart by these trials; a is best.",
      ),
      table(t, `${title}: variants by levels`),
    );
  });
}

/** columns are what is judged, and what a request costs in any case. */
function columns(p: Payload): string[] {
  const all = [...p.metrics, "throughput", "p50", "p99", "cpu", "bytes", "memory"];
  return [...new Set(all)].filter((m) => (p.record.cells ?? []).some((c) => c.metric === m));
}

function tableOf(p: Payload, levels: string[]) {
  const cells = p.record.cells ?? [];
  const metrics = columns(p);
  const rows: (Cell | string)[][] = [];
  for (const level of levels) {
    for (const arm of p.record.arms) {
      const mine = (metric: string) => cells.findIndex((c) => c.arm === arm.name && c.level === level && c.metric === metric);
      if (metrics.every((m) => mine(m) < 0)) continue;
      const trials = p.counted?.find((c) => c.arm === arm.name && c.level === level)?.trials.length ?? 0;
      rows.push([level, arm.name, ...metrics.map((m) => median(p, mine(m))), { text: String(trials), value: trials }]);
    }
  }
  return { head: ["level", "variant", ...metrics.map((m) => `${m} (${unitOf(p, m)})`), "trials"], rows };
}

function median(p: Payload, i: number): Cell {
  const c = p.record.cells?.[i];
  if (!c) return { text: "n/a", value: null };
  const shown = cell(`record.cells.${i}.median.estimate`, c.median.estimate, digits3);
  if (c.median.level >= 0.95 - 1e-9) shown.text += " ± " + digits3((c.median.high - c.median.low) / 2);
  const rank = (p.record.ranks ?? []).find((r) => r.level === c.level && r.metric === c.metric);
  const letters = rank?.groups[rank.arms.indexOf(c.arm)];
  if (letters) shown.text += " " + letters;
  return shown;
}

/** amount is a value of a measure, with its unit. */
export function amount(unit: string, v: number): string {
  if (unit.startsWith("µs")) return duration(v) + unit.slice(2);
  if (unit === "MiB") return bytes(v * 1048576);
  if (unit.startsWith("bytes")) return bytes(v);
  return rate(v) + (unit ? " " + unit : "");
}
