// Stored results beside each other, in the words of dyno compare.

import { h } from "../dom";
import { Answer, findings, firstScreen } from "../answer";
import { download } from "../export";
import { banner, copyable } from "../layout";
import { table } from "../table";
import { requestJSON, problemText } from "./api";
import { frame } from "./frame";

interface Part {
  head: string;
  text: string[] | null;
  table: string[][] | null; // its first row is the head
  sides: string; // of the columns of table
}

interface Compared {
  answer: Answer & { summary: string };
  command: string;
  parts: Part[];
  markdown: string; // all of it, as a file
  repeat?: string;
}

/** show fills the document with the comparison of the results that the address names. */
export async function show(): Promise<void> {
  const body = h("div", {}, h("p", { class: "empty" }, "Comparing …"));
  frame("Comparison", "All are compared with A, which has the oldest result; results of one URL and load count together", body);
  try {
    const c: Compared = await requestJSON("GET", "/api/compare" + location.search);
    const shown = c.parts.map((p, i) => view(p, tableNames[i] ?? `Table ${i + 1}`));
    const single = c.parts[1]?.table; // then it is the figures of single runs
    const seen = single ? shown.slice(0, 2).flat() : [...shown[0], ...(c.answer.groups ?? []).map(findings)];
    body.replaceChildren(
      firstScreen(c.answer, seen, c.answer.summary, null),
      h("div", { class: "toolbar" },
        c.repeat ? h("a", { class: "button", id: "repeat", href: c.repeat }, "Repeat these two in turns") : null,
        h("span", { class: "caption" }, "Download"),
        h("button", { type: "button", id: "download", onclick: () => download("comparison.md", new Blob([c.markdown], { type: "text/markdown" })) }, "Markdown"),
        h("a", { class: "button", href: `/api/compare${location.search}&verdicts`, download: "comparison.json" }, "JSON")),
      h("p", { class: "caption" }, "The same on the command line:"), copyable(c.command),
      h("details", { class: "more", id: "words" }, h("summary", {}, "In the words of dyno compare, and in what they differ"), ...shown.slice(single ? 2 : 1).flat()));
  } catch (problem) {
    body.replaceChildren(banner("bad", problemText(problem)));
  }
}

const tableNames = ["What is compared", "Figures"]; // of tables without a heading

function view(p: Part, name: string): Node[] {
  const [head, ...rows] = p.table ?? [];
  return [
    ...(p.head ? [h("h2", {}, p.head)] : []),
    ...(p.text ?? []).map((line) => h("p", {}, line)),
    ...(head ? [table({ head, rows, sides: p.sides }, p.head || name)] : []),
  ];
}
