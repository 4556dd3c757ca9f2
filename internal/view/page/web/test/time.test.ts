// Which intervals of a series are seconds of the window.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result } from "../src/result";
import { intervals, perSecond } from "../src/run/time";

const rated = (measured: number, ...ends: number[]) =>
  intervals({ window: { measured_s: measured }, series: ends.map((t_s) => ({ t_s, completed: 100 })) } as unknown as Result).map((v) => v.rates);

test("a last second whose sample comes late is a second of the window, and what came after it is none", () => {
  assert.deepEqual(rated(3, 1, 2, 3.0016), [true, true, true]);
  assert.deepEqual(rated(3, 1.02, 2.05, 3.08, 3.5), [true, true, true, false]);
  assert.deepEqual(rated(3, 1, 2, 2.9995, 3.9), [true, true, true, false]);
  assert.deepEqual(rated(3, 1, 2, 3, 3.0004), [true, true, true, false]); // too short for a rate, too
  assert.deepEqual(rated(3.2, 1, 2, 3, 3.2, 9), [true, true, true, true, false]);
  assert.deepEqual(rated(0.002, 0.004), [true]); // the only one, of a run that ended at once
});

test("a late second's rate is by its own length", () => {
  const r = { window: { measured_s: 1 }, series: [{ t_s: 1.25, completed: 100 }] } as unknown as Result;
  assert.equal(perSecond(intervals(r)[0], 100), 80);
});
