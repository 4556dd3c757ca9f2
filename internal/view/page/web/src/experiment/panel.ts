// The server panel: what the machine and every process did while a trial was measured, the variants
// of a round beside each other, all cursors in step.

import { chart, colour, dash, extent, Plot } from "../chart";
import { Cursors } from "../cursor";
import { css, h } from "../dom";
import { figure } from "../figure";
import { count, digits3 } from "../format";
import { legend } from "../legend";
import { linesMost } from "../multiples";
import { Cell } from "../table";
import { cpuColours } from "./colours";
import { clip, Column, loadOf, Panel, Payload, Series } from "./data";
import { levelsShown, isShown } from "./shown";

interface Line {
  name: string;
  t: Column;
  v: Column;
}

interface View {
  title: string;
  unit: string;
  stacked?: boolean;
  top?: number;
  more?: boolean;
  colours?: Record<string, string>; // by name, of what has no dash to tell it apart
  pick: (s: Series) => string | null;
}

const named = (prefix: string, names: Record<string, string>) => (s: Series) =>
  s.name.startsWith(prefix) ? (names[s.name.slice(prefix.length)] ?? null) : null;
const states = [
  "established",
  "time_wait",
  "close_wait",
  "fin_wait1",
  "fin_wait2",
  "syn_recv",
  "syn_sent",
  "listen",
  "inuse",
  "orphan",
];

/** ofProcess picks a reading of every process, or of a tree whose processes have none of their own. */
const ofProcess =
  (reading: string, also = "") =>
  (s: Series) => {
    if (s.name === "process." + reading) return s.of ?? "";
    return also !== "" && s.name === "tree." + also ? `${s.of}, all` : null;
  };

const views: View[] = [
  {
    title: "CPU of the machine",
    unit: "% of all CPUs",
    stacked: true,
    top: 100,
    colours: cpuColours,
    pick: named("host.cpu.", { user: "user", sys: "system", softirq: "softirq", irq: "irq", iowait: "I/O wait", steal: "steal" }),
  },
  { title: "CPU by process", unit: "% of one core", pick: ofProcess("cpu", "cpu") },
  { title: "CPU by process, user part", unit: "% of one core", more: true, pick: ofProcess("cpu.user") },
  { title: "Memory, RSS", unit: "MB", pick: ofProcess("rss", "rss") },
  { title: "Memory, PSS", unit: "MB", more: true, pick: ofProcess("pss", "pss") },
  { title: "Threads", unit: "", pick: ofProcess("threads", "threads") },
  { title: "Processes", unit: "", more: true, pick: (s) => (s.name === "tree.processes" ? (s.of ?? "") : null) },
  { title: "File descriptors", unit: "", pick: ofProcess("fds", "fds") },
  { title: "Context switches, voluntary", unit: "1/s", pick: ofProcess("switches.voluntary", "switches.voluntary") },
  {
    title: "Context switches, involuntary",
    unit: "1/s",
    more: true,
    pick: ofProcess("switches.involuntary", "switches.involuntary"),
  },
  { title: "Context switches of the machine", unit: "1/s", more: true, pick: named("host.", { context_switches: "all" }) },
  { title: "Waiting for a CPU", unit: "% of a core, all threads", pick: ofProcess("runqueue.wait", "runqueue.wait") },
  { title: "Pressure (PSI)", unit: "% of the time", pick: named("host.psi.", { cpu: "CPU", memory: "memory", io: "I/O" }) },
  {
    title: "Sockets by state",
    unit: "",
    pick: named("host.tcp.", Object.fromEntries(states.map((s) => [s, s.replaceAll("_", " ")]))),
  },
  {
    title: "Network, bytes",
    unit: "MB/s",
    pick: named("host.net.", { "lo.received": "loopback", "other.received": "other, in", "other.sent": "other, out" }),
  },
  {
    title: "Network, packets",
    unit: "1/s",
    more: true,
    pick: named("host.net.", {
      "lo.packets_received": "loopback",
      "other.packets_received": "other, in",
      "other.packets_sent": "other, out",
    }),
  },
  {
    title: "Lost in the network",
    unit: "1/s",
    pick: named("host.", {
      "tcp.retransmits": "sent again",
      "tcp.listen_overflows": "listen overflows",
      "tcp.listen_drops": "listen drops",
      "softnet.drops": "softnet drops",
    }),
  },
  {
    title: "Storage",
    unit: "MB/s",
    more: true,
    pick: (s) => ({ "tree.io.read": `${s.of}, read`, "tree.io.written": `${s.of}, written` })[s.name] ?? null,
  },
  {
    title: "Load and run queue",
    unit: "",
    more: true,
    pick: named("host.", { load1: "load, 1 min", procs_running: "running", procs_blocked: "blocked" }),
  },
  { title: "Memory of the machine", unit: "MB", more: true, pick: named("host.memory.", { used: "used" }) },
  { title: "The generator's CPU", unit: "% of one core", pick: named("dyno.", { cpu: "dyno" }) },
  { title: "Throttled by the cgroup", unit: "% of the time", more: true, pick: named("cgroup.", { throttled: "throttled" }) },
  { title: "CPU frequency", unit: "MHz", more: true, pick: named("host.cpu.", { frequency: "mean" }) },
  { title: "Temperature", unit: "°C", more: true, pick: named("host.", { temperature: "hottest" }) },
];


/** pointsFew is how many points are too few to draw: such lines are folded. */
export const pointsFew = 3;

/** panel is a figure with a choice of level and round. */
export function panel(p: Payload): HTMLElement {
  const panels = p.panels.trials ?? [];
  const trials = p.record.trials ?? [];
  const levels = levelsShown(p).filter((l) => panels.some((d) => trials[d.trial].level === l.name));
  const rounds = [...new Set(panels.map((d) => trials[d.trial].round))].sort((a, b) => a - b);
  return figure({
    id: "server",
    title: "The machine and the servers' processes while they were loaded",
    unit: "readings over the measured window, in s",
    n: `${count(panels.length)} of ${count(trials.length)} trials were watched and are here`,
    interval: "a point is a reading, or the mean of as many as there was no room for",
    note: "vertical lines: the window; the variants of a round are beside each other",
    parts: true,
    summary: "Readings of CPU, memory, threads, sockets and pressure over time for each variant; the table has their means.",
    empty:
      panels.length === 0
        ? "Nothing was watched: the servers are not processes of this machine, or the trials failed."
        : undefined,
    toggles: [
      { key: "level", label: "level", options: levels.map((l) => [l.name, loadOf(p, l.name)]) },
      { key: "round", label: "round", options: rounds.map((r) => [String(r), String(r)]) },
    ],
    table: () => panelTable(p, panels, levels[0]?.name, rounds[0]),
    draw: (width, choice) => drawPanels(shownAt(p, panels, choice("level"), Number(choice("round"))), width),
  });
}

interface Shown {
  arm: string;
  panel: Panel;
}

/** shownAt are the trials of a round at a level, of each arm the last attempt. */
function shownAt(p: Payload, panels: Panel[], level: string, round: number): Shown[] {
  const all = new Map<string, Panel>();
  for (const d of panels) {
    const t = (p.record.trials ?? [])[d.trial];
    if (t.level === level && t.round === round) all.set(t.arm, d);
  }
  return p.record.arms.filter((a) => all.has(a.name) && isShown(p, a.name)).map((a) => ({ arm: a.name, panel: all.get(a.name)! }));
}

/** linesOf are the lines of a view. What the one process of a tree shows need not be shown of the tree
 * again; processes of the same name are numbered as they began, which is the same for every variant. */
function linesOf(view: View, panel: Panel): Line[] {
  const all = panel.groups
    .flatMap((g) => g.series.map((s) => ({ s, t: g.t_s, name: view.pick(s) })))
    .filter((d) => d.name !== null);
  const alone = (tree: string | undefined) =>
    new Set(all.filter((d) => d.s.tree === tree && d.s.pid).map((d) => d.s.pid)).size === 1;
  const kept = all.filter((d) => !(d.s.name.startsWith("tree.") && alone(d.s.of)));
  return kept.map((d, i) => {
    const same = kept.filter((o) => o.name === d.name);
    const name = same.length > 1 ? `${d.name} ${same.indexOf(kept[i]) + 1}` : d.name!;
    return { name, t: d.t, v: typeof d.s.v === "number" ? d.t.map(() => d.s.v as number) : d.s.v };
  });
}

/** inkOf is the colour of the i-th name of a view. */
const inkOf = (view: View, name: string, i: number): string => view.colours?.[name] ?? colour(i);

const peak = (l: Line) => extent(l.v)?.[1] ?? 0;

function drawPanels(shown: Shown[], width: number): HTMLElement {
  if (shown.length === 0)
    return h("p", { class: "empty" }, "No trial of this round at this level was watched, or there was no room for it.");
  const columns = Math.max(1, Math.min(shown.length, Math.floor(width / 230)));
  const each = Math.floor((width - 12 * (columns - 1)) / columns);
  const cursors = new Cursors();
  const few = (v: View) => shown.every((s) => linesOf(v, s.panel).every((l) => l.t.length <= pointsFew));
  const folded = (v: View) => v.more || few(v);
  const first = views.filter((v) => !folded(v)).flatMap((v) => rowOf(v, shown, each, columns, cursors));
  const more = views.filter(folded).flatMap((v) => rowOf(v, shown, each, columns, cursors));
  const absent = [...new Set(shown.flatMap((s) => s.panel.absent ?? []))];
  return h(
    "div",
    {},
    ...first,
    more.length > 0 ? h("details", { class: "more" }, h("summary", {}, "More readings"), ...more) : null,
    absent.length > 0
      ? h(
          "details",
          { class: "more" },
          h("summary", {}, "What could not be read, and why"),
          h("ul", {}, ...absent.map((a) => h("li", {}, a))),
        )
      : null,
  );
}

/** rowOf is a view of each variant, all with the same scale and one legend; nothing if nothing ever happened. */
function rowOf(view: View, shown: Shown[], width: number, columns: number, cursors: Cursors): HTMLElement[] {
  const of = shown.map((s) => ({ ...s, lines: linesOf(view, s.panel) }));
  const peaks = new Map<string, number>();
  for (const l of of.flatMap((s) => s.lines)) peaks.set(l.name, Math.max(peaks.get(l.name) ?? 0, peak(l)));
  const most = Math.max(0, ...peaks.values());
  if (peaks.size === 0 || (most === 0 && !view.stacked)) return [];
  const largest = [...peaks.keys()].sort((a, b) => (view.stacked ? 0 : peaks.get(b)! - peaks.get(a)!)).slice(0, linesMost);
  const names = [...peaks.keys()].filter((n) => largest.includes(n));
  const cells = of.map((s) => {
    const lines = names.map((n) => s.lines.find((l) => l.name === n)).filter((l) => l !== undefined);
    const readout = h("output", { class: "readout" });
    const box = h(
      "div",
      { role: "group", "aria-label": `${view.title}, ${s.arm}` },
      h("p", { class: "caption" }, clip(s.arm, 60)),
      h("div", {}, miniature(view, s.panel, lines, names, width, view.top ?? most)),
    );
    const times = longest(lines).map((t) => t ?? 0);
    cursors.attach(`${view.title}/${s.arm}`, box, times, (i) => readingsAt(lines, times[i]), readout);
    box.append(readout);
    return box;
  });
  const left = peaks.size - names.length;
  return [
    h("h4", {}, `${view.title}${view.unit ? ", " + view.unit : ""}`),
    legend(names.map((n, i) => ({ name: clip(n, 40), colour: inkOf(view, n, i), dash: dash(i), shape: view.stacked ? "area" : "line" }))),
    left > 0 ? h("p", { class: "caption" }, `and ${count(left)} that are smaller`) : h("span"),
    css(h("div", { class: "beside" }, ...cells), { "--columns": String(columns) }),
  ];
}

const longest = (lines: Line[]): Column => lines.reduce<Column>((best, l) => (l.t.length > best.length ? l.t : best), []);

/** readingsAt is what the lines are at an instant. */
function readingsAt(lines: Line[], t: number): string {
  const at = lines.map((l) => {
    let best = -1;
    l.t.forEach((x, i) => {
      if (x !== null && l.v[i] !== null && (best < 0 || Math.abs(x - t) < Math.abs(l.t[best]! - t))) best = i;
    });
    return best < 0 ? `${clip(l.name, 24)} n/a` : `${clip(l.name, 24)} ${digits3(l.v[best]!)}`;
  });
  return `${t.toFixed(1)} s: ${at.join(", ")}`;
}

function miniature(view: View, panel: Panel, lines: Line[], names: string[], width: number, most: number): SVGSVGElement {
  const points = lines.flatMap((l) =>
    l.v.map((y, k) => ({ x: l.t[k], y, i: names.indexOf(l.name) })).filter((d) => d.x !== null),
  );
  const [low, high] = extent([0, panel.measured_s, ...points.map((d) => d.x)]) ?? [0, 1];
  const marks: Plot.Markish[] = view.stacked
    ? [
        Plot.areaY(
          points,
          Plot.stackY({
            x: "x",
            y: "y",
            z: "i",
            fill: (d: { i: number }) => inkOf(view, names[d.i], d.i),
            stroke: "var(--paper)",
            strokeWidth: 0.5,
            order: "z",
          } as object),
        ),
      ]
    : lines.map((l) => {
        const i = names.indexOf(l.name);
        const mine = points.filter((d) => d.i === i);
        if (mine.length === 1) return Plot.dot(mine, { x: "x", y: "y", fill: colour(i), r: 3 });
        return Plot.line(mine, { x: "x", y: "y", stroke: colour(i), strokeDasharray: dash(i) || undefined, strokeWidth: 1.5 });
      });
  return chart(width, {
    height: 130,
    marginLeft: 46,
    marginRight: 8,
    marginTop: 6,
    marginBottom: 22,
    x: { domain: [low, high], ticks: 4, label: null },
    color: { type: "identity" },
    y: { domain: [0, most * 1.05 || 1], ticks: 3, tickFormat: shortNumber, label: null, grid: true },
    marks: [Plot.ruleX([0, panel.measured_s], { stroke: "var(--faint)", strokeOpacity: 0.5 }), ...marks],
  });
}

/** shortNumber is a number of few characters: 12k, 3.5M. */
function shortNumber(v: number): string {
  const [size, name] = (
    [
      [1e9, "G"],
      [1e6, "M"],
      [1e3, "k"],
      [1, ""],
    ] as [number, string][]
  ).find(([s]) => Math.abs(v) >= s) ?? [1, ""];
  return Number((v / size).toPrecision(3)) + name;
}

/** panelTable has the means over the window, of the first level and round. */
function panelTable(p: Payload, panels: Panel[], level: string | undefined, round: number) {
  const shown = level === undefined ? [] : shownAt(p, panels, level, round);
  const rows: (Cell | string)[][] = [];
  for (const view of views) {
    for (const s of shown) {
      for (const l of linesOf(view, s.panel)) {
        const within = l.v.filter(
          (v, i): v is number => v !== null && l.t[i] !== null && l.t[i]! >= 0 && l.t[i]! <= s.panel.measured_s,
        );
        const known = within.length > 0 ? within : l.v.filter((v): v is number => v !== null);
        const mean = known.reduce((a, b) => a + b, 0) / known.length;
        rows.push([
          s.arm,
          view.title,
          l.name,
          view.unit,
          { text: digits3(mean), value: mean },
          { text: digits3(peak(l)), value: peak(l) },
        ]);
      }
    }
  }
  return { head: ["variant", "reading", "of", "unit", "mean", "peak"], rows };
}
