// The form of a load: the flags of dyno run, by their names, read by the same code. Four fields are enough; the others
// are behind "More". What is wrong comes back field by field, and the command line that does the same is shown as the
// form is filled in.

import { h } from "../dom";
import { banner, copyable } from "../layout";
import { requestJSON, problemText, Refused } from "./api";
import { commandLine, hasUnit, isRamp, withScheme } from "./command";

interface Field {
  name: string;
  value?: string; // what it takes; none: it is a switch
  does: string;
  label?: string; // what it is called, if not by its name
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

const loads = ["connections", "rate"]; // one field, with a choice of which
const first = ["duration", "slo"]; // besides the URL and the load
const short: Record<string, string> = {
  connections: "connections: each sends when it has its answer",
  rate: "requests a second, at even intervals whatever the server does",
  duration: "a number of seconds, or 1m30s",
};
const beside = "that carry them; where none is free, a request waits for one"; // connections, of a rate
const pause = 300; // ms without a key, after which what was entered is checked again

/** form makes the form, or says that this dashboard begins no loads: then it is null. */
export async function form(): Promise<Form | null> {
  const { groups, targets }: { groups: Group[] | null; targets: string } = await requestJSON("GET", "/api/form");
  return groups?.length ? new Form(groups, targets) : null;
}

/** Form is the form of a load. It dispatches the event "started" when one was begun with it. */
export class Form {
  readonly element: HTMLFormElement;
  /** touched says that somebody has entered something. */
  touched = false;
  private readonly fields: Field[];
  private readonly inputs = new Map<string, Input>();
  private readonly places = new Map<string, HTMLElement>(); // of the fields
  private readonly general = h("div", { "aria-live": "assertive" });
  private readonly note = h("p", { class: "caption", id: "filled", "aria-live": "polite" });
  private readonly command = h("div", { id: "command", role: "group", "aria-label": "The same on the command line" });
  private readonly start = h("button", { type: "submit", class: "primary" }, "Start");
  private readonly load = h("select", { id: "field-load", "aria-label": "Kind of load" });
  private refused = false; // then each change is checked
  private asked = 0;
  private waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(groups: Group[], targets: string) {
    this.fields = groups.flatMap((g) => g.fields);
    this.load.append(...loads.map((name) => h("option", { value: name }, this.label(name))));
    const url = this.field({ name: "url", label: "URL", value: "URL", does: `allowed: ${targets}`, default: "http://127.0.0.1:8080/" });
    this.fields.forEach((f) => this.field(f));
    const others = groups.map((g) => ({ title: g.title, fields: g.fields.filter((f) => !first.includes(f.name) && !loads.includes(f.name)) }));
    const more = h("details", { class: "more", id: "more" }, h("summary", {}, "More"),
      ...others.map((g, i) => h("details", { open: i === 0 }, h("summary", {}, g.title),
        h("div", { class: "fields" }, ...g.fields.map((f) => this.places.get(f.name)!)))));
    const main = h("div", { class: "four" }, url, this.places.get("connections")!, ...first.map((name) => this.places.get(name)!));
    this.element = h("form", { id: "form", novalidate: true, onsubmit: (e: Event) => {
      e.preventDefault();
      this.submit();
    } }, this.note, main, more, this.start, this.general, this.command);
    this.load.addEventListener("change", () => this.carry());
    this.inputs.get("url")!.addEventListener("change", () => this.complete());
    for (const kind of ["input", "change"]) this.element.addEventListener(kind, () => {
      this.touched = true;
      this.tell();
      this.checkSoon();
    });
    this.choose();
    this.tell();
  }

  private label(name: string): string {
    return this.fields.find((f) => f.name === name)?.label ?? name;
  }

  /** fill enters the settings of a result, or of the next step after it; unless they are asked for, only where nobody has
      entered anything. */
  async fill(id: string, asked: boolean, next = false): Promise<void> {
    if (asked) this.touched = true; // the end of a load must not fill it again
    try {
      const { fields, lost, next: isNext }: { fields: Record<string, string[]>; lost?: string[]; next?: boolean } = await requestJSON("GET", `/api/results/${encodeURIComponent(id)}/form${next ? "?next" : ""}`);
      if (this.touched && !asked) return;
      for (const [name, input] of this.inputs) {
        const values = fields[name] ?? [];
        if (input instanceof HTMLInputElement && input.type === "checkbox") input.checked = values.length > 0;
        else input.value = values.join("\n");
      }
      this.load.value = fields.rate || isRamp(fields.stage) ? "rate" : "connections";
      const given = Object.keys(fields).filter((name) => name !== "url" && !loads.includes(name) && !first.includes(name)).map((name) => this.label(name));
      this.note.replaceChildren(isNext ? "Filled in as the next step after " : next ? "No load is the next step after it: filled in as in " : "Filled in as in ", h("a", { href: "/results/" + encodeURIComponent(id) }, id === "last" ? "the last load" : id),
        given.length > 0 ? `; below More: ${given.join(", ")}` : "", lost?.length ? `; not filled in: ${lost.join("; ")}` : "");
      this.choose();
      this.tell();
    } catch (problem) {
      if (asked) this.general.replaceChildren(banner("bad", problemText(problem)));
    }
  }

  private field(f: Field): HTMLElement {
    const id = "field-" + f.name;
    const input = inputOf(f, id);
    this.inputs.set(f.name, input);
    const examples = f.free && f.choices?.length && input instanceof HTMLInputElement ? h("datalist", { id: id + "-choices" }, ...f.choices.map((c) => h("option", { value: c }))) : null;
    const unit = loads.includes(f.name) ? null : f.unit; // whose unit is chosen beside it
    const does = short[f.name] ?? f.does + (f.many && f.name !== "slo" ? " (one a line)" : "");
    const place = h("div", { class: "field" },
      h("label", { for: id }, loads.includes(f.name) ? "Load" : f.label ?? f.name, f.value && !f.unit && !f.choices && !f.label ? h("span", { class: "takes" }, " " + f.value.replaceAll("'", "").replace(/\|@FILE$/, "")) : null),
      h("div", { class: "entry" }, input, examples, unit ? h("span", { class: "unit", "aria-hidden": "true" }, unit) : null),
      h("p", { class: "caption", id: id + "-does" }, does),
      h("p", { class: "fault", id: id + "-fault" }));
    this.places.set(f.name, place);
    return place;
  }

  /** carry takes the number to the other unit; the connections that carry a rate have their default. */
  private carry(): void {
    const [from, to] = (this.load.value === "rate" ? ["connections", "rate"] : ["rate", "connections"]).map((name) => this.inputs.get(name)!);
    if (from.value !== "") [to.value, from.value] = [from.value, ""];
    const focused = document.activeElement === this.load;
    this.choose();
    if (focused) this.load.focus(); // it has moved
  }

  /** choose shows the fields of the kind of load; a rate has its connections beside it. */
  private choose(): void {
    const open = this.load.value === "rate";
    const [rate, connections] = [this.places.get("rate")!, this.places.get("connections")!];
    const shown = open ? rate : connections;
    shown.querySelector(".entry")!.append(this.load);
    connections.querySelector("label")!.textContent = open ? this.label("connections") : "Load";
    connections.querySelector(".caption")!.textContent = open ? beside : short.connections;
    this.places.get("duration")!.before(...(open ? [rate, connections] : [connections]));
    if (!open) rate.remove();
  }

  /** complete puts the scheme in front of a URL that has none. */
  private complete(): void {
    const url = this.inputs.get("url")!;
    const whole = withScheme(url.value);
    if (whole === url.value) return;
    const written = url.value.trim();
    const added = whole !== written;
    url.value = whole;
    if (added) this.note.textContent = `${whole.slice(0, whole.length - written.length)} was put in front of the URL.`;
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

  /** lacksRate reports whether a rate is to be given and is not: without one it would be another load. */
  private lacksRate(): boolean {
    return this.load.value === "rate" && this.inputs.get("rate")!.value.trim() === "" && !isRamp(this.entered().stage);
  }

  /** tell shows the command line of what is entered, and the units of numbers. */
  private tell(): void {
    for (const [name, input] of this.inputs) {
      const unit = this.places.get(name)!.querySelector<HTMLElement>(".unit");
      if (unit) unit.hidden = hasUnit(input.value);
    }
    const now = commandLine("run", this.fields, { ...this.entered(), ...(this.lacksRate() ? { rate: "RATE" } : {}) }, [this.inputs.get("url")!.value]);
    if (this.command.dataset.command === now) return;
    this.command.dataset.command = now;
    this.command.replaceChildren(copyable(now));
  }

  /** checkSoon checks again what was refused, once nobody types. */
  private checkSoon(): void {
    clearTimeout(this.waiting);
    if (this.refused) this.waiting = setTimeout(() => this.check().catch(() => undefined), pause); // Start says what failed
  }

  /** check shows what is wrong with what is entered, and begins nothing. */
  private async check(): Promise<void> {
    const mine = ++this.asked;
    const { faults }: { faults: Fault[] | null } = await requestJSON("POST", "/api/form", this.entered());
    if (mine === this.asked) this.showFaults(faults ?? []);
  }

  private async submit(): Promise<void> {
    this.complete();
    this.tell();
    clearTimeout(this.waiting);
    const mine = ++this.asked;
    this.start.disabled = true;
    try {
      if (this.lacksRate()) {
        this.refused = true;
        await this.check();
        this.focusFault();
      } else {
        await requestJSON("POST", "/api/load", this.entered());
        if (mine === this.asked) this.showFaults([]);
        this.refused = false;
        this.note.replaceChildren();
        this.element.dispatchEvent(new Event("started", { bubbles: true }));
        document.getElementById("load")?.scrollIntoView({ block: "start" });
      }
    } catch (problem) {
      if (problem instanceof Refused && problem.status === 422) {
        this.refused = true;
        this.showFaults(JSON.parse(problem.body).faults);
        this.focusFault();
      } else this.general.replaceChildren(banner("bad", problemText(problem)));
    }
    this.start.disabled = false;
  }

  private fault(name: string): HTMLElement {
    return this.places.get(name)!.querySelector(".fault")!;
  }

  /** showFaults puts each fault at its field, and those of none that is shown below the button. */
  private showFaults(all: Fault[]): void {
    const faults = this.lacksRate() ? [...all, { field: "rate", problem: "How many requests a second? Write 100 or 10k, or choose connections" }] : all;
    const at = new Map<string, string[]>();
    const others: HTMLElement[] = [];
    for (const f of faults) {
      if (this.inputs.get(f.field)?.isConnected) at.set(f.field, [...(at.get(f.field) ?? []), f.problem]);
      else others.push(banner("bad", (f.field ? f.field + ": " : "") + f.problem));
    }
    for (const [name, input] of this.inputs) {
      const said = at.get(name)?.join("; ") ?? "";
      if (this.fault(name).textContent !== said) this.fault(name).textContent = said;
      if (!said) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    }
    this.general.replaceChildren(...others);
  }

  /** focusFault leads to the first fault, also of a field that is folded. */
  private focusFault(): void {
    const bad = [...this.element.querySelectorAll<HTMLElement>("[aria-invalid]")];
    for (const input of bad) for (let e = input.closest("details"); e; e = e.parentElement!.closest("details")) e.open = true;
    bad[0]?.focus();
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
