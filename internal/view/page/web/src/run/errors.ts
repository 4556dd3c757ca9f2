// What was answered, and what failed.

import { h } from "../dom";
import * as format from "../format";
import { more } from "../layout";
import type { Result } from "../result";
import { cell, facts, sentenceCell, table } from "../table";
import type { Table } from "../table";

/** statusTable has a row for each status code. */
export function statusTable(r: Result): Table {
  const codes = Object.entries(r.status ?? {}).sort(([a], [b]) => a.localeCompare(b));
  const sum = codes.reduce((all, [, n]) => all + n, 0);
  return { head: ["code", "responses", "share"], rows: codes.map(([code, n]) => [code, cell(`status.${code}`, n, format.count), format.percent((100 * n) / sum)]) };
}

/** statuses has the errors by their kind, over the figures of answers. */
export function statuses(r: Result, figures: HTMLElement | null): HTMLElement {
  const errors = r.errors ?? [];
  const sampled = errors.some((e) => e.sample);
  const rows = errors.map((e, i) => [cell(`errors.${i}.count`, e.count, format.count), e.phase, e.kind, e.address ?? "", e.detail,
    ...(sampled ? [sentenceCell(e.sample ?? "")] : [])]);
  return h("div", {},
    rows.length > 0 ? table({ head: ["count", "phase", "kind", "address", "first", ...(sampled ? ["answer"] : [])], rows }, "Errors") : h("p", {}, "No error of any kind."),
    figures, more("All counts", () => [
      table(facts({ requests: r.requests, bytes: r.bytes, connections: r.connections, rate: r.rate }, ""), "Counts")]));
}
