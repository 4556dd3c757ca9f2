// Axes have ticks where people look for them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { clip, curveMark, extent, logTicks, percentileX, shortDuration } from "../src/chart";
import { nearest } from "../src/cursor";

test("ticks of a logarithmic axis are round, within it, and not too many", () => {
  assert.deepEqual(logTicks(40, 6000, 8), [50, 100, 200, 500, 1000, 2000, 5000]);
  assert.deepEqual(logTicks(40, 6000, 4), [100, 300, 1000, 3000]);
  assert.deepEqual(logTicks(0.5, 4e7, 4), [1, 100, 1e4, 1e6]);
  assert.deepEqual(logTicks(0, 10, 5), []);
  for (const most of [2, 3, 5, 8]) assert.ok(logTicks(3, 5, most).length <= most);
});

test("the rest of what plots are placed by", () => {
  assert.deepEqual(extent([3, null, NaN, 0, -1], false), [-1, 3]);
  assert.deepEqual(extent([3, undefined, 0, Infinity], true), [3, 3]);
  assert.equal(extent([]), null);
  assert.equal(Math.round(percentileX(0.99)), 100);
  assert.equal(shortDuration(10_000), "10 ms");
  assert.equal(shortDuration(1500), "1.5 ms");
  assert.equal(shortDuration(100), "100 µs");
  assert.equal(clip("日本語のなまえ", 4), "日本語…");
  assert.deepEqual([-5, 1.4, 1.6, 99].map((v) => nearest([0, 1, 2, 3], v)), [0, 1, 2, 3]);
});

test("a curve has the style of a percentile where it says so, whatever its name is", () => {
  const css = readFileSync("src/style.css", "utf8");
  const all = [curveMark({ name: "p90" }, 1), curveMark({ name: "max", style: 2 }, 0), curveMark({ name: "p50", percentile: "p50" }, 0)];
  assert.deepEqual(all.map((m) => m.name), ["p90", "max", "p50"]);
  assert.deepEqual(all.map((m) => m.colour), ["var(--c2)", "var(--c3)", "var(--c2)"]);
  for (const m of all) assert.ok(css.includes(m.colour.slice("var(".length, -1) + ":"), m.colour);
});
