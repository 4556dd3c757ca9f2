// The page of a run: the server's part first, with rate and latency, and folded below it the rest.

import { Cursors } from "../cursor";
import { h } from "../dom";
import { more, page } from "../layout";
import { firstScreen } from "../answer";
import { figureSVG } from "../export";
import * as format from "../format";
import { facts, table } from "../table";
import type { Table } from "../table";
import type { Result, Run } from "../result";
import { viewsOf } from "../view";
import { viewFigure } from "../viewfigure";
import { statuses, statusTable } from "./errors";
import { fleet } from "./fleet";
import { generator } from "./generator";
import { environment, methods, unknownParts } from "./methods";
import { overTime } from "./overtime";
import { routes } from "./routes";
import { scenario } from "./scenario";
import { costTable, processes, profile, serverHost } from "./server";
import { inWords, tiles } from "./verdict";

/** tables are those of figures whose numbers are of the JSON, by their names; others have what is drawn. */
const tables: Record<string, (r: Result, run: Run) => Table> = { ...overTime, status: statusTable, phases: (_, run) => run.phases, routes: (_, run) => run.routes!, "cpu-cost": costTable };

/** show fills the document with a run. */
export function show(run: Run): void {
  const { result: r, words } = run;
  const cursors = new Cursors();
  const views = viewsOf(run.figures);
  const figures = (section: string, empty = false) => {
    const all = views.filter((v) => v.section === section && (empty || !v.empty)).map((v) =>
      viewFigure({ views: [v], cursors, table: tables[v.name] && (() => tables[v.name](r, run)) }));
    return all.length > 0 ? h("div", { class: "views" }, ...all) : null;
  };
  const chart = () => {
    const drawn = document.querySelector<HTMLElement>("#answer .charts figure:has(> .plot svg)");
    return drawn ? figureSVG(drawn, run.answer.sentence) : null;
  };
  const charts = figures("first");
  const first = firstScreen(run.answer, [tiles(run.tiles), charts].filter((n) => n !== null), run.summary, charts ? chart : null);
  page(words.what, `${format.time(r.window.started)}, dyno ${r.dyno}`, [
    { id: "iterations-all", title: r.iterations ? "Iterations and checks" : r.checks ? "Checks" : "Metrics", content: [scenario(run)] },
    { id: "answers", title: "Answers and errors", hint: errorsHint(r), content: [statuses(r, figures("answers"))] },
    { id: "latencies", title: "Latency", hint: "phases, and every percentile", content: [figures("latencies"), run.durations.rows ? table(run.durations, "Durations") : null] },
    { id: "over-time", title: "Over time", content: [figures("over-time"), series(r)] },
    { id: "fleet-all", title: r.fleet ? "Fleet" : "Parts", content: fleet(r, words, figures("fleet-all", true)) },
    { id: "routes-all", title: "Routes", content: [routes(run, figures("routes-all", true))] },
    { id: "server-all", title: "Server", hint: "CPU, memory, profile", content: [processes(r, figures("server-all", true)), serverHost(r), profile(r)] },
    { id: "generator-all", title: "Generator", hint: words.verdict, content: [generator(r)] },
    { id: "words", title: "The result in words", content: [inWords(words)] },
    { id: "methods", title: "How it was measured", hint: "method, the command, the plan", content: [methods(words), environment(r, words), unknownParts(r)] },
  ], first);
  document.body.dataset.about = [words.what, words.model, format.time(r.window.started), `dyno ${r.dyno}`].join(" · ");
}

function errorsHint(r: Run["result"]): string {
  const codes = Object.entries(r.status ?? {}).map(([code, n]) => `${code}: ${format.count(n)}`).slice(0, 4).join(", ");
  return [codes, r.requests.errors > 0 ? `${format.count(r.requests.errors)} errors` : (r.errors ?? []).length > 0 ? "errors of connections" : "no errors"].filter((s) => s).join("; ");
}

/** series is every number of every interval, in a table that is made when it is opened. */
function series(r: Run["result"]): HTMLElement | null {
  return (r.series ?? []).length === 0 ? null : more("Every interval in numbers", () => [table(facts({ series: r.series }, ""), "Intervals")]);
}
