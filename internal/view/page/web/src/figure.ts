// One frame for every view: a heading, what it shows (unit, n, interval), the plot or its table,
// and what to take away: PNG, SVG, CSV. What is shown is in the address.

import { Cursors } from "./cursor";
import { h } from "./dom";
import { download, figureSVG, pngOf } from "./export";
import type { Drawn } from "./draw";
import { legend } from "./legend";
import * as state from "./state";
import { csv, table, Table } from "./table";
import type { Key } from "./view";

/** A Toggle is a choice of how a figure is drawn: a key of the state and its values, the first by default. */
export interface Toggle {
  key: string;
  label: string;
  options: [value: string, label: string][];
}

export interface FigureOptions {
  id: string; // in the state and the document
  title: string;
  unit: string; // of the axes: "requests/s over time"
  n: string; // "n = 200,000 exchanges"
  interval?: string; // what the intervals are, or why there are none
  note?: string;
  summary: string; // the plot in a sentence, for those who do not see it
  empty?: string; // why there is nothing to see; then draw is not called
  parts?: boolean; // the drawing has parts that take the keyboard, and so is no single picture
  legend?: Key[];
  toggles?: Toggle[];
  table: () => Table;
  draw: (width: number, choice: (key: string) => string) => SVGElement | HTMLElement | Drawn;
  cursor?: { group: Cursors; times: number[]; read: (i: number) => string }; // for plots over time
}

/** figure makes the frame. It draws when it is in the document, again when its width changes, and again
    at the event refresh, which is for figures of what still grows. */
export function figure(o: FigureOptions): HTMLElement {
  const body = h("div", { class: "plot" });
  const [legends, plot] = [h("div"), h("div", { role: o.parts ? "group" : "img" })];
  const readout = h("output", { class: "readout", "aria-live": "polite" });
  const f = h("figure", { id: o.id, class: "view", "data-drawn": "no", "data-empty": o.empty ?? null });
  const key = (k: string) => `${o.id}.${k}`;
  const choice = (k: string) => state.get(key(k), o.toggles?.find((t) => t.key === k)?.options[0][0] ?? "");
  let width = 0;

  const draw = () => {
    if (o.empty) {
      body.replaceChildren(h("p", { class: "empty" }, o.empty));
    } else if (state.get(o.id) === "table") {
      body.replaceChildren(table(o.table(), o.title));
    } else if (width > 0) {
      const within = plot.contains(document.activeElement) && document.activeElement !== plot;
      const drawn = o.draw(width, choice);
      describe();
      plot.replaceChildren(drawn instanceof Element ? drawn : drawn.element); // what is around it stays, and with it the keyboard
      if (within) plot.querySelector<SVGElement>("[tabindex]")?.focus({ preventScroll: true });
      plot.setAttribute("aria-label", o.summary);
      legends.replaceChildren(...(o.legend?.length ? [legend(o.legend)] : []));
      if (plot.parentNode !== body) body.replaceChildren(legends, plot, ...(o.cursor ? [readout] : []));
      if (o.cursor && !(drawn instanceof Element)) o.cursor.group.attach(o.id, plot, drawn.plots, o.cursor.times, o.cursor.read, readout);
    } else return;
    f.dataset.drawn = "yes";
  };

  const [head, caption, foot] = [h("h3"), h("p", { class: "caption" }), h("p", { class: "caption foot" })];
  const describe = () => {
    head.textContent = o.title;
    caption.textContent = o.unit;
    foot.textContent = [o.n, o.interval, o.note].filter((s) => s).join(" · ");
  };
  describe();
  f.addEventListener("refresh", () => {
    describe();
    draw();
  });
  f.append(
    h("figcaption", {}, head, ...(o.empty ? [] : [toolbar(o, f, key, choice)]), caption),
    body,
    foot,
  );
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width) return;
    width = now;
    draw();
  }).observe(body);
  state.follow(f, (changed) => {
    if (changed === o.id || changed.startsWith(o.id + ".")) draw();
  });
  return f;
}

function toolbar(o: FigureOptions, f: HTMLElement, key: (k: string) => string, choice: (k: string) => string) {
  const shown = h("button", { type: "button", onclick: () => state.set(o.id, state.get(o.id) === "table" ? "" : "table") });
  const name = () => (shown.textContent = state.get(o.id) === "table" ? "Plot" : "Table");
  name();
  state.follow(shown, (changed) => changed === o.id && name());
  const choices = (o.toggles ?? []).map((t) => {
    const select = h("select", { "aria-label": `${o.title}: ${t.label}`, onchange: () => state.set(key(t.key), select.value) },
      ...t.options.map(([value, label]) => h("option", { value, selected: value === choice(t.key) }, label)));
    state.follow(select, (changed) => changed === key(t.key) && (select.value = choice(t.key)));
    return h("label", {}, t.label + " ", select);
  });
  const take = (what: string, make: () => void) =>
    h("button", { type: "button", "aria-label": `${o.title} as ${what}`, onclick: make }, what);
  const image = () => figureSVG(f);
  return h("div", { class: "toolbar tools" }, ...choices, shown,
    take("PNG", async () => download(o.id + ".png", await pngOf(image()))),
    take("SVG", () => download(o.id + ".svg", new Blob([new XMLSerializer().serializeToString(image())], { type: "image/svg+xml" }))),
    take("CSV", () => download(o.id + ".csv", new Blob([csv(o.table())], { type: "text/csv" }))),
  );
}
