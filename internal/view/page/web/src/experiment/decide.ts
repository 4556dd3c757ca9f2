// The forest plot of the first screen: one measure at one level, each variant in a row, the best
// first, in the colour of its verdict; those that were not tested among them; the baseline against
// itself at the bottom.

import type { Answer, Finding, Group } from "../answer";
import { chart, extent, Plot } from "../chart";
import { figure } from "../figure";
import { h } from "../dom";
import * as state from "../state";
import { Cell, cell, Table } from "../table";
import { factorIn, holdsAt95 } from "../format";
import { bounded, clip, Comparison, Payload, ratioTicks } from "./data";

interface Row {
  y: number;
  label: string;
  said: string;
  verdict: string;
  c?: Comparison; // absent: not tested
  medians?: string; // of the baseline and the variant
  below?: string; // the label
  maybe?: string; // it is less than what matters
  unreliable?: string; // it must not be relied on: the words for it
  self?: boolean; // the baseline against itself
}

const id = "decide";
const key = id + ".of";
const tabsMost = 6;
const overviewMost = 14; // rows
const all = -1; // measures at once

/** decide is the plot with its tabs; what there is to say where nothing was compared. */
export function decide(p: Payload, a: Answer): HTMLElement[] {
  const groups = a.groups ?? [];
  if (groups.length === 0) return [h("p", { class: "empty" }, "There is nothing to draw: no two variants were compared.")];
  const holder = h("div", { class: "deciding" });
  const fill = () => {
    const i = chosen(groups);
    holder.replaceChildren(tabs(groups), i === all ? overview(p, a, groups) : plot(p, a, groups[i]));
  };
  state.follow(holder, (changed) => changed === key && fill());
  fill();
  return [holder];
}

/** few reports whether all measures fit into one plot: there are one or two variants. */
const few = (groups: Group[]): boolean =>
  groups.length > 1 && groups.every((g) => (g.findings ?? []).length <= 2) && groups.reduce((n, g) => n + (g.findings ?? []).length, 0) <= overviewMost;

/** chosen is the place of the measure that is shown, or all. */
function chosen(groups: Group[]): number {
  const of = state.get(key);
  if (of === "") return few(groups) ? all : 0;
  return Math.min(Math.max(Number(of) || 0, 0), groups.length - 1);
}

/** tabs choose the measure; of many they are a list. */
function tabs(groups: Group[]): HTMLElement {
  const take = (i: number) => state.set(key, i === (few(groups) ? all : 0) ? "" : String(i));
  if (groups.length === 1) return h("span", {});
  const names: [number, string][] = [...(few(groups) ? [[all, "all measures"] as [number, string]] : []), ...groups.map((g, i): [number, string] => [i, g.name])];
  if (names.length > tabsMost) {
    const select = h("select", { onchange: () => take(Number(select.value)) },
      ...names.map(([i, name]) => h("option", { value: i, selected: i === chosen(groups) }, name)));
    return h("div", { class: "tabs" }, h("label", {}, "measure ", select));
  }
  return h("div", { class: "tabs", role: "group", "aria-label": "Measures" }, ...names.map(([i, name]) =>
    h("button", { type: "button", "aria-pressed": String(i === chosen(groups)), onclick: () => take(i) }, name)));
}

/** overview is one plot of all measures, where there are one or two variants. */
function overview(p: Payload, a: Answer, groups: Group[]): HTMLElement {
  const verdicts = p.record.verdicts ?? [];
  const names = [...new Set(groups.flatMap((g) => (g.findings ?? []).map((f) => f.variant)))];
  const rows: Omit<Row, "y">[] = groups.flatMap((g) => (g.findings ?? []).map((f) => ({
    ...rowOf(f, verdicts), label: names.length > 1 ? `${g.name}: ${f.label ?? f.variant}` : g.name, below: g.better })));
  for (const f of a.not_loaded ?? []) rows.push({ label: f.variant, said: "", verdict: f.verdict });
  const baselines = [...new Set(groups.flatMap((g) => (g.findings ?? []).map((f) => f.baseline)))];
  return figure({
    id,
    title: `${clip(names.join(", "), 60)} against ${clip(baselines.join(", "), 60)}`,
    unit: "change against the baseline, with 95 % intervals, of each measure",
    n: "",
    note: groups[0].rule,
    summary: rows.map((r) => `${r.label}: ${r.said} ${wordsOf(r)}`).join("; "),
    table: () => {
      const parts = groups.map((g) => ({ g, t: decideTable(p, { ...a, not_loaded: [] }, g) }));
      return { head: ["measure", "variant", "median", ...parts[0].t.head.slice(2)], rows: parts.flatMap(({ g, t }) => t.rows.map((r) => [g.name, ...r])) };
    },
    draw: (width) => draw(rows.map((r, y) => ({ ...r, y })), width),
  });
}

const rowOf = (f: Finding, verdicts: Comparison[]) => ({ label: f.label ?? f.variant, said: saidOf(f), verdict: f.verdict, c: verdicts[f.comparison], medians: f.medians,
  maybe: f.verdict === "better" || f.verdict === "worse" ? f.why : undefined, unreliable: f.unreliable });

/** rowsOf are the findings, then what was not tested, then the baseline against itself. */
function rowsOf(p: Payload, a: Answer, g: Group): Row[] {
  const verdicts = p.record.verdicts ?? [];
  const rows: Omit<Row, "y">[] = (g.findings ?? []).map((f) => rowOf(f, verdicts));
  for (const f of a.not_loaded ?? []) rows.push({ label: f.variant, said: "", verdict: f.verdict });
  for (const c of verdicts.filter((c) => c.control && holdsAt95(c.confidence) && c.metric === g.metric && c.level === (g.level ?? ""))) {
    rows.push({ label: `${c.baseline} itself`, said: "", verdict: c.verdict === "different" ? "differs from itself" : "noise", c, self: true });
  }
  return rows.map((r, y) => ({ ...r, y }));
}

const saidOf = (f: Finding) => [f.effect, f.interval].filter((s) => s).join(" ");

function plot(p: Payload, a: Answer, g: Group): HTMLElement {
  const rows = rowsOf(p, a, g);
  return figure({
    id,
    title: g.against ? `${g.name}, against ${g.against}` : g.name,
    unit: `change against the baseline, with 95 % intervals; ${g.better}`,
    n: "",
    note: [g.rule, g.noise, ...(g.notes ?? [])].filter((s) => s).join("; "),
    summary: rows.map((r) => `${r.label}: ${r.said} ${wordsOf(r)}`).join("; "),
    table: () => decideTable(p, a, g),
    draw: (width) => draw(rows, width),
  });
}

function decideTable(p: Payload, a: Answer, g: Group): Table {
  const verdicts = p.record.verdicts ?? [];
  const rows = (g.findings ?? []).map((f): (Cell | string)[] => {
    const [c, at] = [verdicts[f.comparison], `record.verdicts.${f.comparison}.`];
    const factor = factorIn(c.low, c.high, c.confidence);
    const end = (k: "low" | "high"): Cell => (holdsAt95(c.confidence) ? cell(at + k, c[k], factor) : { text: "–" });
    return [f.label ?? f.variant, f.value ?? "", saidOf(f), cell(at + "ratio", c.ratio, (v) => bounded(c.bound, factor(v))), end("low"), end("high"), f.verdict, joined(f.why, f.unreliable)];
  });
  for (const f of a.not_loaded ?? []) rows.push([f.variant, "", "", "", "", "", f.verdict, [f.why, f.remedy].filter((s) => s).join("; ")]);
  return { head: ["variant", g.name, `change ${g.change}`, "ratio", "low", "high", "verdict", "because"], rows };
}

const inks: Record<string, string> = { better: "var(--good)", worse: "var(--bad)", "not tested": "var(--doubt)", "differs from itself": "var(--bad)" };
const ink = (r: Row): string => inks[r.verdict] ?? "var(--faint)";

/** change is a ratio as an axis has it. */
const change = (ratio: number): string => (ratio >= 10 ? `×${ratio}` : ratio === 1 ? "0" : `${ratio > 1 ? "+" : "−"}${Number(Math.abs(100 * (ratio - 1)).toPrecision(3))} %`);

/** joined is what stands below a verdict: what may keep it from mattering, and that it must not be relied on. */
const joined = (why?: string, unreliable?: string): string => [why, unreliable].filter((s) => s).join(", ");
const says = (r: Row) => (r.self ? r.verdict : r.c ? `${r.said}  ${r.verdict}` : r.verdict);
/** wordsOf is a verdict in few words. Of one that must not be relied on it matters no more that it is small. */
const wordsOf = (r: Omit<Row, "y">) => r.verdict + (r.unreliable ? `, ${r.unreliable}` : r.maybe ? ", maybe" : "");
const open = ["undecided", "not valid"];
/** isSure reports whether a row says all that was asked: its dot is filled. */
const isSure = (r: Row) => !open.includes(r.verdict) && !r.maybe && !r.unreliable;

/** lines write a text beside each row, and a smaller one below it where there is one. */
function lines(rows: Row[], text: (r: Row) => string, below: (r: Row) => string | undefined, o: Plot.TextOptions): Plot.Markish[] {
  const two = rows.filter(below);
  return [
    Plot.text(rows.filter((r) => !below(r)), { ...o, y: "y", text }),
    Plot.text(two, { ...o, y: "y", dy: -6, text }),
    Plot.text(two, { ...o, y: "y", dy: 8, text: (r: Row) => below(r) ?? "", fontSize: 11, fontWeight: 400, fill: "var(--faint)" }),
  ];
}

const ends = (r: Row): number[] => (r.c && holdsAt95(r.c.confidence) ? (r.self && r.c.alone ? [r.c.alone.low, r.c.alone.high] : [r.c.low, r.c.high]) : []);
const beyond = 4; // times the estimates; an interval that runs further is cut there

function draw(rows: Row[], width: number): SVGSVGElement {
  const narrow = width < 620;
  const drawn = rows.filter((r): r is Row & { c: Comparison } => r.c !== undefined);
  const estimates = drawn.map((r) => r.c.ratio);
  const margin = drawn[0]?.c.margin ?? 0.02;
  const [least, most] = extent(estimates, true) ?? [1, 1];
  const [low, high] = extent(drawn.flatMap(ends).map((v) => Math.min(Math.max(v, least / beyond), most * beyond)), true) ?? [least, most];
  const domain = [Math.min(low, least, 1 / (1 + 2 * margin)) / 1.02, Math.max(high, most, 1 + 2 * margin) * 1.02];
  const clamp = (v: number) => Math.min(Math.max(v, domain[0]), domain[1]);
  const each = narrow ? 44 : Math.max(20, Math.min(36, 420 / rows.length));
  const roomy = !narrow && each > 28; // for a second line
  const beside = (r: Row) => (r.unreliable && !roomy ? `${r.said}  unreliable` : says(r)); // without a second line
  const longest = (of: (r: Row) => string) => Math.max(...rows.map((r) => [...of(r)].length));
  const name = narrow ? 8 : Math.min(230, 18 + 6.6 * longest((r) => r.label));
  const values = !narrow && width > 700 && rows.some((r) => r.medians) ? 14 + 6.6 * longest((r) => r.medians ?? "") : 0;
  const left = name + values;
  const right = narrow ? 8 : Math.min(215, 18 + 6.6 * longest(beside));
  const labels = narrow ? Math.floor((width - Math.max(110, 20 + 7.5 * longest(wordsOf))) / 7) : Math.floor((name - 14) / 6.5);
  const bars = drawn.map((r) => ({ ...r, low: clamp(ends(r)[0] ?? r.c.ratio), high: clamp(ends(r)[1] ?? r.c.ratio), at: clamp(r.c.ratio) }));
  const y = (r: { y: number }) => r.y + (narrow ? 0.18 : 0);
  return chart(width, {
    height: Math.round(30 + each * rows.length),
    marginLeft: left,
    marginRight: right,
    marginTop: 6,
    marginBottom: 22,
    x: { type: "log", domain, ticks: ratioTicks(domain[0], domain[1], Math.max(3, Math.floor((width - left - right) / 72))), tickFormat: change, label: null, grid: true },
    y: { domain: [rows.length - 0.5, -0.5], axis: null },
    color: { type: "identity" },
    marks: [
      Plot.rect([0], { x1: 1 / (1 + margin), x2: 1 + margin, y1: -0.5, y2: rows.length - 0.5, fill: "var(--faint)", fillOpacity: 0.16 }),
      Plot.ruleX([1], { stroke: "var(--ink)", strokeOpacity: 0.7 }),
      Plot.link(bars, { x1: "low", x2: "high", y1: y, y2: y, stroke: ink, strokeWidth: (r: Row) => (r.self ? 1.5 : 3), strokeOpacity: 0.85 }),
      Plot.dot(bars.filter((r) => !r.self), { x: "at", y, r: 5, fill: (r: Row) => (isSure(r) ? ink(r) : "var(--paper)"), stroke: ink, strokeWidth: 1.6 }),
      ...(narrow ? [
        Plot.text(rows, { y: "y", frameAnchor: "left", dy: -9, textAnchor: "start", text: (r: Row) => clip(r.label, labels), fill: "var(--ink)" }),
        Plot.text(rows, { y: "y", frameAnchor: "right", dy: -9, textAnchor: "end", text: wordsOf, fill: ink, fontWeight: 600 }),
      ] : [
        ...lines(rows, (r) => clip(r.label, labels), (r) => (roomy ? r.below : ""), { frameAnchor: "left", dx: -10 - values, textAnchor: "end", fill: "var(--ink)" }),
        ...lines(rows, beside, (r) => (roomy ? joined(r.maybe, r.unreliable) : ""), { frameAnchor: "right", dx: 10, textAnchor: "start", fill: (r: Row) => (inks[r.verdict] && !r.maybe && !r.unreliable ? ink(r) : "var(--ink)"), fontWeight: 500 }),
      ]),
      ...(values > 0 ? [Plot.text(rows, { y: "y", frameAnchor: "left", dx: -10, textAnchor: "end", text: (r: Row) => r.medians ?? "", fill: "var(--faint)" })] : []),
    ],
  });
}
