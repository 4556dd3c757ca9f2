// A load while it runs: plots over its time so far, drawn again as seconds come, and never more than
// the server keeps.

import { Plot, chart, curveMark, extent, type Percentile, timeAxis, trimZeros } from "../chart";
import { Cursors } from "../cursor";
import { h } from "../dom";
import { figure } from "../figure";
import * as format from "../format";
import { cell } from "../table";
import { ended } from "../result";

/** A Second is an interval of the load as the server sends it. */
export interface Second {
  t_s: number;
  from_s: number;
  sent: number;
  completed: number;
  errors: number;
  in_flight: number;
  bytes_received: number;
  bytes_sent: number;
  p50_us?: number;
  p99_us?: number;
  max_us?: number;
  offered?: number;
  status?: Record<string, number>;
  failures?: { phase: string; kind: string; detail: string; count: number }[];
  busy_percent: number;
  send_lag_max_us: number;
  early?: number;
  early_iterations?: number;
  completed_so_far: number;
  errors_so_far: number;
  iterations?: number;
  iterations_failed?: number;
  iteration_p50_us?: number;
  iteration_p99_us?: number;
  iterations_so_far?: number;
  iterations_failed_so_far?: number;
  checks_so_far?: { name: string; passed: number; failed: number }[];
}

/** most is how many seconds are kept, and drawn: an hour, as the server does. */
export const most = 3600;
const fewest = 30; // seconds, up to which each has a dot: one alone is no line
const tableRows = 120; // of the last seconds: the plot has them all

/** shortest is the shortest interval that has a rate, as in package report. */
export const shortest = 0.001;

interface Curve {
  name: string;
  style?: number; // of its colour and dash, as the page of a run has it
  percentile?: Percentile; // whose colour and dash it has
  of: (s: Second) => number | null;
}

const per = (key: "sent" | "completed" | "errors" | "iterations" | "iterations_failed") => (s: Second) => (key === "completed" || key === "iterations" ? ended(s, key) : s[key] ?? 0) / (s.t_s - s.from_s);

/** timeDomain is an axis of time that stays as it is while seconds come: to the end of the load, where that is known and
    all of it is kept; else to the next of 30 s, 1, 2, 5, 10, 20, 30 minutes and an hour. */
export function timeDomain(from: number, to: number, length: number): [number, number] {
  const first = Math.min(from, 0);
  if (from <= 0 && length > 0 && length <= most) return [first, Math.max(length, to)];
  if (from > 0) return [from, Math.max(to, from + most)];
  return [first, [30, 60, 120, 300, 600, 1200, 1800, 3600].find((v) => v >= to) ?? to];
}

/** Charts draws the seconds that it is given; refresh draws them again. */
export class Charts {
  readonly element: HTMLElement;
  private readonly figures: HTMLElement[];
  private readonly errors: HTMLElement;
  private readonly iterations: HTMLElement[];
  private readonly cursors = new Cursors();

  /** length is how long the load takes, in seconds; 0 where nobody knows. */
  length = 0;

  constructor(private readonly seconds: Second[]) {
    const log = { key: "scale", label: "scale", options: [["log", "log"], ["linear", "linear"]] as [string, string][] };
    this.figures = [
      this.over("throughput", "Throughput", "requests/s", "requests/s", format.rate, [
        { name: "offered", style: 3, of: (s) => s.offered ?? null }, { name: "sent", style: 1, of: per("sent") }, { name: "completed", style: 0, of: per("completed") }]),
      this.over("latency", "Latency", "latency of each second", "latency", format.duration, [
        { name: "p50", percentile: "p50", of: (s) => s.p50_us ?? null }, { name: "p99", percentile: "p99", of: (s) => s.p99_us ?? null }, { name: "max", percentile: "max", of: (s) => s.max_us ?? null }], log),
      this.over("iterations", "Iterations", "iterations/s", "iterations/s", format.rate, [
        { name: "completed", of: per("iterations") }, { name: "failed", of: per("iterations_failed") }]),
      this.over("iteration-time", "Time of iterations", "time of the iterations of each second", "time", format.duration, [
        { name: "p50", percentile: "p50", of: (s) => s.iteration_p50_us ?? null }, { name: "p99", percentile: "p99", of: (s) => s.iteration_p99_us ?? null }], log),
      this.over("errors", "Errors", "errors/s", "errors/s", format.rate, [{ name: "errors", style: 1, of: per("errors") }]),
      this.over("generator", "Generator", "share of the time in which its busiest thread was busy", "busy", format.percent, [
        { name: "busy", of: (s) => s.busy_percent }]),
    ];
    this.iterations = this.figures.slice(2, 4);
    this.errors = this.figures[4];
    this.errors.hidden = true;
    for (const f of this.iterations) f.hidden = true;
    this.element = h("div", { class: "views" }, ...this.figures);
  }

  refresh(): void {
    this.errors.hidden = !this.seconds.some((s) => s.errors > 0); // a panel with nothing in it is left out
    const iterated = this.seconds.some((s) => (s.iterations ?? 0) + (s.iterations_failed ?? 0) > 0);
    for (const f of this.iterations) f.hidden = !iterated;
    for (const f of this.figures) f.dispatchEvent(new Event("refresh"));
  }

  private over(id: string, title: string, unit: string, axis: string, show: (v: number) => string, curves: Curve[],
    log?: { key: string; label: string; options: [string, string][] }): HTMLElement {
    const all = this.seconds;
    const marks = curves.map(curveMark);
    const there = () => curves.filter((c) => all.some((s) => c.of(s) !== null));
    return figure({
      id, title, unit: unit + " over time",
      get n() {
        return `n = ${format.count(all.length)} ${all.length === 1 ? "second" : "seconds"}`;
      },
      summary: `${title} of the load so far, a point a second`,
      get legend() {
        return marks.filter((_, i) => there().includes(curves[i]));
      },
      toggles: log ? [log] : [],
      table: () => ({
        head: ["t s", ...curves.map((c) => c.name)],
        rows: all.slice(-tableRows).reverse().map((s) => [cell(`${id}.t_s`, s.t_s, (v) => v.toFixed(1)),
          ...curves.map((c) => cell(`${id}.${c.name}`, c.of(s), show))]),
      }),
      cursor: {
        group: this.cursors,
        get times() {
          return all.map((s) => s.t_s);
        },
        read: (i) => `${all[i].t_s.toFixed(1)} s: ${there().map((c) => `${c.name} ${c.of(all[i]) === null ? "–" : show(c.of(all[i])!)}`).join(", ")}`,
      },
      draw: (width, choice) => {
        if (all.length === 0) return h("p", { class: "empty" }, "No second is over yet.");
        const values = curves.flatMap((c) => all.map(c.of));
        const [, high] = extent(values) ?? [0, 1];
        const y = log ? timeAxis(values, choice(log.key) === "log", `↑ ${axis}`)
          : { type: "linear" as const, domain: [0, high * 1.05 || 1], label: `↑ ${axis}`, ticks: 6, tickFormat: (v: number) => trimZeros(show(v)), grid: true };
        return chart(width, {
          x: { type: "linear", domain: timeDomain(all[0].from_s, all.at(-1)!.t_s, this.length), label: "time of the window, s →" },
          y,
          marks: curves.flatMap((c, i) => [
            Plot.line(all, { x: "t_s", y: c.of, stroke: marks[i].colour, strokeDasharray: marks[i].dash, strokeWidth: 1.75 }),
            ...(all.length <= fewest ? [Plot.dot(all, { x: "t_s", y: c.of, fill: marks[i].colour, r: 2.5 })] : []),
          ]),
        });
      },
    });
  }
}
