// An experiment under way: what is done, what comes next and until when, and what may be said so far.

import { h } from "../dom";
import * as format from "../format";
import { Answer, findings, firstScreen, uncovered } from "../answer";
import { banner, list } from "../layout";
import { cell, sentenceCell, table } from "../table";
import { requestJSON, followEvents, problemText } from "./api";
import { connectionListener, frame, section } from "./frame";
import { keepFresh } from "./fresh";
import { offers } from "./offers";
import { labList } from "./home";
import { versusForm } from "./versus";

interface Slot {
  round: number;
  position: number;
  arm: string;
  level: string;
}

interface Trial extends Slot {
  id: string;
  attempt: number;
  started: string;
  grade: string;
  values?: Record<string, number>;
  over?: string[]; // of values, those that are only known to be higher
  why: string;
}

interface State {
  name: string;
  state: string;
  started?: string;
  title: string;
  scope: string;
  checked: boolean;
  done: number;
  queued: number;
  left_s?: number;
  queue: Slot[] | null;
  trials: Trial[] | null;
  verdicts: string[] | null;
  answer: Answer & { summary: string };
  ours?: boolean;
  resumable?: boolean;
  problem?: string;
}

/** show fills the document with the experiment that the address names, or with those that there are. */
export function show(): void {
  const id = new URLSearchParams(location.search).get("id");
  if (id === null) showAll();
  else showOne(id);
}

function showAll(): void {
  const begin = h("div", {}, h("p", { class: "empty" }, "Looking …"));
  const labs = h("div", { class: "stored" }, h("p", { class: "empty" }, "Looking …"));
  const versus = h("div", {}, h("p", { class: "empty" }, "Looking …"));
  frame("Experiments", "Servers beside each other; one runs at a time", section("versus", "Compare two servers of yours", versus),
    section("new", "A shipped experiment, or one of a file", begin), section("labs", "Experiments", labs));
  versusForm().then((e) => versus.replaceChildren(e), (problem) => versus.replaceChildren(banner("bad", problemText(problem))));
  keepFresh(begin, "/api/experiments", offers());
  keepFresh(labs, "/api/labs", labList);
}

/** showOne follows an experiment. */
function showOne(id: string): void {
  const body = h("div", {}, h("p", { class: "empty" }, "Looking …"));
  const stop = actButton(id, "stop", "Stop", "Stopping …", "DELETE", ""); // it stays as the rest is made anew, and so keeps the keyboard
  const resume = actButton(id, "resume", "Resume", "Resuming …", "POST", "/resume");
  const connection = frame("Experiment", id, stop, resume, body);
  followEvents(`/api/labs/${encodeURIComponent(id)}/events`, {
    lab: (s: State) => {
      for (const [button, there] of [[stop, s.ours], [resume, s.resumable]] as const) {
        if (!there || button === resume) button.dispatchEvent(new Event("over")); // who resumes hears of its end at once, too
        button.hidden = !there;
      }
      body.replaceChildren(...view(id, s));
    },
    problem: (why: string) => body.replaceChildren(banner("bad", why)),
  }, connectionListener(connection));
}

/** actButton stops an experiment that was begun from this dashboard, or has one go on that was stopped. */
function actButton(id: string, name: string, label: string, meanwhile: string, method: "POST" | "DELETE", path: string): HTMLElement {
  const said = h("div", { "aria-live": "assertive" });
  const button = h("button", { type: "button", id: name, class: "primary", onclick: async () => {
    button.disabled = true;
    button.textContent = meanwhile; // servers have their time to begin and to end
    said.replaceChildren();
    try {
      await requestJSON(method, `/api/labs/${encodeURIComponent(id)}${path}`);
    } catch (problem) {
      over();
      said.replaceChildren(banner("bad", problemText(problem)));
    }
  } }, label);
  const over = () => [button.disabled, button.textContent] = [false, label];
  return h("div", { hidden: true, onover: over }, h("p", {}, button), said);
}

function view(id: string, s: State): Node[] {
  const running = s.state === "running" && !s.problem;
  const step = running && !s.checked ? "building and checking servers" : s.problem && s.state === "running" ? "ended in the middle" : s.state;
  const left = running && s.left_s ? `about ${format.duration(s.left_s * 1e6)} left` : "";
  const bar = h("progress", { max: s.done + s.queued || 1, value: s.done, "aria-label": "trials done" });
  return [
    section("state", s.title,
      h("p", { "data-state": s.state }, h("strong", {}, step), ` · ${s.scope}`),
      h("p", { class: "toolbar" }, bar, h("span", { "data-key": "done", "data-value": s.done }, `${s.done} of ${s.done + s.queued} trials`), h("span", {}, left),
        h("a", { href: `/labs/${encodeURIComponent(id)}/report` }, running ? "report so far" : "report")),
      ...(s.problem ? [banner(s.state === "interrupted" ? "doubt" : "bad", s.problem)] : []),
      ),
    ...(s.done > 0 ? [h("p", { class: "caption" }, running ? "What the trials say so far; it may still change" : "What the trials say"), said(s, running)] : []),
    ...((s.verdicts ?? []).length > 0 ? [h("details", {}, h("summary", {}, "In the words of the report"), list(s.verdicts ?? [])!)] : []),
    ...(running && (s.queue ?? []).length > 0 ? [h("details", { id: "queue", open: shownQueue }, h("summary", {}, "What comes next"), queue(s))] : []),
    section("trials", "Trials, the last first", (s.trials ?? []).length > 0 ? trials(s.trials ?? []) : h("p", { class: "empty" }, "None is done yet.")),
  ];
}

/** said is the answer; while trials go on, without what to do next, and of what speaks against it only which variants
    are not compared. */
function said(s: State, running: boolean): Node {
  const shown = (s.answer.groups ?? []).slice(0, mostGroups).map(findings);
  if (!running) return firstScreen(s.answer, shown, s.answer.summary, null);
  return h("div", {}, h("p", { class: "sentence" }, s.answer.sentence), uncovered(s.answer), ...shown);
}

let shownQueue = false; // by the reader, however often the rest is made anew
addEventListener("toggle", (e) => {
  if (e.target instanceof HTMLDetailsElement && e.target.id === "queue" && e.target.isConnected) shownQueue = e.target.open;
}, true);

const mostGroups = 4; // measures; the report has all

const shownNext = 20;

function queue(s: State): Node {
  const all = s.queue ?? [];
  const next = table({ head: ["round", "variant", "level"], rows: all.slice(0, shownNext).map((q) => [String(q.round), q.arm, q.level]) }, "What comes next");
  return s.queued > shownNext ? h("div", {}, next, h("p", { class: "caption" }, `and ${format.count(s.queued - shownNext)} more`)) : next;
}

function trials(all: Trial[]): Node {
  const name = (t: Trial) => (t.round > 1000 ? "confirming" : String(t.round)) + (t.attempt > 1 ? " again" : "");
  return table({
    head: ["round", "variant", "level", "requests/s", "p99", "server CPU/request", "grade", "because"],
    rows: all.map((t) => [name(t), t.arm, t.level,
      cell(`trials.${t.id}.throughput`, t.values?.throughput, format.digits3),
      cell(`trials.${t.id}.p99`, t.values?.p99, (v) => format.known(t.over?.includes("p99"), format.duration(v))),
      cell(`trials.${t.id}.cpu`, t.values?.cpu, format.duration),
      t.grade, sentenceCell(t.why)]),
  }, "Trials");
}
