// The keys of dyno.result/1 that the views read. All that may be absent is optional, in results of
// an older dyno too; what the views do not know is shown by its key.

import type { Answer } from "./answer";
import type { Cell, Table } from "./table";
import type { Figures } from "./view";

export interface Point {
  t_s: number;
  sent: number;
  completed: number;
  errors: number;
  mean_us?: number;
  p50_us?: number;
  p99_us?: number;
  max_us?: number;
  status?: Record<string, number>;
  heat?: [bucket: number, count: number][];
  iterations?: number; // of a scenario, that completed
  iterations_failed?: number;
  in_flight: number;
  bytes_received: number;
  bytes_sent: number;
  completed_by_part?: (number | null)[];
  early?: number; // answers to requests that were due in the warm-up, in rates only
  early_iterations?: number; // likewise
}

/** ended is a count of an interval as rates count it: with what was due in the warm-up. */
export const ended = (p: { [K in "completed" | "early" | "iterations" | "early_iterations"]?: number }, key: "completed" | "iterations"): number =>
  (p[key] ?? 0) + ((key === "completed" ? p.early : p.early_iterations) ?? 0);

export interface Stage {
  duration_s: number;
  rate: number;
}

export interface Usage {
  name: string;
  pid?: number;
  [reading: string]: number | string | null | undefined;
}

/** Agent is one of a fleet. */
export interface Agent {
  name: string;
  weight: number;
  connections: number;
  late_us?: number;
  offset_bound_us: number;
  drift_us?: number;
  requests: Record<string, number>;
  covered_s: number;
  adds_up?: boolean;
  lost?: string;
}

/** Iterations are the passages of users through a scenario. */
export interface Iterations {
  users: number;
  started: number;
  completed: number;
  failed: number;
  unfinished: number;
  waiting?: number;
  rate: { offered?: number; started: number; completed: number };
  [count: string]: unknown;
}

export interface Result {
  id?: string;
  dyno: string;
  plan: { rate?: number; stages?: Stage[]; requests: Record<string, unknown>[] | null; [setting: string]: unknown };
  model: "closed" | "open";
  host: Record<string, unknown>;
  window: { started: string; warmup_s: number; measured_s: number; drained_s: number; outage_s?: number };
  requests: Record<string, number>;
  rate: { offered?: number; sent: number; completed: number; error_answers?: number };
  status: Record<string, number> | null;
  errors: { phase: string; kind: string; address?: string; detail: string; count: number; sample?: string }[] | null;
  bytes: { sent: number; received: number };
  connections: Record<string, unknown>;
  series: Point[] | null;
  routes?: unknown[];
  iterations?: Iterations; // of a scenario of several steps, or with checks
  checks?: unknown[]; // of responses
  metrics?: unknown[]; // that a script counted
  generator: { verdict: string; [reading: string]: unknown };
  fcgi_stderr?: { text: string; bytes: number };
  fleet?: { agents: Agent[] | null; [reading: string]: unknown };
  server?: { processes: Usage[] | null; host: Record<string, unknown>; sampler: Record<string, unknown>; unavailable?: string[] };
  profile?: {
    kind: string;
    duration_s: number;
    samples: number;
    file?: string;
    top: { function: string; kernel?: boolean; flat: Share; cumulative: Share }[] | null;
  };
  objectives?: { expr: string; value?: number; unit?: string; met: boolean }[];
  warnings?: string[];
}

export interface Share {
  value: number;
  share: number;
}

/** Words are the sentences of package report. */
export interface Words {
  what: string;
  how: string;
  model: string;
  verdict: string;
  reasons?: string[]; // of a search: why it ended so
  warnings?: string[]; // of a search or a sweep
  objectives: string[];
  facts: { name: string; text: string }[];
  machine: string;
  methods: string[];
  command: string;
  lost?: string;
  unanswered?: string;
  agents?: string[]; // of a fleet: how each fared
}

/** Tile is a number that is asked for first. */
export type Tile = Cell & { name: string };

/** Run is the payload of a run's page. */
export interface Run {
  kind: "run";
  answer: Answer;
  summary: string; // of the answer, as Markdown
  words: Words;
  result: Result;
  tiles: Tile[] | null;
  durations: Table | { rows: null }; // a column for each distribution; null: there is none
  phases: Table; // a row for each
  routes?: Table; // likewise
  checks?: Table; // a row for each
  metrics?: Table;
  figures: Figures;
}
