import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { commandLine, shellQuote } from "../src/live/command";

test("a shell reads every word as it is", () => {
  for (const word of ["", "a b", "it's", "$HOME", "`id`", "a\nb", "\\", "*", "p99<20ms", "{\"a\": 1}", "-x", "é", "!!", "#", "~"]) {
    assert.equal(execFileSync("sh", ["-c", `printf %s ${shellQuote(word)}`], { encoding: "utf8" }), word);
  }
});

test("a form is a command line", () => {
  const flags = [{ name: "connections", short: "c", value: "N" }, { name: "insecure" }, { name: "header", short: "H", value: "'K: V'" },
    { name: "slo", value: "EXPR" }, { name: "body", short: "b", value: "S" }];
  assert.equal(commandLine(flags, {}), "dyno run URL");
  assert.equal(commandLine(flags, { url: "http://127.0.0.1:8080/?a=b&c", connections: "7", insecure: true, header: ["A: b", "C: d"], slo: "p99<20ms", body: "-x" }),
    "dyno run -c 7 --insecure -H 'A: b' -H 'C: d' --slo 'p99<20ms' --body=-x 'http://127.0.0.1:8080/?a=b&c'");
});
