// A load while it runs: plots over its time so far, drawn again as seconds come, and never more than
// the server keeps.

import { extent, ink } from "../chart";
import { Cursors } from "../cursor";
import { h } from "../dom";
import * as format from "../format";
import { cell } from "../table";
import { ended } from "../result";
import type { Mark, View } from "../view";
import { viewFigure } from "../viewfigure";
import { linear, logarithmic } from "./axes";

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
  send_lag_max_us?: number;
  early?: number;
  early_iterations?: number;
  completed_so_far: number;
  errors_so_far: number;
  iterations?: number;
  iterations_failed?: number;
  iteration_time?: { p50_us: number; p99_us: number };
  events?: number;
  first_event_p50_us?: number;
  first_event_p99_us?: number;
  gap_p50_us?: number;
  gap_p99_us?: number;
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
  style: [ink: string, dash: number]; // as the page of a run has it
  of: (s: Second) => number | null;
}

const percentiles: Record<string, Curve["style"]> = { p50: ["c2", 0], p99: ["c4", 1], max: ["c7", 2] };
const line = (i: number): Curve["style"] => [ink(i), i];

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
  private readonly streams: HTMLElement[];
  private readonly cursors = new Cursors();

  /** length is how long the load takes, in seconds; 0 where nobody knows. */
  length = 0;

  constructor(private readonly seconds: Second[]) {
    const curve = (name: string, style: Curve["style"], of: Curve["of"]): Curve => ({ name, style, of });
    this.figures = [
      this.over("throughput", "Throughput", "requests/s", "requests/s", "", [
        curve("offered", line(3), (s) => s.offered ?? null), curve("sent", line(1), per("sent")), curve("completed", line(0), per("completed"))]),
      this.over("latency", "Latency", "latency of each second", "latency", "µs", [
        curve("p50", percentiles.p50, (s) => s.p50_us ?? null), curve("p99", percentiles.p99, (s) => s.p99_us ?? null), curve("max", percentiles.max, (s) => s.max_us ?? null)]),
      this.over("iterations", "Iterations", "iterations/s", "iterations/s", "", [
        curve("completed", line(0), per("iterations")), curve("failed", line(1), per("iterations_failed"))]),
      this.over("iteration-time", "Time of iterations", "time of the iterations of each second", "time", "µs", [
        curve("p50", percentiles.p50, (s) => s.iteration_time?.p50_us ?? null), curve("p99", percentiles.p99, (s) => s.iteration_time?.p99_us ?? null)]),
      this.over("first-events", "First events", "time from due to the first event, of each second", "time", "µs", [
        curve("p50", percentiles.p50, (s) => s.first_event_p50_us ?? null), curve("p99", percentiles.p99, (s) => s.first_event_p99_us ?? null)]),
      this.over("gaps", "Gaps", "time between two arrivals of a stream, of each second", "time", "µs", [
        curve("p50", percentiles.p50, (s) => s.gap_p50_us ?? null), curve("p99", percentiles.p99, (s) => s.gap_p99_us ?? null)]),
      this.over("errors", "Errors", "errors/s", "errors/s", "", [curve("errors", line(1), per("errors"))]),
      this.over("generator", "Generator", "share of the time in which its busiest thread was busy", "busy", "%", [
        curve("busy", line(0), (s) => s.busy_percent)]),
    ];
    this.iterations = this.figures.slice(2, 4);
    this.streams = this.figures.slice(4, 6);
    this.errors = this.figures[6];
    this.errors.hidden = true;
    for (const f of [...this.iterations, ...this.streams]) f.hidden = true;
    this.element = h("div", { class: "views" }, ...this.figures);
  }

  refresh(): void {
    this.errors.hidden = !this.seconds.some((s) => s.errors > 0); // a panel with nothing in it is left out
    const iterated = this.seconds.some((s) => (s.iterations ?? 0) + (s.iterations_failed ?? 0) > 0);
    for (const f of this.iterations) f.hidden = !iterated;
    const streamed = this.seconds.some((s) => (s.events ?? 0) > 0);
    for (const f of this.streams) f.hidden = !streamed;
    for (const f of this.figures) f.dispatchEvent(new Event("refresh"));
  }

  private over(id: string, title: string, unit: string, label: string, of: string, curves: Curve[]): HTMLElement {
    const all = this.seconds;
    return viewFigure({
      views: () => [this.view({ name: id, title, unit: unit + " over time", summary: `${title} of the load so far, a point a second` }, label, of, curves)],
      cursors: this.cursors,
      table: () => ({
        head: ["t s", ...curves.map((c) => c.name)],
        rows: all.slice(-tableRows).reverse().map((s) => [cell(`${id}.t_s`, s.t_s, (v) => v.toFixed(1)),
          ...curves.map((c) => cell(`${id}.${c.name}`, c.of(s), (v) => format.amount(of, v)))]),
      }),
    });
  }

  /** view is a view of the seconds so far, as package chart makes one of a result. */
  private view(head: Pick<View, "name" | "title" | "unit" | "summary">, label: string, unit: string, curves: Curve[]): View {
    const all = this.seconds;
    const there = curves.map((c) => ({ ...c, y: all.map(c.of) })).filter((c) => c.y.some((y) => y !== null));
    const values = there.flatMap((c) => c.y);
    const [from, to] = timeDomain(all[0]?.from_s ?? 0, all.at(-1)?.t_s ?? 1, this.length);
    const y = linear(0, (extent(values)?.[1] ?? 1) * 1.05, label, unit);
    return {
      ...head,
      foot: [`n = ${format.count(all.length)} ${all.length === 1 ? "second" : "seconds"}`],
      legend: there.map((c) => ({ name: c.name, ink: c.style[0], dash: c.style[1] })),
      empty: all.length === 0 ? "No second is over yet." : undefined,
      cursor: true,
      x: linear(from, to, "time of the window, s", ""),
      y: unit === "µs" ? { ...logarithmic(values, label, unit), name: "logarithmic", other: { ...y, name: "linear" } } : y,
      marks: there.flatMap((c): Mark[] => {
        const mark = { name: c.name, ink: c.style[0], x: all.map((s) => s.t_s), y: c.y };
        return [{ ...mark, dash: c.style[1], width: 1.75 }, ...(all.length <= fewest ? [{ ...mark, name: undefined, kind: "dot" as const, width: 2.5 }] : [])];
      }),
    };
  }
}
