// Whether the servers answered alike: every aspect of each variant, and what violates.

import { h } from "../dom";
import { figure } from "../figure";
import { list } from "../layout";
import { Cell, cell, Table, table } from "../table";
import { chart, extent, Plot } from "../chart";
import { Beside, clip, halo, Payload, ratioTicks } from "./data";
import { byPercent, digits3, ratioAlone } from "../format";

/** fairness is the table of aspects, those in which answers differ first. */
export function fairness(p: Payload): (Node | null)[] {
  const t = p.record.fairness;
  const words = list(p.words.fairness ?? []);
  if (!t || (t.rows ?? []).length === 0) return [words];
  const all = t.rows.map((r, i) => ({ r, i, states: new Set(r.cells.map((c) => c.state)) }));
  const part = (rows: typeof all): Table => ({
    head: ["aspect", ...t.variants.map((v) => (v === t.reference ? `${v} (reference)` : v)), "why it matters"],
    rows: rows.map(({ r, i }) => [
      r.aspect,
      ...r.cells.map((c, k): Cell => fairnessCell(c, `record.fairness.rows.${i}.cells.${k}.`)),
      r.why,
    ]),
  });
  const given = all.filter(({ states }) => states.has("shown"));
  const unlike = all.filter(({ states }) => states.has("violation") || states.has("allowed"));
  const alike = all.filter((a) => !given.includes(a) && !unlike.includes(a));
  return [
    words,
    unlike.length > 0 ? table(part(unlike), "Aspects in which answers differ") : h("p", {}, "All that was compared is alike."),
    alike.length > 0
      ? h(
          "details",
          { class: "more" },
          h("summary", {}, `Aspects that are alike, or cannot be compared: ${alike.length}`),
          table(part(alike), "Aspects that are alike"),
        )
      : null,
    ...(given.length > 0
      ? [h("h3", {}, "What the servers were given"), list(p.words.given ?? []), table(part(given), "What the servers were given")]
      : []),
  ];
}

/** fairnessCell is a cell of the table. What a server said may be of any script: isolated, it does not turn
 * the words around it around. */
function fairnessCell(c: { value: string; state: string; percent?: number }, at: string): Cell {
  const mark = { violation: "✕ violation: ", allowed: "≈ allowed: ", unknown: "? " }[c.state] ?? "";
  const value = `\u2068${c.value}\u2069`;
  if (c.percent)
    return {
      text: `${mark}${value} (${byPercent(c.percent)})`,
      key: at + "percent",
      value: c.percent,
      words: true,
    };
  return { text: mark + value };
}

/** published sets figures of others beside ours: only ratios compare. */
export function published(p: Payload): (Node | null)[] {
  const all = p.record.published ?? [];
  if (all.length === 0) return [];
  const ratios = all.map((b, i) => ({ b, i })).filter(({ b }) => b.ratio !== undefined || b.ours_ratio !== undefined);
  return [
    list(p.words.published ?? []),
    figure({
      id: "published",
      title: "Published ratios beside ours",
      unit: "ratio to the baseline, logarithmic",
      n: `n = ${all.length} published figures`,
      interval: "published figures have none; ours are in the forest plot",
      note: "○ published, ● ours; the machine is another, so that only ratios compare",
      summary: ratios
        .map(({ b }) => `${b.variant} ${b.level ?? ""} ${b.metric}: published ${say(b.ratio)}, ours ${say(b.ours_ratio)}`)
        .join("; "),
      empty:
        ratios.length === 0
          ? "No published figure has a baseline to be a ratio to; the figures themselves are below."
          : undefined,
      table: () => publishedTable(all),
      draw: (width) => drawPublished(ratios, width),
    }),
    h(
      "details",
      { class: "more", open: ratios.length === 0 },
      h("summary", {}, `${all.length} published figures`),
      table(publishedTable(all), "Published figures"),
    ),
  ];
}

const say = (x: number | undefined) => (x === undefined ? "n/a" : ratioAlone(x));

function publishedTable(all: Beside[]): Table {
  return {
    head: ["variant", "level", "measure", "published", "ours", "published ratio", "our ratio"],
    rows: all.map((b, i) => [
      b.variant,
      b.level ?? "",
      b.unit ? `${b.metric} (${b.unit})` : b.metric,
      b.failed ? { text: "failed: " + b.failed } : cell(`record.published.${i}.value`, b.value, digits3),
      cell(`record.published.${i}.ours`, b.ours, digits3),
      cell(`record.published.${i}.ratio`, b.ratio, ratioAlone),
      cell(`record.published.${i}.ours_ratio`, b.ours_ratio, ratioAlone),
    ]),
  };
}

function drawPublished(ratios: { b: Beside }[], width: number): SVGSVGElement {
  const rows = ratios.map(({ b }, y) => ({ y, b }));
  const [low, high] = extent(
    rows.flatMap(({ b }) => [b.ratio, b.ours_ratio]),
    true,
  ) ?? [1, 1];
  const domain = [Math.min(low, 0.97) / 1.05, Math.max(high, 1.03) * 1.05];
  const both = rows.filter(({ b }) => b.ratio !== undefined && b.ours_ratio !== undefined);
  return chart(width, {
    height: 50 + 38 * rows.length,
    marginLeft: 12,
    marginTop: 6,
    marginBottom: 40,
    x: {
      type: "log",
      domain,
      ticks: ratioTicks(domain[0], domain[1], width < 500 ? 5 : 9),
      tickFormat: String,
      label: "ratio →",
      grid: true,
    },
    y: { domain: [rows.length - 0.4, -0.6], axis: null },
    marks: [
      Plot.ruleX([1], { stroke: "var(--ink)", strokeOpacity: 0.6 }),
      Plot.link(both, {
        x1: (r) => r.b.ratio!,
        x2: (r) => r.b.ours_ratio!,
        y1: "y",
        y2: "y",
        stroke: "var(--faint)",
        strokeWidth: 1.5,
      }),
      Plot.dot(
        rows.filter(({ b }) => b.ratio !== undefined),
        { x: (r) => r.b.ratio!, y: "y", r: 5, fill: "var(--paper)", stroke: "var(--c2)", strokeWidth: 2 },
      ),
      Plot.dot(
        rows.filter(({ b }) => b.ours_ratio !== undefined),
        { x: (r) => r.b.ours_ratio!, y: "y", r: 5, fill: "var(--c1)" },
      ),
      Plot.text(rows, {
        y: "y",
        frameAnchor: "left",
        dy: -14,
        textAnchor: "start",
        text: (r) => clip([r.b.variant, r.b.level, r.b.metric].filter((s) => s).join(" · "), Math.floor(width / 7)),
        ...halo,
      }),
    ],
  });
}
