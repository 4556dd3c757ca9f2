// Bars of CPU time per request end where the figure beside them says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "../src/experiment/costbars";
import type { Part } from "../src/experiment/data";

const part = (name: string, cpu: number | null, user: number | null, system: number | null): Part =>
  ({ arm: "go", level: "c10", name, cpu_us_per_request: cpu, user_us_per_request: user, system_us_per_request: system, cpu_percent: null, memory_bytes: null });

test("a bar ends at the median of the whole, divided as the parts' medians are", () => {
  const all = barsOf("go", [part("", 15.3, 6.3, 9.5)], [""], 15.3);
  assert.equal(all.length, 2);
  assert.ok(Math.abs(all[1].x2 - 15.3) < 1e-9, `it ends at ${all[1].x2}`);
  assert.ok(Math.abs(all[0].x2 / all[1].x2 - 6.3 / 15.8) < 1e-9);
  assert.deepEqual(all.map((b) => b.median), [6.3, 9.5]);
});

test("processes are side by side, and their trees are not counted besides", () => {
  const parts = [part("", 20, 8, 11), part("nginx", 15, 6, 8), part("nginx: worker", 14, 6, 8), part("go", 6, 2, 4)];
  const all = barsOf("go", parts, ["nginx: worker", "go"], 19.5);
  assert.deepEqual(all.map((b) => b.name), ["nginx: worker", "nginx: worker", "go", "go"]);
  assert.ok(Math.abs(all.at(-1)!.x2 - 19.5) < 1e-9);
  all.slice(1).forEach((b, i) => assert.equal(b.x1, all[i].x2));
});

test("a time that cannot be divided is one bar, and what is not known is none", () => {
  assert.deepEqual(barsOf("go", [part("", 15.3, null, 9)], [""], 15.3).map((b) => b.x2), [15.3, 15.3]);
  assert.deepEqual(barsOf("go", [part("", 15.3, 6, 9)], [""], undefined).map((b) => b.x2), [6, 15]);
  assert.deepEqual(barsOf("go", [part("", null, null, null)], [""], 3).map((b) => b.x2), [0, 0]);
});
