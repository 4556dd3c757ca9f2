// The load: begin one, see it second by second, stop it.

import { h } from "../dom";
import * as format from "../format";
import { Answer, firstScreen } from "../answer";
import { banner } from "../layout";
import { ended } from "../result";
import type { Result, Tile } from "../result";
import { tiles } from "../run/verdict";
import { cell, number, table } from "../table";
import { requestJSON, followEvents, problemText } from "./api";
import { Charts, most, Second, shortest } from "./charts";
import { form, Form } from "./form";
import { connectionListener, frame, section } from "./frame";

interface Beginning {
  started: string;
  url: string;
  words: string;
  duration_s?: number;
  requested?: number;
  iterations?: boolean; // requested is of iterations
}

interface Ending {
  id: string;
  summary?: string;
  verdict?: string;
  answer?: Answer & { summary: string };
  ended?: string;
  whole?: Whole;
  error?: string;
}

/** Whole is the load from its beginning to its end, as its report has it. */
type Whole = Pick<Result, "window" | "requests" | "errors"> & { tiles: Tile[] | null };

const between = 500; // ms between two drawings at least, however fast the seconds come

/** show fills the document, and follows the load. */
export function show(): void {
  const view = new Live();
  const begin = h("div", {});
  const connection = frame("Load", "One at a time, in a process of its own", view.form, view.element);
  view.form.append(begin);
  form().then((f) => {
    begin.replaceChildren(f?.element ?? h("p", { class: "caption" }, "This dashboard shows one run; dyno serve begins others."));
    const asked = new URLSearchParams(location.search);
    if (f) view.fillIn(f, asked.get("repeat"), asked.has("next"));
  }, (problem) => begin.replaceChildren(banner("bad", problemText(problem))));
  followEvents("/api/load/events", {
    idle: () => view.idle(),
    run: (b: Beginning) => view.begin(b),
    second: (s: Second) => view.add(s),
    end: (e: Ending) => view.end(e),
  }, connectionListener(connection));
}

/** Live is the load under way, or the last. */
class Live {
  readonly element: HTMLElement;
  readonly form = section("new", "New load");
  private readonly head = h("div", { id: "head" });
  private readonly span = h("p", { class: "caption", id: "span" }); // of the numbers, where they do not say so
  private readonly numbers = h("dl", { class: "tiles", id: "now" });
  private readonly faults = h("div", { id: "faults" });
  private readonly seconds: Second[] = [];
  private now: Second | null = null; // the last, also after the end of the load
  private readonly charts = new Charts(this.seconds);
  private readonly body = h("div", { hidden: true });
  private total = { completed: 0, errors: 0, kinds: new Map<string, number>() };
  private run: Beginning | null = null;
  private filler: Form | null = null;
  private ended = ""; // the result of the load that is shown
  private mine = false; // begun on this page
  private whole: Whole | null = null;
  private drawnAt = 0;
  private waiting = false;

  constructor() {
    this.body.append(this.span, this.numbers, this.faults, this.charts.element);
    this.element = section("load", "The load", this.head, this.body);
    document.addEventListener("visibilitychange", () => this.later());
    this.form.addEventListener("started", () => (this.mine = true));
  }

  /** fillIn gives the form the settings of the result that was asked for, or those of the last load. */
  fillIn(f: Form, asked: string | null, next: boolean): void {
    this.filler = f;
    if (asked) f.fill(asked, true, next);
    else if (this.ended) f.fill(this.ended, false);
  }

  idle(): void {
    this.reset(null);
    this.form.hidden = false;
    this.head.replaceChildren(h("p", { class: "empty", "data-state": "idle" }, "No load has run since the dashboard began."));
    this.body.hidden = true;
  }

  begin(b: Beginning): void {
    this.reset(b);
    const stop = h("button", { type: "button", id: "stop", class: "primary", onclick: async () => {
      stop.disabled = true;
      try {
        await requestJSON("DELETE", "/api/load");
      } catch (problem) {
        stop.disabled = false;
        this.head.append(banner("bad", problemText(problem)));
      }
    } }, "Stop");
    document.body.dataset.about = `${b.words} · ${format.time(b.started)}`; // for pictures that are taken away
    this.head.replaceChildren(
      h("p", { "data-state": "running" }, h("strong", {}, b.words)),
      h("p", { class: "toolbar" }, h("span", { id: "progress" }, "connecting"), stop));
    this.element.append(this.body); // from the last load's end
    const typing = this.form.contains(document.activeElement);
    this.form.hidden = true; // one runs at a time
    if (typing) stop.focus();
    this.body.hidden = false;
    this.later();
  }

  add(s: Second): void {
    if (s.t_s - s.from_s >= shortest) { // the last may be microseconds
      this.now = s;
      if (!this.drains(s)) this.seconds.push(s);
    }
    if (this.seconds.length > most) this.seconds.splice(0, this.seconds.length - most);
    this.total.completed = s.completed_so_far;
    this.total.errors = s.errors_so_far;
    for (const f of s.failures ?? []) {
      const kind = `${f.phase}\n${f.kind}\n${f.detail}`;
      if (this.total.kinds.has(kind) || this.total.kinds.size < 20) this.total.kinds.set(kind, (this.total.kinds.get(kind) ?? 0) + f.count);
    }
    this.later();
  }

  end(e: Ending): void {
    this.whole = e.whole ?? null;
    this.ended = e.error ? "" : e.id;
    if (e.whole) { // what came after its end was no load
      const { measured_s: length } = e.whole.window;
      this.seconds.splice(0, this.seconds.length, ...this.seconds.filter((s) => s.from_s < length));
      this.charts.length = Math.min(length, this.charts.length || length);
    }
    this.draw();
    this.form.hidden = false;
    if (this.ended && !this.filler?.touched) this.filler?.fill(this.ended, false);
    const path = "/results/" + encodeURIComponent(e.id);
    const links = h("p", { class: "toolbar" }, h("a", { href: path, class: "button", id: "report" }, "Open its page"),
      h("a", { href: path + "?download", class: "button", id: "download", download: `${e.id}.html` }, "Download its page"));
    this.charts.element.hidden = this.seconds.length === 0;
    const said = e.error || !e.answer ? [banner("bad", `There is no result: ${e.error ?? ""}`), this.body]
      : [firstScreen(e.answer, [links, this.body], e.answer.summary, null)];
    this.head.replaceChildren(
      h("p", { "data-state": "ended", "data-ended": e.ended ?? "" }, "Ended: ", h("strong", {}, this.run?.words ?? "")), ...said);
    if (this.mine) this.element.scrollIntoView({ block: "start" }); // the form is above it again
    this.mine = false;
  }

  private reset(b: Beginning | null): void {
    this.run = b;
    this.whole = null;
    this.ended = "";
    this.seconds.length = 0;
    this.now = null;
    this.charts.element.hidden = false;
    this.charts.length = b?.duration_s ?? 0;
    this.total = { completed: 0, errors: 0, kinds: new Map() };
  }

  /** drains reports whether a second is after the end of the load: nothing is sent in it, and the plots end before. */
  private drains(s: Second): boolean {
    return !!this.run?.duration_s && s.from_s >= this.run.duration_s;
  }

  /** later draws soon, once for all that comes meanwhile, and not while nobody looks. */
  private later(): void {
    if (this.waiting || document.hidden) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      this.draw();
    }, Math.max(this.drawnAt + between - performance.now(), 0));
  }

  private draw(): void {
    this.drawnAt = performance.now();
    const s = this.now;
    const completed = this.whole?.requests.completed ?? 0;
    this.span.replaceChildren(...(completed > 0 ? ["The whole load: ", number("requests.completed", completed, format.count), completed === 1 ? " request" : " requests"] : []));
    this.numbers.replaceChildren(...(this.whole ? wholeTiles(this.whole) : s ? this.tiles(s) : []));
    const kinds = this.whole ? (this.whole.errors ?? []).map((f): [string, number] => [`${f.phase}\n${f.kind}\n${f.detail}`, f.count])
      : [...this.total.kinds].sort((a, b) => b[1] - a[1]);
    this.faults.replaceChildren(...(kinds.length > 0 ? [table({
      head: ["phase", "kind", "of the first", "count"],
      rows: kinds.map(([kind, n], i) => [...kind.split("\n").slice(0, 2), kind.split("\n").slice(2).join(" "), cell(`failures.${i}.count`, n, format.count)]),
    }, this.whole ? "Errors" : "Errors so far")] : []), ...(s?.checks_so_far ? [table({
      head: ["check", "failed", "passed"],
      rows: s.checks_so_far.map((c, i) => [c.name, cell(`checks.${i}.failed`, c.failed, format.count), cell(`checks.${i}.passed`, c.passed, format.count)]),
    }, "Checks that failed so far")] : []));
    const progress = document.getElementById("progress");
    if (progress && s) {
      [progress.dataset.key, progress.dataset.value] = ["now.t_s", String(s.t_s)];
      const of = this.run?.duration_s ? ` of ${format.duration(this.run.duration_s * 1e6)}` : this.run?.requested ? ` of ${format.count(this.run.requested)} ${this.run.iterations ? "iterations" : "requests"}` : "";
      progress.textContent = this.drains(s) ? `${format.duration(this.run!.duration_s! * 1e6)} are over; waiting for ${format.count(s.in_flight)} ${s.in_flight === 1 ? "answer" : "answers"}` : this.run?.duration_s || !this.run?.requested
        ? `${format.duration(Math.max(s.t_s, 0) * 1e6)}${of}` : `${format.count(this.run.iterations ? (s.iterations_so_far ?? 0) + (s.iterations_failed_so_far ?? 0) : this.total.completed)}${of}`;
    }
    this.charts.refresh();
  }

  private tiles(s: Second): Node[] {
    const tile = (name: string, key: string, value: number | undefined, show: (v: number) => string) =>
      value === undefined ? null : h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, number(key, value, show)));
    const length = s.t_s - s.from_s;
    const perSecond = (v: number) => format.digits3(v) + "/s";
    return [
      tile("completed, last second", "now.completed", ended(s, "completed") / length, perSecond),
      tile("p50, last second", "now.p50_us", s.p50_us, format.duration),
      tile("p99, last second", "now.p99_us", s.p99_us, format.duration),
      tile("max, last second", "now.max_us", s.max_us, format.duration),
      tile("iterations, last second", "now.iterations", this.run?.iterations ? ended(s, "iterations") / length : undefined, perSecond),
      tile("p99 of an iteration, last second", "now.iteration_p99_us", s.iteration_time?.p99_us, format.duration),
      tile("iterations so far", "total.iterations", this.run?.iterations ? s.iterations_so_far ?? 0 : undefined, format.count),
      tile("iterations failed so far", "total.iterations_failed", s.iterations_failed_so_far, format.count),
      tile("events, last second", "now.events", s.events === undefined ? undefined : s.events / length, perSecond),
      tile("p99 of first events, last second", "now.first_event_p99_us", s.first_event_p99_us, format.duration),
      tile("p99 of gaps, last second", "now.gap_p99_us", s.gap_p99_us, format.duration),
      tile("in flight now", "now.in_flight", s.in_flight, format.count),
      tile("completed so far", "total.completed", this.total.completed, format.count),
      tile("errors so far", "total.errors", this.total.errors, format.count),
      tile("generator busy, last second", "now.busy_percent", s.busy_percent, format.percent),
      tile("send lag max, last second", "now.send_lag_max_us", s.offered === undefined ? undefined : s.send_lag_max_us ?? 0, format.duration),
    ].filter((n) => n !== null);
  }
}

/** wholeTiles are the numbers of the whole load, those of its report; none where nothing was answered. */
const wholeTiles = (w: Whole): Node[] => (w.requests.completed + w.requests.errors > 0 ? [...(tiles(w.tiles)?.children ?? [])] : []);
