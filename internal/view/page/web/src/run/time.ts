// The series of a run as intervals: each point is the end of one, and the first begins with the
// window.

import type { Point, Result } from "../result";

export interface Interval {
  from: number; // s after the window's start
  to: number;
  point: Point;
  i: number; // in the series
  rates: boolean; // long enough for a rate, and mostly within the window
}

const shortest = 1e-3; // s; as package report has it

/** intervals are those of the series. One that lies mostly after the window has counts, but no rate; the last of the
    window may end late, as samples do. */
export function intervals(r: Result): Interval[] {
  let from = 0;
  return (r.series ?? []).map((point, i) => {
    const interval = { from, to: point.t_s, point, i, rates: false };
    const within = Math.min(interval.to, r.window.measured_s) - interval.from;
    interval.rates = (within >= (interval.to - interval.from) / 2 || i === 0) && interval.to - interval.from >= shortest;
    from = point.t_s;
    return interval;
  });
}

/** perSecond is a count of an interval as a rate; null where there is none. */
export function perSecond(v: Interval, n: number): number | null {
  return v.rates ? n / (v.to - v.from) : null;
}

/** stepCorners are the corners of a curve that has one value in each interval. */
export function stepCorners(all: Interval[], value: (v: Interval) => number | null | undefined): { t: number; y: number | null }[] {
  return all.flatMap((v) => {
    const y = value(v) ?? null;
    return [{ t: v.from, y }, { t: v.to, y }];
  });
}

/** intervalCountText is how long the intervals are, in words. */
export function intervalCountText(all: Interval[]): string {
  return `n = ${all.length} ${all.length === 1 ? "interval" : "intervals"} of about 1 s`;
}
