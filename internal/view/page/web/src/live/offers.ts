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

/** offers makes the choice, with a button that begins it, or says why there is none; made again, it keeps what is chosen. */
export function offers(): (all: Offer[]) => Node[] {
  const kept = { id: "hello", quick: false }; // which needs nothing but dyno
  return (all) => [all.length > 0 ? choice(all, kept) : h("p", { class: "caption" }, "This dashboard shows one run; dyno serve begins experiments.")];
}

function choice(all: Offer[], kept: { id: string; quick: boolean }): HTMLElement {
  const which = h("select", { id: "experiment", onchange: () => tell() },
    ...all.map((o) => h("option", { value: o.id, selected: o.id === kept.id }, o.name === o.id ? o.name : `${o.name} (${o.id})`)));
  const quick = h("input", { type: "checkbox", id: "quick", checked: kept.quick, onchange: () => tell() });
  const from = h("p", { class: "caption" });
  const plan = h("pre", { id: "plan", tabindex: 0, "aria-label": "What it would do" });
  const general = h("div", { "aria-live": "assertive" });
  const start = h("button", { type: "submit", class: "primary" }, "Start");
  const chosen = () => all.find((o) => o.id === which.value)!;
  const tell = () => {
    const o = chosen();
    [kept.id, kept.quick] = [o.id, quick.checked];
    from.textContent = o.from;
    plan.textContent = (quick.checked ? o.quick : o.plan) ?? "";
    plan.hidden = !plan.textContent;
    start.disabled = (o.problems ?? []).length > 0;
    general.replaceChildren(...(start.disabled ? [banner("bad", "This file is no experiment", [list(o.problems!)!])] : []));
  };
  tell();
  const begin = async (e: Event) => {
    e.preventDefault();
    start.disabled = true;
    try {
      const { id } = await requestJSON("POST", "/api/labs", { experiment: which.value, quick: quick.checked });
      location.href = "/lab?id=" + encodeURIComponent(id);
    } catch (problem) {
      const faults: { problem: string }[] = problem instanceof Refused && problem.status === 422 ? JSON.parse(problem.body).faults : [{ problem: problemText(problem) }];
      general.replaceChildren(...faults.map((f) => banner("bad", f.problem)));
      start.disabled = false;
    }
  };
  return h("form", { id: "begin", onsubmit: begin },
    h("div", { class: "toolbar" }, h("label", { for: "experiment" }, "Experiment "), which,
      h("label", {}, quick, " quick: whether it works, not what it says")),
    from, plan, general, start);
}
