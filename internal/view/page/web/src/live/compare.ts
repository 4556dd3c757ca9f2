// Stored results beside each other, in the words of dyno compare.

import { h } from "../dom";
import { banner } from "../layout";
import { table } from "../table";
import { requestJSON, problemText } from "./api";
import { frame } from "./frame";

interface Part {
  head: string;
  text: string[] | null;
  table: string[][] | null; // its first row is the head
  sides: string;
}

/** show fills the document with the comparison of the results that the address names. */
export async function show(): Promise<void> {
  const body = h("div", {}, h("p", { class: "empty" }, "Comparing …"));
  frame("Comparison", "Everything is compared with A", body);
  try {
    const parts: Part[] = await requestJSON("GET", "/api/compare" + location.search);
    body.replaceChildren(...parts.flatMap(view));
  } catch (problem) {
    body.replaceChildren(banner("bad", problemText(problem)));
  }
}

function view(p: Part): Node[] {
  const [head, ...rows] = p.table ?? [];
  return [
    ...(p.head ? [h("h2", {}, p.head)] : []),
    ...(p.text ?? []).map((line) => h("p", {}, line)),
    ...(head ? [table({ head, rows }, p.head || "Comparison")] : []),
  ];
}
