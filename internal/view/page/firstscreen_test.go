package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"dyno/internal/view/page/pagetest"
)

// most is what the page of an experiment with ten variants may weigh, in bytes.
const most = 500_000

// manyVariants makes an experiment of ten variants out of one of two: the others are copies of the
// second, with trials of their own.
func manyVariants(t testing.TB, rounds, seconds, variants int) string {
	t.Helper()
	f := newExperimenter(t, rounds, seconds, usualLevels)
	for i := 2; i < variants; i++ {
		f.more = append(f.more, fmt.Sprintf("tuned-%02d", i))
	}
	return f.experiment()
}

// The page of an experiment with ten variants is small enough to send, and draws more than five lines
// as small multiples on the same scales.
func TestTenVariants(t *testing.T) {
	html, _ := experimentHTML(t, manyVariants(t, 6, 10, 10))
	t.Logf("the page of ten variants has %d bytes", len(html))
	if len(html) > most {
		t.Errorf("%d bytes, at most %d", len(html), most)
	}
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	for _, id := range []string{"spectrum-1", "warmup-1", "shift-1"} {
		plots := pagetest.Evaluate[int](tab, fmt.Sprintf(`document.querySelectorAll("#%s [role=img] svg").length`, id))
		if plots < 9 {
			t.Errorf("%s: %d plots for ten variants", id, plots)
		}
	}
	placed(t, tab)
}

// The first screen of an experiment is its answer, in the words of package labanswer: at 1280 × 800
// the sentence, the plot with every variant, the box and the next step are seen without scrolling.
func TestFirstScreenOfExperiment(t *testing.T) {
	html, data := experimentHTML(t, experimentFolder(t, 10, 5))
	tab := chromium.OpenPage(t, html)
	tab.SetViewport(1280, 800, false)
	for _, selector := range []string{".sentence", "#decide .plot svg", "#answer .banner", ".next .command",
		"#copy-summary", "#save-chart", ".conditions"} {
		if bottom := pagetest.Evaluate[float64](tab, fmt.Sprintf(
			`document.querySelector(%q)?.getBoundingClientRect().bottom ?? 1e9`, selector)); bottom > 800 {
			t.Errorf("%s ends at %.0f pixels", selector, bottom)
		}
	}
	for path, selector := range map[string]string{"answer.sentence": ".sentence", "answer.next.says": ".next p",
		"answer.cautions.0.says": "#answer .banner strong"} {
		want, _ := lookup(data, path)
		if got := tab.ElementText(selector); got != want {
			t.Errorf("%s is %q, and %s says %q", path, want, selector, got)
		}
	}
	verdicts, _ := lookup(data, "answer.groups.0.findings")
	text := tab.ElementText("#decide .plot")
	for _, f := range verdicts.([]any) {
		if verdict := f.(map[string]any)["verdict"].(string); !strings.Contains(text, verdict) {
			t.Errorf("the plot does not say %q: %s", verdict, text)
		}
	}
	// The other measures are a click away, and the address says which is shown.
	pagetest.Evaluate[chromedp.Void](tab, `{ const e = document.querySelector("#decide select"); e.value = "1";
		e.dispatchEvent(new Event("change")) }`)
	tab.WaitUntil(`location.hash.includes("decide.measure=1")`)
	second, _ := lookup(data, "answer.groups.1.name")
	if title := tab.ElementText("#decide h3"); !strings.HasPrefix(title, second.(string)) {
		t.Errorf("the second measure is %q, and %q is drawn", second, title)
	}
}

// A button copies the summary, another saves the picture.
func TestSummaryAndChartCanBeTaken(t *testing.T) {
	html, data := experimentHTML(t, experimentFolder(t, 6, 2))
	tab := chromium.OpenPage(t, html)
	pagetest.Evaluate[bool](tab, `(() => { window.saved = [];
		Object.defineProperty(navigator, "clipboard", { value: { writeText: async (s) => { window.copied = s; } } });
		URL.createObjectURL = (blob) => { window.saved.push(blob); return "data:,"; };
		HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };
		document.querySelector("#copy-summary").click(); document.querySelector("#save-chart").click(); return true; })()`)
	tab.WaitUntil(`window.copied !== undefined && window.saved.length === 1`)
	want, _ := lookup(data, "summary")
	if got := pagetest.Evaluate[string](tab, `window.copied`); got != want || !strings.Contains(got, "| verdict |") {
		t.Errorf("copied is %q", got)
	}
	head := pagetest.Evaluate[string](tab, `window.saved[0].slice(1, 4).text()`)
	if name := pagetest.Evaluate[string](tab, `window.savedName`); head != "PNG" || name != "chart.png" {
		t.Errorf("%s begins with %q", name, head)
	}
}

// A tile is as wide as its number at least, so that no number lies over the next.
func TestTilesHoldTheirNumbers(t *testing.T) {
	r := results(t)["closed"]
	r.Rate.Completed, r.Requests.Errors = 123_456_789, 1_234_567_890
	tab := chromium.OpenPage(t, runPage(t, r))
	tab.AwaitFigures()
	for _, width := range []int64{320, 390, 768, 1024, 1280, 2560} {
		tab.SetViewport(width, 800, false)
		for _, bad := range tab.Misplaced() {
			t.Errorf("%d pixels: %s", width, bad)
		}
	}
}

// A picture of a run's chart says what it shows, of which load and of when, and has a legend for every
// line; so has that of any figure.
func TestPicturesHaveNames(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, results(t)["closed"]))
	tab.AwaitFigures()
	svgs := pagetest.Evaluate[[]string](tab, `(async () => {
		const saved = [], draw = XMLSerializer.prototype.serializeToString;
		HTMLAnchorElement.prototype.click = () => {};
		XMLSerializer.prototype.serializeToString = function (e) { const s = draw.call(this, e); saved.push(s); return s; };
		document.querySelector("#save-chart").click();
		document.querySelector('[aria-label="Throughput as SVG"]').click();
		return saved; })()`)
	if len(svgs) != 2 {
		t.Fatalf("%d pictures", len(svgs))
	}
	words := tab.ElementText("h1")
	for i, want := range [][]string{
		{"latency over time", "p50", "p99", "max", "requests", words, "closed", "UTC"},
		{"Throughput", "sent", "completed", words, "closed", "UTC"},
	} {
		for _, one := range want {
			if !strings.Contains(svgs[i], one) {
				t.Errorf("picture %d does not have %q", i, one)
			}
		}
		if strings.Contains(svgs[i], "var(") {
			t.Errorf("picture %d needs a style sheet", i)
		}
	}
}

// The first screen of a run is about the server: the sentence, rate and latency, latency over time
// and by percentile, and the next step. What would be empty is left out.
func TestFirstScreenOfRun(t *testing.T) {
	tab := chromium.OpenPage(t, runPage(t, results(t)["closed"]))
	tab.SetViewport(1280, 800, false)
	for _, selector := range []string{".sentence", "#heat .plot svg", "#spectrum .plot svg", ".tiles", "#answer .banner",
		".next .command"} {
		if bottom := pagetest.Evaluate[float64](tab, fmt.Sprintf(
			`document.querySelector(%q)?.getBoundingClientRect().bottom ?? 1e9`, selector)); bottom > 800 {
			t.Errorf("%s ends at %.0f pixels", selector, bottom)
		}
	}
	tab = chromium.OpenPage(t, runPage(t, bare()))
	tab.OpenSections()
	if n := pagetest.Evaluate[int](tab, `[...document.querySelectorAll("figure.view")].filter(
		(f) => /n = 0\b/.test(f.textContent) && f.checkVisibility()).length`); n > 0 {
		t.Errorf("%d figures have n = 0", n)
	}
	if text := tab.ElementText("#answer .tiles"); strings.Contains(text, "0.0") {
		t.Errorf("the numbers are %q", text)
	}
}

// axe-core finds nothing that keeps people from using the pages, folded or open, on a large screen or
// a telephone, light or dark. Contrast takes half of its time: of all pages it is looked at where all
// is open, and of one also folded and on a telephone, whose rules of style are others.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v; npm --prefix internal/view/page/web ci installs it", err)
	}
	html, _ := experimentHTML(t, experimentFolder(t, 6, 3))
	pages, runs := map[string][]byte{"experiment": html}, results(t)
	for _, name := range []string{"closed", "failing", "shopping", "bare", "agents"} {
		pages["run "+name] = runPage(t, runs[name])
	}
	for name, html := range pages {
		t.Run(name, func(t *testing.T) {
			most := butContrast
			if name == "experiment" {
				most = allRules
			}
			tab := chromium.OpenPage(t, html)
			pagetest.Evaluate[chromedp.Void](tab, string(axe))
			tab.SetViewport(1280, 800, false)
			violations(t, tab, "folded", most)
			tab.OpenSections()
			violations(t, tab, "open", onlyContrast)
			tab.SetViewport(1280, 800, true)
			violations(t, tab, "open, dark", onlyContrast)
			tab.SetViewport(390, 844, false)
			violations(t, tab, "on a telephone", most)
		})
	}
}

// Options of axe-core: which rules are looked at.
const (
	allRules     = `{}`
	onlyContrast = `{ runOnly: { type: "rule", values: ["color-contrast"] } }`
	butContrast  = `{ rules: { "color-contrast": { enabled: false } } }`
)

// violations fails the test for each of axe-core's rules that the page breaks.
func violations(t *testing.T, tab *pagetest.Tab, when, rules string) {
	t.Helper()
	// Selectors of the elements, which nobody reads, would take a tenth of the time.
	found := pagetest.Evaluate[string](tab, `axe.run(document, { resultTypes: ["violations"], selectors: false, ...`+rules+` }).then((r) => JSON.stringify(
		r.violations.map((v) => ({ rule: v.id, help: v.help, n: v.nodes.length, first: v.nodes[0].html.slice(0, 200), why: v.nodes[0].failureSummary }))))`)
	var all []struct {
		Rule, Help, First, Why string
		N                      int
	}
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		t.Errorf("%s: %s: %s, %d times, first %s: %s", when, v.Rule, v.Help, v.N, v.First, v.Why)
	}
}
