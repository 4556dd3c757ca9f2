// The server beside the load, where it was watched, and where its time went.

import { h } from "../dom";
import * as format from "../format";
import { list, more } from "../layout";
import type { Result, Usage } from "../result";
import { cell, facts, table } from "../table";
import type { Table } from "../table";

const readings = (u: Usage) => Object.keys(u).filter((k) => k !== "name" && k !== "pid");
const called = (u: Usage) => (u.name === "" ? "all" : u.name);

/** processes has a row for each part of the server, below what CPU per request took where. */
export function processes(r: Result, cost: HTMLElement | null): HTMLElement | null {
  const all = r.server?.processes ?? [];
  if (all.length === 0) return null;
  const columns = readings(all[0]);
  const rows = all.map((u, i) => [called(u), u.pid === undefined ? "" : cell(`server.processes.${i}.pid`, u.pid, String),
    ...columns.map((k) => cell(`server.processes.${i}.${k}`, u[k] as number | null, (v) => format.quantity(k, v)))]);
  return h("div", {}, cost, table({ head: ["server", "pid", ...columns.map(format.keyText)], rows }, "Processes of the server"));
}

/** costTable is what CPU per request took where. */
export function costTable(r: Result): Table {
  const parts = ["user", "system"];
  return {
    head: ["server", ...parts.map((name) => `${name} µs`)],
    rows: (r.server?.processes ?? []).map((u, i) => [called(u), ...parts.map((name) => cell(`server.processes.${i}.${name}_us_per_request`, u[`${name}_us_per_request`] as number | null, format.duration))]),
  };
}

/** serverHost is the machine meanwhile, and what it does not tell. */
export function serverHost(r: Result): HTMLElement | null {
  if (!r.server) return null;
  const { host, sampler, unavailable } = r.server;
  return more("The machine meanwhile, and the sampler", () => [
    table(facts({ server: { host, sampler } }, ""), "The machine in the window"),
    list(unavailable ?? [], "Not available")]);
}

/** profile is where the server's time went, function by function. */
export function profile(r: Result): HTMLElement | null {
  const p = r.profile;
  if (!p) return null;
  const share = (v: number) => format.percent(100 * v);
  const rows = (p.top ?? []).map((l, i) => [
    cell(`profile.top.${i}.flat.share`, l.flat.share, share),
    cell(`profile.top.${i}.cumulative.share`, l.cumulative.share, share),
    l.function + (l.kernel ? " (kernel)" : ""),
  ]);
  return h("div", {}, h("h3", {}, "Profile"),
    table({ head: ["flat", "cumulative", "function"], rows }, "Functions of the server"),
    more("All of the profile", () => [table(facts({ profile: p }, ""), "Profile")]));
}
