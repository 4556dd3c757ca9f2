// What is stored: results to look at and to compare, experiments to watch.

import { h } from "../dom";
import * as format from "../format";
import { banner } from "../layout";
import * as state from "../state";
import { cell, table } from "../table";
import { requestJSON, problemText } from "./api";
import { frame, section } from "./frame";

interface Stored {
  id: string;
  started?: string;
  url?: string;
  model?: string;
  completed?: number;
  p99_us?: number;
  errors_percent?: number;
  verdict?: string;
  note?: string;
}

interface Lab {
  id: string;
  name: string;
  state: string;
  started?: string;
  quick?: boolean;
  problem?: string;
}

/** show fills the document, and then asks for what is stored. */
export function show(): void {
  const results = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  const labs = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  frame("What is stored", "Results of loads and experiments, newest first",
    section("results", "Results", results), section("labs", "Experiments", labs));
  fillWith(results, "/api/results", resultList);
  fillWith(labs, "/api/labs", labList);
}

async function fillWith<T>(into: HTMLElement, path: string, view: (all: T[]) => Node[]): Promise<void> {
  try {
    into.replaceChildren(...view(await requestJSON("GET", path)));
  } catch (problem) {
    into.replaceChildren(banner("bad", `${path}: ${problemText(problem)}`));
  }
}

const link = (path: string, name: string) => ({ text: name, node: h("a", { href: path }, name) });

/** words that a filter looks for, in any order. */
const hasWords = (r: Stored, filter: string) => {
  const text = [r.id, r.url, r.model, r.verdict, r.note].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
};

function resultList(all: Stored[]): Node[] {
  if (all.length === 0) return [h("p", { class: "empty" }, "Nothing is stored yet: dyno run, and the form on the page Load, store what they measure.")];
  const chosen = new Set<string>();
  const compare = h("a", { class: "button", role: "link", "aria-disabled": "true" }, "Compare");
  const choose = (id: string, on: boolean) => {
    if (on) chosen.add(id);
    else chosen.delete(id);
    const ready = chosen.size > 1;
    compare.setAttribute("aria-disabled", String(!ready));
    compare.textContent = ready ? `Compare ${chosen.size}` : "Compare: choose two";
    if (ready) compare.href = "/compare?" + [...chosen].map((one) => "id=" + encodeURIComponent(one)).join("&");
    else compare.removeAttribute("href");
  };
  choose("", false);
  const list = h("div", {});
  const filter = h("input", { type: "search", id: "filter", value: state.get("filter"), placeholder: "URL, ID, model, verdict",
    oninput: () => state.set("filter", filter.value) });
  const draw = () => list.replaceChildren(resultTable(all.filter((r) => hasWords(r, state.get("filter"))), chosen, choose));
  state.onChange((key) => key === "filter" && draw());
  draw();
  return [h("div", { class: "toolbar" }, h("label", { for: "filter" }, "Filter "), filter, compare), list];
}

const mostRows = 500;

function resultTable(all: Stored[], chosen: Set<string>, choose: (id: string, on: boolean) => void): Node {
  if (all.length === 0) return h("p", { class: "empty" }, "None of them has these words.");
  const box = (r: Stored) => {
    const e = h("input", { type: "checkbox", "aria-label": `compare ${r.id}`, checked: chosen.has(r.id), onchange: () => choose(r.id, e.checked) });
    return e;
  };
  const row = (r: Stored, i: number) => [
    { text: "", node: box(r) },
    link("/results/" + encodeURIComponent(r.id), r.id),
    format.time(r.started ?? ""),
    r.url ?? "",
    r.model ?? "",
    cell(`${i}.completed`, r.completed, format.digits3),
    cell(`${i}.p99_us`, r.p99_us, format.duration),
    (r.verdict ?? "") + (r.errors_percent ? `, ${format.percent(r.errors_percent)} errors` : ""),
    { text: r.note ?? "", node: noteEditor(r) },
  ];
  const shown = all.slice(0, mostRows);
  const list = table({ head: ["", "ID", "started", "URL", "model", "requests/s", "p99", "generator", "note"], rows: shown.map(row) }, "Stored results");
  if (shown.length === all.length) return list;
  return h("div", {}, list, h("p", { class: "caption" }, `${format.count(all.length - shown.length)} more; filter to see them.`));
}

/** noteEditor shows what was said of a result; a click changes it, and Enter or leaving the field keeps that. */
function noteEditor(r: Stored): Node {
  const shown = h("button", { type: "button", class: "sort", "aria-label": `note on ${r.id}` });
  const tell = () => (shown.textContent = r.note || "add …");
  const place = h("span", {}, shown);
  const keep = async (text: string) => {
    try {
      await requestJSON("PUT", `/api/results/${encodeURIComponent(r.id)}/note`, { text });
      r.note = text.trim();
      tell();
      place.replaceChildren(shown);
    } catch (problem) {
      place.replaceChildren(shown, banner("bad", problemText(problem)));
    }
  };
  shown.addEventListener("click", () => {
    const input = h("input", { type: "text", value: r.note ?? "", "aria-label": `note on ${r.id}`, onchange: () => keep(input.value), onblur: () => {
      if (input.value === (r.note ?? "")) place.replaceChildren(shown);
    } });
    place.replaceChildren(input);
    input.focus();
  });
  tell();
  return place;
}

/** labList is the experiments that there are. */
export function labList(all: Lab[]): Node[] {
  if (all.length === 0) return [h("p", { class: "empty" }, "No experiment was run yet: dyno lab run, or the page Experiments.")];
  const path = (l: Lab) => "/lab?id=" + encodeURIComponent(l.id);
  return [table({
    head: ["", "name", "started", "state", "report"],
    rows: all.map((l) => l.problem
      ? ["", l.id, "", l.problem, ""]
      : [link(path(l), l.id), l.name + (l.quick ? " (quick)" : ""), format.time(l.started ?? ""), l.state,
        link(`/labs/${encodeURIComponent(l.id)}/report`, "report")]),
  }, "Experiments")];
}
