import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flame } from "../src/experiment/data";
import { focused, outermost, totals, tree } from "../src/experiment/flametree";

// all -> main -> (read -> copy, write -> (copy, write -> copy)); shares in tenths.
const flame: Flame = {
  taken: 0,
  arm: "a",
  kind: "cpu",
  least: 0,
  names: ["all", "main", "read", "copy", "write"],
  kernel: [3],
  name: [0, 1, 2, 3, 4, 3, 4, 3],
  depth: [0, 1, 2, 3, 2, 3, 3, 4],
  all: [1, 1, 0.4, 0.3, 0.6, 0.1, 0.4, 0.2],
  self: [0, 0, 0.1, 0.3, 0.1, 0.1, 0.2, 0.2],
  base_all: [1, 1, 0.5, 0.5, 0.5, 0, 0.5, 0],
  base_self: [0, 0, 0, 0.5, 0, 0, 0.5, 0],
};

const close = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("a walk makes the tree again", () => {
  const { root, boxes } = tree(flame);
  assert.equal(boxes.length, 8);
  assert.deepEqual(
    root.children.map((b) => b.name),
    ["main"],
  );
  assert.deepEqual(
    root.children[0].children.map((b) => b.name),
    ["read", "write"],
  );
  assert.deepEqual(
    boxes[4].children.map((b) => b.name),
    ["copy", "write"],
  );
  assert.equal(boxes[7].parent, boxes[6]);
  assert.ok(boxes[3].kernel && !boxes[2].kernel);
  for (const b of boxes) close(b.all, b.self + b.children.reduce((sum, c) => sum + c.all, 0));
});

test("what matches is counted once where a function calls itself", () => {
  const found = outermost(tree(flame).root, (b) => b.name === "write");
  assert.equal(found.length, 1);
  close(found[0].all, 0.6);
});

test("a function's own tree adds up all of its calls", () => {
  const copy = focused(tree(flame).root, "copy");
  close(copy.all, 0.6);
  close(copy.base, 0.5);
  const write = focused(tree(flame).root, "write");
  close(write.all, 0.6);
  assert.deepEqual(write.children.map((b) => b.name).sort(), ["copy", "write"]);
  assert.equal(focused(tree(flame).root, "nothing").name, "all");
});

test("totals count a function once on each path", () => {
  const all = new Map(totals(tree(flame).root).map((t) => [t.name, t]));
  close(all.get("copy")!.self, 0.6);
  close(all.get("write")!.all, 0.6);
  close(all.get("write")!.self, 0.3);
  close(all.get("main")!.all, 1);
});
