import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { commandLine, hasUnit, isRamp, shellQuote, withScheme } from "../src/live/command";

test("a shell reads every word as it is", () => {
  for (const word of ["", "a b", "it's", "$HOME", "`id`", "a\nb", "\\", "*", "p99<20ms", "{\"a\": 1}", "-x", "é", "!!", "#", "~"]) {
    assert.equal(execFileSync("sh", ["-c", `printf %s ${shellQuote(word)}`], { encoding: "utf8" }), word);
  }
});

test("a form is a command line", () => {
  const flags = [{ name: "connections", short: "c", value: "N" }, { name: "insecure" }, { name: "header", short: "H", value: "'K: V'" },
    { name: "slo", value: "EXPR" }, { name: "body", short: "b", value: "S" }];
  assert.equal(commandLine("run", flags, {}, [""]), "dyno run URL");
  assert.equal(commandLine("vs", flags, {}, ["http://a/", " "]), "dyno vs http://a/ URL2");
  assert.equal(commandLine("run", flags, { connections: "7", insecure: true, header: ["A: b", "C: d"], slo: "p99<20ms", body: "-x" }, ["http://127.0.0.1:8080/?a=b&c"]),
    "dyno run -c 7 --insecure -H 'A: b' -H 'C: d' --slo 'p99<20ms' --body=-x 'http://127.0.0.1:8080/?a=b&c'");
});

test("a URL without a scheme is of http", () => {
  for (const [written, want] of [["127.0.0.1:18081", "http://127.0.0.1:18081"], [" localhost/a ", "http://localhost/a"], ["[::1]:80", "http://[::1]:80"],
    [":8080", "http://127.0.0.1:8080"], [":80/a", "http://127.0.0.1:80/a"], [":x", "http://:x"],
    ["https://a/", "https://a/"], ["http+unix:///run/a.sock:/", "http+unix:///run/a.sock:/"], ["H2C://a", "H2C://a"], ["a/?to=http://b", "http://a/?to=http://b"], [" ", ""]]) {
    assert.equal(withScheme(written), want);
  }
});

test("a value with a unit has no other", () => {
  for (const value of ["1m30s", "500ms", "10µs"]) assert.ok(hasUnit(value), value);
  for (const value of ["", "90", "1.5", "-1"]) assert.ok(!hasUnit(value), value);
});

test("stages of users are no rate", () => {
  assert.ok(isRamp(["10s:5users", "10s:100"]));
  for (const stages of [undefined, [], ["10s:5users"]]) assert.ok(!isRamp(stages));
});
