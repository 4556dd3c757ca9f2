// The page of a run: the server's part first, with rate and latency, and folded below it the rest.

import { Cursors } from "../cursor";
import { h } from "../dom";
import { more, page } from "../layout";
import { firstScreen } from "../answer";
import { figureSVG } from "../export";
import * as format from "../format";
import { facts, table } from "../table";
import type { Run } from "../result";
import { codes } from "./codes";
import { statuses } from "./errors";
import { fleet } from "./fleet";
import { generator } from "./generator";
import { heat } from "./heat";
import { environment, methods, unknownParts } from "./methods";
import { durations, phases } from "./phases";
import { routes } from "./routes";
import { scenario } from "./scenario";
import { processes, profile, serverHost } from "./server";
import { spectrum } from "./spectrum";
import { failures, inFlight, iterations, throughput, traffic } from "./throughput";
import { intervals } from "./time";
import { inWords, tiles } from "./verdict";

/** show fills the document with a run. */
export function show(run: Run): void {
  const { result: r, words } = run;
  const cursors = new Cursors();
  const over = intervals(r);
  const chart = () => {
    const drawn = document.querySelector<HTMLElement>("#answer .charts figure:has(> .plot svg)");
    return drawn ? figureSVG(drawn, run.answer.sentence) : null;
  };
  const charts = there(heat(over, cursors, words.unanswered), spectrum(run), throughput(r, over, cursors));
  const first = firstScreen(run.answer, [...there(tiles(r)), ...(charts.length > 0 ? [h("div", { class: "views" }, ...charts)] : [])], run.summary, charts.length > 0 ? chart : null);
  const grid = (...views: (HTMLElement | null)[]) => (there(...views).length > 0 ? h("div", { class: "views" }, ...there(...views)) : null);
  page(words.what, `${format.time(r.window.started)}, dyno ${r.dyno}`, [
    { id: "iterations-all", title: r.iterations ? "Iterations and checks" : r.checks ? "Checks" : "Metrics", content: [scenario(r)] },
    { id: "answers", title: "Answers and errors", hint: errorsHint(r), content: [statuses(r), grid(codes(r, over, cursors), failures(over, cursors))] },
    { id: "latencies", title: "Latency", hint: "phases, and every percentile", content: [grid(phases(r)), durations(r)] },
    { id: "over-time", title: "Over time", content: [grid(iterations(r, over, cursors), inFlight(over, cursors), traffic(over, cursors)), series(r)] },
    { id: "fleet-all", title: r.fleet ? "Fleet" : "Parts", content: fleet(r, words, over, cursors) },
    { id: "routes-all", title: "Routes", content: [routes(r)] },
    { id: "server-all", title: "Server", hint: "CPU, memory, profile", content: [processes(r), serverHost(r), profile(r)] },
    { id: "generator-all", title: "Generator", hint: words.verdict, content: [generator(r, words)] },
    { id: "words", title: "The result in words", content: [inWords(words)] },
    { id: "methods", title: "How it was measured", hint: "method, the command, the plan", content: [methods(words), environment(r, words), unknownParts(r)] },
  ], first);
  document.body.dataset.about = [words.what, words.model, format.time(r.window.started), `dyno ${r.dyno}`].join(" · ");
}

/** there are the views that show something: not those that say that there is nothing. */
const there = (...views: (HTMLElement | null)[]): HTMLElement[] => views.filter((v): v is HTMLElement => v !== null && !v.querySelector(":scope > .plot > .empty") && v.dataset.empty === undefined);

function errorsHint(r: Run["result"]): string {
  const codes = Object.entries(r.status ?? {}).map(([code, n]) => `${code}: ${format.count(n)}`).slice(0, 4).join(", ");
  return [codes, r.requests.errors > 0 ? `${format.count(r.requests.errors)} errors` : (r.errors ?? []).length > 0 ? "errors of connections" : "no errors"].filter((s) => s).join("; ");
}

/** series is every number of every interval, in a table that is made when it is opened. */
function series(r: Run["result"]): HTMLElement | null {
  return (r.series ?? []).length === 0 ? null : more("Every interval in numbers", () => [table(facts({ series: r.series }, ""), "Intervals")]);
}
