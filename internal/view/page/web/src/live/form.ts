// The form of a load: the flags of dyno run, by their names, read by the same code. What is wrong
// with it comes back field by field.

import { h } from "../dom";
import { banner } from "../layout";
import { requestJSON, problemText, Refused } from "./api";

interface Field {
  name: string;
  value?: string; // what it takes; none: it is a switch
  does: string;
  many?: boolean;
}

interface Group {
  title: string;
  fields: Field[];
}

interface Fault {
  field: string;
  problem: string;
}

type Input = HTMLInputElement | HTMLTextAreaElement;

/** form makes the form, or nothing if this dashboard begins no loads. */
export async function form(): Promise<HTMLElement> {
  const { groups, targets }: { groups: Group[] | null; targets: string } = await requestJSON("GET", "/api/form");
  if (!groups?.length) return h("p", { class: "caption" }, "This dashboard shows one run; dyno serve begins others.");
  const inputs = new Map<string, Input>();
  const general = h("div", { "aria-live": "assertive" });
  const start = h("button", { type: "submit", class: "primary" }, "Start");
  const url = formField({ name: "url", value: "URL", does: `where to send; allowed: ${targets}` }, inputs);
  const all = h("form", { id: "form", novalidate: true, onsubmit: (e: Event) => {
    e.preventDefault();
    submit(inputs, general, start);
  } },
  url, ...groups.map((g, i) => h("details", { open: i === 0 }, h("summary", {}, g.title),
    h("div", { class: "fields" }, ...g.fields.map((f) => formField(f, inputs))))),
  general, start);
  return all;
}

function formField(f: Field, inputs: Map<string, Input>): HTMLElement {
  const id = "field-" + f.name;
  const described = { id, name: f.name, "aria-describedby": `${id}-does ${id}-fault`, autocomplete: "off", spellcheck: "false" };
  const input: Input = f.many || f.name === "body"
    ? h("textarea", { ...described, rows: 2 })
    : h("input", { ...described, type: f.value ? "text" : "checkbox" });
  inputs.set(f.name, input);
  return h("div", { class: "field" },
    h("label", { for: id }, f.name, f.value ? h("span", { class: "takes" }, " " + f.value) : null),
    input,
    h("p", { class: "caption", id: id + "-does" }, f.does + (f.many ? " (one a line)" : "")),
    h("p", { class: "fault", id: id + "-fault" }));
}

/** enteredValue is what was entered; many values are lines. */
function enteredValue(input: Input, many: boolean): unknown {
  if (input instanceof HTMLInputElement && input.type === "checkbox") return input.checked;
  return many ? input.value.split("\n").map((line) => line.trim()).filter((line) => line !== "") : input.value;
}

async function submit(inputs: Map<string, Input>, general: HTMLElement, start: HTMLButtonElement): Promise<void> {
  const body: Record<string, unknown> = {};
  for (const [name, input] of inputs) {
    body[name] = enteredValue(input, input instanceof HTMLTextAreaElement && name !== "body");
    input.removeAttribute("aria-invalid");
    document.getElementById(input.id + "-fault")!.textContent = "";
  }
  general.replaceChildren();
  start.disabled = true;
  try {
    await requestJSON("POST", "/api/load", body);
  } catch (problem) {
    if (problem instanceof Refused && problem.status === 422) showFaults(JSON.parse(problem.body).faults, inputs, general);
    else general.replaceChildren(banner("bad", problemText(problem)));
  }
  start.disabled = false;
}

/** showFaults puts each fault at its field, and those without one above the button. */
function showFaults(faults: Fault[], inputs: Map<string, Input>, general: HTMLElement): void {
  let first: Input | null = null;
  for (const f of faults) {
    const input = inputs.get(f.field);
    if (!input) {
      general.append(banner("bad", (f.field ? f.field + ": " : "") + f.problem));
      continue;
    }
    const place = document.getElementById(input.id + "-fault")!;
    place.textContent = [place.textContent, f.problem].filter((s) => s).join("; ");
    input.setAttribute("aria-invalid", "true");
    input.closest("details")?.setAttribute("open", "");
    first ??= input;
  }
  first?.focus();
}
