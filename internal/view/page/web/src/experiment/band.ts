// The band above all views: which variants and levels they show. Verdicts are of all, always.

import { h } from "../dom";
import { count } from "../format";
import * as state from "../state";
import { loadOf, Payload } from "./data";
import { leftOut } from "./shown";

const fewest = 4; // variants and levels together, from which it is worth its place

/** band has a box for each variant and level; null where there are few. again draws the page anew. */
export function band(p: Payload, again: () => void): HTMLElement | null {
  const variants = p.record.arms.map((a) => a.name);
  const levels = p.levels.map((l) => l.name);
  if (variants.length + levels.length < fewest) return null;
  const before = document.getElementById("band"); // of the page that this one replaces
  const part = (of: "variants" | "levels", names: string[], said: (name: string) => string) =>
    h(
      "fieldset",
      {},
      h("legend", {}, of),
      ...names.map((name, i) => {
        const e = h("input", { type: "checkbox", id: `band-${of}-${i}`, checked: !leftOut(of).has(i), onchange: () => toggle(of, i, e.checked) });
        return h("label", {}, e, " ", said(name));
      }),
    );
  const controls = new Set(p.record.arms.flatMap((a, i) => (a.control ? [i] : [])));
  const note = (of: "variants" | "levels", all: number, but = new Set<number>()) =>
    `${count(all - but.size - [...leftOut(of)].filter((i) => !but.has(i)).length)} of ${count(all - but.size)} ${of}`;
  const e = h(
    "details",
    { id: "band", class: "more", open: leftOut("variants").size + leftOut("levels").size > 0 || !!before?.hasAttribute("open") },
    h("summary", {}, `Choose what is shown: ${note("variants", variants.length, controls)}${[...controls].some((i) => !leftOut("variants").has(i)) ? ", the baseline against itself (A/A)," : ""} and ${note("levels", levels.length)}`),
    part("variants", variants, (name) => name),
    part("levels", levels, (name) => loadOf(p, name)),
  );
  state.follow(e, (key) => {
    if (key !== "variants.off" && key !== "levels.off") return;
    const focus = document.activeElement?.id;
    again();
    if (focus) document.getElementById(focus)?.focus();
  });
  return e;
}

/** toggle takes one in or leaves it out. */
function toggle(of: "variants" | "levels", i: number, on: boolean): void {
  const all = leftOut(of);
  if (on) all.delete(i);
  else all.add(i);
  state.set(`${of}.off`, [...all].sort((a, b) => a - b).join(","));
}
