// Whether the servers answered alike: every aspect of each variant, and what violates.

import { h } from "../dom";
import { list } from "../layout";
import { Cell, cell, sentenceCell, Table, table, told } from "../table";
import { Beside, Payload } from "./data";
import { digits3 } from "../format";

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
      sentenceCell(r.why),
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
  if (!c.percent) return { text: mark + value };
  const more = told(at + "percent", c.percent);
  return { ...more, text: `${mark}${value} (${more.text})`, words: true };
}

/** published sets figures of others beside ours: only ratios compare. */
export function published(p: Payload, figures: HTMLElement | null): (Node | null)[] {
  const all = p.record.published ?? [];
  if (all.length === 0) return [];
  const ratios = all.some((b) => b.ratio !== undefined || b.ours_ratio !== undefined);
  return [
    list(p.words.published ?? []),
    figures,
    h("details", { class: "more", open: !ratios }, h("summary", {}, `${all.length} published figures`), table(publishedTable(all), "Published figures")),
  ];
}

/** publishedTable has the figures themselves. */
export function publishedTable(all: Beside[]): Table {
  return {
    head: ["variant", "level", "measure", "published", "ours", "published ratio", "our ratio"],
    rows: all.map((b, i) => [
      b.variant,
      b.level ?? "",
      b.unit ? `${b.metric} (${b.unit})` : b.metric,
      b.failed ? { text: "failed: " + b.failed } : cell(`record.published.${i}.value`, b.value, digits3),
      cell(`record.published.${i}.ours`, b.ours, digits3),
      told(`record.published.${i}.ratio`, b.ratio),
      told(`record.published.${i}.ours_ratio`, b.ours_ratio),
    ]),
  };
}
