// All comparisons, first in words: verdicts, the noise floor of the baseline against itself, the
// grades of the trials.

import { h } from "../dom";
import { count, duration } from "../format";
import { banner, list } from "../layout";
import { Cell, cell, number, running, table, told } from "../table";
import { Payload } from "./data";

/** verdicts is every comparison in words and numbers. */
export function verdicts(p: Payload): (Node | null)[] {
  const said = p.words.verdicts ?? [];
  const all = p.record.verdicts ?? [];
  const of = (control: boolean) => said.filter((_, i) => !!all[i].control === control);
  return [
    gate(p),
    tiles(p),
    ...(p.words.correction ?? []).map((s) => h("p", {}, s)),
    of(false).length === 0 ? h("p", {}, "Nothing could be compared.") : null,
    verdictTable(p),
    inWords(of(false), of(true)),
    (p.words.unavailable ?? []).length > 0 ? h("h3", {}, "Not tested, or failed") : null,
    list(p.words.unavailable ?? []),
    objectives(p),
  ];
}

/** inWords has a sentence for each comparison, which repeats the table. */
function inWords(verdicts: string[], noise: string[]): HTMLElement | null {
  if (verdicts.length + noise.length === 0) return null;
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "The same in words"),
    list(verdicts, "Verdicts"),
    noise.length > 0 ? h("h3", {}, "The baseline against itself") : null,
    list(noise, "Noise floor"),
  );
}

function gate(p: Payload): HTMLElement | null {
  const words = p.words.gate ?? [];
  if (!p.record.gate || words.length === 0) return null;
  const kind = { passed: "good", regression: "bad" }[p.record.gate.verdict] ?? "doubt";
  const more = list(words.slice(1));
  return banner(kind as "good" | "bad" | "doubt", "Gate: " + words[0], more ? [more] : []);
}

function tiles(p: Payload): HTMLElement {
  const trials = p.record.trials ?? [];
  const tile = (name: string, ...value: (Node | string)[]) =>
    h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, ...value));
  const grade = (g: string) => trials.filter((t) => t.grade === g).length;
  const rounds = new Set(trials.map((t) => t.round)).size;
  return h(
    "dl",
    { class: "tiles" },
    tile("Trials", count(trials.length)),
    tile("Rounds", count(rounds)),
    tile(
      "Time in trials",
      number("record.spent_s", p.record.spent_s, (s) => duration(s * 1e6)),
    ),
    tile(
      "Grades",
      ...["A", "B", "F"].flatMap((g) => [
        h("span", { class: "nowrap" }, h("span", { class: `grade ${g}` }, g), ` ${grade(g)}`),
        " ",
      ]),
    ),
    ...(p.floors ?? []).slice(0, 4).map((f, i) =>
      tile(
        `A/A floor, ${f.metric}`,
        running(told(`floors.${i}.share`, f.share)),
      ),
    ),
  );
}

function verdictTable(p: Payload): HTMLElement | null {
  const all = p.record.verdicts ?? [];
  if (all.length === 0) return null;
  const rows = all.map((c, i): (Cell | string)[] => {
    const at = `record.verdicts.${i}.`;
    return [
      c.level,
      c.metric,
      c.variant,
      told(at + "ratio", c.ratio),
      told(at + "low", c.low),
      told(at + "high", c.high),
      p.forest![i].mark,
      cell(at + "trials", c.trials, count),
      cell(at + "p_adjusted", c.p_adjusted, pValue),
    ];
  });
  return h(
    "div",
    {},
    h("h3", {}, `All ${count(all.length)} comparisons`),
    table({ head: ["level", "measure", "variant", "ratio", "low", "high", "verdict", "pairs", "p (corrected)"], rows }, "Comparisons"),
  );
}

const pValue = (x: number) => (!x ? "–" : x < 0.0001 ? "< 0.0001" : x.toFixed(4));

function objectives(p: Payload): HTMLElement | null {
  const all = p.record.objectives ?? [];
  if (all.length === 0) return null;
  const rows = all.map((o, i): (Cell | string)[] => [
    o.expr,
    o.level,
    o.arm,
    cell(`record.objectives.${i}.met`, o.met, (n) => (o.undecided ? "inconclusive: " : "") + count(n)),
    cell(`record.objectives.${i}.trials`, o.trials, count),
  ]);
  return h(
    "div",
    {},
    h("h3", {}, "Objectives"),
    table({ head: ["objective", "level", "variant", "met in", "of trials"], rows }, "Objectives"),
  );
}
