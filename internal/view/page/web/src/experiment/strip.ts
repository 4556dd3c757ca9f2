// Every trial in numbers, with what the machine suffered meanwhile.

import { count, digits3, percent, time } from "../format";
import { Cell, cell } from "../table";
import { Payload, unitOf } from "./data";

const burdens = [
  ["steal_percent", "steal"],
  ["foreign_percent", "other programs"],
  ["psi_cpu_percent", "waiting for a CPU"],
  ["psi_memory_percent", "waiting for memory"],
  ["psi_io_percent", "waiting for I/O"],
] as const;

/** stripTable has a row for each trial, in the order in which they ran. */
export function stripTable(p: Payload) {
  const trials = p.record.trials ?? [];
  const shown = p.metrics;
  const rows = trials.map((t, i): (Cell | string)[] => [
    { text: String(i + 1), value: i + 1 },
    time(t.started),
    t.arm,
    t.level,
    cell(`record.trials.${i}.round`, t.round, count),
    cell(`record.trials.${i}.attempt`, t.attempt, count),
    t.grade,
    ...shown.map((m) => cell(`record.trials.${i}.values.${m}`, t.values?.[m], digits3)),
    ...burdens.map(([key]) => cell(`strip.${key}.${i}`, p.strip[key]?.[i], percent)),
    [t.failure ? `failed: ${t.failure.phase}: ${t.failure.reason}` : "", ...(t.reasons ?? []).map((r) => r.says)]
      .filter((s) => s)
      .join("; "),
  ]);
  return {
    head: [
      "#",
      "started",
      "variant",
      "level",
      "round",
      "attempt",
      "grade",
      ...shown.map((m) => `${m} (${unitOf(p, m)})`),
      ...burdens.map(([, name]) => name),
      "doubts",
    ],
    rows,
  };
}
