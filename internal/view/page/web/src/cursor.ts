// Cursors in step: plots over the same time share one vertical rule, and each reads out its values
// there. The arrow keys move it too.

import { svg } from "./dom";

interface Scale {
  apply(v: number): number;
  invert(v: number): number;
}

interface Member {
  element: HTMLElement;
  plot: SVGSVGElement;
  x: Scale;
  times: number[];
  read: (i: number) => string;
  readout: HTMLElement;
  rule: SVGLineElement;
}

/** Cursors is a group of plots in step. */
export class Cursors {
  private members = new Map<string, Member>();
  private at: number | null = null;

  /** attach joins the first plot inside element, which has a linear x scale, in the place of what had the id. An
      element whose plot is drawn again is attached again. */
  attach(id: string, element: HTMLElement, times: number[], read: (i: number) => string, readout: HTMLElement): void {
    const plot = element.querySelector("svg") as (SVGSVGElement & { scale?: (name: string) => Scale }) | null;
    const x = plot?.scale?.("x");
    if (!plot || !x || times.length === 0) return;
    const height = Number(plot.getAttribute("height") ?? 0);
    const rule = svg("line", { class: "rule", y1: 0, y2: height, visibility: "hidden" });
    plot.append(rule);
    element.setAttribute("tabindex", "0"); // and not the plot, which is hidden from screen readers
    const had = this.members.get(id);
    const member = { element, plot, x, times, read, readout, rule };
    this.members.set(id, member);
    plot.addEventListener("pointermove", (e) => {
      const shrunk = plot.getBoundingClientRect().width / Number(plot.getAttribute("width"));
      this.move(x.invert((e.clientX - plot.getBoundingClientRect().left) / shrunk));
    });
    plot.addEventListener("pointerleave", () => this.move(null));
    if (had?.element !== element) element.addEventListener("keydown", (e) => this.step(id, e));
    this.show(member);
  }

  /** step follows the arrow keys, along what is drawn now. */
  private step(id: string, e: KeyboardEvent): void {
    const times = this.members.get(id)?.times ?? [];
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (e.key === "Escape") this.move(null);
    if (!step || times.length === 0) return;
    e.preventDefault();
    const i = this.at === null ? (step > 0 ? 0 : times.length - 1) : nearest(times, this.at) + step;
    this.move(times[Math.min(Math.max(i, 0), times.length - 1)]);
  }

  private move(to: number | null): void {
    this.at = to;
    for (const m of this.members.values()) this.show(m);
  }

  private show(m: Member): void {
    m.rule.setAttribute("visibility", this.at === null ? "hidden" : "visible");
    const i = this.at === null ? -1 : nearest(m.times, this.at);
    const text = i < 0 ? "" : m.read(i);
    if (m.readout.textContent !== text) m.readout.textContent = text; // what has not changed is not read out again
    if (i < 0) return;
    const x = String(m.x.apply(m.times[i]));
    m.rule.setAttribute("x1", x);
    m.rule.setAttribute("x2", x);
  }
}

/** nearest is the index of the value nearest to v, of ascending values. */
export function nearest(values: number[], v: number): number {
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= v) low = middle;
    else high = middle;
  }
  return Math.abs(values[high] - v) < Math.abs(values[low] - v) ? high : low;
}
