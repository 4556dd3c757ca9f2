// The page around the views: its head, the way to each section, and light or dark.

import { h } from "./dom";
import * as state from "./state";

export interface Section {
  id: string;
  title: string;
  content: (Node | null)[];
}

/** page puts the sections below the head; those without content are left out. */
export function page(title: string, subtitle: string, sections: Section[]): void {
  document.title = title;
  const there = sections.map((s) => ({ ...s, content: s.content.filter((n) => n !== null) })).filter((s) => s.content.length > 0);
  const go = (id: string) => () => document.getElementById(id)?.scrollIntoView({ block: "start" });
  document.body.replaceChildren(
    h("header", {},
      h("div", { class: "title" }, h("h1", {}, title), themeButton()),
      h("p", { class: "subtitle" }, subtitle),
      h("nav", { "aria-label": "Sections" }, ...there.map((s) => h("button", { type: "button", onclick: go(s.id) }, s.title)))),
    h("main", {}, ...there.map((s) =>
      h("section", { id: s.id, "aria-labelledby": s.id + "-title" }, h("h2", { id: s.id + "-title" }, s.title), ...s.content))),
  );
}

const themes: Record<string, string> = { "": "Auto", light: "Light", dark: "Dark" };

/** themeButton goes round automatic, light and dark, and keeps the choice in the address. */
export function themeButton(): HTMLElement {
  const name = () => themes[state.get("theme")] ?? themes[""];
  const apply = () => {
    const theme = state.get("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = name();
    button.setAttribute("aria-label", `Colours: ${name()}`);
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
export function banner(kind: "good" | "doubt" | "bad", text: string, more: Node[] = []): HTMLElement {
  const mark = { good: "✓", doubt: "!", bad: "✕" }[kind];
  return h("div", { class: `banner ${kind}`, role: kind === "good" ? "status" : "alert" },
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

/** copyable is a command with a button that copies it. */
export function copyable(text: string): HTMLElement {
  const button = h("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy it"; // a browser may forbid it to files
    }
  } }, "Copy");
  return h("div", { class: "command" }, h("pre", { tabindex: 0 }, h("code", {}, text)), button);
}
