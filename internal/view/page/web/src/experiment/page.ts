// The page of an experiment: what may be said first, then what it rests on.

import { h } from "../dom";
import { page } from "../layout";
import { time } from "../format";
import { band } from "./band";
import { costs } from "./cost";
import { Payload } from "./data";
import { environment, methods } from "./environment";
import { fairness, published } from "./fairness";
import { ladders } from "./ladder";
import { past } from "./past";
import { flames } from "./flame";
import { forests } from "./forest";
import { matrix } from "./matrix";
import { panel } from "./panel";
import { shifts, spectraOf } from "./spectra";
import { strip } from "./strip";
import { verdicts } from "./verdict";
import { comings, warmups } from "./warmup";

/** show fills the document, and again when the reader leaves out variants or levels. */
export function show(p: Payload): void {
  const chosen = band(p, () => show(p));
  const subtitle = `${p.words.scope}; ${time(p.record.started)}, dyno ${p.record.dyno}`;
  const views = (all: Node[]) => (all.length > 0 ? [h("div", { class: "views" }, ...all)] : []);
  const left = p.panels.left_out
    ? h("p", { class: "caption" }, `There was no room for the readings of ${p.panels.left_out} of the last trials.`)
    : null;
  page(p.words.title, subtitle, [
    { id: "verdict", title: "Verdict", content: [chosen, ...verdicts(p)] },
    { id: "ratios", title: "Ratios", content: views(forests(p)) },
    { id: "medians", title: "Variants by levels", content: matrix(p) },
    { id: "load", title: "Over load", content: views(ladders(p)) },
    { id: "order", title: "Trials", content: [h("p", {}, p.words.trials), strip(p)] },
    { id: "latency", title: "Latency", content: views([...spectraOf(p), ...shifts(p)]) },
    { id: "cost", title: "CPU a request", content: views(costs(p)) },
    { id: "servers", title: "Servers and machine", content: [panel(p), left] },
    { id: "warm", title: "Warm-up", content: [...views(warmups(p)), comings(p)] },
    { id: "profiles", title: "Profiles", content: flames(p) },
    { id: "fair", title: "Fairness", content: fairness(p) },
    { id: "beside", title: "Published", content: published(p) },
    { id: "past", title: "History", content: past(p) },
    { id: "environment", title: "Environment", content: environment(p) },
    { id: "methods", title: "Methods", content: methods(p) },
  ]);
}
