// What is only known to be longer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lowest, percentile } from "../src/percentile";

test("a statistic that reaches requests without an answer is over its value", () => {
  const over = { us: 2e6, count: 4, answered_max_us: 3000 };
  const shown = (count: number, lost: typeof over | undefined) => ["mean_us", "p50_us", "p90_us", "p99_us", "max_us"].map((k) => lowest(count, lost, k)(2e6));
  assert.deepEqual(shown(96, over), ["2.00 s", "2.00 s", "2.00 s", "over 2.00 s", "over 2.00 s"]);
  assert.deepEqual(shown(2, over), ["2.00 s", "over 2.00 s", "over 2.00 s", "over 2.00 s", "over 2.00 s"]);
  assert.deepEqual(shown(96, undefined), ["2.00 s", "2.00 s", "2.00 s", "2.00 s", "2.00 s"]);
  assert.equal(percentile({ count: 96, over }, "p99_9_us")(2e6), "–"); // of 100 requests
  assert.equal(percentile({ count: 996, over }, "p99_9_us")(2e6), "over 2.00 s");
});
