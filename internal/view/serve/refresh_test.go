package serve_test

import (
	"strings"
	"testing"

	"dyno/internal/view/page/pagetest"
)

// answersOf makes a page's requests of some paths end as the test says, in window.answers by path; the
// others are the server's. So a test says what the server has at once, and looks only when it says so.
const answersOf = `(() => { window.answers = {}; window.asked = []; const real = window.fetch;
	window.fetch = (path, init) => { window.asked.push((init?.method ?? "GET") + " " + path);
		const had = window.answers[(init?.method ?? "GET") + " " + path];
		return had ? Promise.resolve(new Response(JSON.stringify(had.body), { status: had.status ?? 200 })) : real(path, init); };
	window.look = () => document.dispatchEvent(new Event("visibilitychange"));
	return true; })()`

// openWith opens a page of a dashboard, whose lists the test then says.
func openWith(t *testing.T, path, ready string) *pagetest.Tab {
	t.Helper()
	tab := openHome(t, t.TempDir(), `document.querySelector("main") !== null`)
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + path)
	tab.AwaitNavigation(ready)
	pagetest.Evaluate[bool](tab, answersOf)
	return tab
}

// An experiment that was resumed and has ended while nobody looked is said what it found last.
func TestListHasTheLastAnswer(t *testing.T) {
	tab := openWith(t, "/", `document.querySelector("#labs .empty") !== null`)
	say := func(ended, sentence string) {
		t.Helper()
		pagetest.Evaluate[bool](tab, `(() => { window.answers = {
			"GET /api/labs": { body: [{ id: "one", name: "one", state: "complete", ended: "`+ended+`" }] },
			"GET /api/labs/one/answer": { body: { sentence: "`+sentence+`", box: "clear", summary: "", card: [{ name: "", text: "`+sentence+`" }], more: null } } };
			window.look(); return true; })()`)
		tab.WaitUntil(`document.querySelector("#labs .said")?.textContent.includes("` + sentence + `")`)
	}
	say("2026-01-01T00:00:00Z", "a is better")
	say("2026-01-01T00:05:00Z", "b is better, in a sentence that is longer than the widest cell, and so has to take "+
		"a second line of it")
	for _, bad := range tab.Misplaced() {
		t.Error(bad)
	}
	asked := pagetest.Evaluate[int](tab, `window.asked.filter((a) => a.endsWith("/answer")).length`)
	pagetest.Evaluate[bool](tab, `(window.answers["GET /api/labs"].body[0].name = "two", window.look(), true)`)
	tab.WaitUntil(`document.querySelector("#labs a")?.textContent === "two"`)
	if now := pagetest.Evaluate[int](tab, `window.asked.filter((a) => a.endsWith("/answer")).length`); now != asked || asked != 2 {
		t.Errorf("the answer was asked for %d times, then %d", asked, now)
	}
}

// A look that took an hour, as when the machine slept, is followed by the next within a minute, and by
// one at once when somebody comes back.
func TestLooksAgainAfterSleep(t *testing.T) {
	tab := openWith(t, "/", `document.querySelector("#labs .empty") !== null`)
	pagetest.Evaluate[bool](tab, `(() => { window.delays = [];
		const [wait, now] = [window.setTimeout, performance.now.bind(performance)];
		let slept = 0;
		performance.now = () => now() + slept;
		const ask = window.fetch;
		window.fetch = async (path, init) => { const a = await ask(path, init); if (path === "/api/labs") slept += 3600e3; return a; };
		window.setTimeout = (f, ms, ...more) => { if (ms >= 3000) window.delays.push(ms); return wait(f, ms, ...more); };
		return true; })()`)
	tab.AwaitNavigation(`window.delays.some((ms) => ms > 3000)`) // which sets no timer of its own
	if longest := pagetest.Evaluate[float64](tab, `Math.max(...window.delays)`); longest > 60_000 {
		t.Errorf("the next look is in %.0f ms", longest)
	}
	pagetest.Evaluate[bool](tab, `(window.answers["GET /api/labs"] = { body: [{ id: "new", name: "new", state: "running" }] }, window.look(), true)`)
	tab.WaitUntil(`document.querySelector("#labs progress") !== null`)
}

// The choice of an experiment is kept when its file goes, and nothing else can be begun in its place;
// a list that comes anew takes neither the keyboard nor what the server said.
func TestChoiceIsKept(t *testing.T) {
	tab := openWith(t, "/lab", `document.querySelector("#begin") !== null && !document.body.textContent.includes("Looking")`)
	offer := func(ids ...string) {
		t.Helper()
		pagetest.Evaluate[bool](tab, `((ids) => { window.answers["GET /api/experiments"] = { body: ids.map((id) =>
			({ id, name: id, from: "here", plan: "plan of " + id })) }; window.look(); return true; })(["`+strings.Join(ids, `","`)+`"])`)
		tab.WaitUntil(`[...document.querySelectorAll("#experiment option:not([disabled])")].map((o) => o.value).join() === "` + strings.Join(ids, ",") + `"`)
	}
	chosen := func() string { return pagetest.Evaluate[string](tab, `document.querySelector("#experiment").value`) }
	disabled := func() bool {
		return pagetest.Evaluate[bool](tab, `document.querySelector("#begin button[type=submit]").disabled`)
	}
	offer("hello", "mine.yaml")
	pagetest.Evaluate[bool](tab, `(() => { const e = document.querySelector("#experiment"); e.value = "mine.yaml";
		return e.dispatchEvent(new Event("change")); })()`)
	pagetest.Evaluate[bool](tab, `(() => { window.answers["POST /api/labs"] = { status: 422, body: { faults: [{ problem: "no server there" }] } };
		document.querySelector("#begin button[type=submit]").focus(); document.querySelector("#begin button[type=submit]").click(); return true; })()`)
	tab.WaitUntil(`document.querySelector("#begin .banner")?.textContent.includes("no server there")`)
	offer("hello", "mine.yaml", "other.yaml")
	if said := tab.ElementText("#begin [aria-live]"); !strings.Contains(said, "no server there") || chosen() != "mine.yaml" {
		t.Errorf("a list that came anew has %s chosen, and says %q", chosen(), said)
	}
	if at := pagetest.Evaluate[string](tab, `document.activeElement.textContent`); at != "Start" {
		t.Errorf("the keyboard is at %q", at)
	}
	offer("hello", "other.yaml")
	if said := tab.ElementText("#begin [aria-live]"); chosen() != "mine.yaml" || !disabled() || !strings.Contains(said, "gone") {
		t.Errorf("its file is gone; chosen is %s, it can be begun: %v, and it says %q", chosen(), !disabled(), said)
	}
	offer("hello", "mine.yaml")
	if plan := tab.ElementText("#plan"); chosen() != "mine.yaml" || disabled() || plan != "plan of mine.yaml" {
		t.Errorf("its file is back; chosen is %s, disabled %v, the plan %q", chosen(), disabled(), plan)
	}
	tab.Complaints() // the browser notes each answer that is no success
}
