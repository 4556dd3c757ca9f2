// The numbers that matter, and the text report in words.

import { percentile } from "../percentile";
import { h } from "../dom";
import * as format from "../format";
import { list } from "../layout";
import type { Result, Words } from "../result";
import { number, table } from "../table";

/** inWords is the text report: the load, objectives and warnings, and a line for each fact. */
export function inWords(words: Words): HTMLElement {
  return h("div", {},
    h("p", {}, h("strong", {}, "Load: "), words.model),
    list(words.objectives, "Objectives"), list(words.warnings, "Warnings"),
    facts(words));
}

/** tiles are the numbers that are asked for first; none of rates and times where nothing was answered, and null without
    any. */
export function tiles(r: Result): HTMLElement | null {
  const perSecond = (v: number) => format.digits3(v) + "/s";
  const answered = r.requests.completed > 0;
  const offered = r.rate.offered ?? r.iterations?.rate.offered;
  const apart = offered === undefined || Math.abs(r.rate.sent / offered - 1) > 0.001; // what was sent is what was offered
  const all = h("dl", { class: "tiles" },
    answered ? tile("answered", "rate.completed", r.rate.completed, perSecond) : null,
    tile("offered", "rate.offered", r.rate.offered, perSecond),
    answered && apart && r.rate.sent !== r.rate.completed ? tile("sent", "rate.sent", r.rate.sent, perSecond) : null,
    tile("iterations", "iterations.rate.completed", r.iterations?.rate.completed, perSecond),
    tile("iterations offered", "iterations.rate.offered", r.iterations?.rate.offered, perSecond),
    tile("iteration p50", "iterations.time.p50_us", r.iterations?.time?.p50_us, percentile(r.iterations?.time, "p50_us")),
    tile("iteration p99", "iterations.time.p99_us", r.iterations?.time?.p99_us, percentile(r.iterations?.time, "p99_us")),
    r.iterations?.failed ? tile("iterations failed", "iterations.failed", r.iterations.failed, format.count) : null,
    ...(answered ? latencies.map(([name, key]) => tile(name, `latency.${key}`, r.latency?.[key], percentile(r.latency, key))) : []),
    answered || r.requests.errors > 0 ? tile("errors", "requests.errors", r.requests.errors, format.count) : null,
    tile("error answers", "rate.error_answers", r.rate.error_answers, perSecond),
    tile("error p99", "error_latency.p99_us", r.error_latency?.p99_us, percentile(r.error_latency, "p99_us")),
    tile("server CPU/request", "server.processes.0.cpu_us_per_request", r.server?.processes?.[0]?.cpu_us_per_request, format.duration),
  );
  return all.childElementCount > 0 ? all : null;
}

const latencies: [name: string, key: string][] = [["p50", "p50_us"], ["p90", "p90_us"], ["p99", "p99_us"], ["p99.9", "p99_9_us"], ["max", "max_us"]];

/** tile is one of them, if it is there. */
export function tile(name: string, key: string, value: unknown, show: (v: number) => string): HTMLElement | null {
  return typeof value !== "number" ? null : h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, number(key, value, show)));
}

/** facts is the rest of the text report, line by line. */
export function facts(words: Words): HTMLElement {
  return table({ head: ["", ""], rows: words.facts.map((f) => [f.name, f.text]) }, "The result in words");
}
