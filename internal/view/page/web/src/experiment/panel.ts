// The server panel: what the machine and every process did while a trial was measured, the variants
// of a round beside each other, all cursors in step.

import { Cursors } from "../cursor";
import { h } from "../dom";
import { draw } from "../draw";
import { figure, Toggle } from "../figure";
import { count, digits3 } from "../format";
import { legend } from "../legend";
import { Cell, Table } from "../table";
import { Mark, View, without } from "../view";
import { Payload } from "./data";
import { isShown, levelsShown } from "./shown";

/** pointsFew is how many points are too few to draw. */
export const pointsFew = 3;

const chosenIn = (v: View, of: string) => v.choice?.find((c) => c.of === of);

/** panel is a figure of all readings, with a choice of level and round. */
export function panel(p: Payload, views: View[]): HTMLElement {
  const levels = levelsShown(p).map((l) => l.name);
  const all = views.filter((v) => v.section?.startsWith("servers") && !v.empty && levels.includes(v.level ?? "")).map((v) => without(v, (arm) => !isShown(p, arm)));
  const none = views.find((v) => v.section === "servers" && v.empty);
  const toggles = ["level", "round"].map((of): Toggle => {
    const options = new Map(all.map((v) => [chosenIn(v, of)!.name, chosenIn(v, of)!.label ?? chosenIn(v, of)!.name]));
    return { key: of, label: of, options: [...options] };
  });
  const panels = p.panels.trials ?? [];
  const at = (choice: (key: string) => string) => all.filter((v) => v.choice!.every((c) => choice(c.of) === c.name));
  const first = (key: string) => toggles.find((t) => t.key === key)!.options[0][0];
  return figure({
    id: "server",
    title: "The machine and the servers' processes while they were loaded",
    unit: "readings over the measured window, in s",
    n: `${count(panels.length)} of ${count((p.record.trials ?? []).length)} trials were watched and are here`,
    interval: "a point is a reading, or the mean of as many as there was no room for",
    note: "vertical lines: the window; the variants of a round are beside each other",
    parts: true,
    summary: "Readings of CPU, memory, threads, sockets and pressure over time for each variant; the table has their means.",
    empty: all.length > 0 ? undefined : (none?.empty ?? "Nothing was watched at these levels."),
    toggles: all.length > 0 ? toggles : [],
    table: () => panelTable(at(first)),
    draw: (width, choice) => drawReadings(at(choice), absent(p, choice), width),
  });
}

/** absent is what could not be read in the trials of a round at a level. */
function absent(p: Payload, choice: (key: string) => string): string[] {
  const here = (p.panels.trials ?? []).filter((d) => {
    const t = p.record.trials![d.trial];
    return t.level === choice("level") && String(t.round) === choice("round");
  });
  return [...new Set(here.flatMap((d) => d.absent ?? []))];
}

function drawReadings(all: View[], absent: string[], width: number): HTMLElement {
  if (all.length === 0) return h("p", { class: "empty" }, "No trial of this round at this level was watched, or there was no room for it.");
  const cursors = new Cursors();
  const more = all.filter((v) => v.section === "servers-more").flatMap((v) => reading(v, width, cursors));
  return h("div", {},
    ...all.filter((v) => v.section === "servers").flatMap((v) => reading(v, width, cursors)),
    more.length > 0 ? h("details", { class: "more" }, h("summary", {}, "More readings"), ...more) : null,
    absent.length > 0 ? h("details", { class: "more" }, h("summary", {}, "What could not be read, and why"), h("ul", {}, ...absent.map((a) => h("li", {}, a)))) : null);
}

/** reading is a small plot of each variant, all with the same scale and one legend. */
function reading(v: View, width: number, cursors: Cursors): HTMLElement[] {
  const drawn = draw(v, width);
  const readout = h("output", { class: "readout" });
  const box = h("div", { role: "group", "aria-label": v.figure }, drawn.element);
  const times = linesOf(v).reduce<number[]>((best, { m }) => (m.x.length > best.length ? m.x.filter((x) => x !== null) : best), []);
  cursors.attach(v.figure!, box, drawn.plots, times, (i) => `${times[i].toFixed(1)} s: ${readingsAt(v, times[i])}`, readout);
  return [h("h4", {}, v.figure!), h("p", { class: "caption" }, [v.unit, v.left].filter((s) => s).join("; ")), legend(v.legend ?? []), box, readout];
}

/** linesOf are the lines of all variants: an area's values are from its other side on. */
const linesOf = (v: View): { arm: string; m: Mark; values: (number | null)[] }[] =>
  (v.panels ?? []).flatMap((p) => p.marks.filter((m) => m.kind !== "rule").map((m) => ({ arm: p.title, m, values: m.y.map((y, i) => (y === null ? null : y - (m.low?.[i] ?? 0))) })));

/** readingsAt is what the lines are at an instant. */
function readingsAt(v: View, t: number): string {
  return (v.panels ?? []).map((p) => p.title + ": " + linesOf({ ...v, panels: [p] }).map(({ m, values }) => {
    let best = -1;
    m.x.forEach((x, i) => {
      if (x !== null && values[i] !== null && (best < 0 || Math.abs(x - t) < Math.abs(m.x[best]! - t))) best = i;
    });
    return `${m.name} ${best < 0 ? "n/a" : digits3(values[best]!)}`;
  }).join(", ")).join("; ");
}

/** panelTable has the means over the window. */
function panelTable(all: View[]): Table {
  const rows = all.flatMap((v) => linesOf(v).map(({ arm, m, values }): (Cell | string)[] => {
    const end = v.panels!.find((p) => p.title === arm)!.marks.find((m) => m.kind === "rule")!.x[1] ?? Infinity;
    const known = values.filter((y) => y !== null);
    const within = values.filter((y, i): y is number => y !== null && m.x[i] !== null && m.x[i]! >= 0 && m.x[i]! <= end);
    const of = within.length > 0 ? within : known;
    const [mean, peak] = [of.reduce((a, b) => a + b, 0) / of.length, Math.max(...known)];
    return [arm, v.figure!, m.name ?? "", v.of ?? v.unit, { text: digits3(mean), value: mean }, { text: digits3(peak), value: peak }];
  }));
  return { head: ["variant", "reading", "of", "unit", "mean", "peak"], rows };
}
