// The forest plot: the ratio of each variant to its baseline with its interval, on a logarithmic
// axis, the baseline against itself first. Open and closed levels have plots of their own.

import { chart, extent, Plot } from "../chart";
import { figure } from "../figure";
import { bothWays, factorIn, inPercent, holdsAt95 } from "../format";
import { Cell, cell } from "../table";
import { bounded, clip, Comparison, halo, Judged, loadOf, Payload, ratioTicks, slug, verdictColour } from "./data";
import { levelsShown, isShown } from "./shown";

interface Row {
  y: number;
  head?: string;
  i?: number;
  c?: Comparison;
  judged?: Judged;
  pairs: number[];
}

/** forests has a plot for each level. */
export function forests(p: Payload): Node[] {
  return levelsShown(p).map((l) => forest(p, l.name)).filter((f) => f !== null);
}

function forest(p: Payload, level: string): HTMLElement | null {
  const all = p.record.verdicts ?? [];
  const here = all.map((c, i) => ({ c, i })).filter(({ c }) => c.level === level && isShown(p, c.variant));
  if (here.length === 0) return null;
  const rows: Row[] = [];
  for (const metric of new Set(here.map(({ c }) => c.metric))) {
    const better = here.find(({ c }) => c.metric === metric)!.c.better;
    rows.push({ y: rows.length, head: `${metric}: ${better > 0 ? "more" : "less"} is better`, pairs: [] });
    for (const { c, i } of here.filter(({ c }) => c.metric === metric)) {
      rows.push({ y: rows.length, i, c, judged: p.forest![i], pairs: p.forest![i].pairs ?? [] });
    }
  }
  const margin = here[0].c.margin;
  const pairs = extent(here.map(({ c }) => c.trials)) ?? [0, 0];
  return figure({
    id: "forest-" + slug(p, level),
    title: `Ratios at ${loadOf(p, level)}`,
    unit: "ratio to the baseline, logarithmic",
    n: `n = ${pairs[0] === pairs[1] ? pairs[0] : pairs.join(" to ")} pairs of trials each`,
    interval: "thin: 95 % interval, all comparisons together (sign flips of rounds); thick: each alone; small dots: pairs",
    note: `shaded: within the margin of ${inPercent(margin)}; | what A/A differs by, if that is more`,
    summary: (p.words.verdicts ?? []).filter((_, i) => here.some((d) => d.i === i)).join(". "),
    legend: [
      { name: "better", colour: "var(--good)", shape: "dot" },
      { name: "worse", colour: "var(--bad)", shape: "dot" },
      { name: "the same ■; open: no sure verdict ○", colour: "var(--ink)", shape: "dot" },
    ],
    table: () => forestTable(p, here),
    draw: (width) => drawForest(rows, width),
  });
}

/** sayRatio is a comparison's ratio with its interval. */
function sayRatio(c: Comparison): string {
  const factor = factorIn(c.low, c.high, c.confidence);
  const [low, high] = [c.bound === "at most" ? "(0" : "[" + factor(c.low), c.bound === "at least" ? "∞)" : factor(c.high) + "]"];
  return bounded(c.bound, factor(c.ratio)) + (holdsAt95(c.confidence) && c.bound !== "none" ? ` ${low}, ${high}` : "");
}

function forestTable(p: Payload, here: { c: Comparison; i: number }[]) {
  const rows = here.map(({ c, i }): (Cell | string)[] => {
    const factor = factorIn(c.low, c.high, c.confidence);
    const single = factorIn(c.alone?.low ?? NaN, c.alone?.high ?? NaN);
    return [
      c.metric,
      c.variant,
      cell(`record.verdicts.${i}.ratio`, c.ratio, (v) => bounded(c.bound, factor(v))),
      cell(`record.verdicts.${i}.low`, c.low, factor),
      cell(`record.verdicts.${i}.high`, c.high, factor),
      cell(`record.verdicts.${i}.alone.low`, c.alone?.low, single),
      cell(`record.verdicts.${i}.alone.high`, c.alone?.high, single),
      cell(`record.verdicts.${i}.floor`, c.floor, bothWays),
      p.forest![i].words,
      cell(`record.verdicts.${i}.trials`, c.trials, String),
    ];
  });
  return {
    head: [
      "measure",
      "variant",
      "ratio",
      "low",
      "high",
      "low, alone",
      "high, alone",
      "A/A floor",
      "verdict",
      "pairs",
    ],
    rows,
  };
}

/** thin are the ends of a comparison's interval, where there were rounds enough for one. */
const thin = (c: Comparison): number[] => (c.confidence >= 0.95 - 1e-9 ? [c.low, c.high] : []);

function drawForest(rows: Row[], width: number): SVGSVGElement {
  const narrow = width < 640;
  const bars = rows.filter((r): r is Bar => r.c !== undefined);
  const [low, high] = extent(
    bars.flatMap(({ c, pairs }) => [...thin(c), c.alone?.low, c.alone?.high, ...pairs]),
    true,
  ) ?? [1, 1];
  const domain = [Math.min(low, 0.97) / 1.02, Math.max(high, 1.03) * 1.02];
  const height = narrow ? 48 : 26;
  const label = (r: Bar) => clip(r.c.variant, narrow ? 30 : 26);
  const said = (r: Bar) => sayRatio(r.c);
  const left = narrow ? 10 : Math.min(200, 24 + 7 * Math.max(...bars.map((r) => [...label(r)].length)));
  const right = narrow ? 10 : 160;
  return chart(width, {
    height: 60 + height * rows.length,
    marginLeft: left,
    marginRight: right,
    marginTop: 8,
    marginBottom: 40,
    x: {
      type: "log",
      domain,
      ticks: ratioTicks(domain[0], domain[1], width < 450 ? 5 : 9),
      tickFormat: String,
      label: "ratio →",
      grid: true,
    },
    y: { domain: [rows.length - 0.4, -0.6], axis: null },
    marks: [
      Plot.rect(bars, {
        x1: (r) => 1 / (1 + r.c.margin),
        x2: (r) => 1 + r.c.margin,
        y1: (r) => r.y - 0.5,
        y2: (r) => r.y + 0.5,
        fill: "var(--faint)",
        fillOpacity: 0.16,
      }),
      Plot.ruleX([1], { stroke: "var(--ink)", strokeOpacity: 0.6 }),
      Plot.link(
        bars.flatMap((r) =>
          (r.c.floor ?? 0) > r.c.margin ? [1 + r.c.floor!, 1 / (1 + r.c.floor!)].map((x) => ({ x, y: r.y })) : [],
        ),
        { x1: "x", x2: "x", y1: (d) => d.y - 0.32, y2: (d) => d.y + 0.32, stroke: "var(--faint)", strokeWidth: 1.5 },
      ),
      Plot.dot(
        bars.flatMap((r) => r.pairs.map((x) => ({ x, y: r.y + 0.22 }))),
        { x: "x", y: "y", r: 1.6, fill: "var(--faint)", fillOpacity: 0.8 },
      ),
      Plot.link(
        bars.filter((r) => thin(r.c).length > 0),
        {
          x1: (r: Bar) => r.c.low,
          x2: (r: Bar) => r.c.high,
          y1: "y",
          y2: "y",
          stroke: (r: Bar) => verdictColour(r.judged.verdict),
          strokeWidth: 1.2,
        },
      ),
      Plot.link(bars.filter((r) => r.c.alone), {
        x1: (r) => r.c.alone!.low,
        x2: (r) => r.c.alone!.high,
        y1: "y",
        y2: "y",
        stroke: (r) => verdictColour(r.judged.verdict),
        strokeWidth: 4,
        strokeOpacity: 0.85,
      }),
      Plot.dot(bars, {
        x: (r) => r.c.ratio,
        y: "y",
        symbol: (r: Bar) => (r.judged.verdict === "the same" ? "square" : "circle"),
        r: 5,
        fill: (r: Bar) => (r.judged.settled ? verdictColour(r.judged.verdict) : "var(--paper)"),
        stroke: (r: Bar) => (r.judged.settled ? "var(--paper)" : verdictColour(r.judged.verdict)),
        strokeWidth: 1.4,
      }),
      ...labels(bars, rows, narrow, label, said),
    ],
    symbol: { type: "identity" } as Plot.ScaleOptions,
    color: { type: "identity" },
  });
}

type Bar = Row & { c: Comparison; judged: Judged };

/** labels are beside the bars, or above them where there is no room. */
function labels(bars: Bar[], rows: Row[], narrow: boolean, label: (r: Bar) => string, said: (r: Bar) => string): Plot.Markish[] {
  const heads = Plot.text(
    rows.filter((r) => r.head),
    { y: "y", frameAnchor: "left", dx: narrow ? 0 : 2, text: "head", fontWeight: "bold", textAnchor: "start", ...halo },
  );
  if (narrow) {
    return [
      heads,
      Plot.text(bars, { y: "y", frameAnchor: "left", dy: -15, text: label, textAnchor: "start", fontSize: 11, ...halo }),
      Plot.text(bars, { y: "y", frameAnchor: "right", dy: -15, text: said, textAnchor: "end", fontSize: 11, ...halo }),
    ];
  }
  return [
    heads,
    Plot.text(bars, { y: "y", frameAnchor: "left", dx: -8, text: label, textAnchor: "end" }),
    Plot.text(bars, { y: "y", frameAnchor: "right", dx: 8, text: said, textAnchor: "start" }),
  ];
}
