// The table of a scenario's checks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkTable } from "../src/run/checks";

test("checks that failed most often come first, others in their order, each with its own path", () => {
  const t = checkTable([
    { name: "a", passed: 3, failed: 0 }, { name: "b", passed: 1, failed: 1 }, { name: "c", passed: 0, failed: 0 }, { name: "d", passed: 0, failed: 5 }]);
  assert.deepEqual(t.rows.map((r) => r[0]), ["d", "b", "a", "c"]);
  assert.deepEqual(t.rows.map((r) => (r[1] as { key: string }).key), ["checks.3.failed", "checks.1.failed", "checks.0.failed", "checks.2.failed"]);
  assert.deepEqual(t.rows.map((r) => r[3]), ["0 %", "50 %", "100 %", "–"]);
});
