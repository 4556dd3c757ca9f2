import assert from "node:assert/strict";
import { test } from "node:test";
import { ratioTicks } from "../src/experiment/data";

test("ticks of ratios are round, within the axis, with 1, and not too many", () => {
  assert.deepEqual(ratioTicks(0.89, 1.16, 9), [0.9, 0.95, 1, 1.05, 1.1, 1.15]);
  assert.deepEqual(ratioTicks(0.89, 1.16, 5), [0.9, 1, 1.1]);
  assert.deepEqual(ratioTicks(0.3, 1.5, 8), [0.4, 0.6, 0.8, 1, 1.2, 1.4]);
  assert.deepEqual(ratioTicks(0.1, 20, 9), [0.125, 0.25, 0.5, 1, 2, 4, 8, 16]);
  for (const [low, high] of [
    [0.97, 1.03],
    [0.5, 2],
    [0.01, 1.1],
    [1e-6, 1e6],
    [0.9999, 1.0001],
  ]) {
    for (const most of [3, 5, 9]) {
      const ticks = ratioTicks(low, high, most);
      assert.ok(ticks.includes(1), `${low} to ${high} has no 1 in ${ticks}`);
      assert.ok(ticks.length <= most, `${low} to ${high} has ${ticks}`);
    }
  }
});
