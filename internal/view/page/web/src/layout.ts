// The page around the views: its head, the way to each section, and light or dark.

import { h } from "./dom";
import * as state from "./state";

export interface Section {
  id: string;
  title: string;
  content: (Node | null)[];
  hint?: string; // what a folded section has, in a few words
}

/** page puts the sections below the head; those without content are left out. With a first screen they are folded. */
export function page(title: string, subtitle: string, sections: Section[], first?: Node): void {
  document.title = title;
  document.body.dataset.about = `${title} · ${subtitle}`; // for pictures that are taken away
  const there = sections.map((s) => ({ ...s, content: s.content.filter((n) => n !== null) })).filter((s) => s.content.length > 0);
  const go = (id: string) => () => document.getElementById(id)?.scrollIntoView({ block: "start" });
  const nav = h("nav", { "aria-label": "Sections" }, ...there.map((s) => h("button", { type: "button", onclick: go(s.id) }, s.title)));
  document.body.replaceChildren(
    h("header", {},
      h("div", { class: "title" }, h("h1", {}, title), h("p", { class: "subtitle" }, subtitle), themeButton()),
      first ? null : nav),
    h("main", {}, first ?? null, ...(first ? [depth(there)] : there.map((s) =>
      h("section", { id: s.id, "aria-labelledby": s.id + "-title" }, h("h2", { id: s.id + "-title" }, s.title), ...s.content)))));
}

addEventListener("beforeprint", () => document.querySelectorAll<HTMLDetailsElement>("details.section").forEach((d) => (d.open = true)));

/** depth is the folded sections. Which are open is in the address, and so is one with a figure of which it speaks; for
    paper all are. */
function depth(sections: Section[]): HTMLElement {
  const asked = state.figures();
  const isAsked = (s: Section) => state.get("open").split(",").includes(s.id) ||
    s.content.some((n) => n instanceof Element && asked.some((id) => n.id === id || n.querySelector("#" + CSS.escape(id))));
  const note = () => state.set("open", all.filter((d) => d.open).map((d) => d.dataset.of!).join(","));
  const all = sections.map((s) => {
    const d = h("details", { class: "section", "data-of": s.id, open: isAsked(s) },
      h("summary", {}, h("h2", { id: s.id + "-title" }, s.title), s.hint ? h("span", { class: "hint" }, s.hint) : null),
      h("div", { class: "inside" }, ...s.content));
    d.addEventListener("toggle", note);
    return d;
  });
  const turn = (to: boolean) => () => all.forEach((d) => (d.open = to));
  return h("div", { class: "depth" },
    h("div", { class: "toolbar" }, h("span", { class: "caption" }, "In depth"),
      h("button", { type: "button", class: "quiet", onclick: turn(true) }, "open all"), h("button", { type: "button", class: "quiet", onclick: turn(false) }, "fold all")),
    ...sections.map((s, i) => h("section", { id: s.id }, all[i])));
}

const themes: Record<string, string> = { "": "Auto", light: "Light", dark: "Dark" };

/** themeButton goes round automatic, light and dark, and keeps the choice in the address. */
export function themeButton(): HTMLElement {
  const name = () => themes[state.get("theme")] ?? themes[""];
  const apply = () => {
    const theme = state.get("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${name().toLowerCase()}`;
  };
  const next = () => {
    const all = Object.keys(themes);
    state.set("theme", all[(all.indexOf(state.get("theme")) + 1) % all.length]);
  };
  const button = h("button", { type: "button", class: "theme", onclick: next });
  state.follow(button, (key) => key === "theme" && apply());
  apply();
  return button;
}

/** banner is a verdict, loud unless it is good. The mark says what the colour says. */
export function banner(kind: "good" | "plain" | "doubt" | "bad", text: string, more: Node[] = []): HTMLElement {
  const mark = { good: "✓", plain: "i", doubt: "!", bad: "✕" }[kind];
  return h("div", { class: `banner ${kind}`, role: kind === "good" || kind === "plain" ? "status" : "alert" },
    h("span", { class: "mark", "aria-hidden": "true" }, mark), h("div", {}, h("strong", {}, text), ...more));
}

/** more is what few ask for: it is made when it is opened. */
export function more(summary: string, make: () => (Node | null)[]): HTMLElement {
  const e = h("details", { class: "more" }, h("summary", {}, summary));
  e.addEventListener("toggle", () => e.append(...make().filter((n) => n !== null)), { once: true });
  return e;
}

/** list is lines of text, or nothing. */
export function list(lines: string[], label = ""): HTMLElement | null {
  if (lines.length === 0) return null;
  return h("ul", label ? { "aria-label": label } : {}, ...lines.map((l) => h("li", {}, l)));
}

const longestPath = 24; // characters of a path
const longestWord = 36; // characters of a command that are not broken, as they would be after a hyphen

/** copyable is a command with a button that copies it. Of a long path only the last name is shown. */
export function copyable(text: string): HTMLElement {
  return h("div", { class: "command" }, h("pre", { tabindex: 0 }, h("code", {}, ...text.split(/( )/).map(wordOf))), copyButton(text, "Copy"));
}

function wordOf(word: string): string | HTMLElement {
  const path = word.length > longestPath ? /^('?)[~/].*(\/[^/]+\/?)$/.exec(word) : null;
  const shown = path ? path[1] + "…" + path[2] : word;
  if (word === " " || (!path && word.length > longestWord)) return word;
  return h("span", { class: shown.length > longestWord ? null : "nowrap", title: path ? word : null }, shown);
}

/** copyButton copies a text. */
export function copyButton(text: string, label: string, id: string | null = null): HTMLElement {
  const button = h("button", { type: "button", id, onclick: async () => {
    button.textContent = (await copied(text)) ? "Copied" : "Select and copy it";
  } }, label);
  return button;
}

/** copied puts a text on the clipboard, and reports whether the browser let it. Of a file it may only let the selection. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "offscreen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
