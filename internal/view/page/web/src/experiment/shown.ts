// What the reader has chosen to see: all but the variants and levels that were left out.

import * as state from "../state";
import type { Payload } from "./data";

/** leftOut are the places of what the reader has left out: variants or levels. */
export const leftOut = (of: "variants" | "levels"): Set<number> =>
  new Set(state.get(`${of}.off`).split(",").filter((s) => s !== "").map(Number));

/** isShown reports whether an arm is shown: the reader can leave some out. */
export const isShown = (p: Payload, arm: string): boolean => !leftOut("variants").has(p.record.arms.findIndex((a) => a.name === arm));

/** levelsShown are the levels that are. */
export const levelsShown = (p: Payload): Payload["levels"] => p.levels.filter((_, i) => !leftOut("levels").has(i));

/** armsAt are the arms that were measured at a level and are shown, in the order of the record. */
export function armsAt(p: Payload, level: string): string[] {
  const there = new Set((p.counted ?? []).filter((c) => c.level === level).map((c) => c.arm));
  return p.record.arms.map((a) => a.name).filter((name) => there.has(name) && isShown(p, name));
}
