// The first screen of a report: the answer in a sentence, what speaks against it, what it holds for
// and what to do next. All of it is package answer's; here it is only placed.

import { h } from "./dom";
import { download, pngOf } from "./export";
import { banner, copyable, copyButton } from "./layout";
import { table } from "./table";

export interface Caution {
  kind: string;
  severity: "note" | "doubt" | "bad";
  says: string;
  scope?: string;
  reasons?: string[];
  remedy?: string;
}

export interface Finding {
  variant: string;
  label?: string;
  baseline?: string;
  verdict: string;
  value?: string;
  effect?: string;
  interval?: string;
  medians?: string;
  why?: string;
  unreliable?: string; // of a verdict that must not be relied on: the words for it
  remedy?: string;
  comparison: number;
}

export interface Group {
  metric: string;
  level?: string;
  name: string;
  against: string;
  change: string; // of what changes are
  better: string;
  rule: string;
  noise?: string;
  findings: Finding[] | null;
  notes?: string[];
}

/** Answer is that of package answer. */
export interface Answer {
  sentence: string;
  uncovered?: string; // of which variants there is no verdict
  box: "clear" | "note" | "doubt" | "bad";
  box_text?: string; // of the box, unless a caution is
  groups?: Group[];
  not_loaded?: Finding[];
  cautions?: Caution[];
  load?: string;
  conditions?: string[];
  next: { says: string; command?: string; form?: string }; // form: the page that has a form filled in for it
}

const shown = 1; // caution besides the worst; the others are folded
const few = 2; // reasons of the worst caution, which are not folded

const kinds = { clear: "good", note: "plain", doubt: "doubt", bad: "bad" } as const;

/** firstScreen is the sentence over the charts, with what speaks against it at their side. chart is what the button
    saves a picture of. */
export function firstScreen(a: Answer, charts: Node[], summary: string, chart: (() => SVGSVGElement | null) | null): HTMLElement {
  return h("section", { id: "answer", "aria-label": "The answer" },
    h("h2", { class: "sentence" }, a.sentence),
    uncovered(a),
    h("div", { class: "first" },
      box(a),
      h("div", { class: "charts" }, ...charts),
      h("div", { class: "aside" }, next(a), buttons(summary, chart), conditions(a))));
}

/** uncovered says above the verdicts of which variants there is none, and why. */
export const uncovered = (a: Answer): HTMLElement | null =>
  a.uncovered ? banner("doubt", a.uncovered, (a.cautions ?? []).filter(isUncovered).flatMap((c) => details(c, few))) : null;

const isUncovered = (c: Caution) => c.kind === "not-loaded";

/** box is the worst caution, and below it the others: each once, with its scope, reasons and remedy. There is none where
    the line above the charts says the only one. */
function box(a: Answer): HTMLElement | null {
  const all = a.cautions ?? [];
  const [worst, ...others] = a.uncovered ? all.filter((c) => !isUncovered(c)) : all;
  if (!worst) return a.box_text ? banner(kinds[a.box], a.box_text) : null;
  const list = others.map((c) => h("li", { class: c.severity }, c.says, ...details(c)));
  const items = (some: HTMLElement[], name: string) => h("ul", { class: "cautions", "aria-label": name }, ...some);
  const left = list.slice(shown);
  return banner(kinds[a.box === "bad" ? a.box : worst.severity], worst.says, [
    ...details(worst, few),
    ...(list.length > 0 ? [items(list.slice(0, shown), "Cautions")] : []),
    ...(left.length > 0 ? [h("details", { class: "reasons" }, h("summary", {}, `${left.length} more`), items(left, "More cautions"))] : []),
  ]);
}

/** details are what a caution is about, its reasons and what can be done about it. Reasons are folded if there are more
    than unfolded. */
function details(c: Caution, unfolded = 0): Node[] {
  const reasons = c.reasons ?? [];
  return [
    ...(c.scope ? [h("span", { class: "scope" }, ` (${c.scope})`)] : []),
    ...(reasons.length > 0 ? [h("details", { class: "reasons", open: reasons.length <= unfolded }, h("summary", {}, reasons.length === 1 ? "the reason" : `${reasons.length} reasons`),
      h("ul", {}, ...reasons.map((r) => h("li", {}, r))))] : []),
    ...(c.remedy ? [h("span", { class: "remedy" }, c.remedy)] : []),
  ];
}

function next(a: Answer): HTMLElement {
  const { says, command, form } = a.next;
  const shell = command ? copyable(command) : null;
  return h("div", { class: "next" }, h("h3", {}, "Next"), h("p", {}, says),
    ...(form ? [h("p", {}, h("a", { class: "button", id: "next-form", href: form }, "Fill in the form")), h("details", { class: "more" }, h("summary", {}, "In a terminal"), shell)] : [shell]));
}

function conditions(a: Answer): HTMLElement {
  return h("p", { class: "conditions", "aria-label": "Conditions" }, (a.conditions ?? []).join(" · "));
}

function buttons(summary: string, chart: (() => SVGSVGElement | null) | null): HTMLElement {
  const save = chart && h("button", { type: "button", id: "save-chart", onclick: async () => {
    const drawn = chart();
    if (drawn) download("chart.png", await pngOf(drawn));
  } }, "Save chart");
  return h("div", { class: "toolbar" }, copyButton(summary, "Copy summary", "copy-summary"), save);
}

/** findings are what a measure says of each variant: the intervals narrow while the trials go on. */
export function findings(g: Group): Node {
  return h("div", {}, h("h3", {}, `${g.name} against ${g.against}`), table({
    head: ["variant", "median", `change ${g.change}`, "95 % interval", "verdict"],
    rows: (g.findings ?? []).map((f) => [f.variant, f.value ?? "–", f.effect ?? "–", f.interval || "–", f.verdict + (f.why ? `: ${f.why}` : "") + (f.unreliable ? `, ${f.unreliable}` : "")]),
  }, g.name));
}
