// What was answered over time: responses a second, by status code. A line that appears or ends is
// often the first sign of what went wrong.

import { Plot, chart, colour, dash, extent, lineMark, logTicks, trimZeros } from "../chart";
import type { Cursors } from "../cursor";
import { figure } from "../figure";
import * as format from "../format";
import type { Mark } from "../legend";
import { linesMost } from "../multiples";
import { oneRun } from "../result";
import type { Result } from "../result";
import { cell } from "../table";
import { Interval, intervalCountText, perSecond, stepCorners } from "./time";

const most = linesMost; // codes that are drawn, the most frequent

/** codesOf are the status codes that an interval had, the most frequent first. */
function codesOf(all: Interval[]): string[] {
  const sums = new Map<string, number>();
  for (const v of all) for (const [code, n] of Object.entries(v.point.status ?? {})) sums.set(code, (sums.get(code) ?? 0) + n);
  return [...sums].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).map(([code]) => code);
}

/** codes draws responses a second, by status code. */
export function codes(r: Result, all: Interval[], cursors: Cursors): HTMLElement {
  const known = codesOf(all);
  const drawn = known.slice(0, most);
  const rated = all.filter((v) => v.rates);
  const at = (v: Interval, code: string) => perSecond(v, v.point.status?.[code] ?? 0);
  const values = rated.flatMap((v) => drawn.map((code) => at(v, code)));
  const [, high] = extent(values) ?? [0, 1];
  const there = Object.keys(r.status ?? {}).length > 0;
  const scales: [string, string][] = [["log", "logarithmic"], ["linear", "linear"]];
  const style = (i: number): Mark => ({ ...lineMark(i, drawn[i]), dash: dash(i) });
  return figure({
    id: "codes",
    title: "Status codes over time",
    unit: "responses/s over time",
    n: intervalCountText(rated),
    interval: oneRun,
    note: ["a gap: none in that time", known.length > most ? `the ${most} most frequent of ${known.length} codes; the table has all` : ""].filter((s) => s).join("; "),
    summary: `Status codes over time: ${known.join(", ")}; at most ${format.rate(high)}/s.`,
    empty: drawn.length > 0 ? undefined
      : there ? "An older dyno wrote this result: it has codes of the whole window only."
      : "There was no response.",
    legend: drawn.map((_, i) => style(i)),
    toggles: [{ key: "scale", label: "scale", options: drawn.length > 1 ? scales : scales.reverse() }],
    table: () => ({
      head: ["t s", ...known],
      rows: all.map((v) => [
        cell(`series.${v.i}.t_s`, v.to, (n) => String(Number(n.toFixed(3)))),
        ...known.map((code) => (v.point.status?.[code] === undefined ? "" : cell(`series.${v.i}.status.${code}`, v.point.status[code], format.count))),
      ]),
    }),
    cursor: {
      group: cursors,
      times: rated.map((v) => v.to),
      read: (i) => `${rated[i].to.toFixed(1)} s: ` + drawn.map((code) => `${code} ${format.rate(at(rated[i], code) ?? 0)}`).join(", "),
    },
    draw: (width, choice) => {
      const log = choice("scale") === "log";
      const domain = log ? ([least, most]: [number, number]) => [least / 1.3, most * 1.3] : () => [0, high * 1.05 || 1];
      const [bottom, top] = domain(extent(values, true) ?? [1, 10]);
      const write = (v: number) => trimZeros(format.rate(v));
      return chart(width, {
        x: { type: "linear", domain: [0, rated.at(-1)?.to ?? 1], label: "time of the window, s →" },
        y: log
          ? { type: "log", domain: [bottom, top], ticks: logTicks(bottom, top, 6), tickFormat: write, label: "↑ responses/s", grid: true }
          : { type: "linear", domain: [bottom, top], ticks: 6, tickFormat: write, label: "↑ responses/s", grid: true },
        marks: drawn.map((code, i) =>
          Plot.line(stepCorners(all, (v) => { const y = at(v, code); return log && y === 0 ? null : y; }),
            { x: "t", y: "y", stroke: colour(i), strokeDasharray: dash(i), strokeWidth: 2 })),
      });
    },
  });
}
