// Forms are carried out as package format does.

import "./numbers";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../src/format";

test("a number has the step that it reaches, and of two texts equally near the even one", () => {
  for (const [shown, v, text] of [
    [format.count, 9007199254740992, "9,007,199,254,740,992"], [format.count, -1234567, "-1,234,567"], [format.count, -0.4, "0"],
    [format.count, 0.5, "0"], [format.count, 1.5, "2"], [format.count, NaN, "–"], [format.duration, 0, "0 s"],
    [format.duration, 1500, "1.50 ms"], [format.duration, 1.125, "1.12 µs"], [format.duration, 1.375, "1.38 µs"], [format.duration, 2.675, "2.67 µs"],
    [format.rate, 12, "12"], [format.rate, 12.5, "12.50"], [format.finePercent, 99.5, "99.5 %"], [format.finePercent, 1000, "too much"],
  ] as [(v: number) => string, number, string][]) assert.equal(shown(v), text, `${v}`);
});

test("amounts have their units", () => {
  for (const [unit, v, text] of [["µs", 1500, "1.50 ms"], ["µs per request", 1500, "1.50 ms per request"], ["", 1500, "1,500"], ["req/s", 12, "12 req/s"]] as [string, number, string][])
    assert.equal(format.amount(unit, v), text);
  assert.equal(format.amount("µs", 1500, true), "1.5 ms");
});

test("keys say their unit", () => {
  for (const [key, value, text] of [
    ["p99_us", 1234.5, "1.23 ms"], ["cpu_us_per_request", 2.93, "2.93 µs"], ["measured_s", 0.002, "2.00 ms"], ["busy_ns", 3e6, "3.00 ms"],
    ["events_per_request", 2.5, "2.50"], ["rate_per_s", 1500, "1,500"], ["x_per_s", 727.8, "728"], ["count", 12345, "12,345"], ["little", 1.001, "1.001"],
  ] as [string, number, string][]) assert.equal(format.quantity(key, value), text, key);
});

test("keys as words", () => {
  for (const [key, text] of [["cpu_us_per_request", "cpu per request"], ["p99_us", "p99"], ["gc_pause_max_us", "gc pause max"], ["t_s", "t"]])
    assert.equal(format.keyText(key), text);
});
