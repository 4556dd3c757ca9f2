// The page's beginning: its data, which the document holds, and the view of their kind.

import { banner } from "./layout";
import { show as showCapacity } from "./capacity/page";
import { show as showExperiment } from "./experiment/page";
import { show as showHistory } from "./history/page";
import { show as showCompare } from "./live/compare";
import { servedBar } from "./live/frame";
import { show as showHome } from "./live/home";
import { show as showLab } from "./live/lab";
import { show as showLive } from "./live/live";
import { show as showRun } from "./run/page";

/** A View shows a payload of its kind; it fills the document. */
type View = (payload: any) => void;

const views: Record<string, View> = {
  run: showRun,
  experiment: showExperiment,
  capacity: showCapacity,
  history: showHistory,
  home: showHome, // these five have no data: the dashboard's server is asked for it
  live: showLive,
  compare: showCompare,
  lab: showLab,
};

function show(): void {
  try {
    const payload = JSON.parse(document.getElementById("data")?.textContent ?? "null");
    const view = views[payload?.kind];
    if (!view) throw new Error(`nothing shows "${payload?.kind}"; is the file whole?`);
    view(payload);
    servedBar();
  } catch (problem) {
    document.body.replaceChildren(banner("bad", `This page cannot be shown: ${(problem as Error).message}`));
    throw problem; // for the console, and for the tests
  }
}

show();
