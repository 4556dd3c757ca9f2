// Latency by percentile, and by which factor each differs from the baseline's, in numbers.

import { count, duration, percentile } from "../format";
import { Cell, cell, told } from "../table";
import { Payload, Spectrum } from "./data";
import { isShown } from "./shown";

function quantileIndex(p: Payload, s: Spectrum, q: number): number {
  return p.spectra.at.findIndex((f, i) => i < s.merged.length && Math.abs(f - q) < 1e-9);
}

const asked = [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** spectrumTable has the percentiles that are asked for of each variant at a level. */
export function spectrumTable(p: Payload, level: string) {
  const rows: (Cell | string)[][] = [];
  (p.spectra.cells ?? []).forEach((s, n) => {
    if (s.level !== level || !isShown(p, s.arm)) return;
    for (const q of asked) {
      const i = quantileIndex(p, s, q);
      if (i < 0) continue;
      const of = (key: "merged" | "low" | "high") => cell(`spectra.cells.${n}.${key}.${i}`, s[key]?.[i], duration);
      rows.push([
        s.arm,
        s.kind,
        { text: percentile(q), key: `spectra.at.${i}`, value: p.spectra.at[i] },
        of("merged"),
        of("low"),
        of("high"),
      ]);
    }
  });
  return { head: ["variant", "of", "percentile", "all trials", "low", "high"], rows };
}

/** shiftTable has the ratio of each percentile at a level. */
export function shiftTable(p: Payload, level: string) {
  const rows: (Cell | string)[][] = [];
  (p.record.shifts ?? []).forEach((s, n) => {
    if (s.level !== level || !isShown(p, s.variant)) return;
    s.points.forEach((d, k) => {
      const of = (path: string, v: number) => told(`record.shifts.${n}.points.${k}.${path}`, v);
      rows.push([
        s.variant,
        s.baseline,
        { text: percentile(d.quantile), key: `record.shifts.${n}.points.${k}.quantile`, value: d.quantile },
        of("ratio.estimate", d.ratio.estimate),
        of("ratio.low", d.ratio.low),
        of("ratio.high", d.ratio.high),
        of("band.low", d.band.low),
        of("band.high", d.band.high),
        cell(`record.shifts.${n}.points.${k}.trials`, d.trials, count),
      ]);
    });
  });
  return {
    head: ["variant", "baseline", "percentile", "ratio", "low", "high", "low, all at once", "high, all at once", "pairs"],
    rows,
  };
}
