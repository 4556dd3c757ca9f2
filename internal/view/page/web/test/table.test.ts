// What is taken away as CSV is what was measured, and nothing that a spreadsheet would compute.

import "./numbers";
import assert from "node:assert/strict";
import { test } from "node:test";
import { cell, csv, facts } from "../src/table";

test("csv has raw numbers, quotes, and no formulas", () => {
  const t = {
    head: ["name", "p99 µs"],
    rows: [["=cmd()", cell("a", 1234.5678, () => "1.23 ms")], ['a "b", c', cell("b", null, String)], ["-", { text: "–" }]],
  };
  assert.equal(csv(t), "name,p99 µs\r\n'=cmd(),1234.5678\r\n\"a \"\"b\"\", c\",\r\n'-,–\r\n");
});

test("facts has every number of an object by its path", () => {
  const t = facts({ a: { b_us: 5, c: [{ d: 1 }, { d: 2 }] }, e: null, f: "text", g: {} }, "");
  assert.deepEqual(t.rows.map((r) => r.map((c) => (typeof c === "string" ? c : `${c.key ?? ""}=${c.text}`))), [
    ["a b", "a.b_us=5.00 µs"], ["a c 0 d", "a.c.0.d=1"], ["a c 1 d", "a.c.1.d=2"], ["e", "=n/a"], ["f", "text"], ["g", "none"],
  ]);
});
