// The page of an experiment: the answer on the first screen, and folded below it what it rests on, in
// the order in which doubts arise.

import { firstScreen } from "../answer";
import { h } from "../dom";
import { figureSVG } from "../export";
import { count, time } from "../format";
import { page } from "../layout";
import { setTexts } from "../table";
import { viewsOf } from "../view";
import { band } from "./band";
import { Payload } from "./data";
import { decide } from "./decide";
import { environment, methods } from "./environment";
import { fairness, published } from "./fairness";
import { figures } from "./figures";
import { flames } from "./flame";
import { matrix } from "./matrix";
import { panel } from "./panel";
import { past } from "./past";
import { sensitivity } from "./sensitivity";
import { verdicts } from "./verdict";
import { comings } from "./warmup";

/** show fills the document, and again when the reader leaves out variants or levels. */
export function show(p: Payload): void {
  const subtitle = [p.answer.load, `${p.words.scope}; ${time(p.record.started)}, dyno ${p.record.dyno}`].filter((s) => s).join(" · ");
  const views = viewsOf(p.figures);
  setTexts(p.texts);
  const of = (section: string) => figures(p, views, section);
  const left = p.panels.left_out
    ? h("p", { class: "caption" }, `There was no room for the readings of ${p.panels.left_out} of the last trials.`)
    : null;
  const chart = () => {
    const drawn = document.querySelector<HTMLElement>("#decide:has(> .plot svg)");
    return drawn ? figureSVG(drawn, p.answer.sentence) : null;
  };
  const first = h("div", {}, firstScreen(p.answer, decide(p, views.filter((v) => v.section === "first")), p.summary, (p.answer.groups ?? []).length > 0 ? chart : null), band(p, () => show(p)));
  const trials = p.record.trials ?? [];
  const grades = Object.entries({ A: "nothing against it", B: "a doubt", F: "unreliable" })
    .map(([g, means]) => `${count(trials.filter((t) => t.grade === g).length)} ${g} (${means})`).join(", ");
  page(p.words.title, subtitle, [
    { id: "verdict", title: "Every comparison", hint: `${count((p.record.verdicts ?? []).length)}, in words and numbers`, content: verdicts(p) },
    { id: "ratios", title: "Ratios", hint: "every measure, with the pairs of trials", content: [of("ratios")] },
    { id: "screened", title: "Effects of the screening", hint: "half-normal plot: what stands out of the noise", content: [of("screened")] },
    { id: "fair", title: "Was it fair?", hint: "what the servers answered and were given", content: fairness(p) },
    { id: "order", title: "Trials, and the machine meanwhile", hint: `${count(trials.length)} trials by grade: ${grades}`, content: [h("p", {}, p.words.trials), of("order"), sensitivity(p)] },
    { id: "medians", title: "Medians", hint: "variants by levels", content: matrix(p) },
    { id: "latency", title: "Latency", hint: "by percentile", content: [of("latency")] },
    { id: "cost", title: "CPU per request", hint: "by process, user and kernel", content: [of("cost")] },
    { id: "load", title: "Over load", content: [of("load")] },
    { id: "servers", title: "Servers and machine", hint: "readings while they were loaded", content: [panel(p, views), left] },
    { id: "warm", title: "Warm-up", content: [of("warm"), comings(p)] },
    { id: "profiles", title: "Profiles", hint: "where the time went", content: flames(p) },
    { id: "beside", title: "Published figures", content: published(p, of("beside")) },
    { id: "past", title: "Earlier runs", content: past(p, of("past")) },
    { id: "environment", title: "Environment", content: environment(p) },
    { id: "methods", title: "How it was measured", hint: "method, formulas, the command", content: methods(p) },
  ], first);
}
