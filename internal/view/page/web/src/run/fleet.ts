// The machines that made the load together: what each did, and each's rate over time below one
// another's, where one that was slow or went silent shows.

import { Plot, chart, colour, extent, fitText, trimZeros } from "../chart";
import type { Cursors } from "../cursor";
import { h } from "../dom";
import { figure } from "../figure";
import * as format from "../format";
import { more } from "../layout";
import { oneRun } from "../result";
import type { Agent, Result, Words } from "../result";
import { cell, facts, sentenceCell, table } from "../table";
import type { Cell, Table } from "../table";
import { Interval, intervalCountText, perSecond, stepCorners } from "./time";

/** fleet has a row for each agent, and its rate over time; nothing where one machine made the load. */
export function fleet(r: Result, words: Words, all: Interval[], cursors: Cursors): (HTMLElement | null)[] {
  const agents = r.fleet?.agents ?? [];
  const text = words.facts.find((f) => f.name === "fleet")?.text;
  return [
    text ? h("p", {}, text) : null,
    agents.length > 0 ? table(accounts(agents, words), "Agents") : null,
    rates(r, all, cursors),
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
  const story = (i: number) => words.agents?.[i] && sentenceCell(words.agents[i]);
  return {
    head: [...shown.map(([head]) => head), "adds up", ""],
    rows: agents.map((a, i) => [...shown.map(([, of]) => of(a, `fleet.agents.${i}`)), adds(a), story(i) || ""]),
  };
}

const most = 24; // agents that are drawn; the table has all
const mostRead = 8; // of them that the cursor reads out

/** rates draws what each part of the load completed a second, on scales of one size. */
function rates(r: Result, all: Interval[], cursors: Cursors): HTMLElement | null {
  const agents = r.fleet?.agents ?? [];
  const n = all.reduce((so, v) => Math.max(so, v.point.completed_by_part?.length ?? 0), 0);
  if (n === 0 && !r.fleet) return null;
  const names = Array.from({ length: n }, (_, k) => agents[k]?.name ?? `part ${k + 1}`);
  const lostFirst = names.map((_, k) => k).sort((a, b) => Number(!!agents[b]?.lost) - Number(!!agents[a]?.lost));
  const drawn = n > most ? lostFirst.slice(0, most) : names.map((_, k) => k);
  const rated = all.filter((v) => v.rates);
  const at = (v: Interval, k: number) => {
    const completed = v.point.completed_by_part?.[k];
    return typeof completed === "number" ? perSecond(v, completed) : null;
  };
  const [, high] = extent(rated.flatMap((v) => drawn.map((k) => at(v, k)))) ?? [0, 1];
  const read = (v: Interval) => drawn.slice(0, mostRead).map((k) => `${names[k]} ${at(v, k) === null ? "–" : format.rate(at(v, k)!)}`);
  return figure({
    id: "agents",
    title: `The rate of each ${r.fleet ? "agent" : "part"}`,
    unit: "requests completed/s over time, all to one scale",
    n: `${intervalCountText(rated)}, ${format.count(n)} ${r.fleet ? "agents" : "parts"}`,
    interval: oneRun,
    note: ["a gap: it said nothing of that time", drawn.length < n ? `${most} are drawn, lost ones first; the table has all` : ""].filter((s) => s).join("; "),
    summary: `The rate of each of ${n}: ${names.slice(0, mostRead).join(", ")}; at most ${format.rate(high)}/s.`,
    empty: n === 0 ? "The result has no seconds of each agent: there are too many, or an older dyno wrote it."
      : rated.length === 0 ? "No interval of the window is long enough to show." : undefined,
    table: () => ({
      head: ["t s", ...names],
      rows: all.map((v) => [
        cell(`series.${v.i}.t_s`, v.to, (t) => String(Number(t.toFixed(3)))),
        ...names.map((_, k) => cell(`series.${v.i}.completed_by_part.${k}`, v.point.completed_by_part?.[k], format.count)),
      ]),
    }),
    cursor: { group: cursors, times: rated.map((v) => v.to), read: (i) => `${rated[i].to.toFixed(1)} s: ${read(rated[i]).join(", ")}${drawn.length > mostRead ? " …" : ""}` },
    draw: (width) => {
      const path = drawn.flatMap((k) => stepCorners(rated, (v) => at(v, k)).map((p) => ({ ...p, k })));
      const common = { x: "t", fy: "k" };
      return chart(width, {
        height: 66 + 76 * drawn.length,
        x: { type: "linear", domain: [0, rated.at(-1)?.to ?? 1], label: "time of the window, s →" },
        y: { type: "linear", domain: [0, high * 1.05 || 1], label: "↑ requests/s", ticks: 2, tickFormat: (v: number) => trimZeros(format.rate(v)), grid: true },
        fy: { domain: drawn, axis: null, padding: 0.22 },
        marks: [
          Plot.areaY(path, { ...common, y1: 0, y2: "y", fill: colour(0), fillOpacity: 0.18 }),
          Plot.line(path, { ...common, y: "y", stroke: colour(0), strokeWidth: 1.75 }),
          Plot.text(drawn, { fy: (k: number) => k, text: (k: number) => fitText(names[k], width - 100, 12), frameAnchor: "bottom-left", dx: 6, dy: -4,
            fill: "currentColor", stroke: "var(--paper)", strokeWidth: 3 }),
        ],
      });
    },
  });
}
