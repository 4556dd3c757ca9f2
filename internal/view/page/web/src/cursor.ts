// Cursors in step: plots over the same time share one vertical rule, and each reads out its values
// there. The arrow keys move it too.

import { svg } from "./dom";
import type { Plot } from "./draw";

interface Member {
  element: HTMLElement;
  plots: { plot: Plot; rule: SVGLineElement }[];
  times: number[];
  read: (i: number) => string;
  readout: HTMLElement;
}

/** Cursors is a group of plots in step. */
export class Cursors {
  private members = new Map<string, Member>();
  private at: number | null = null;

  /** attach joins the plots inside element, in the place of what had the id. An element whose plots are drawn again is
      attached again. */
  attach(id: string, element: HTMLElement, plots: Plot[], times: number[], read: (i: number) => string, readout: HTMLElement): void {
    if (plots.length === 0 || times.length === 0) return;
    element.setAttribute("tabindex", "0"); // and not the plot, which is hidden from screen readers
    const had = this.members.get(id);
    const member: Member = { element, times, read, readout, plots: plots.map((plot) => {
      const rule = svg("line", { class: "rule", y1: 0, y2: Number(plot.svg.getAttribute("height")), visibility: "hidden" });
      plot.svg.append(rule);
      return { plot, rule };
    }) };
    this.members.set(id, member);
    for (const { svg, x } of plots) {
      svg.addEventListener("pointermove", (e) => {
        const box = svg.getBoundingClientRect();
        this.move(x.invert(((e.clientX - box.left) * Number(svg.getAttribute("width"))) / box.width));
      });
      svg.addEventListener("pointerleave", () => this.move(null));
    }
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
    const i = this.at === null ? -1 : nearest(m.times, this.at);
    const text = i < 0 ? "" : m.read(i);
    if (m.readout.textContent !== text) m.readout.textContent = text; // what has not changed is not read out again
    for (const { plot, rule } of m.plots) {
      rule.setAttribute("visibility", i < 0 ? "hidden" : "visible");
      for (const end of i < 0 ? [] : ["x1", "x2"]) rule.setAttribute(end, String(plot.x.apply(m.times[i])));
    }
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
