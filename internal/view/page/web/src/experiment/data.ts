// The data of an experiment, as internal/view/payload/experiment.go makes it, and what all views ask of it.

import type { Answer } from "../answer";
import { ink } from "../chart";
import type { Past } from "../history/past";
import type { Figures } from "../view";

export interface Interval {
  low: number;
  estimate: number;
  high: number;
  level: number;
}

export interface Arm {
  name: string;
  description?: string;
  version?: string;
  control?: boolean;
  baseline?: string;
  missing?: string[];
  unfit?: string;
}

export interface Comparison {
  metric: string;
  level: string;
  baseline: string;
  variant: string;
  ratio: number;
  low: number;
  high: number;
  verdict: string;
  trials: number;
  confidence: number;
  p: number;
  q: number;
  p_holm: number;
  p_adjusted: number;
  alone?: Interval;
  margin: number;
  floor?: number;
  better: number;
  control?: boolean;
  client_bound?: boolean;
  disturbed?: number;
  grade_f?: number;
  missing?: number;
  more_rounds?: number;
}

export interface Trial {
  id: string;
  round: number;
  position: number;
  arm: string;
  level: string;
  attempt: number;
  started: string;
  grade: string;
  reasons?: { grade: string; says: string }[];
  values?: Record<string, number>;
  failure?: { phase: string; reason: string };
}

export interface Sensitivity {
  arm: string;
  level: string;
  metric: string;
  settings: { name: string; ratio: Interval; trials: number }[] | null;
  skipped?: string[];
  sentence: string;
  trials?: Trial[];
}

export interface Part {
  arm: string;
  level: string;
  name: string;
  cpu_us_per_request: number | null;
  user_us_per_request: number | null;
  system_us_per_request: number | null;
  cpu_percent: number | null;
  memory_bytes: number | null;
}

export interface ShiftPoint {
  quantile: number;
  ratio: Interval;
  band: Interval;
  trials: number;
}

export interface Beside {
  variant: string;
  level?: string;
  metric: string;
  value?: number;
  unit?: string;
  failed?: string;
  ours?: number;
  ratio?: number;
  ours_ratio?: number;
}

export interface Taken {
  arm: string;
  level: string;
  kind: string;
  by: string;
  file?: string;
  problem?: string;
  slowdown?: number;
}

export interface Fairness {
  reference: string;
  variants: string[];
  rows: { aspect: string; header?: boolean; why: string; cells: { value: string; state: string; percent?: number }[] }[];
}

export interface Record_ {
  name: string;
  dyno: string;
  state: string;
  started: string;
  ended?: string;
  seed: number;
  quick?: boolean;
  spent_s: number;
  host: object;
  machine: { name: string; value: string }[] | null;
  cpus: object;
  sampler_percent?: number;
  arms: Arm[];
  verdicts: Comparison[] | null;
  ranks: { level: string; metric: string; arms: string[]; groups: string[] }[] | null;
  cells: { arm: string; level: string; metric: string; unit: string; median: Interval; trials: number; over?: boolean }[] | null;
  shifts?: { level: string; baseline: string; variant: string; control?: boolean; points: ShiftPoint[] }[];
  programs?: { arm: string; process: string; path: string; sha256?: string; args: string[] | null; trials: number }[];
  parts?: Part[];
  trials: Trial[] | null;
  published?: Beside[];
  profiles?: Taken[];
  fairness?: Fairness;
  objectives?: { expr: string; arm: string; level: string; met: number; trials: number; undecided?: boolean }[];
  ceilings?: { level: string; throughput: number }[];
  gate?: { verdict: string };
  sensitivity?: Sensitivity;
}

export type Column = (number | null)[];

export interface Spectrum {
  arm: string;
  level: string;
  kind: string;
  count: number;
  merged: Column;
  low?: Column;
  high?: Column;
  trials: number[];
}

export interface Start {
  ready_s?: number;
  steady?: string;
  cov?: number;
  cut?: { cut_s: number; settled: boolean; change: number; standard_errors: number; at_s?: number; cold?: boolean };
}

export interface Coming {
  arm: string;
  level: string;
  ready?: Interval;
  steady?: Interval;
  trials: number;
}

export interface Law {
  arm: string;
  law: { gamma_per_s: number; sigma: number; kappa: number };
  r2: number;
  peak_n?: number;
  peak_per_s?: number;
  trials: number;
}

export interface Ladder {
  open: boolean;
  levels: string[];
  at: number[];
  laws?: Law[];
}

export interface HalfNormal {
  level: string;
  metric: string;
  effects: { comparison: number; name: string; size: number; quantile: number; stands_out?: boolean }[]; // the smallest first
  noise?: number; // at the quantile 1
  margin_of_error?: number;
  simultaneous_margin_of_error?: number;
}

export interface Panel {
  trial: number;
  measured_s: number;
  absent?: string[];
}

export interface Flame {
  taken: number;
  arm: string;
  level?: string;
  kind: string;
  baseline?: string;
  total?: number;
  unit?: string;
  names: string[];
  kernel?: number[];
  name: number[];
  depth: number[];
  all: number[];
  self: number[];
  base_all?: number[];
  base_self?: number[];
  least: number;
  file?: string;
  pprof?: string;
  speedscope?: string;
  problem?: string;
}

/** Judged is what the report says of a comparison: its verdict, and that in words, with whether it must not be relied on. */
export interface Judged {
  verdict: string;
  words: string;
  mark: string; // words, and what has to be known of the trials
  settled?: boolean;
}

export interface Payload {
  kind: "experiment";
  answer: Answer;
  summary: string; // of the answer, as Markdown
  words: {
    title: string;
    scope: string;
    command: string;
    cautions?: string[];
    unavailable?: string[];
    correction?: string[];
    verdicts: string[] | null;
    gate?: string[];
    trials: string;
    fairness?: string[];
    given?: string[];
    published?: string[];
    profiles?: string[];
    levels: string[];
    methods: string[];
    formulas: string[];
  };
  record: Record_;
  measures: { name: string; unit: string; better: number }[];
  metrics: string[];
  levels: { name: string; open: boolean }[];
  counted: { arm: string; level: string; trials: number[] }[] | null;
  forest: Judged[] | null;
  spectra: { at: number[]; cells: Spectrum[] | null };
  strip: Record<
    "took_s" | "steal_percent" | "foreign_percent" | "psi_cpu_percent" | "psi_memory_percent" | "psi_io_percent",
    Column
  >;
  floors?: { metric: string; share: number }[];
  starts: Start[] | null;
  comings: Coming[] | null;
  ladders?: Ladder[];
  half_normals?: HalfNormal[];
  past?: Past;
  panels: { trials: Panel[] | null; left_out?: number };
  flames?: Flame[];
  figures: Figures;
  texts: Record<string, string>; // of numbers, by their paths
  conditions: {
    same: { key: string; value: string }[] | null;
    differs: { key: string; values: string[]; of: number[] }[] | null;
  };
}

/** hue is the number of an arm's colour: a control has its baseline's. */
function hue(p: Payload, arm: string): number {
  const a = p.record.arms.find((a) => a.name === arm);
  const name = a?.control && a.baseline ? a.baseline : arm;
  return Math.max(
    0,
    p.record.arms.filter((a) => !a.control).findIndex((a) => a.name === name),
  );
}

/** tint is an arm's colour. */
export const tint = (p: Payload, arm: string): string => `var(--${ink(hue(p, arm))})`;

/** loadOf is a level with its load in words. */
export function loadOf(p: Payload, level: string): string {
  const i = p.levels.findIndex((l) => l.name === level);
  return i < 0 || !p.words.levels[i] ? level : `${level} (${p.words.levels[i]})`;
}

/** unitOf is a measure's unit. */
export const unitOf = (p: Payload, metric: string): string => p.measures.find((m) => m.name === metric)?.unit ?? "";
