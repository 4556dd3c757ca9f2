// What is drawn has its place and its words.

import "./numbers";
import assert from "node:assert/strict";
import { test } from "node:test";
import { extent } from "../src/chart";
import { nearest } from "../src/cursor";
import { linear, logarithmic } from "../src/live/axes";
import { View, viewsOf, within, without } from "../src/view";

test("axes of a load that still runs have round ticks, in the units of package chart", () => {
  const texts = (a: { ticks: { text: string }[] | null }) => a.ticks!.map((t) => t.text);
  assert.deepEqual(texts(linear(0, 1050, "requests/s", "")), ["0", "200", "400", "600", "800", "1,000"]);
  assert.deepEqual(texts(logarithmic([40, 6000], "latency", "µs")), ["100 µs", "300 µs", "1 ms", "3 ms"]);
  assert.deepEqual(texts(logarithmic([null, 0, 100], "latency", "µs")), ["90 µs", "95 µs", "100 µs", "105 µs", "110 µs", "115 µs"]);
});

test("the rest of what plots are placed by", () => {
  assert.deepEqual(extent([3, null, NaN, 0, -1], false), [-1, 3]);
  assert.deepEqual(extent([3, undefined, 0, Infinity], true), [3, 3]);
  assert.equal(extent([]), null);
  assert.deepEqual([-5, 1.4, 1.6, 99].map((v) => nearest([0, 1, 2, 3], v)), [0, 1, 2, 3]);
});

const axis = { low: 0, high: 10, ticks: [] };
const view: View = {
  name: "one", title: "", unit: "", x: axis, y: axis, legend: [{ name: "a", of: "a", ink: "c1" }, { name: "b", of: "b", ink: "c2" }],
  rows: [{ label: "a", of: "a" }, { label: "b", of: "b" }], marks: [{ of: "a", x: [1, 11], y: [0, 0] }, { of: "b", x: [2, 12], y: [1, 1.3], low: [5, 6] }],
};

test("what is left out takes its row with it, and an axis that ends early what is beyond", () => {
  const left = without(view, (variant) => variant === "a");
  assert.deepEqual([left.legend!.length, left.rows!.length, left.marks!.length], [1, 1, 1]);
  assert.deepEqual(left.marks![0].y.map((y) => Math.round(10 * y!)), [0, 3]);
  assert.deepEqual(without(view, () => false).marks, view.marks);
  assert.deepEqual(within(view).marks!.map((m) => m.x), [[1], [2]]);
  assert.deepEqual(within(view).marks![1].low, [5]);
  const rounded = { ...view, x: { ...axis, high: 2.00008615 }, marks: [{ x: [1, 2.00009], y: [1, 2] }] }; // the second second is drawn
  assert.deepEqual(within(rounded).marks![0].y, [1, 2]);
});

test("marks have the columns of the data", () => {
  const [v] = viewsOf({ columns: [[1, 2], [3, null], ["first", "second"]], views: [{ ...view, marks: [{ x: 0, y: 1, low: 0, each: 2 }] as never }] });
  assert.deepEqual(v.marks, [{ x: [1, 2], y: [3, null], low: [1, 2], each: ["first", "second"] }]);
});
