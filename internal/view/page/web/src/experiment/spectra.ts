// Latency by percentile, of every variant at a level, with each trial's line; and the shift function,
// by which factor each percentile differs from the baseline's.

import { chart, extent, percentileAxis, percentileX, Plot, timeAxis } from "../chart";
import { figure } from "../figure";
import { count, duration, factorIn } from "../format";
import { Cell, cell } from "../table";
import { multiples } from "../multiples";
import { baselinesOf, bounded, clip, legendOf, loadOf, Payload, ratioTicks, ShiftPoint, slug, Spectrum, stroke, tint } from "./data";
import { levelsShown, isShown } from "./shown";

/** spectraOf has a plot for each level. */
export function spectraOf(p: Payload): Node[] {
  return levelsShown(p).map((l) => spectrum(p, l.name, l.open)).filter((f) => f !== null);
}

function spectrum(p: Payload, level: string, open: boolean): HTMLElement | null {
  const all = (p.spectra.cells ?? []).filter((s) => s.level === level && isShown(p, s.arm));
  if (all.length === 0) return null;
  const bands = all.filter((s) => s.low).length;
  const kinds: [string, string][] = [
    ["latency", "latency (from due)"],
    ["service", "service time (from sent)"],
  ];
  return figure({
    id: "spectrum-" + slug(p, level),
    title: `Latency by percentile at ${loadOf(p, level)}`,
    unit: "duration over percentile, on a scale of 1/(1 − p)",
    n: `n = ${count(all.filter((s) => s.kind === "latency").reduce((sum, s) => sum + s.count, 0))} requests`,
    interval:
      bands > 0
        ? "bold: all trials of a variant; band: its 95 % interval, trials as blocks of a bootstrap; thin: each trial"
        : "bold: all trials of a variant; thin: each trial; no band: it takes 8 trials",
    note: "a line ends where fewer than 10 requests lie beyond, or had no answer",
    summary:
      `Latency by percentile at ${level}: ` +
      all
        .filter((s) => s.kind === "latency")
        .map((s) => `${s.arm} p50 ${quantileText(p, s, 0.5)}, p99 ${quantileText(p, s, 0.99)}`)
        .join("; "),
    legend: legendOf(p, [...new Set(all.map((s) => s.arm))]),
    toggles: [
      ...(open ? [{ key: "of", label: "of", options: kinds }] : []),
      {
        key: "scale",
        label: "scale",
        options: [
          ["log", "logarithmic"],
          ["linear", "linear"],
        ],
      },
      {
        key: "runs",
        label: "trials",
        options: [
          ["yes", "each"],
          ["no", "together"],
        ],
      },
    ],
    table: () => spectrumTable(p, level),
    draw: (width, choice) => {
      const kind = open ? choice("of") : "latency";
      const drawn = all.filter((s) => s.kind === kind);
      const [log, runs] = [choice("scale") === "log", choice("runs") === "yes"];
      return multiples(drawn.map((s) => s.arm), width, (arms, each) => drawSpectrum(p, drawn, arms, each, log, runs), (arm) => baselinesOf(p, arm));
    },
  });
}

function quantileIndex(p: Payload, s: Spectrum, q: number): number {
  return p.spectra.at.findIndex((f, i) => i < s.merged.length && Math.abs(f - q) < 1e-9);
}

function quantileText(p: Payload, s: Spectrum, q: number): string {
  const i = quantileIndex(p, s, q);
  return i < 0 ? "n/a" : duration(s.merged[i] ?? NaN);
}

const asked = [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999];

function spectrumTable(p: Payload, level: string) {
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
        { text: "p" + Number((100 * q).toFixed(4)), key: `spectra.at.${i}`, value: p.spectra.at[i] },
        of("merged"),
        of("low"),
        of("high"),
      ]);
    }
  });
  return { head: ["variant", "of", "percentile", "all trials", "low", "high"], rows };
}

/** drawSpectrum draws some of the arms, on the scales of all. */
function drawSpectrum(p: Payload, all: Spectrum[], arms: string[], width: number, log: boolean, runs: boolean): SVGSVGElement {
  const x = p.spectra.at.map(percentileX);
  const points = (v: (number | null)[], arm: string, id: string) =>
    v.map((y, i) => ({ x: x[i], y, arm, id })).filter((d) => d.y !== null && d.y > 0);
  const shown = all.filter((s) => arms.includes(s.arm));
  const scale = all.flatMap((s) => [...s.merged, ...(runs ? s.runs.flat() : [])]);
  const thin = runs ? shown.flatMap((s) => s.runs.flatMap((r, k) => points(r, s.arm, `${s.arm}#${k}`))) : [];
  const bands = shown
    .filter((s) => s.low && s.high)
    .flatMap((s) => s.low!.map((low, i) => ({ x: x[i], low, high: s.high![i], arm: s.arm })));
  const most = Math.max(0.5, ...all.map((s) => p.spectra.at[s.merged.length - 1] ?? 0));
  return chart(width, {
    height: Math.round(Math.min(Math.max(width * 0.5, width < 400 ? 190 : 260), 460)),
    marginLeft: 64,
    x: percentileAxis(most, width),
    y: timeAxis(scale, log, "↑ duration"),
    color: { type: "identity" },
    marks: [
      Plot.areaY(bands, { x: "x", y1: "low", y2: "high", z: "arm", fill: (d) => tint(p, d.arm), fillOpacity: 0.18 }),
      Plot.line(thin, { x: "x", y: "y", z: "id", stroke: (d) => tint(p, d.arm), strokeWidth: 0.6, strokeOpacity: 0.45 }),
      ...shown.map((s) =>
        Plot.line(points(s.merged, s.arm, s.arm), {
          x: "x",
          y: "y",
          stroke: tint(p, s.arm),
          strokeWidth: 2.4,
          strokeDasharray: stroke(p, s.arm) || undefined,
        }),
      ),
    ],
  });
}

/** shifts has a plot for each level. */
export function shifts(p: Payload): Node[] {
  return levelsShown(p).map((l) => shift(p, l.name)).filter((f) => f !== null);
}

function shift(p: Payload, level: string): HTMLElement | null {
  const all = (p.record.shifts ?? []).filter((s) => s.level === level && isShown(p, s.variant));
  if (all.length === 0) return null;
  const pairs = extent(all.flatMap((s) => s.points.map((d) => d.trials))) ?? [0, 0];
  return figure({
    id: "shift-" + slug(p, level),
    title: `Latency, percentile by percentile, at ${loadOf(p, level)}`,
    unit: "ratio of the variant's percentile to the baseline's, logarithmic",
    n: `n = ${pairs[0] === pairs[1] ? pairs[0] : pairs.join(" to ")} pairs of trials`,
    interval: "thick: 95 % interval of each; thin: of all percentiles at once (sign flips of rounds)",
    summary: all
      .map(
        (s) =>
          `${s.variant} to ${s.baseline}: ` +
          s.points.map((d) => `p${Number((100 * d.quantile).toFixed(3))} ${ratioOf(d)}`).join(", "),
      )
      .join("; "),
    legend: legendOf(
      p,
      all.map((s) => s.variant),
    ),
    table: () => shiftTable(p, level),
    draw: (width) => multiples(all.map((s) => s.variant), width, (arms, each) => drawShift(p, level, arms, each)),
  });
}

/** ratioOf is a point's ratio, with the digits that its interval allows. */
const ratioOf = ({ ratio: r, bound }: ShiftPoint): string => bounded(bound, factorIn(r.low, r.high, r.level)(r.estimate));

function shiftTable(p: Payload, level: string) {
  const rows: (Cell | string)[][] = [];
  (p.record.shifts ?? []).forEach((s, n) => {
    if (s.level !== level || !isShown(p, s.variant)) return;
    s.points.forEach((d, k) => {
      const of = (path: string, v: number, i = d.ratio) => cell(`record.shifts.${n}.points.${k}.${path}`, v, factorIn(i.low, i.high, i.level));
      rows.push([
        s.variant,
        s.baseline,
        { text: "p" + Number((100 * d.quantile).toFixed(3)), key: `record.shifts.${n}.points.${k}.quantile`, value: d.quantile },
        cell(`record.shifts.${n}.points.${k}.ratio.estimate`, d.ratio.estimate, () => ratioOf(d)),
        of("ratio.low", d.ratio.low),
        of("ratio.high", d.ratio.high),
        of("band.low", d.band.low, d.band),
        of("band.high", d.band.high, d.band),
        cell(`record.shifts.${n}.points.${k}.trials`, d.trials, count),
      ]);
    });
  });
  return {
    head: ["variant", "baseline", "percentile", "ratio", "low", "high", "low, all at once", "high, all at once", "pairs"],
    rows,
  };
}

/** drawShift draws some of the arms, on the scales of all. */
function drawShift(p: Payload, level: string, arms: string[], width: number): SVGSVGElement {
  const here = (p.record.shifts ?? []).filter((s) => s.level === level && isShown(p, s.variant));
  const all = here.filter((s) => arms.includes(s.variant));
  const quantiles = [...new Set(all.flatMap((s) => s.points.map((d) => d.quantile)))].sort((a, b) => a - b);
  const spread = Math.min(0.7, 0.16 * all.length);
  const points = all.flatMap((s, k) =>
    s.points.map((d) => ({
      ...d,
      arm: s.variant,
      x: quantiles.indexOf(d.quantile) + (all.length > 1 ? (k / (all.length - 1) - 0.5) * spread : 0),
    })),
  );
  const [low, high] = extent(
    here.flatMap((s) => s.points).flatMap((d) => [d.band.low, d.band.high, d.ratio.low, d.ratio.high]),
    true,
  ) ?? [1, 1];
  const domain = [Math.min(low, 0.98) / 1.01, Math.max(high, 1.02) * 1.01];
  const name = (i: number) => (quantiles[i] === undefined ? "" : "p" + Number((100 * quantiles[i]).toFixed(3)));
  return chart(width, {
    marginLeft: 56,
    x: {
      domain: [-0.6, quantiles.length - 0.4],
      ticks: quantiles.map((_, i) => i).filter((i) => width > 460 || i % (width < 300 ? 4 : 2) === 0 || (width >= 300 && i === quantiles.length - 1)),
      tickFormat: name,
      label: "percentile →",
    },
    y: { type: "log", domain, ticks: ratioTicks(domain[0], domain[1], 8), tickFormat: String, label: "↑ ratio", grid: true },
    color: { type: "identity" },
    marks: [
      Plot.ruleY([1], { stroke: "var(--ink)", strokeOpacity: 0.6 }),
      ...all.map((s) =>
        Plot.line(
          points.filter((d) => d.arm === s.variant),
          {
            x: "x",
            y: (d) => d.ratio.estimate,
            stroke: tint(p, s.variant),
            strokeOpacity: 0.5,
            strokeDasharray: stroke(p, s.variant) || undefined,
          },
        ),
      ),
      Plot.link(points, {
        x1: "x",
        x2: "x",
        y1: (d) => d.band.low,
        y2: (d) => d.band.high,
        stroke: (d) => tint(p, d.arm),
        strokeWidth: 1,
      }),
      Plot.link(points, {
        x1: "x",
        x2: "x",
        y1: (d) => d.ratio.low,
        y2: (d) => d.ratio.high,
        stroke: (d) => tint(p, d.arm),
        strokeWidth: 3.2,
        strokeOpacity: 0.8,
      }),
      Plot.dot(points, {
        x: "x",
        y: (d) => d.ratio.estimate,
        r: 3.6,
        fill: (d) => tint(p, d.arm),
        stroke: "var(--paper)",
        title: (d) => `${clip(d.arm, 40)} p${100 * d.quantile}: ${ratioOf(d)}`,
      }),
    ],
  });
}
