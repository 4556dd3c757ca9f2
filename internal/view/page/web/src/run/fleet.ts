// The machines that made the load together: what each did, and each's rate over time below one
// another's, where one that was slow or went silent shows.

import { h } from "../dom";
import * as format from "../format";
import { more } from "../layout";
import type { Agent, Result, Words } from "../result";
import { cell, facts, sentenceCell, table } from "../table";
import type { Cell, Table } from "../table";

/** fleet has a row for each agent, and its rate over time; nothing where one machine made the load. */
export function fleet(r: Result, words: Words, rates: HTMLElement | null): (HTMLElement | null)[] {
  const agents = r.fleet?.agents ?? [];
  const text = words.facts.find((f) => f.name === "fleet")?.text;
  return [
    text ? h("p", {}, text) : null,
    agents.length > 0 ? table(accounts(agents, words), "Agents") : null,
    rates,
    r.fleet ? more("All of the fleet", () => [table(facts({ fleet: r.fleet }, ""), "The fleet")]) : null,
  ];
}

type Column = [head: string, of: (a: Agent, key: string) => Cell | string];

const columns: Column[] = [
  ["agent", (a) => a.name],
  ["weight", (a, key) => cell(`${key}.weight`, a.weight, format.count)],
  ["connections", (a, key) => cell(`${key}.connections`, a.connections, format.count)],
  ["sent", (a, key) => cell(`${key}.requests.sent`, a.requests.sent, format.count)],
  ["completed", (a, key) => cell(`${key}.requests.completed`, a.requests.completed, format.count)],
  ["errors", (a, key) => cell(`${key}.requests.errors`, a.requests.errors, format.count)],
  ["late", (a, key) => (a.late_us === undefined ? "–" : cell(`${key}.late_us`, a.late_us, format.duration))],
  // 0 is that nothing is known of its clock
  ["clock ±", (a, key) => cell(`${key}.offset_bound_us`, a.offset_bound_us, (v) => (v > 0 ? format.duration(v) : "–"))],
  ["drift", (a, key) => (a.drift_us === undefined ? "–" : cell(`${key}.drift_us`, a.drift_us, format.duration))],
  ["covered", (a, key) => cell(`${key}.covered_s`, a.covered_s, (v) => format.duration(v * 1e6))],
];

/** accounts is a table of the agents, in the words of package report. */
function accounts(agents: Agent[], words: Words): Table {
  const looked = agents.some((a) => a.drift_us !== undefined); // at the clocks, while the load ran
  const shown = columns.filter(([head]) => looked || head !== "drift");
  const adds = (a: Agent) => (a.adds_up === undefined ? "–" : a.adds_up ? "yes" : "NO");
  return {
    head: [...shown.map(([head]) => head), "adds up", ""],
    rows: agents.map((a, i) => [...shown.map(([, of]) => of(a, `fleet.agents.${i}`)), adds(a), sentenceCell(words.agents?.[i] ?? "")]),
  };
}
