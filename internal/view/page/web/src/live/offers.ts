// An experiment that is to begin: which of those that the dashboard offers, and what it would do.

import { h } from "../dom";
import { banner, list } from "../layout";
import { requestJSON, problemText, Refused } from "./api";

interface Offer {
  id: string;
  name: string; // its own; id is that of its file
  from: string;
  plan?: string;
  quick?: string;
  problems?: string[];
}

/** offers makes the choice, with a button that begins it, or says why there is none. Shown again it is the same choice,
    so that what is chosen, what was said of it and the keyboard stay. */
export function offers(): (all: Offer[]) => Node[] {
  let made: ReturnType<typeof choice> | null = null;
  return (all) => {
    if (all.length === 0 && !made) return [h("p", { class: "caption" }, "This dashboard shows one run; dyno serve begins experiments.")];
    made ??= choice(all.find((o) => o.id === "hello") ?? all[0]); // hello needs nothing but dyno
    made.update(all);
    return [made.element];
  };
}

const nameOf = (o: Offer) => (o.name === o.id ? o.name : `${o.name} (${o.id})`);

function choice(chosen: Offer): { element: HTMLElement; update: (all: Offer[]) => void } {
  let offered: Offer[] = [];
  let told = ""; // of which state of the choice general speaks
  let asking = false;
  const which = h("select", { id: "experiment", onchange: () => tell() });
  const quick = h("input", { type: "checkbox", id: "quick", onchange: () => tell() });
  const from = h("p", { class: "caption" });
  const plan = h("pre", { id: "plan", tabindex: 0, "aria-label": "What it would do" });
  const general = h("div", { "aria-live": "assertive" });
  const start = h("button", { type: "submit", class: "primary" }, "Start");
  const tell = () => {
    const there = offered.find((o) => o.id === which.value);
    chosen = there ?? chosen;
    from.textContent = there?.from ?? "";
    plan.textContent = (quick.checked ? there?.quick : there?.plan) ?? "";
    plan.hidden = !plan.textContent;
    const problems = there ? there.problems ?? [] : [`${which.value} is no longer there; choose another, or put it back`];
    start.disabled = problems.length > 0;
    const now = JSON.stringify([which.value, quick.checked, problems]);
    if (now === told) return; // what the server said of it stays
    told = now;
    general.replaceChildren(...(problems.length > 0 ? [banner("bad", there ? "This file is no experiment" : "The file is gone", [list(problems)!])] : []));
  };
  const update = (all: Offer[]) => {
    offered = all;
    const options = all.map((o) => h("option", { value: o.id, selected: o.id === chosen.id }, nameOf(o)));
    if (!all.some((o) => o.id === chosen.id)) options.push(h("option", { value: chosen.id, selected: true, disabled: true }, `${nameOf(chosen)}: gone`));
    which.replaceChildren(...options);
    tell();
  };
  const begin = async (e: Event) => {
    e.preventDefault();
    if (asking) return;
    asking = true;
    try {
      const { id } = await requestJSON("POST", "/api/labs", { experiment: which.value, quick: quick.checked });
      location.href = "/lab?id=" + encodeURIComponent(id);
    } catch (problem) {
      const faults: { problem: string }[] = problem instanceof Refused && problem.status === 422 ? JSON.parse(problem.body).faults : [{ problem: problemText(problem) }];
      general.replaceChildren(...faults.map((f) => banner("bad", f.problem)));
      asking = false;
    }
  };
  const element = h("form", { id: "begin", onsubmit: begin },
    h("div", { class: "toolbar" }, h("label", { for: "experiment" }, "Experiment "), which,
      h("label", {}, quick, " quick: whether it works, not what it says")),
    from, plan, general, start);
  return { element, update };
}
