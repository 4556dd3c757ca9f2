// Stored results beside each other, in the words of dyno compare.

import { h } from "../dom";
import { Answer, firstScreen } from "../answer";
import { banner, copyable } from "../layout";
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
  frame("Comparison", "All are compared with A, the oldest", body);
  try {
    const c: { answer: Answer & { summary: string }; command: string; parts: Part[] } = await requestJSON("GET", "/api/compare" + location.search);
    const shown = c.parts.map((p, i) => view(p, tableNames[i] ?? `Table ${i + 1}`));
    body.replaceChildren(
      firstScreen(c.answer, shown.slice(0, first).flat(), c.answer.summary, null),
      h("p", { class: "caption" }, "The same on the command line:"), copyable(c.command),
      h("details", { class: "more", id: "words" }, h("summary", {}, "In the words of dyno compare, and in what they differ"), ...shown.slice(first).flat()));
  } catch (problem) {
    body.replaceChildren(banner("bad", problemText(problem)));
  }
}

const tableNames = ["What is compared", "Figures"]; // of tables without a heading
const first = 2; // parts on the first screen: what is compared, and the figures

function view(p: Part, name: string): Node[] {
  const [head, ...rows] = p.table ?? [];
  return [
    ...(p.head ? [h("h2", {}, p.head)] : []),
    ...(p.text ?? []).map((line) => h("p", {}, line)),
    ...(head ? [table({ head, rows }, p.head || name)] : []),
  ];
}
