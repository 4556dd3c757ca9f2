// The page of a run.

import { Cursors } from "../cursor";
import { h } from "../dom";
import { page } from "../layout";
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
import { facts, tiles, verdict } from "./verdict";

/** show fills the document with a run. */
export function show(run: Run): void {
  page(run.words.what, run.words.how, sections(run));
}

/** sections are the views of a run, for a page of its own or a part of another. */
export function sections(run: Run) {
  const { result: r, words } = run;
  const cursors = new Cursors();
  const over = intervals(r);
  const grid = (...views: (HTMLElement | null)[]) => {
    const there = views.filter((v) => v !== null);
    return there.length > 0 ? h("div", { class: "views" }, ...there) : null;
  };
  return [
    { id: "verdict", title: "Verdict", content: [...verdict(r, words), tiles(r), facts(words)] },
    { id: "latencies", title: "Latency", content: [grid(spectrum(run), phases(r)), heat(over, cursors), durations(r)] },
    { id: "over-time", title: "Over time", content: [grid(throughput(r, over, cursors), iterations(r, over, cursors), codes(r, over, cursors), failures(over, cursors), inFlight(over, cursors), traffic(over, cursors))] },
    { id: "fleet-all", title: r.fleet ? "Fleet" : "Parts", content: fleet(r, words, over, cursors) },
    { id: "iterations-all", title: r.iterations ? "Iterations and checks" : "Checks", content: [scenario(r)] },
    { id: "answers", title: "Answers and errors", content: [statuses(r)] },
    { id: "routes-all", title: "Routes", content: [routes(r)] },
    { id: "generator-all", title: "Generator", content: [generator(r, words)] },
    { id: "server-all", title: "Server", content: [processes(r), serverHost(r), profile(r)] },
    { id: "methods", title: "Methods", content: [methods(words), environment(r, words), unknownParts(r)] },
  ];
}
