// The percentile spectrum: all of a distribution at once, up to where enough values lie beyond.

import { Plot, chart, lineMark, percentileAxis, percentileX, timeAxis, dash, colour } from "../chart";
import { figure } from "../figure";
import { multiples } from "../multiples";
import * as format from "../format";
import { oneRun } from "../result";
import type { Run } from "../result";

const shown = ["latency", "service", "error_latency", "iterations.time", "iterations.failed_time", "phases.first_byte", "probe.latency"];

/** spectrum draws latency, that of errors, times of iterations and, where they differ from latency, service time and first byte. */
export function spectrum(run: Run): HTMLElement {
  const all = run.spectra.filter((s) => shown.includes(s.of));
  const there = all.filter((s) => s.points.length > 0);
  const drawn = once(there);
  const latency = run.spectra.find((s) => s.of === "latency");
  const wrong = run.spectra.find((s) => s.of === "error_latency");
  const last = drawn[0]?.points.at(-1);
  return figure({
    id: "spectrum",
    title: "Percentile spectrum",
    unit: "latency over percentile, log of 1/(1−p)",
    n: "n = " + [latency?.count ? `${format.count(latency.count)} requests` : "", wrong ? `${format.count(wrong.count)} errors` : ""].filter((s) => s).join(", "),
    interval: oneRun,
    note: "each line ends where fewer than 10 values lie beyond, or requests had no answer",
    summary: last ? `${drawn[0].of === "latency" ? "Latency" : "Time"} by percentile, rising to ${format.duration(last[1])} at ${percentile(last[0])}.` : "",
    empty: drawn.length > 0 ? undefined : latency?.why ? `No spectrum: ${latency.why}.` : "No spectrum: nothing completed.",
    legend: drawn.map((s, i) => lineMark(i, s.name)),
    toggles: [{ key: "scale", label: "Time axis", options: [["log", "log"], ["linear", "linear"]] }],
    table: () => ({
      head: ["distribution", "percentile", "µs"],
      rows: there.flatMap((s) => s.points.map(([q, us]) => [s.name, { text: percentile(q), value: q }, { text: format.duration(us), value: us }])),
    }),
    draw: (width, choice) => {
      const values = drawn.flatMap((s) => s.points.map(([, us]) => us));
      const most = Math.max(...drawn.map((s) => s.points[s.points.length - 1][0]));
      const some = (names: string[], each: number) => chart(each, {
        x: percentileAxis(most, each),
        y: timeAxis(values, choice("scale") === "log", "↑ time"),
        marks: drawn.map((_, i) => i).filter((i) => names.includes(drawn[i].name)).map((i) =>
          Plot.line(drawn[i].points, { x: (d) => percentileX(d[0]), y: (d) => d[1], stroke: colour(i), strokeDasharray: dash(i), strokeWidth: 2 })),
      });
      return multiples(drawn.map((s) => s.name), width, some, (name) => (name === drawn[0].name ? [] : [drawn[0].name]));
    },
  });
}

const alike = 1.02; // by which lines differ that cannot be told apart

/** once are the spectra, those that coincide as one, which has the names of all. */
function once(all: Run["spectra"]): Run["spectra"] {
  const out: Run["spectra"] = [];
  for (const s of all) {
    const same = out.find((o) => o.points.length === s.points.length && o.points.every(([, us], i) => Math.max(us, s.points[i][1]) <= alike * Math.min(us, s.points[i][1])));
    if (same) same.name += " = " + s.name;
    else out.push({ ...s });
  }
  return out;
}

/** percentile is a quantile as people name it: p99.9. */
export function percentile(q: number): string {
  return "p" + Number((100 * q).toPrecision(7));
}
