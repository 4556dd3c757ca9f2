// What a reader needs who stops here: whether to believe it, and the numbers that matter.

import { h } from "../dom";
import * as format from "../format";
import { banner, list } from "../layout";
import type { Result, Words } from "../result";
import { number, table } from "../table";

const kinds: Record<string, "good" | "doubt" | "bad"> = { ok: "good", "client-bound": "bad" };

/** verdict is the generator's on itself, the objectives, and the warnings. */
export function verdict(r: Result, words: Words): Node[] {
  const objectives = words.objectives.map((text, i) => banner(r.objectives?.[i]?.met ? "good" : "bad", text));
  const warnings = words.warnings.map((text) => banner("doubt", text));
  return [
    banner(kinds[r.generator.verdict] ?? "doubt", words.verdict, [list(words.reasons)].filter((n) => n !== null)),
    ...objectives,
    ...warnings,
    h("p", { class: "model" }, h("strong", {}, "Model: "), words.model),
  ];
}

/** tiles are the numbers that are asked for first. */
export function tiles(r: Result): HTMLElement {
  const perSecond = (v: number) => format.digits3(v) + "/s";
  return h("dl", { class: "tiles" },
    tile("completed", "rate.completed", r.rate.completed, perSecond),
    tile("offered", "rate.offered", r.rate.offered, perSecond),
    tile("sent", "rate.sent", r.rate.sent, perSecond),
    tile("iterations completed", "iterations.rate.completed", r.iterations?.rate.completed, perSecond),
    tile("iterations offered", "iterations.rate.offered", r.iterations?.rate.offered, perSecond),
    tile("iteration p50", "iterations.time.p50_us", r.iterations?.time?.p50_us, format.duration),
    tile("iteration p99", "iterations.time.p99_us", r.iterations?.time?.p99_us, format.duration),
    tile("iterations failed", "iterations.failed", r.iterations?.failed, format.count),
    tile("latency p50", "latency.p50_us", r.latency?.p50_us, format.duration),
    tile("latency p99", "latency.p99_us", r.latency?.p99_us, format.duration),
    tile("latency max", "latency.max_us", r.latency?.max_us, format.duration),
    tile("errors", "requests.errors", r.requests.errors, format.count),
    tile("error answers", "rate.error_answers", r.rate.error_answers, perSecond),
    tile("error latency p50", "error_latency.p50_us", r.error_latency?.p50_us, format.duration),
    tile("error latency p99", "error_latency.p99_us", r.error_latency?.p99_us, format.duration),
    tile("server CPU a request", "server.processes.0.cpu_us_per_request", r.server?.processes?.[0]?.cpu_us_per_request, format.duration),
  );
}

/** tile is one of them, if it is there. */
export function tile(name: string, key: string, value: unknown, show: (v: number) => string): HTMLElement | null {
  return typeof value !== "number" ? null : h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, number(key, value, show)));
}

/** facts is the rest of the text report, line by line. */
export function facts(words: Words): HTMLElement {
  return table({ head: ["", ""], rows: words.facts.map((f) => [f.name, f.text]) }, "The result in words");
}
