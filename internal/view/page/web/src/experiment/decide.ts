// What decides, in numbers: each variant by a measure, with those that were not tested.

import type { Answer, Finding, Group } from "../answer";
import { h } from "../dom";
import { Cell, Table, told } from "../table";
import { View } from "../view";
import { viewFigure } from "../viewfigure";
import { Payload } from "./data";

/** decide is the forest plot of the answer, with a choice of measures; what there is to say where nothing was compared. */
export function decide(p: Payload, views: View[]): HTMLElement[] {
  if (views.length === 0) return [h("p", { class: "empty" }, "There is nothing to draw: no two variants were compared.")];
  return [viewFigure({ views, table: (shown) => {
    const of = shown.choice![0].name;
    return of === "all" ? overviewTable(p, p.answer) : decideTable(p, p.answer, p.answer.groups![Number(of)]);
  } })];
}

/** overviewTable has the rows of all measures. */
function overviewTable(p: Payload, a: Answer): Table {
  const parts = (a.groups ?? []).map((g) => ({ g, t: decideTable(p, { ...a, not_loaded: [] }, g) }));
  return { head: ["measure", "variant", "median", ...parts[0].t.head.slice(2)], rows: parts.flatMap(({ g, t }) => t.rows.map((r) => [g.name, ...r])) };
}

const saidOf = (f: Finding) => [f.effect, f.interval].filter((s) => s).join(" ");

function decideTable(p: Payload, a: Answer, g: Group): Table {
  const verdicts = p.record.verdicts ?? [];
  const rows = (g.findings ?? []).map((f): (Cell | string)[] => {
    const [c, at] = [verdicts[f.comparison], `record.verdicts.${f.comparison}.`];
    return [f.label ?? f.variant, f.value ?? "", saidOf(f), told(at + "ratio", c.ratio), told(at + "low", c.low), told(at + "high", c.high), f.verdict, [f.why, f.unreliable].filter((s) => s).join(", ")];
  });
  for (const f of a.not_loaded ?? []) rows.push([f.variant, "", "", "", "", "", f.verdict, [f.why, f.remedy].filter((s) => s).join("; ")]);
  return { head: ["variant", g.name, `change ${g.change}`, "ratio", "low", "high", "verdict", "because"], rows };
}
