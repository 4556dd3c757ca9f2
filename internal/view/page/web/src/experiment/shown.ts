// What the reader has chosen to see: all but the variants and levels that were left out.

import * as state from "../state";
import type { Payload } from "./data";

/** left are the places of what the reader has left out: variants or levels. */
export const left = (of: "variants" | "levels"): Set<number> =>
  new Set(state.get(`${of}.off`).split(",").filter((s) => s !== "").map(Number));

/** shown reports whether an arm is: the reader can leave some out. */
export const shown = (p: Payload, arm: string): boolean => !left("variants").has(p.record.arms.findIndex((a) => a.name === arm));

/** levelsShown are the levels that are. */
export const levelsShown = (p: Payload): Payload["levels"] => p.levels.filter((_, i) => !left("levels").has(i));

/** armsAt are the arms that were measured at a level and are shown, in the order of the record. */
export function armsAt(p: Payload, level: string): string[] {
  const there = new Set((p.counted ?? []).filter((c) => c.level === level).map((c) => c.arm));
  return p.record.arms.map((a) => a.name).filter((name) => there.has(name) && shown(p, name));
}
