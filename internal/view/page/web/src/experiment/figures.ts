// The figures of an experiment, each with its table.

import { h } from "../dom";
import { linesTable } from "../history/past";
import type { Table } from "../table";
import type { View } from "../view";
import { viewFigure } from "../viewfigure";
import { costTable } from "./cost";
import type { Payload } from "./data";
import { publishedTable } from "./fairness";
import { forestTable } from "./forest";
import { effectTable } from "./halfnormal";
import { bendTable, climbTable } from "./ladder";
import { look } from "./past";
import { isShown, levelsShown } from "./shown";
import { shiftTable, spectrumTable } from "./spectra";
import { stripTable } from "./strip";
import { startsTable } from "./warmup";

/** tables are those of figures by their names without the number, which is that of the level or the ladder. */
const tables: Record<string, (p: Payload, level: string, number: number) => Table> = {
  forest: forestTable,
  "half-normal": effectTable,
  spectrum: spectrumTable,
  shift: shiftTable,
  cost: costTable,
  ladder: (p, _, k) => climbTable(p, k),
  bend: (p, _, k) => bendTable(p, k),
  trials: stripTable,
  machine: stripTable,
  warmup: startsTable,
  published: (p) => publishedTable(p.record.published ?? []),
  past: (p, level) => linesTable(p.past!, { ...look(p), level }),
};

/** figures are those of a section, without levels and variants that were left out; null of none. */
export function figures(p: Payload, views: View[], section: string): HTMLElement | null {
  const levels = levelsShown(p).map((l) => l.name);
  const all = new Map<string, View[]>();
  for (const v of views.filter((v) => v.section === section && !v.empty && (v.level === undefined || levels.includes(v.level)))) {
    const id = v.figure ?? v.name;
    all.set(id, [...(all.get(id) ?? []), v]);
  }
  const shown = [...all].map(([id, some]) => {
    const [, name, number] = /^(.*?)(?:-(\d+))?$/.exec(id)!;
    const table = tables[name];
    return viewFigure({ views: some, hidden: (arm) => !isShown(p, arm), table: table && (() => table(p, some[0].level ?? "", Number(number ?? 1) - 1)) });
  });
  return shown.length > 0 ? h("div", { class: "views" }, ...shown) : null;
}
