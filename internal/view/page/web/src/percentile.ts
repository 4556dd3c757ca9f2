// How percentiles are shown: what they may say of so many values, and of requests without an answer.

import * as format from "./format";
import type { Distribution, Over } from "./result";

// The share of values above a percentile: with fewer than one it is but the maximum's other name.
export const beyond: Record<string, number> = { p50_us: 0.5, p75_us: 0.25, p90_us: 0.1, p95_us: 0.05, p99_us: 0.01, p99_9_us: 1e-3, p99_99_us: 1e-4 };

/** percentile is how one of d is shown: "–" where it is the maximum by another name, "over …" where it reaches requests without an answer. */
export const percentile = (d: Distribution | undefined, key: string) => (v: number): string => {
  const all = (d?.count ?? Infinity) + (d?.over?.count ?? 0);
  if (all * (beyond[key] ?? 1) < 0.999) return "–";
  return lowest(d?.count ?? 0, d?.over, key)(v);
};

/** lowest is how a statistic of count answered and other requests is shown: "over …" where it reaches these. */
export const lowest = (count: number, over: Over | undefined, key: string) => (v: number): string => {
  const lost = over?.count ?? 0;
  const above = key === "max_us" ? 0 : beyond[key];
  return format.known(lost > 0 && above !== undefined && (count + lost) * above < lost * (1 - 1e-9), format.duration(v));
};
