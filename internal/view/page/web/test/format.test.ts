// Forms are carried out as package format does, whose test writes the samples.

import { samples } from "./numbers";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../src/format";

const { count, digits3, rate, percent, finePercent: fine, duration, bytes, percentile } = format;
const forms: Record<string, (v: number) => string> = { count, digits3, rate, percent, fine, duration, bytes, percentile };

test("numbers are written as Go writes them", () => {
  for (const { form, unit, tick, of, text } of samples)
    assert.equal(form ? forms[form](of) : format.amount(unit!, of, tick), text, `${form ?? unit} of ${of}`);
});

test("no number is a dash, and none is below zero by nothing", () => {
  assert.equal(format.count(NaN), "–");
  assert.equal(format.count(-0.4), "0");
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
