// Servers that are running, compared in turns: what dyno vs URL URL does. Which fields there are, package cli says. The
// address has what was entered, so a link can fill the form in, and going back does not empty it.

import { h } from "../dom";
import { banner, copyable } from "../layout";
import { requestJSON, problemText, Refused } from "./api";
import { commandLine, Flag, withScheme } from "./command";

interface Field extends Flag {
  does: string;
  label: string;
  default?: string;
}

/** versusForm asks for the fields of the form, and makes it. */
export async function versusForm(): Promise<HTMLElement> {
  const { fields }: { fields: Field[] | null } = await requestJSON("GET", "/api/versus");
  if (!fields) return h("p", { class: "caption" }, "This dashboard shows one run; dyno serve compares servers.");
  const given = new URLSearchParams(location.search);
  const seen: Record<string, number> = {};
  const places = fields.map(({ name, label, does, default: otherwise }) => {
    const nth = (seen[name] = (seen[name] ?? 0) + 1);
    const id = `versus-${name}${nth > 1 ? nth : ""}`;
    const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", placeholder: otherwise ?? null, value: given.getAll(name)[nth - 1] ?? "",
      required: name === "url", "aria-describedby": `${id}-does ${id}-fault`, inputmode: name === "url" ? "url" : null });
    const fault = h("p", { class: "fault", id: id + "-fault" });
    const place = h("div", { class: "field" }, h("label", { for: id }, label), input, h("p", { class: "caption", id: id + "-does" }, does), fault);
    return { name, input, fault, place };
  });
  const entered = () => places.map((p) => [p.name, p.input.value.trim()]).filter(([, value]) => value !== "");
  const command = h("div", { role: "group", "aria-label": "The same on the command line" });
  const general = h("div", { "aria-live": "assertive" });
  const start = h("button", { type: "submit", class: "primary" }, "Compare in turns");
  const complete = () => places.filter((p) => p.name === "url").forEach(({ input }) => (input.value = withScheme(input.value)));
  const tell = () => {
    const [urls, flags] = [places.filter((p) => p.name === "url"), fields.filter((f) => f.name !== "url")];
    command.replaceChildren(copyable(commandLine("vs", flags, Object.fromEntries(entered()), urls.map((p) => withScheme(p.input.value)))));
  };
  tell();
  const begin = async (e: Event) => {
    e.preventDefault();
    complete();
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
  return h("form", { id: "vs", onsubmit: begin, oninput: tell, onchange: complete }, h("div", { class: "fields" }, ...places.map((p) => p.place)), general, command, start,
    h("p", { class: "caption" }, "Servers that dyno is to start, or more than this form says, take an experiment file: put it into a folder, and begin with dyno serve --experiments DIR."));
}
