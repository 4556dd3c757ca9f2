// The generator on itself: what it cost, how well it kept time, and loudly if it was the limit.

import { h } from "../dom";
import { list, more } from "../layout";
import * as format from "../format";
import type { Result, Words } from "../result";
import { facts, table } from "../table";
import { tile } from "./verdict";

/** generator is the panel of the generator's readings. */
export function generator(r: Result, words: Words): HTMLElement {
  const { reasons: _, ...readings } = r.generator;
  return h("div", {},
    h("p", {}, words.verdict), list(words.reasons, "Reasons"),
    h("dl", { class: "tiles" }, ...["busy_percent", "cpu_percent", "cpu_us_per_request", "send_lag_p99_us", "send_lag_max_us", "gc_pause_max_us"].map(
      (key) => tile(format.keyText(key), `generator.${key}`, readings[key], (v) => format.quantity(key, v)))),
    more("All readings", () => [table(facts(readings, "generator"), "Readings of the generator")]));
}
