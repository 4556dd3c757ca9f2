// What is stored: results to look at and to compare, experiments to watch.

import { h } from "../dom";
import * as format from "../format";
import { banner, copyable } from "../layout";
import * as state from "../state";
import { cell, sentenceCell, table, timeCell } from "../table";
import { requestJSON, problemText } from "./api";
import { Answered, cards, Changes, changesOf, Stored, streamText, verdict } from "./cards";
import { frame, section } from "./frame";
import { keepFresh } from "./fresh";

interface Lab {
  id: string;
  name: string;
  state: string;
  started?: string;
  ended?: string;
  quick?: boolean;
  problem?: string;
  done?: number;
  queued?: number;
}

/** show fills the document, and then asks for what is stored. */
export function show(): void {
  const results = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  const labs = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  frame("Results", "Of loads and experiments, newest first",
    section("results", "Loads", results), section("labs", "Experiments", labs));
  fillWith(results, "/api/results", resultList);
  keepFresh(labs, "/api/labs", labList);
}

/** begin is what to do where nothing is stored yet. */
function begin(): Node[] {
  const steps: [string, string][] = [
    ["Start a server to try it on, in another terminal:", "dyno target"],
    ["Load it, or press New load above:", "dyno run -d 10s http://127.0.0.1:8080/"],
    ["Compare two servers, which it starts itself:", "dyno lab run hello --quick"],
  ];
  return [h("div", { class: "begin" }, h("p", { class: "empty" }, "Nothing is stored yet. Three commands to begin with:"),
    h("ol", {}, ...steps.map(([says, command]) => h("li", {}, h("p", {}, says), copyable(command)))))];
}

async function fillWith<T>(into: HTMLElement, path: string, view: (all: T[]) => Node[]): Promise<void> {
  try {
    into.replaceChildren(...view(await requestJSON("GET", path)));
  } catch (problem) {
    into.replaceChildren(banner("bad", `${path}: ${problemText(problem)}`));
  }
}

/** named is a link with a second line. */
const named = (path: string, name: string, id: string) => ({ text: name, node: h("div", {}, h("a", { href: path }, name), h("div", { class: "caption" }, id)) });

const link = (path: string, name: string) => ({ text: name, node: h("a", { href: path }, name) });

/** words that a filter looks for, in any order. */
const hasWords = (r: Stored, filter: string) => {
  const text = [r.id, r.url, r.model, r.load, r.verdict, r.note].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
};

function resultList(all: Stored[]): Node[] {
  if (all.length === 0) return begin();
  const chosen = new Set<string>();
  const compare = h("a", { class: "button", id: "compare", role: "link", "aria-disabled": "true" });
  const bar = h("div", { class: "comparing", "aria-live": "polite" }, compare);
  const choose = (id: string, on: boolean) => {
    if (on) chosen.add(id);
    else chosen.delete(id);
    const ready = chosen.size > 1;
    compare.setAttribute("aria-disabled", String(!ready));
    compare.textContent = ready ? `Compare ${chosen.size}` : chosen.size === 1 ? "Compare: tick another" : "Compare: tick two";
    bar.classList.toggle("floating", chosen.size > 0);
    const oldest = all.map((r) => r.id).filter((one) => chosen.has(one)).reverse(); // first: the others are compared with it
    if (ready) compare.href = "/compare?" + oldest.map((one) => "id=" + encodeURIComponent(one)).join("&");
    else compare.removeAttribute("href");
  };
  choose("", false);
  chosen.clear();
  const list = h("div", {});
  const filter = h("input", { type: "search", id: "filter", value: state.get("filter"), placeholder: "URL, ID, load, note",
    oninput: () => state.set("filter", filter.value) });
  const as = h("button", { type: "button", id: "as", onclick: () => state.set("as", state.get("as") === "table" ? "" : "table") });
  let most = firstCards;
  let changes: Changes = new Map();
  const more = h("button", { type: "button", id: "more-cards", onclick: () => {
    most += firstCards;
    draw();
  } }, "Show more");
  const draw = () => {
    const found = all.filter((r) => hasWords(r, state.get("filter")));
    const asTable = state.get("as") === "table";
    as.textContent = asTable ? "As cards" : "As a table";
    more.hidden = asTable || found.length <= most;
    if (found.length === 0) list.replaceChildren(h("p", { class: "empty" }, "None of them has these words."));
    else list.replaceChildren(asTable ? resultTable(found, chosen, choose) : cards(found.slice(0, most), all, changes, chosen, choose, noteEditor), more);
  };
  state.onChange((key) => (key === "filter" || key === "as") && draw());
  draw();
  changesOf(all).then((found) => {
    changes = found;
    if (found.size > 0) draw();
  }, () => undefined); // the cards are whole without them
  return [h("div", { class: "toolbar" }, h("label", { for: "filter" }, "Filter "), filter, as, bar), list];
}

const firstCards = 12;
const mostRows = 500;

function resultTable(all: Stored[], chosen: Set<string>, choose: (id: string, on: boolean) => void): Node {
  const box = (r: Stored) => {
    const e = h("input", { type: "checkbox", "aria-label": `compare ${r.id}`, checked: chosen.has(r.id), onchange: () => choose(r.id, e.checked) });
    return e;
  };
  const shown = all.slice(0, mostRows);
  const streams = (shown.find((r) => r.streams)?.streams ?? []).map((f) => f.name);
  const ofStreams = (r: Stored, i: number) => streams.map((_, k) => {
    const f = r.streams?.[k];
    return f?.value === undefined ? "–" : cell(`${i}.streams.${k}.value`, f.value, streamText(f));
  });
  const row = (r: Stored, i: number) => [
    { text: "", node: box(r) },
    link("/results/" + encodeURIComponent(r.id), r.id),
    timeCell(r.started ?? ""),
    r.url ?? "",
    r.load ?? r.model ?? "",
    cell(`${i}.completed`, r.completed, format.digits3),
    cell(`${i}.p99_us`, r.p99_us, (v) => format.known(r.p99_over, format.duration(v))),
    ...ofStreams(r, i),
    (r.verdict ?? "") + (r.errors_percent ? `, ${format.percent(r.errors_percent)} errors` : ""),
    { text: r.note ?? "", node: noteEditor(r) },
  ];
  const list = table({ head: ["", "ID", "started", "URL", "load", "requests/s", "p99", ...streams, "generator", "note"], rows: shown.map(row) }, "Stored results");
  if (shown.length === all.length) return list;
  return h("div", {}, list, h("p", { class: "caption" }, `${format.count(all.length - shown.length)} more; filter to see them.`));
}

/** noteEditor shows what was said of a result; a click changes it, and Enter or leaving the field keeps that. */
function noteEditor(r: Stored): Node {
  const shown = h("button", { type: "button", class: "sort" });
  const tell = () => {
    shown.textContent = r.note || "add a note";
    shown.classList.toggle("nowrap", !r.note);
    shown.setAttribute("aria-label", `${shown.textContent}: note on ${r.id}`);
  };
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

const answeredLabs = 6; // experiments whose answer is asked for
const answers = new Map<string, { of: string; answer: Promise<Answered> }>(); // by experiment, and of which end: the list is made again and again

/** labList is the experiments that there are, with how far they are or what they found. */
export function labList(all: Lab[]): Node[] {
  if (all.length === 0) return [h("p", { class: "empty" }, "No experiment was run yet: choose one on the page Experiments, or run"), copyable("dyno lab run hello --quick")];
  const path = (l: Lab) => "/lab?id=" + encodeURIComponent(l.id);
  let asked = 0;
  const found = (l: Lab): Node => {
    if (l.state === "running") {
      const [done, of] = [l.done ?? 0, (l.done ?? 0) + (l.queued ?? 0)];
      return h("span", {}, h("progress", { max: of || 1, value: done, "aria-label": `trials of ${l.id}` }), ` ${done} of ${of} trials`);
    }
    const said = h("div", { class: "said why" });
    if (asked++ < answeredLabs) {
      const of = `${l.state} ${l.ended}`; // one that is resumed ends again
      let had = answers.get(l.id);
      if (had?.of !== of) answers.set(l.id, had = { of, answer: requestJSON("GET", `/api/labs/${encodeURIComponent(l.id)}/answer`) });
      had!.answer.then((a) => said.replaceChildren(...verdict(a)), () => answers.delete(l.id));
    }
    return said;
  };
  return [table({
    head: ["experiment", "started", "state", "found", "report"],
    rows: all.map((l) => l.problem
      ? [l.id, "", l.problem, "", ""]
      : [named(path(l), l.name + (l.quick ? " (quick)" : ""), l.id), timeCell(l.started ?? ""), l.state,
        sentenceCell("", found(l)), link(`/labs/${encodeURIComponent(l.id)}/report`, "report")]),
  }, "Experiments")];
}
