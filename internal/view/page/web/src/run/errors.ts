// What was answered, and what failed.

import { h } from "../dom";
import { Plot, chart } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import { more } from "../layout";
import type { Result } from "../result";
import { cell, facts, sentenceCell, table } from "../table";

const colours: Record<string, string> = { "1": "var(--c7)", "2": "var(--c3)", "3": "var(--c1)", "4": "var(--c5)", "5": "var(--c2)" };

/** statuses has the answers by their code, and the errors by their kind. */
export function statuses(r: Result): HTMLElement {
  const codes = Object.entries(r.status ?? {}).sort(([a], [b]) => a.localeCompare(b)).map(([code, n]) => ({ code, n }));
  const sum = codes.reduce((all, c) => all + c.n, 0);
  const share = (n: number) => format.percent((100 * n) / sum);
  const answers = figure({
    id: "status",
    title: "Status codes",
    unit: "responses in the window, logarithmic",
    n: `n = ${format.count(sum)} responses`,
    summary: codes.map((c) => `${c.code}: ${format.count(c.n)}`).join("; "),
    empty: codes.length > 0 ? undefined : "There was no response.",
    table: () => ({
      head: ["code", "responses", "share"],
      rows: codes.map((c) => [c.code, cell(`status.${c.code}`, c.n, format.count), share(c.n)]),
    }),
    draw: (width) => {
      // A logarithm shows the few among the many; bars of 1 are still there.
      const most = Math.max(...codes.map((c) => c.n), 10);
      return chart(width, {
        height: 66 + 28 * codes.length,
        marginRight: 120,
        x: { type: "log", domain: [0.5, most], ticks: [1, 1e2, 1e4, 1e6, 1e8].filter((v) => v <= most), tickFormat: format.count, label: "responses →", grid: true },
        y: { type: "band", domain: codes.map((c) => c.code), label: null, padding: 0.3 },
        marks: [
          Plot.barX(codes, { y: "code", x1: 0.5, x2: "n", fill: (c) => colours[c.code[0]] ?? "var(--c7)" }),
          Plot.text(codes, { y: "code", x: "n", text: (c) => `${format.count(c.n)} (${share(c.n)})`, textAnchor: "start", dx: 6, fill: "currentColor" }),
        ],
      });
    },
  });
  const errors = r.errors ?? [];
  const sampled = errors.some((e) => e.sample);
  const rows = errors.map((e, i) => [cell(`errors.${i}.count`, e.count, format.count), e.phase, e.kind, e.address ?? "", e.detail,
    ...(sampled ? [sentenceCell(e.sample ?? "")] : [])]);
  const wrong = r.error_latency;
  return h("div", {},
    wrong ? table({
      head: ["answers that were errors", "min", "mean", "p50", "p99", "max"],
      rows: [[cell("error_latency.count", wrong.count, format.count), ...["min_us", "mean_us", "p50_us", "p99_us", "max_us"]
        .map((k) => cell(`error_latency.${k}`, wrong[k] as number, format.duration))]],
    }, "Error latency") : null,
    rows.length > 0 ? table({ head: ["count", "phase", "kind", "address", "first", ...(sampled ? ["answer"] : [])], rows }, "Errors") : h("p", {}, "No error of any kind."),
    h("div", { class: "views" }, codes.length > 0 ? answers : null, more("All counts", () => [
      table(facts({ requests: r.requests, bytes: r.bytes, connections: r.connections, rate: r.rate }, ""), "Counts")])));
}
