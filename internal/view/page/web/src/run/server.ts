// The server beside the load, where it was watched, and where its time went.

import { h } from "../dom";
import { Plot, areaColour, chart, nameInMargin, nameMargin, shortDuration } from "../chart";
import { figure } from "../figure";
import * as format from "../format";
import { list, more } from "../layout";
import { oneRun } from "../result";
import type { Result, Usage } from "../result";
import { cell, facts, table } from "../table";

const readings = (u: Usage) => Object.keys(u).filter((k) => k !== "name" && k !== "pid");
const called = (u: Usage) => (u.name === "" ? "all" : u.name);

/** processes has a row for each part of the server, and draws what CPU per request took where. */
export function processes(r: Result): HTMLElement | null {
  const all = r.server?.processes ?? [];
  if (all.length === 0) return null;
  const columns = readings(all[0]);
  const rows = all.map((u, i) => [called(u), u.pid === undefined ? "" : cell(`server.processes.${i}.pid`, u.pid, String),
    ...columns.map((k) => cell(`server.processes.${i}.${k}`, u[k] as number | null, (v) => format.quantity(k, v)))]);
  return h("div", {}, cost(all), table({ head: ["server", "pid", ...columns.map(format.keyText)], rows }, "Processes of the server"));
}

const parts: [key: string, name: string, colour: string][] = [
  ["user_us_per_request", "user", areaColour(0)],
  ["system_us_per_request", "system", areaColour(1)],
];

const label = (u: Usage, width: number) => {
  const pid = u.pid ? ` ${u.pid}` : "";
  return nameInMargin(called(u), width, pid.length) + pid;
};

function cost(all: Usage[]): HTMLElement {
  const bars = all.flatMap((u, i) => parts.map(([key, part, colour]) => ({ i, who: called(u), part, colour, us: u[key] })))
    .filter((b): b is typeof b & { us: number } => typeof b.us === "number");
  return figure({
    id: "cpu-cost",
    title: "CPU per request",
    unit: "µs of CPU for each completed request",
    n: `n = ${all.length} ${all.length === 1 ? "process or tree" : "processes and trees"}`,
    interval: oneRun,
    summary: bars.map((b) => `${b.who}: ${format.duration(b.us)} ${b.part}`).join("; "),
    empty: bars.length > 0 ? undefined : "This machine does not tell what CPU time the server took.",
    legend: parts.map(([, name, colour]) => ({ name, colour, shape: "area" })),
    table: () => ({
      head: ["server", ...parts.map(([, name]) => `${name} µs`)],
      rows: all.map((u, i) => [called(u), ...parts.map(([key]) => cell(`server.processes.${i}.${key}`, u[key] as number | null, format.duration))]),
    }),
    draw: (width) => chart(width, {
      height: 66 + 28 * all.length,
      marginLeft: nameMargin(width),
      x: { type: "linear", tickFormat: shortDuration, ticks: width / 110, label: "CPU per request →", grid: true },
      y: { type: "band", domain: all.map((_, i) => i), tickFormat: (i: number) => label(all[i], width), label: null, padding: 0.3 },
      marks: [Plot.barX(bars, { y: "i", x: "us", fill: "colour" })],
    }),
  });
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
