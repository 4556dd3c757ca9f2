// The page writes numbers as package format does: both are held to one table.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as format from "../src/format";

interface Row {
  as: string; // a function's name
  value: number;
  text: string;
}

const rows: Row[] = JSON.parse(readFileSync("../testdata/formats.json", "utf8"));

test("numbers are written as package format writes them", () => {
  assert.ok(rows.length > 20);
  const all = format as unknown as Record<string, (...of: number[]) => string>;
  for (const { as, value, text } of rows) assert.equal(all[as](value), text, `${as}(${value})`);
});

test("keys say their unit", () => {
  for (const [key, value, text] of [
    ["p99_us", 1234.5, "1.23 ms"], ["cpu_us_per_request", 2.93, "2.93 µs"], ["measured_s", 10, "10.0 s"], ["busy_ns", 3e10, "30.0 s"],
    ["busy_percent", 48.9, "48.9 %"], ["rss_bytes", 52e6, "52.0 MB"], ["bytes_received", 10, "10 B"], ["rate_per_s", 1500, "1,500"],
    ["x_per_s", 727.8, "728"], ["count", 12345, "12,345"], ["little", 1.001, "1.001"], ["sigma", 0.0021834567, "0.002183"],
  ] as [string, number, string][]) assert.equal(format.quantity(key, value), text, key);
});

test("keys as words", () => {
  for (const [key, text] of [["cpu_us_per_request", "cpu per request"], ["p99_us", "p99"], ["gc_pause_max_us", "gc pause max"], ["t_s", "t"]])
    assert.equal(format.keyText(key), text);
});
