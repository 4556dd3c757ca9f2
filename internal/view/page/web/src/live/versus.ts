// Servers that are running, compared in turns: what dyno vs URL URL does. The address has what was entered, so a link
// can fill the form in, and going back does not empty it.

import { h } from "../dom";
import { banner, copyable } from "../layout";
import { requestJSON, problemText, Refused } from "./api";
import { shellQuote } from "./command";

const fields: [name: string, label: string, does: string, otherwise: string][] = [
  ["url", "A, the one to compare with", "URL of a server that is running", "http://127.0.0.1:8080/"],
  ["url", "B", "URL of the other; both get the same requests", "http://127.0.0.1:8081/"],
  ["connections", "Connections", "each sends when it has its answer", "50"],
  ["rate", "Requests a second", "of each server; empty: as many as it answers", ""],
  ["max-time", "Time", "of everything, or give rounds", "90s"],
  ["rounds", "Rounds", "trials of each server; empty: what fits into the time", ""],
  ["allow", "Answers may differ in", "headers and aspects, as etag,body, or all", ""],
  ["threads", "Threads", "of the generator; empty: one a physical core", ""],
];

/** versusForm is the form. */
export function versusForm(): HTMLElement {
  const given = new URLSearchParams(location.search);
  const seen: Record<string, number> = {};
  const places = fields.map(([name, label, does, otherwise]) => {
    const nth = (seen[name] = (seen[name] ?? 0) + 1);
    const id = `versus-${name}${nth > 1 ? nth : ""}`;
    const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", placeholder: otherwise || null, value: given.getAll(name)[nth - 1] ?? "",
      required: name === "url", "aria-describedby": `${id}-does ${id}-fault`, inputmode: name === "url" ? "url" : null });
    const fault = h("p", { class: "fault", id: id + "-fault" });
    const place = h("div", { class: "field" }, h("label", { for: id }, label), input, h("p", { class: "caption", id: id + "-does" }, does), fault);
    return { name, input, fault, place };
  });
  const entered = () => places.map((p) => [p.name, p.input.value.trim()]).filter(([, value]) => value !== "");
  const command = h("div", { role: "group", "aria-label": "The same on the command line" });
  const general = h("div", { "aria-live": "assertive" });
  const start = h("button", { type: "submit", class: "primary" }, "Compare in turns");
  const tell = () => {
    const [urls, flags] = [entered().filter(([name]) => name === "url"), entered().filter(([name]) => name !== "url")];
    command.replaceChildren(copyable(["dyno vs", ...[0, 1].map((i) => (urls[i] ? shellQuote(urls[i][1]) : `URL${i + 1}`)),
      ...flags.map(([name, value]) => `--${name} ${shellQuote(value)}`)].join(" ")));
  };
  tell();
  const begin = async (e: Event) => {
    e.preventDefault();
    start.disabled = true;
    general.replaceChildren();
    for (const p of places) {
      p.fault.textContent = "";
      p.input.removeAttribute("aria-invalid");
    }
    const form: Record<string, string[]> = {};
    for (const [name, value] of entered()) (form[name] ??= []).push(value);
    const address = "?" + new URLSearchParams(entered());
    try {
      const { id } = await requestJSON("POST", "/api/versus", form);
      history.replaceState(history.state, "", address); // not before: the server refuses URLs with secrets
      location.href = "/lab?id=" + encodeURIComponent(id);
    } catch (problem) {
      const faults: { field?: string; problem: string }[] = problem instanceof Refused && problem.status === 422 ? JSON.parse(problem.body).faults : [{ problem: problemText(problem) }];
      for (const f of faults) {
        const at = places.find((p) => p.name === f.field && f.field !== "url");
        if (!at) general.append(banner("bad", f.problem));
        else {
          at.fault.textContent = f.problem;
          at.input.setAttribute("aria-invalid", "true");
        }
      }
      start.disabled = false;
    }
  };
  return h("form", { id: "vs", onsubmit: begin, oninput: tell }, h("div", { class: "fields" }, ...places.map((p) => p.place)), general, command, start,
    h("p", { class: "caption" }, "Servers that dyno is to start, or more than this form says, take an experiment file: put it into a folder, and begin with dyno serve --experiments DIR."));
}
