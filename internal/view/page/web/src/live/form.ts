// The form of a load: the flags of dyno run, by their names, read by the same code. Four fields are enough; the others
// are behind "More". What is wrong comes back field by field, and the command line that does the same is shown as the
// form is filled in.

import { h } from "../dom";
import { banner, copyable } from "../layout";
import { requestJSON, problemText, Refused } from "./api";
import { commandLine } from "./command";

interface Field {
  name: string;
  value?: string; // what it takes; none: it is a switch
  does: string;
  many?: boolean;
  short?: string;
  unit?: string;
  default?: string; // what an empty field means
  choices?: string[];
  free?: boolean; // the choices are examples
}

interface Group {
  title: string;
  fields: Field[];
}

interface Fault {
  field: string;
  problem: string;
}

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const names: Record<string, string> = { url: "URL", connections: "Load", rate: "Load", duration: "For how long", slo: "Objective" };
const first = ["duration", "slo"]; // besides the URL and the load
const short: Record<string, string> = {
  connections: "connections: each sends when it has its answer",
  rate: "requests a second, at even intervals whatever the server does",
  duration: "a number of seconds, or 1m30s",
  slo: "what must hold, as p99<20ms; several with commas",
};

/** form makes the form, or says that this dashboard begins no loads. */
export async function form(): Promise<HTMLElement> {
  const { groups, targets }: { groups: Group[] | null; targets: string } = await requestJSON("GET", "/api/form");
  if (!groups?.length) return h("p", { class: "caption" }, "This dashboard shows one run; dyno serve begins others.");
  return new Form(groups, targets).element;
}

/** Form is the form of a load. */
class Form {
  readonly element: HTMLFormElement;
  private readonly fields: Field[];
  private readonly inputs = new Map<string, Input>();
  private readonly places = new Map<string, HTMLElement>(); // of the fields
  private readonly general = h("div", { "aria-live": "assertive" });
  private readonly command = h("div", { id: "command", role: "group", "aria-label": "The same on the command line" });
  private readonly start = h("button", { type: "submit", class: "primary" }, "Start");
  private readonly load = h("select", { id: "field-load", "aria-label": "Kind of load" },
    h("option", { value: "connections" }, "connections"), h("option", { value: "rate" }, "requests/s"));

  constructor(groups: Group[], targets: string) {
    this.fields = groups.flatMap((g) => g.fields);
    const url = this.field({ name: "url", value: "URL", does: `allowed: ${targets}`, default: "http://127.0.0.1:8080/" });
    this.fields.forEach((f) => this.field(f));
    const others = groups.map((g) => ({ title: g.title, fields: g.fields.filter((f) => !first.includes(f.name) && f.name !== "rate" && f.name !== "connections") }));
    const spare = h("div", { class: "fields" }); // has connections, where the load is a rate
    const more = h("details", { class: "more", id: "more" }, h("summary", {}, "More"),
      ...others.map((g, i) => h("details", { open: i === 0 }, h("summary", {}, g.title),
        i === 0 ? spare : null, h("div", { class: "fields" }, ...g.fields.map((f) => this.places.get(f.name)!)))));
    const main = h("div", { class: "four" }, url, ...first.map((name) => this.places.get(name)!));
    const choose = () => {
      const open = this.load.value === "rate";
      const [shown, other] = [this.places.get(open ? "rate" : "connections")!, this.places.get(open ? "connections" : "rate")!];
      shown.querySelector(".entry")!.append(this.load); // with its choice
      other.querySelector("label")!.textContent = open ? "connections" : names.rate;
      shown.querySelector("label")!.textContent = names.rate;
      url.after(shown);
      other.remove();
      spare.replaceChildren(...(open ? [other] : []));
    };
    choose();
    this.load.addEventListener("change", choose);
    this.element = h("form", { id: "form", novalidate: true, onsubmit: (e: Event) => {
      e.preventDefault();
      this.submit();
    } }, main, more, this.general, this.command, this.start);
    for (const kind of ["input", "change"]) this.element.addEventListener(kind, () => this.tell());
    this.tell();
  }

  private field(f: Field): HTMLElement {
    const id = "field-" + f.name;
    const input = inputOf(f, id);
    this.inputs.set(f.name, input);
    const examples = f.free && f.choices?.length && input instanceof HTMLInputElement ? h("datalist", { id: id + "-choices" }, ...f.choices.map((c) => h("option", { value: c }))) : null;
    const unit = f.name === "connections" || f.name === "rate" ? null : f.unit; // whose unit is chosen beside it
    const does = short[f.name] ?? f.does + (f.many && f.name !== "slo" ? " (one a line)" : "");
    const place = h("div", { class: "field" },
      h("label", { for: id }, names[f.name] ?? f.name, f.value && !f.unit && !f.choices && !names[f.name] ? h("span", { class: "takes" }, " " + f.value) : null),
      h("div", { class: "entry" }, input, examples, unit ? h("span", { class: "unit", "aria-hidden": "true" }, unit) : null),
      h("p", { class: "caption", id: id + "-does" }, does),
      h("p", { class: "fault", id: id + "-fault" }));
    this.places.set(f.name, place);
    return place;
  }

  /** entered is what is in the fields; those that are not shown for this kind of load were not given. */
  private entered(): Record<string, unknown> {
    const all: Record<string, unknown> = {};
    for (const [name, input] of this.inputs) {
      if (name === "rate" && this.load.value !== "rate") continue;
      if (input instanceof HTMLInputElement && input.type === "checkbox") all[name] = input.checked;
      else if (input instanceof HTMLTextAreaElement && name !== "body") all[name] = input.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
      else all[name] = input.value;
    }
    return all;
  }

  /** tell shows the command line of what is entered. */
  private tell(): void {
    const now = commandLine(this.fields, this.entered());
    if (this.command.dataset.command === now) return;
    this.command.dataset.command = now;
    this.command.replaceChildren(copyable(now));
  }

  private async submit(): Promise<void> {
    for (const input of this.inputs.values()) {
      input.removeAttribute("aria-invalid");
      this.fault(input.name).textContent = "";
    }
    this.general.replaceChildren();
    this.start.disabled = true;
    try {
      await requestJSON("POST", "/api/load", this.entered());
      document.getElementById("load")?.scrollIntoView({ block: "start" });
    } catch (problem) {
      if (problem instanceof Refused && problem.status === 422) this.showFaults(JSON.parse(problem.body).faults);
      else this.general.replaceChildren(banner("bad", problemText(problem)));
    }
    this.start.disabled = false;
  }

  private fault(name: string): HTMLElement {
    return this.places.get(name)!.querySelector(".fault")!;
  }

  /** showFaults puts each fault at its field, and those of none that is shown above the button. */
  private showFaults(faults: Fault[]): void {
    let first: Input | null = null;
    for (const f of faults) {
      const input = this.inputs.get(f.field);
      if (!input || !input.isConnected) {
        this.general.append(banner("bad", (f.field ? f.field + ": " : "") + f.problem));
        continue;
      }
      const place = this.fault(f.field);
      place.textContent = [place.textContent, f.problem].filter((s) => s).join("; ");
      input.setAttribute("aria-invalid", "true");
      for (let e = input.closest("details"); e; e = e.parentElement!.closest("details")) e.open = true;
      first ??= input;
    }
    first?.focus();
  }
}

/** inputOf is what a field is filled in with: a choice, a switch, lines, or a text. */
function inputOf(f: Field, id: string): Input {
  const described = { id, name: f.name, "aria-describedby": `${id}-does ${id}-fault`, autocomplete: "off", spellcheck: "false" };
  if (f.choices?.length && !f.free) {
    return h("select", described, h("option", { value: "" }, f.default ?? ""), ...f.choices.filter((c) => c !== f.default).map((c) => h("option", { value: c }, c)));
  }
  if ((f.many && f.name !== "slo") || f.name === "body") return h("textarea", { ...described, rows: 2 });
  if (!f.value) return h("input", { ...described, type: "checkbox" });
  return h("input", { ...described, type: "text", placeholder: f.default ?? null, list: f.choices?.length ? id + "-choices" : null,
    inputmode: f.name === "url" ? "url" : null });
}
