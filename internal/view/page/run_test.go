package page

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/page/pagetest"
	"dyno/internal/view/payload"
)

func runPage(t testing.TB, r *result.Result) []byte {
	return made(t, func(w io.Writer) error { return Run(w, r) })
}

// Every number of every result is on its page, which nothing but the file makes, and all that
// package report says in words, word for word; no text of a plot covers another or is cut.
func TestRunShowsAll(t *testing.T) {
	for name, r := range results(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium.OpenPage(t, runPage(t, r))
			p := payload.OfRun(r)
			s := p.Words
			all := append([]string{s.What, s.How, s.Model, s.Verdict, s.Machine, s.Command, s.Lost}, s.Objectives...)
			all = append(append(all, s.Methods...), s.Agents...)
			for _, c := range p.Answer.Cautions {
				all = append(append(all, c.Says), c.Reasons...)
			}
			says(t, tab, all, s.Facts)
			placed(t, tab)
			tab.ShowTables()
			shows(t, tab, withoutBuckets(r, numbers(t, r)))
		})
	}
}

// withoutBuckets leaves out what the heat map's table has as its columns.
func withoutBuckets(r *result.Result, numbers map[string]float64) map[string]float64 {
	for i, p := range r.Series {
		for k := range p.Heat {
			delete(numbers, fmt.Sprintf("series.%d.heat.%d.0", i, k))
		}
	}
	return numbers
}

// Of a fleet each agent has a plot of its own, as far as there is room, and those that were lost
// are among them; the cursor reads out what each did.
func TestAgents(t *testing.T) {
	for name, want := range map[string]struct {
		r      *result.Result
		drawn  int
		first  string
		second string // as it is read out
	}{
		"fleet":  {fleet(t), 3, "", "1.0 s: web1 "},
		"agents": {agents(newSampler()), 24, "web28", "1.0 s: web28 20, web00 40, web01 20"},
	} {
		tab := chromium.OpenPage(t, runPage(t, want.r))
		tab.OpenSections()
		names := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll('#agents [role=img] svg text[font-weight=bold]')]
			.map((e) => e.textContent)`)
		if len(names) != want.drawn || !strings.HasPrefix(names[0], want.first) {
			t.Errorf("%s: drawn are %q", name, names)
		}
		pagetest.Evaluate[bool](tab, `document.querySelector("#agents [role=img] svg").dispatchEvent(
			new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }))`)
		if text := tab.ElementText("#agents .readout"); !strings.HasPrefix(text, want.second) {
			t.Errorf("%s: the cursor reads %q", name, text)
		}
		lost := want.r.Fleet.Lost()[0]
		if row := tab.ElementText(fmt.Sprintf(`#fleet-all tr:has([data-key^="fleet.agents.%d."])`, lostAt(want.r))); !strings.Contains(row, "LOST after") ||
			!strings.HasPrefix(row, lost) {
			t.Errorf("%s: of the lost one it says %q", name, row)
		}
	}
	parts := agents(newSampler()) // as an experiment's clients are
	parts.Fleet = nil
	tab := chromium.OpenPage(t, runPage(t, parts))
	tab.ShowTables()
	if text := tab.ElementText("#fleet-all"); !strings.HasPrefix(text, "Parts") || !strings.Contains(text, "part 30") {
		t.Errorf("of 30 parts the page says %q", text)
	}
	shows(t, tab, withoutBuckets(parts, numbers(t, parts)))
	tab = chromium.OpenPage(t, runPage(t, newSampler().run(3, 20)))
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("#fleet-all, #agents").length`); n != 0 {
		t.Error("a run of one machine has a fleet")
	}
}

// lostAt is which agent was lost.
func lostAt(r *result.Result) int {
	return slices.IndexFunc(r.Fleet.Agents, func(a result.Agent) bool { return a.Lost != "" })
}

// What would be markup is text, in the page and in its exports.
func TestRunIsInert(t *testing.T) {
	html := runPage(t, failing(newSampler()))
	if bytes.Contains(html, []byte("<img")) {
		t.Error("a name became markup")
	}
	tab := chromium.OpenPage(t, html)
	tab.ShowTables()
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("img, iframe, object, a[href^=javascript]").length`); n != 0 {
		t.Errorf("%d elements that a name made", n)
	}
	if text := tab.ElementText("h1"); !strings.Contains(text, "<img src=x onerror=alert(1)> & \"quoted\" 'Ωμέγα 日本") {
		t.Errorf("the name is not in the title: %q", text)
	}
}

// Each figure can be a plot or a table, says so in the address, and can be taken away.
func TestFigures(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, open(newSampler())))
	tab.OpenSections()
	figures := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("figure.view")].map((f) => f.id)`)
	if len(figures) < 7 {
		t.Fatalf("the page has only %q", figures)
	}
	// What the page gives is caught before it is a file.
	pagetest.Evaluate[bool](tab, `(() => {
		window.taken = [];
		URL.createObjectURL = (blob) => { window.taken.push(blob); return "data:,"; };
		HTMLAnchorElement.prototype.click = function () { window.takenName = this.download; };
		return true;
	})()`)
	for _, id := range figures {
		if has := pagetest.Evaluate[bool](tab, fmt.Sprintf(`document.querySelector("#%s .toolbar") === null`, id)); has {
			continue // it says why it is empty
		}
		mine := func(script string) string { return strings.ReplaceAll(script, "#ID", "#"+id) }
		if svgs := pagetest.Evaluate[int](tab, mine(`document.querySelectorAll("#ID [role=img] svg").length`)); svgs == 0 {
			t.Errorf("%s: no plot", id)
		}
		if label := pagetest.Evaluate[string](tab, mine(`document.querySelector("#ID [role=img]").getAttribute("aria-label")`)); label == "" {
			t.Errorf("%s: nothing for those who do not see it", id)
		}
		for i, want := range []string{"PNG", "<svg", ""} {
			pagetest.Evaluate[bool](tab, mine(fmt.Sprintf(`(() => { window.taken.length = 0;
				[...document.querySelectorAll("#ID .toolbar button")].slice(-3)[%d].click(); return true; })()`, i)))
			tab.WaitUntil(`window.taken.length === 1`)
			got := pagetest.Evaluate[string](tab, `window.taken[0].slice(0, 4).arrayBuffer().then(
				(b) => String.fromCharCode(...new Uint8Array(b)))`)
			if got == "" || !strings.Contains(got, want) {
				t.Errorf("%s: export %d begins with %q", id, i, got)
			}
		}
		if bad := pagetest.Evaluate[string](tab, mine(`document.querySelector("#ID [role=img] svg").outerHTML.match(/NaN|undefined|Infinity/)?.[0] ?? ""`)); bad != "" {
			t.Errorf("%s: the plot has %s in it", id, bad)
		}
		pagetest.Evaluate[bool](tab, mine(`(() => { [...document.querySelectorAll("#ID .toolbar button")].at(-4).click(); return true; })()`))
		tab.WaitUntil(mine(`document.querySelector("#ID table") !== null`) + fmt.Sprintf(` && location.hash.includes("%s=table")`, id))
	}
}

// A link to a page opens it as it was seen.
func TestStateIsInTheAddress(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, results(t)["closed"]))
	pagetest.Evaluate[bool](tab, `(() => { location.hash = "#throughput=table&theme=dark&spectrum.scale=linear"; return true; })()`)
	tab.WaitUntil(`document.querySelector("#throughput table") !== null &&
		document.documentElement.dataset.theme === "dark" && document.querySelector("#spectrum select").value === "linear"`)
	tab.ClickElement("button.theme")
	tab.WaitUntil(`document.documentElement.dataset.theme === undefined && !location.hash.includes("theme")`)
}

// Plots over time have their cursors in step, with the keyboard too.
func TestCursorsInStep(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, open(newSampler())))
	tab.OpenSections()
	pagetest.Evaluate[bool](tab, `document.querySelector("#throughput [role=img] svg").dispatchEvent(
		new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }))`)
	want := "1.0 s: "
	for _, id := range []string{"throughput", "heat", "in-flight", "traffic"} {
		if text := tab.ElementText("#" + id + " .readout"); !strings.HasPrefix(text, want) {
			t.Errorf("%s reads %q, not the first second", id, text)
		}
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll(
		"[aria-hidden=true][tabindex], [aria-hidden=true] [tabindex]").length`); n > 0 {
		t.Errorf("%d elements take the focus, and are hidden from those who do not see it", n)
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll(".plot > [role=img][tabindex]").length`); n < 4 {
		t.Errorf("%d plots can be reached by keyboard", n)
	}
}

// The report of a run is small enough to send.
func TestRunSize(t *testing.T) {
	html := runPage(t, results(t)["closed"])
	if len(html) > 1<<20 {
		t.Errorf("%d bytes", len(html))
	}
	t.Logf("a run of 60 s is %d bytes", len(html))
}

// A benchmark, so that it runs only when it is asked for: make screenshots.
func BenchmarkScreenshotsOfRuns(b *testing.B) {
	for name, r := range results(b) {
		shoot(b, chromium.OpenPage(b, runPage(b, r)), "run-"+name)
	}
}
