// The generator on itself: what it cost, how well it kept time, and loudly if it was the limit.

import { h } from "../dom";
import { more } from "../layout";
import * as format from "../format";
import type { Result } from "../result";
import { facts, table } from "../table";
import { tile } from "./verdict";

/** generator is the panel of the generator's readings; the answer's cautions say what speaks against it. */
export function generator(r: Result): HTMLElement {
  const { reasons: _, ...readings } = r.generator;
  return h("div", {},
    h("dl", { class: "tiles" }, ...["busy_percent", "cpu_percent", "cpu_us_per_request", "send_lag_p99_us", "send_lag_max_us", "gc_pause_max_us"].map(
      (key) => tile(format.keyText(key), `generator.${key}`, readings[key], (v) => format.quantity(key, v)))),
    more("All readings", () => [table(facts(readings, "generator"), "Readings of the generator")]));
}
