// The keys of dyno.find/1 and dyno.sweep/1 that the views read.

import type { Words } from "../result";
import type { Figures } from "../view";

export interface Judged {
  expr: string;
  value?: number;
  over?: boolean; // value is only known to be higher
  unit?: string;
  low?: number;
  high?: number;
  seconds?: number;
  verdict: string;
}

export interface Probe {
  purpose: string;
  rate_per_s?: number;
  connections?: number; // in place of the rate, if that is the axis
  users?: number;
  sent_per_s: number;
  completed_per_s: number;
  measured_s: number;
  judged: Judged[] | null;
  outcome: string;
  why?: string;
  verdict: string;
}

export interface Search {
  objectives: string[] | null;
  certified_per_s?: number;
  low_per_s?: number;
  high_per_s?: number;
  axis?: "connections" | "users"; // absent: it is a rate
  count?: { certified?: number; low?: number; high?: number };
  closed_loop_per_s?: number;
  probes: Probe[] | null;
  end: string;
  [key: string]: unknown;
}

export interface Point {
  round: number;
  level: number;
  n: number;
  x_per_s: number;
  p50_us: number;
  p99_us: number;
  over?: ("p50" | "p99")[]; // that are only known to be higher
  errors: number;
  verdict: string;
  not_judged?: boolean;
  cause?: string;
}

export interface Range {
  low: number;
  high?: number;
}

export interface Curve {
  axis: string;
  rounds: number;
  points: Point[] | null;
  fit?: { residuals: number[]; peak_n?: number; peak_per_s?: number; peak_n_interval?: Range; [key: string]: unknown };
  [key: string]: unknown;
}

export interface Capacity {
  words: Words;
  search?: Search;
  curve?: Curve;
  figures: Figures;
}
