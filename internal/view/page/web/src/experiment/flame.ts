// Flame graphs: where the servers' time went, each box a function on its path from the root on the
// top; and how that differs from the baseline's. A click goes into a box, Escape out again.

import { fitText } from "../chart";
import { h, svg } from "../dom";
import { download } from "../export";
import { figure } from "../figure";
import { bytes, count, duration, percent } from "../format";
import * as state from "../state";
import { Cell, Table } from "../table";
import { Flame, Payload } from "./data";
import { Box, focused, outermost, totals, tree } from "./flametree";

const id = "flames"; // its state: what is shown, zoom, search, focus
const row = 19;
const least = 0.6; // pixels of a box
const letters = 11; // size of those in boxes, px
const narrowest = 24; // px of a box that has room for some

/** flames is the figure with its search field and its files. */
export function flames(p: Payload): (Node | null)[] {
  const all = p.flames ?? [];
  const drawn = all.filter((f) => !f.problem);
  const problems = [
    ...(p.record.profiles ?? []).filter((t) => t.problem).map((t) => `${t.arm} at ${t.level}, ${t.kind}: none: ${t.problem}`),
    ...all.filter((f) => f.problem).map((f) => `${f.arm} at ${f.level}, ${f.kind}: ${f.file}: ${f.problem}`),
  ];
  const told = problems.length > 0 ? h("ul", {}, ...problems.map((s) => h("li", {}, s))) : null;
  if (drawn.length === 0) return [told];
  const shown = () => drawn[Number(state.get(`${id}.of`, "0"))] ?? drawn[0];
  const diffs = drawn.some((f) => f.baseline);
  return [
    controls(p, shown),
    figure({
      id,
      title: "Where the time went",
      unit: "width: share of the profile's samples",
      n: "samples are in the line above the graph",
      interval: "intervals of the largest shares are in the table",
      note: "top: the root; below each function what it called. Profiled in a run of its own, which is not judged",
      summary: "A flame graph; the table has the functions that took most.",
      legend: diffs
        ? [
            { name: "▲ takes more than the baseline's", ink: "c2", kind: "rect" },
            { name: "▼ takes less", ink: "c1", kind: "rect" },
          ]
        : [],
      toggles: [
        {
          key: "of",
          label: "profile",
          options: drawn.map((f, i) => [String(i), `${f.arm} · ${f.level ?? "all levels"} · ${f.kind}`]),
        },
        {
          key: "by",
          label: "show",
          options: [
            ["shares", "shares"],
            ...(diffs
              ? ([
                  ["grown", "differences"],
                  ["lost", "differences, widths of the baseline"],
                ] as [string, string][])
              : []),
          ],
        },
      ],
      table: () => topTable(p, shown()),
      draw: (width, choice) => drawFlame(shown(), width, choice("by")),
    }),
    told,
  ];
}

/** zoomed is the number of the box that the shown profile is seen from. */
function zoomed(f: Flame): number {
  const [of, box] = state.get(`${id}.zoom`).split(".");
  return of === state.get(`${id}.of`, "0") && f.name[Number(box)] !== undefined ? Number(box) : 0;
}

/** controls are the search field, the ways in and back, and the files. */
function controls(p: Payload, shown: () => Flame): HTMLElement {
  const search = h("input", {
    type: "search",
    placeholder: "function",
    "aria-label": "Search functions",
    value: state.get(`${id}.search`),
    oninput: () => state.set(`${id}.search`, search.value),
  });
  const only = () => {
    const f = shown();
    state.set(`${id}.focus`, zoomed(f) > 0 ? f.names[f.name[zoomed(f)]] : "");
  };
  const whole = () => {
    state.set(`${id}.zoom`, "");
    state.set(`${id}.focus`, "");
  };
  const files = h("span", { class: "files" });
  const fill = () => files.replaceChildren(...downloads(p, shown()));
  state.follow(files, (key) => {
    if (key === `${id}.of`) fill();
    if (key === `${id}.search` && document.activeElement !== search) search.value = state.get(key);
  });
  fill();
  return h(
    "div",
    { class: "toolbar" },
    h("label", {}, "Search ", search),
    h("button", { type: "button", onclick: only }, "Only this function"),
    h("button", { type: "button", onclick: whole }, "Whole profile"),
    files,
  );
}

function downloads(p: Payload, f: Flame): Node[] {
  if (!f.file) return [];
  const name = f.file
    .split(/[/\\]/)
    .pop()!
    .replace(/\.pb\.gz$/, "");
  if (!f.pprof || !f.speedscope) return [h("span", {}, `file: ${f.file}`)];
  const take = (what: string, make: () => Promise<void> | void) => h("button", { type: "button", onclick: make }, what);
  return [
    take(".pb.gz", () => download(name + ".pb.gz", new Blob([bytesOf(f.pprof!)], { type: "application/gzip" }))),
    take("speedscope", async () => download(name + ".speedscope.json", await unzip(bytesOf(f.speedscope!)))),
    h("span", {}, " " + (p.words.profiles?.[f.taken] ?? "")),
  ];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const all = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) all[i] = text.charCodeAt(i);
  return all;
}

/** unzip is what was gzipped. */
export async function unzip(packed: Uint8Array<ArrayBuffer>): Promise<Blob> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Blob([await new Response(stream).arrayBuffer()], { type: "application/json" });
}

interface Part {
  value: number;
  share: number;
  samples?: number;
  interval?: { low: number; high: number };
}

function topTable(p: Payload, f: Flame): Table {
  const head = ["function", "in itself", "low", "high", "with what it calls", "low ", "high "];
  const top =
    (p.record.profiles?.[f.taken] as { top?: { function: string; flat: Part; cumulative: Part }[] } | undefined)?.top ?? [];
  if (!f.level || top.length === 0) {
    const share = (x: number): Cell => ({ text: percent(100 * x), value: x });
    return {
      head,
      rows: totals(tree(f).root)
        .slice(0, 30)
        .map((t) => [t.name, share(t.self), { text: "n/a" }, { text: "n/a" }, share(t.all), { text: "n/a" }, { text: "n/a" }]),
    };
  }
  const of = (k: number, part: "flat" | "cumulative", path: string, x: number | undefined): Cell =>
    x === undefined
      ? { text: "n/a" }
      : { text: percent(100 * x), key: `record.profiles.${f.taken}.top.${k}.${part}.${path}`, value: x };
  return {
    head,
    rows: top.map((t, k) => [
      t.function,
      of(k, "flat", "share", t.flat.share),
      of(k, "flat", "interval.low", t.flat.interval?.low),
      of(k, "flat", "interval.high", t.flat.interval?.high),
      of(k, "cumulative", "share", t.cumulative.share),
      of(k, "cumulative", "interval.low", t.cumulative.interval?.low),
      of(k, "cumulative", "interval.high", t.cumulative.interval?.high),
    ]),
  };
}

/** total is the whole profile in its unit. */
function total(f: Flame): string {
  if (f.total === undefined) return "?";
  if (f.unit === "nanoseconds") return duration(f.total / 1e3);
  return f.unit === "bytes" ? bytes(f.total) : `${count(f.total)} ${f.unit ?? ""}`;
}

interface Placed {
  box: Box;
  x: number;
  y: number;
  w: number;
}

function drawFlame(f: Flame, width: number, by: string): HTMLElement {
  const { root, boxes } = tree(f);
  const focus = state.get(`${id}.focus`);
  const whole = focus ? focused(root, focus) : root;
  const zoom = focus ? whole : boxes[zoomed(f)];
  const diff = by !== "shares" && f.baseline !== undefined;
  const size = diff && by === "lost" ? (b: Box) => b.base : (b: Box) => b.all;
  const placed: Placed[] = [];
  const above: Box[] = [];
  for (let b = zoom.parent; b; b = b.parent) above.unshift(b);
  above.forEach((box, y) => placed.push({ box, x: 0, y, w: width }));
  const place = (box: Box, x: number, y: number) => {
    const w = (width * size(box)) / (size(zoom) || 1);
    if (w < least) return;
    placed.push({ box, x, y, w });
    let at = x;
    for (const c of box.children) {
      place(c, at, y + 1);
      at += (width * size(c)) / (size(zoom) || 1);
    }
  };
  place(zoom, 0, above.length);
  const query = state.get(`${id}.search`).trim().toLowerCase();
  const found = query === "" ? [] : outermost(whole, (b) => b.name.toLowerCase().includes(query));
  const readout = h("output", { class: "readout" }, `${total(f)} in all`);
  const drawn = boxesOf(placed, width, diff, query, readout, f.baseline);
  const lines = [
    query === ""
      ? ""
      : `“${query}” is in ${percent(100 * found.reduce((s, b) => s + b.all, 0))} of the samples` +
        (f.baseline ? `, and in ${percent(100 * found.reduce((s, b) => s + b.base, 0))} of ${f.baseline}'s` : ""),
    by !== "shares" && !f.baseline ? `${f.arm} is the baseline: there is nothing that it differs from` : "",
    focus ? `only ${focus}, wherever it is called` : "",
    `boxes below ${percent(100 * f.least)} are left out`,
  ].filter((s) => s !== "");
  return h(
    "div",
    {},
    h("p", { class: "caption" }, lines.join(" · ")),
    readout,
    drawn,
    h("p", { class: "caption" }, "Click or Enter: into a box. Escape: out. f: only this function. Arrow keys: from box to box."),
  );
}

function boxesOf(
  placed: Placed[],
  width: number,
  diff: boolean,
  query: string,
  readout: HTMLElement,
  baseline: string | undefined,
): SVGSVGElement {
  const height = row * (1 + Math.max(0, ...placed.map((d) => d.y)));
  const scale = Math.max(0.01, ...placed.filter((d) => d.y > 0).map((d) => Math.abs(d.box.all - d.box.base)));
  const out = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, class: "flame", "font-size": letters });
  let chosen = -1;
  const groups = placed.map((d, i) => {
    const matched = query !== "" && d.box.name.toLowerCase().includes(query);
    const g = svg(
      "g",
      {
        "data-box": d.box.name,
        opacity: query !== "" && !matched ? 0.5 : null,
        onclick: () => zoomInto(d.box),
        onpointerenter: () => choose(i),
      },
      svg("rect", {
        x: d.x,
        y: d.y * row,
        width: Math.max(d.w - 0.5, 0.4),
        height: row - 1,
        fill: boxColour(d.box, diff, scale),
        stroke: matched ? "var(--bad)" : "none",
        "stroke-width": 1.5,
      }),
      svg("title", {}, boxText(d.box, baseline)),
    );
    const mark = diff && Math.abs(d.box.all - d.box.base) >= 0.005 ? (d.box.all > d.box.base ? "▲ " : "▼ ") : "";
    const name = d.w < narrowest ? "" : fitText(mark + d.box.name, d.w - 6, letters);
    if (name !== "")
      g.append(
        svg(
          "text",
          { x: d.x + 3, y: d.y * row + 13, fill: "var(--ink)", "pointer-events": "none" },
          name,
        ),
      );
    return g;
  });
  const choose = (i: number) => {
    groups[chosen]?.classList.remove("chosen");
    chosen = Math.min(Math.max(i, 0), groups.length - 1);
    groups[chosen].classList.add("chosen");
    readout.textContent = boxText(placed[chosen].box, baseline);
  };
  out.addEventListener("keydown", (e) => {
    const at = placed[chosen];
    const side = (step: number) =>
      placed.findIndex((d) => at && d.y === at.y && (step > 0 ? d.x > at.x : placed.indexOf(d) === boxToTheLeft(placed, at)));
    const to: Record<string, () => number> = {
      ArrowDown: () => (at ? placed.findIndex((d) => d.box.parent === at.box) : 0),
      ArrowUp: () => placed.findIndex((d) => d.box === at?.box.parent),
      ArrowRight: () => side(1),
      ArrowLeft: () => side(-1),
    };
    if (to[e.key]) choose(Math.max(to[e.key](), -1) < 0 ? Math.max(chosen, 0) : to[e.key]());
    else if (e.key === "Enter" && at) zoomInto(at.box);
    else if (e.key === "f" && at) state.set(`${id}.focus`, at.box.name);
    else if (e.key === "Escape") {
      state.set(`${id}.focus`, "");
      state.set(`${id}.zoom`, "");
    } else return;
    e.preventDefault();
  });
  out.append(...groups);
  return out;
}

/** boxToTheLeft is the box to the left in the same row, or -1. */
function boxToTheLeft(placed: Placed[], at: Placed): number {
  let best = -1;
  placed.forEach((d, i) => {
    if (d.y === at.y && d.x < at.x && (best < 0 || d.x > placed[best].x)) best = i;
  });
  return best;
}

function zoomInto(box: Box): void {
  if (box.i >= 0) state.set(`${id}.zoom`, box.i === 0 ? "" : `${state.get(`${id}.of`, "0")}.${box.i}`);
}

function boxText(b: Box, baseline: string | undefined): string {
  const s = `${b.name}${b.kernel ? " (kernel)" : ""}: ${percent(100 * b.all)}, in itself ${percent(100 * b.self)}`;
  if (baseline === undefined) return s;
  const more = 100 * (b.all - b.base);
  return `${s}; ${baseline}: ${percent(100 * b.base)} (${more >= 0 ? "+" : ""}${more.toFixed(2)} points)`;
}

/** boxColour tells neighbours apart, the kernel's from others, and what grew from what shrank. */
function boxColour(b: Box, diff: boolean, scale: number): string {
  if (diff) {
    const part = Math.round(80 * Math.min(1, Math.abs(b.all - b.base) / scale));
    return `color-mix(in srgb, var(${b.all > b.base ? "--c2" : "--c1"}) ${part}%, var(--panel))`;
  }
  let sum = 0;
  for (const c of b.name) sum = (sum * 31 + c.codePointAt(0)!) % 997;
  const part = 22 + (sum % 4) * 9;
  return `color-mix(in srgb, var(${b.kernel ? "--c5" : "--c1"}) ${part}%, var(--paper))`;
}
