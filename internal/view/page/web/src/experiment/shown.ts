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
