// Where it was measured, and in what any two trials' conditions differed; and how it was done, in the
// words that a reviewer asks for.

import { h } from "../dom";
import { copyable, list } from "../layout";
import * as state from "../state";
import { count } from "../format";
import { cell, facts, table } from "../table";
import { Payload } from "./data";

/** environment is the machine, and the difference of two trials. */
export function environment(p: Payload): (Node | null)[] {
  const machine = p.record.machine ?? [];
  const same = p.conditions.same ?? [];
  return [
    h(
      "div",
      { class: "views" },
      h(
        "div",
        {},
        h("h3", {}, "The machine"),
        table(facts({ host: p.record.host, cpus: p.record.cpus }, "record"), "The machine"),
      ),
      h(
        "div",
        {},
        h("h3", {}, "Its settings"),
        machine.length === 0
          ? h("p", { class: "empty" }, "None could be read on this machine.")
          : table({ head: ["setting", "value"], rows: machine.map((f) => [f.name, f.value]) }, "Settings of the machine"),
      ),
    ),
    ...programs(p),
    ...differences(p),
    same.length > 0
      ? h(
          "details",
          { class: "more" },
          h("summary", {}, `${same.length} conditions that were the same in all trials`),
          table({ head: ["condition", "value"], rows: same.map((c) => [c.key, c.value]) }, "Conditions of all trials"),
        )
      : null,
  ];
}

/** programs are what the servers' processes were. */
function programs(p: Payload): Node[] {
  const all = p.record.programs ?? [];
  const versions = p.record.arms.filter((a) => a.version);
  if (all.length === 0 && versions.length === 0) return [];
  const rows = all.map((r, i) => [
    r.arm,
    r.process,
    r.path,
    r.sha256 ?? "n/a",
    cell(`record.programs.${i}.trials`, r.trials, count),
    (r.args ?? []).slice(1).join(" "),
  ]);
  return [
    h("h3", {}, "What ran"),
    list(versions.map((a) => `${a.name}: ${a.version}`)) ?? h("span"),
    table(
      { head: ["variant", "process", "executable", "SHA-256", "trials", "arguments, in the first of them"], rows },
      "What ran",
    ),
  ];
}

/** differences is a table of two trials to choose: in what their conditions differ. */
function differences(p: Payload): Node[] {
  const trials = p.record.trials ?? [];
  const differs = p.conditions.differs ?? [];
  if (trials.length < 2) return [];
  const other = Math.max(
    1,
    trials.findIndex((t) => t.arm !== trials[0].arm && t.level === trials[0].level),
  );
  const chosen = (key: string, otherwise: number) =>
    Math.min(Number(state.get(`env.${key}`, String(otherwise))) || 0, trials.length - 1);
  const select = (key: string, label: string, otherwise: number) => {
    const e = h(
      "select",
      { "aria-label": label, onchange: () => state.set(`env.${key}`, e.value) },
      ...trials.map((t, i) =>
        h(
          "option",
          { value: i, selected: i === chosen(key, otherwise) },
          `${i + 1}: ${t.arm} · ${t.level} · round ${t.round}${t.attempt > 1 ? ", again" : ""}`,
        ),
      ),
    );
    return h("label", {}, label + " ", e);
  };
  const body = h("div", { id: "env-diff" });
  const fill = () => {
    const [a, b] = [chosen("a", 0), chosen("b", other)];
    const value = (d: (typeof differs)[number], i: number) => (d.of[i] < 0 || d.of[i] === undefined ? "–" : d.values[d.of[i]]);
    const rows = differs.filter((d) => d.of[a] !== d.of[b]).map((d) => [d.key, value(d, a), value(d, b)]);
    body.replaceChildren(
      rows.length === 0
        ? h("p", { class: "empty" }, "These two were made under the same conditions.")
        : table({ head: ["condition", `trial ${a + 1}`, `trial ${b + 1}`], rows }, "Conditions in which the two trials differ"),
    );
  };
  state.follow(body, (key) => key.startsWith("env.") && fill());
  fill();
  return [
    h("h3", {}, "Two trials compared"),
    h("div", { class: "toolbar" }, select("a", "trial", 0), select("b", "and trial", other)),
    body,
  ];
}

/** methods is the appendix. */
export function methods(p: Payload): (Node | null)[] {
  return [
    ...p.words.methods.map((text) => h("p", {}, text)),
    h("h3", {}, "Loads"),
    list(p.words.levels.map((w, i) => `${p.levels[i]?.name ?? ""}: ${w}`)),
    h("h3", {}, "Formulas and their sources"),
    list(p.words.formulas),
    h("h3", {}, "Again"),
    copyable(p.words.command),
  ];
}
