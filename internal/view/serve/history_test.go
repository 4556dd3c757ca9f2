package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/stats"
	"dyno/internal/view/page/pagetest"
)

// keep stores a result of this machine, by its number, and returns its ID.
func keep(t testing.TB, home, url string, number int, rate float64) string {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: url, Host: "127.0.0.1", Port: 80}
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(number*number) * time.Hour)
	r, err := result.From(&loadresult.Result{Plan: p, Started: at, Ended: loadresult.ByDuration, Measured: time.Second,
		Total: metric.NewCounters()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	r.Rate.Completed = rate
	if number == 3 {
		r.Generator.Verdict = result.ClientBound
	}
	if _, err := dynohome.Save(home, r); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// keepLab stores an experiment that was run on a day, with the median of one arm.
func keepLab(t testing.TB, home string, day int, throughput float64) {
	t.Helper()
	dir := filepath.Join(home, "experiments", fmt.Sprintf("small-%02d", day))
	r := lab.Record{Format: lab.ExperimentFormat,
		Progress: lab.Progress{Dyno: fmt.Sprintf("0.%d", day), Name: "small", State: lab.Complete,
			Started: time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)},
		Definition:  lab.Definition{SHA256: "ab"},
		Setup:       lab.Setup{Host: result.ThisHost(), CPUs: server.Split{}},
		Preparation: lab.Preparation{Arms: []lab.Arm{{Name: "one <b>"}}},
		Findings: lab.Findings{Trials: []lab.TrialSummary{}, Verdicts: []lab.Comparison{},
			Cells: []lab.Cell{{Arm: "one <b>", Level: "c1", Metric: "throughput", Unit: "req/s", Trials: 6,
				Median: stats.Interval{Low: throughput * 0.99, Estimate: throughput, High: throughput * 1.01, Level: 0.95}}}}}
	b, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "experiment.json"), b, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "experiment.yaml"), []byte(small), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const evilURL = `http://127.0.0.1/<img src=x onerror=document.title=1>`

// stock fills a store: a series that becomes worse, one of a single result, and experiments.
func stock(t testing.TB, home string) (ids []string) {
	for i := range 20 {
		rate := 1000 + float64(i*7%5)
		if i >= 10 {
			rate *= 0.9
		}
		ids = append(ids, keep(t, home, evilURL, i, rate))
	}
	keep(t, home, "http://127.0.0.1/alone", 1, 5)
	for day := range 20 {
		keepLab(t, home, day+1, 100/(1+float64(day/10))+float64(day%3))
	}
	return ids
}

// What is stored is shown as it went: series with their changes and notes, every number of what
// the server says, by the measure that is chosen; and the experiments of one name.
func TestHistoryInTheBrowser(t *testing.T) {
	home := t.TempDir()
	ids := stock(t, home)
	if err := os.WriteFile(filepath.Join(home, "results", ids[4]+".note"), []byte("kernel <i>6.18</i> #nightly\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	tab.WaitUntil(`document.querySelector('nav a[href="/history"]') !== null`)
	follow(tab, `nav a[href="/history"]`)
	figure := `document.querySelector("#series figure")`
	tab.WaitUntil(figure + `?.dataset.drawn === "yes"`)
	tab.WaitUntil(`document.querySelectorAll("#series tbody tr").length === 2`)
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("#series figure").length`); n != 1 {
		t.Errorf("%d series are drawn, and one has several results", n)
	}
	text := tab.ElementText("#series figure")
	for _, want := range []string{"<img src=x", "a change: worse", "−10.0 %", "kernel <i>6.18</i> #nightly", "n = 20 results"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plot does not say %q: %s", want, text)
		}
	}
	id := pagetest.Evaluate[string](tab, figure+`.id`)
	pagetest.Evaluate[bool](tab, fmt.Sprintf(`(location.hash = "%s=table", true)`, id))
	tab.WaitUntil(figure + `.querySelector("table") !== null`)
	for _, key := range []string{"series.0.changes.0.ratio", "experiments.0.runs.19.trials"} { // what is drawn last
		tab.WaitUntil(fmt.Sprintf(`document.querySelector('[data-key="%s"]') !== null`, key))
	}
	said := pagetest.Evaluate[map[string]any](tab, `fetch("/api/history").then((a) => a.json())`)
	shown := tab.NumbersByPath()
	for i, want := range said["series"].([]any)[0].(map[string]any)["runs"].([]any) {
		key := fmt.Sprintf("series.0.runs.%d.value", i)
		if got := shown[key]; got != fmt.Sprint(want.(map[string]any)["value"]) {
			t.Errorf("%s is %q, and the server says %v", key, got, want)
		}
	}
	if _, there := shown["series.0.changes.0.ratio"]; !there || shown["experiments.0.runs.19.trials"] != "0" {
		t.Errorf("a change, or experiments, are not there: %v", shown)
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("img, #series i, #labs b").length`); n > 0 {
		t.Errorf("%d names became elements", n)
	}
	historyOfLabs(t, tab)
	pagetest.Evaluate[bool](tab, fmt.Sprintf(`(location.hash = "metric=p99&filter=nothing&%s=", true)`, id))
	tab.WaitUntil(`document.querySelector("#series .empty")?.textContent.includes("None of them")`)
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + "/history")
	tab.WaitUntil(figure + `?.dataset.drawn === "yes"`)
	if path := clickRun(tab, figure, 2); path != "/results/"+ids[2] {
		t.Errorf("a click on the third run opens %q", path)
	}
	follow(tab, `#series a[href^="/results/"]`)
	tab.AwaitFigures()
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + "/labs/small-20/report#past-1=table")
	tab.AwaitFigures()
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll('#past-1 td a[href="/labs/small-03/report"]').length`); n != 1 {
		t.Errorf("the report has %d ways to that of an earlier run", n)
	}
}

// historyOfLabs opens what the experiments of a name found.
func historyOfLabs(t *testing.T, tab *pagetest.Tab) {
	t.Helper()
	press(tab, "#labs details summary")
	tab.WaitUntil(`document.querySelector("#labs figure")?.dataset.drawn === "yes"`)
	text := tab.ElementText("#labs .past")
	for _, want := range []string{"n = 20 runs", "one <b>", "a change: worse", "0.19", "the one shown"} {
		if !strings.Contains(text, want) {
			t.Errorf("the past of the experiments does not say %q: %s", want, text)
		}
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll('#labs .past a[href="/labs/small-11/report"]').length`); n == 0 {
		t.Error("there is no way to the report of the run since which it is worse")
	}
}

// clickRun clicks on the point of a run, and returns where that would lead.
func clickRun(tab *pagetest.Tab, figure string, run int) string {
	return pagetest.Evaluate[string](tab, fmt.Sprintf(`(() => {
		let path = "";
		HTMLAnchorElement.prototype.click = function () { path = this.pathname; };
		const plot = %s.querySelector("[role=img] svg");
		const dots = [...plot.querySelectorAll("g[data-mark=dot] > *")].filter((e) => e.querySelector("title"));
		const at = dots[%d].getBoundingClientRect();
		plot.dispatchEvent(new MouseEvent("click", { clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, bubbles: true }));
		return path; })()`, figure, run))
}

// What is asked for is a measure, and what is not is refused.
func TestHistoryRefuses(t *testing.T) {
	home := t.TempDir()
	keep(t, home, "http://127.0.0.1/", 1, 5)
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	base, _, _ := strings.Cut(d.said, "/?")
	status := func(address string) int {
		answer, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if got := status(d.said); got != http.StatusOK {
		t.Fatalf("let in with %d", got)
	}
	for path, want := range map[string]int{"/api/history?metric=speed": 422, "/api/history?metric=p99": 200,
		"/api/history?machine=all": 200, "/api/history?machine=none": 200, "/api/history/labs/none": 404,
		"/api/history/labs/..%2f..%2fetc": 404} {
		if got := status(base + path); got != want {
			t.Errorf("%s: %d, not %d", path, got, want)
		}
	}
}

// Pictures of the history, for eyes: make screenshots.
func BenchmarkScreenshotsOfHistory(b *testing.B) {
	home, dir := b.TempDir(), os.Getenv("DYNO_SCREENSHOTS")
	ids := stock(b, home)
	for i, note := range map[int]string{4: "kernel 6.18 #nightly", 10: "new worker pool"} {
		if err := os.WriteFile(filepath.Join(home, "results", ids[i]+".note"), []byte(note+"\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 6 {
		keep(b, home, "http://127.0.0.1:8080/other", i, 5000+float64(i*i%7))
	}
	d := dyno(b, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(b)
	tab.Navigate(d.said)
	tab.WaitUntil(`document.querySelector('nav a[href="/history"]') !== null`)
	follow(tab, `nav a[href="/history"]`)
	tab.WaitUntil(`document.querySelectorAll("#series figure").length === 2`)
	press(tab, "#labs details summary")
	tab.WaitUntil(`document.querySelector("#labs figure")?.dataset.drawn === "yes"`)
	for _, width := range []int64{390, 1280, 2560} {
		for look, dark := range map[string]bool{"light": false, "dark": true} {
			tab.SetViewport(width, 900, dark)
			tab.Screenshot(filepath.Join(dir, fmt.Sprintf("history-%d-%s.png", width, look)))
		}
	}
}
