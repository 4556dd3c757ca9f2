// Axes of what still grows: those of results come from package chart, which draws a finished result once. A load has other axes
// after each second, and each page that looks has its own seconds: all of them, or the last hour, or those since it was loaded
// again. Go would send the axes of eight figures to every page each second, and again for each second that a page catches
// up on, from the same two rules. So the rules stand here, too. The texts of the ticks are Go's (format.ts).

import { extent } from "../chart";
import * as format from "../format";
import type { Axis, Tick } from "../view";

/** inUnit are ticks in a unit. */
const inUnit = (unit: string, at: number[]): Tick[] => at.map((v) => ({ at: v, text: format.amount(unit, v, true) }));

/** linear is an axis with up to about six round ticks. */
export function linear(low: number, high: number, label: string, unit: string): Axis {
  const to = high > low ? high : low + 1;
  const power = 10 ** Math.floor(Math.log10((to - low) / 6));
  const step = power * ([1, 2, 5].find((factor) => (to - low) / (power * factor) <= 7) ?? 10);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= to * (1 + 1e-9); k++) ticks.push(k * step);
  return { low, high: to, label, unit, ticks: inUnit(unit, ticks) };
}

const few = 3; // ticks, below which those of a decade do not tell how the values lie: 200 ms alone of 210 to 260 ms

/** logarithmic is an axis over the values above 0, with a tick in each decade or in steps of it. */
export function logarithmic(values: (number | null)[], label: string, unit: string): Axis {
  const [least, most] = extent(values, true) ?? [1, 10];
  const [low, high] = [least / 1.15, most * 1.15];
  const decades = Math.log10(high / low);
  const steps = decades < 2 ? [1, 2, 5] : decades < 3.5 ? [1, 3] : [1];
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) ticks.push(...steps.map((s) => Number(`${s}e${e}`)).filter((v) => v >= low && v <= high));
  if (ticks.length < few) return { ...linear(low, high, label, unit), log: true };
  return { low, high, log: true, label, unit, ticks: inUnit(unit, ticks) };
}
