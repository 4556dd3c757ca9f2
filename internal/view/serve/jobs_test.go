package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/page/pagetest"
)

// storeRun stores what a load of 10 s on two connections measured, whose requests took so long each,
// by a generator that was busy for that share of the time.
func storeRun(t *testing.T, home string, minute int, port uint16, latency time.Duration, busy float64) string {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: fmt.Sprintf("http://127.0.0.1:%d/", port), Host: "127.0.0.1", Port: port}
	p.Requests = []loadplan.Request{{Weight: 1}}
	p.Requests[0].Method, p.Requests[0].Path = "GET", "/"
	c := metric.NewCounters()
	p.Connections, p.Threads = 2, 1
	n := int64(2 * 10 * time.Second / latency) // each connection always has a request in flight
	for range n {
		c.Latency.Record(int64(latency))
		c.Service.Record(int64(latency))
	}
	c.Sent, c.Completed = n, n
	measured := &loadresult.Result{Plan: p, Started: time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC),
		Ended: loadresult.ByDuration, Measured: 10 * time.Second, Total: c}
	measured.Opened, measured.Served = 2, 2
	r, err := result.From(measured, "test")
	if err != nil {
		t.Fatal(err)
	}
	if r.Generator.BusyPercent = 100 * busy; busy > 0.9 {
		r.Generator.Verdict = result.ClientBound
		f := fact.Fact{Severity: fact.Error, Args: fact.Busy{Percent: 98}, Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher}}}
		r.Generator.Reasons, r.Facts = []string{say.Sentence(f)}, []fact.Fact{f}
		r.Generator.Doubts = []result.Doubt{{Cause: result.Busy, Kind: result.Limit, Verdict: result.ClientBound}}
	}
	if _, err := dynohome.Save(home, r); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// home opens the results of a dashboard whose store has what the test put there.
func openHome(t *testing.T, home string, ready string) *pagetest.Tab {
	t.Helper()
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	tab.AwaitNavigation(ready)
	return tab
}

// Job 1: a load is started with four fields, and the command line that is shown makes the same load.
func TestJobStartALoad(t *testing.T) {
	address, home := target(t), t.TempDir()
	tab := openHome(t, home, `document.querySelector("#results .begin") !== null`)
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("#results .begin pre").length`); n != 3 {
		t.Errorf("%d commands to begin with", n)
	}
	follow(tab, `nav a[href="/live"]`)
	tab.WaitUntil(`document.querySelector("#form") !== null`)
	visible := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#form .field")].filter((e) => e.checkVisibility())
		.map((e) => e.querySelector("label").textContent)`)
	if got := strings.Join(visible, ", "); got != "URL, Load, Duration, Objective" {
		t.Errorf("the fields that one sees first are %s", got)
	}
	fill(tab, map[string]string{"load": "rate"})
	fill(tab, map[string]string{"url": address + "?a=b&c=it%27s", "rate": "100", "duration": "1", "slo": "p99<20s", "header": "X-A: b c\nX-D: $e",
		"connections": "3"})
	pagetest.Evaluate[bool](tab, `(document.querySelector("#field-http").value = "1.1",
		document.querySelector("#field-http").dispatchEvent(new Event("change", {bubbles: true})))`)
	command := tab.ElementText("#command pre")
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("[data-state=ended]") !== null || document.querySelector("[aria-invalid]") !== null`)
	if bad := tab.ElementText("#form [aria-invalid]") + tab.ElementText("#form .fault:not(:empty)"); bad != "" {
		t.Fatal(bad)
	}
	tab.WaitUntil(`document.querySelector("#answer .sentence") !== null`)
	follow(tab, `nav a[href="/live"]`)
	tab.WaitUntil(`document.querySelector("#filled a") !== null`)          // as the last load was
	kept := strings.Replace(command, " -H 'X-A: b c' -H 'X-D: $e'", "", 1) // which may be secret
	if got := tab.ElementText("#command pre"); got != kept {
		t.Errorf("on coming back the command is %s, and it was %s", got, command)
	}
	if said := tab.ElementText("#filled"); !strings.Contains(said, "X-A") || !strings.Contains(said, "not filled in") {
		t.Errorf("the form says %q", said)
	}
	if !pagetest.Evaluate[bool](tab, `document.querySelector("#new").compareDocumentPosition(document.querySelector("#load")) === Node.DOCUMENT_POSITION_FOLLOWING`) {
		t.Error("the form is not the first on the page")
	}
	if runtime.GOOS == "windows" {
		return
	}
	bin := t.TempDir()
	if err := os.Symlink(program(t), filepath.Join(bin, "dyno")); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-c", command+" --json "+filepath.Join(bin, "out.json"))
	sh.Env = append(os.Environ(), beDyno+"=1", "DYNO_HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	var given struct{ Plan map[string]any }
	read(t, filepath.Join(bin, "out.json"), &given)
	all, err := filepath.Glob(filepath.Join(home, "results", "*.json"))
	if err != nil || len(all) != 2 {
		t.Fatalf("%q, %v", all, err)
	}
	for _, file := range all {
		var one struct{ Plan map[string]any }
		read(t, file, &one)
		for _, p := range []map[string]any{one.Plan, given.Plan} {
			delete(p, "seed")
		}
		a, b := marshal(t, withoutMarks(one.Plan)), marshal(t, withoutMarks(given.Plan))
		if a != b {
			t.Errorf("the form's load is\n%s\nand that of %s\n%s", a, command, b)
		}
	}
}

// The form sends what it shows: a number keeps its place when its unit is changed, a rate that is not
// given is refused, and what is mended is right again before Start.
func TestFormShowsWhatItSends(t *testing.T) {
	home := t.TempDir()
	tab := openHome(t, home, `document.querySelector("#results .begin") !== null`)
	follow(tab, `nav a[href="/live"]`)
	fill(tab, map[string]string{"url": "127.0.0.1:9", "connections": "60000"})
	fill(tab, map[string]string{"load": "rate"})
	if got := tab.ElementText("#command pre"); got != "dyno run -R 60000 http://127.0.0.1:9" {
		t.Errorf("60,000 connections became %s", got)
	}
	visible := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#form .four .field")].map((e) => e.querySelector("label").textContent)`)
	if got := strings.Join(visible, ", "); got != "URL, Load, Connections, Duration, Objective" {
		t.Errorf("the fields of a rate are %s", got)
	}
	fill(tab, map[string]string{"rate": "", "duration": "5 min"})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`["rate", "duration"].every((name) => document.querySelector("#field-" + name + "-fault").textContent !== "")`)
	if !pagetest.Evaluate[bool](tab, `document.querySelector("[data-state=idle]") !== null && document.activeElement.id === "field-rate"`) {
		t.Error("a load was begun, or the keyboard is elsewhere")
	}
	fill(tab, map[string]string{"duration": "1m30s"})
	tab.WaitUntil(`document.querySelector("#field-duration-fault").textContent === "" && document.querySelector("#field-duration[aria-invalid]") === null`)
	if !pagetest.Evaluate[bool](tab, `document.querySelector("#field-duration ~ .unit").hidden && document.querySelector("#field-rate-fault").textContent !== ""`) {
		t.Error("1m30s has another unit beside it, or the rate is no longer missing")
	}
	fill(tab, map[string]string{"load": "connections"})
	tab.WaitUntil(`document.querySelector("#form [aria-invalid]") === null`)
	if got := tab.ElementText("#command pre"); got != "dyno run -d 1m30s http://127.0.0.1:9" {
		t.Errorf("without a rate the command is %s", got)
	}
}

// A load that nobody answered says so, and shows neither empty plots nor figures.
func TestLoadThatNobodyAnswers(t *testing.T) {
	tab := openHome(t, t.TempDir(), `document.querySelector("#results .begin") !== null`)
	follow(tab, `nav a[href="/live"]`)
	fill(tab, map[string]string{"url": "http://127.0.0.1:" + freePort(t), "duration": "1"})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("#answer .sentence") !== null`)
	shown := pagetest.Evaluate[string](tab, `document.querySelector("#load").innerText`)
	if !strings.Contains(shown, "refused") || strings.Contains(shown, "No second") || strings.Contains(shown, "0 errors") {
		t.Errorf("the page says %q", shown)
	}
}

// A result is repeated from its page, whose bar leads to the others; the file of it has no bar.
func TestRepeatAResult(t *testing.T) {
	home := t.TempDir()
	id := storeRun(t, home, 1, 8080, time.Millisecond, 0.2)
	tab := openHome(t, home, `document.querySelectorAll("#results .card").length === 1`)
	file := pagetest.Evaluate[string](tab, fmt.Sprintf(`fetch("/results/%s?download").then((r) => r.text())`, id))
	for query, want := range map[string]string{"md": "|---|---|", "json": `"format": "dyno.result/1"`, "csv": "t_s,"} {
		text := pagetest.Evaluate[string](tab, fmt.Sprintf(`fetch("/results/%s?download=%s").then(async (r) =>
			r.headers.get("content-disposition") + await r.text())`, id, query))
		if !strings.HasPrefix(text, `attachment; filename=`+id+"."+query) || !strings.Contains(text, want) {
			t.Errorf("the file %s begins with %.300s", query, text)
		}
	}
	follow(tab, fmt.Sprintf(`[data-id="%s"] h3 a`, id))
	tab.AwaitFigures()
	if title := pagetest.Evaluate[string](tab, `document.title`); !strings.HasSuffix(title, " – dyno") {
		t.Errorf("the page is called %q", title)
	}
	links := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("header nav a")].map((a) => a.textContent)`)
	if got := strings.Join(links, ", "); got != "dyno, Results, History, New load, Experiments, Repeat, Page, Markdown, JSON, CSV" {
		t.Errorf("the bar leads to %s", got)
	}
	for _, bad := range tab.Misplaced() {
		t.Error(bad)
	}
	if at := pagetest.Evaluate[string](tab, `document.querySelector("#download").getAttribute("href")`); at != "/results/"+id+"?download" {
		t.Errorf("the file is at %s", at)
	}
	if strings.Contains(file, "dyno-served") || strings.Contains(file, pagetest.Evaluate[string](tab, `location.host`)) {
		t.Error("the file knows the dashboard")
	}
	alone := chromium.OpenPage(t, []byte(file))
	if pagetest.Evaluate[bool](alone, `document.querySelector("header nav") !== null`) {
		t.Error("the file has a bar")
	}
	follow(tab, "#repeat")
	tab.WaitUntil(`document.querySelector("#filled a") !== null`)
	got := strings.Replace(tab.ElementText("#command pre"), " -t 1", "", 1) // the default of a machine with one core
	if got != "dyno run -c 2 -d 10 http://127.0.0.1:8080/" {
		t.Errorf("the form is that of %s", got)
	}
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + "/live?next&repeat=" + id)
	tab.AwaitNavigation(`document.querySelector("#filled a") !== null`)
	if said := tab.ElementText("#filled"); !strings.HasPrefix(said, "No load is the next step after it") {
		t.Errorf("of a result whose next step is no load the form says %q", said)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withoutMarks is a plan in which all marks of secrets are alike: forms have a key of their own.
func withoutMarks(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, one := range v {
			v[k] = withoutMarks(one)
		}
	case []any:
		for i, one := range v {
			v[i] = withoutMarks(one)
		}
	case string:
		if strings.HasPrefix(v, "(redacted-") {
			return "(redacted)"
		}
	}
	return v
}

// Job 2: a card says that its result is not to be trusted and why, and its page what to do: in the words
// of the form, where reports have flags, with a link that fills the form in.
func TestJobFindWhyItIsSuspect(t *testing.T) {
	home := t.TempDir()
	good, bad := storeRun(t, home, 1, 8080, time.Millisecond, 0.2), storeRun(t, home, 2, 8081, time.Millisecond, 0.98)
	tab := openHome(t, home, `document.querySelectorAll("#results .card .said > .mark").length === 2`)
	said := func(id string) string { return tab.ElementText(fmt.Sprintf(`[data-id="%s"] .why-not`, id)) }
	if said(good) != "" || !strings.Contains(said(bad), "limit") {
		t.Errorf("of %s it says %q, of %s %q", good, said(good), bad, said(bad))
	}
	file := pagetest.Evaluate[string](tab, fmt.Sprintf(`fetch("/results/%s?download").then((r) => r.text())`, bad))
	follow(tab, fmt.Sprintf(`[data-id="%s"] h3 a`, bad))
	tab.AwaitFigures()
	if text := tab.ElementText("#answer .banner"); !strings.Contains(text, "98 %") || !strings.Contains(text, "add threads") || strings.Contains(text, "-t") {
		t.Errorf("the page says %q", text)
	}
	if alone := chromium.OpenPage(t, []byte(file)); !strings.Contains(alone.ElementText("#answer .banner"), "add threads (-t)") ||
		pagetest.Evaluate[bool](alone, `document.querySelector("#next-form") !== null`) {
		t.Errorf("the file says %q", alone.ElementText("#answer"))
	}
	follow(tab, "#next-form")
	tab.WaitUntil(`document.querySelector("#filled a") !== null`)
	if got := tab.ElementText("#command pre"); !strings.HasPrefix(got, "dyno run ") || !strings.HasSuffix(got, " http://127.0.0.1:8081/") ||
		!strings.Contains(tab.ElementText("#filled"), "next step") {
		t.Errorf("the form is that of %s, and says %q", got, tab.ElementText("#filled"))
	}
}

// Job 3: two cards are ticked, one click compares them, and the page says what may be concluded.
func TestJobCompareTwo(t *testing.T) {
	home := t.TempDir()
	a, b := storeRun(t, home, 1, 8080, time.Millisecond, 0.2), storeRun(t, home, 2, 8080, 2*time.Millisecond, 0.2)
	tab := openHome(t, home, `document.querySelectorAll("#results .card").length === 2`)
	if change := tab.ElementText(fmt.Sprintf(`[data-id="%s"] .figure:nth-child(2) .change`, b)); strings.TrimSpace(change) != "+100 %" {
		t.Errorf("p99 has changed by %q", change)
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll(".card svg.spark").length`); n != 1 {
		t.Errorf("%d lines of results, of which the first has none", n)
	}
	if label := tab.ElementText(`.card .figure:has(.spark) dt`); label != "p99, last 2 runs" {
		t.Errorf("the line is called %q", label)
	}
	if pagetest.Evaluate[bool](tab, `document.querySelector("#compare").hasAttribute("href")`) {
		t.Error("nothing is ticked, and can be compared")
	}
	for _, id := range []string{a, b} {
		press(tab, fmt.Sprintf(`[data-id="%s"] input[type=checkbox]`, id))
	}
	press(tab, "#compare")
	tab.AwaitNavigation(`document.querySelector("#answer .sentence") !== null`)
	if text := tab.ElementText("#answer"); !strings.Contains(text, b+" (B) was worse than "+a+" (A) in throughput (−50 %)") || !strings.Contains(text, "One run each") ||
		!strings.Contains(text, "Next") {
		t.Errorf("the comparison begins with %q", text)
	}
	if command := tab.ElementText("main > div > .command pre"); command != "dyno compare "+a+" "+b {
		t.Errorf("the command is %q", command)
	}
}

// What a comparison of single runs advises can be followed: results of one URL and load, ticked in any
// number, count together, and the page says how many more it takes. The two servers can be repeated in
// turns from there.
func TestJobCompareRepeatedRuns(t *testing.T) {
	home, ids := t.TempDir(), map[uint16][]string{}
	for i := range 6 {
		for port, latency := range map[uint16]time.Duration{8080: time.Millisecond, 8081: 2 * time.Millisecond} {
			id := storeRun(t, home, 2*i+int(port-8080), port, latency+time.Duration(i)*time.Microsecond, 0.2)
			ids[port] = append(ids[port], id)
		}
	}
	tab := openHome(t, home, `document.querySelectorAll("#results .card").length === 12`)
	compare := func(n int) string {
		t.Helper()
		query := url.Values{"id": append(append([]string{}, ids[8080][:n]...), ids[8081][:n]...)}
		tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + "/compare?" + query.Encode())
		tab.AwaitNavigation(`document.querySelector("#answer .sentence") !== null`)
		want := "dyno compare " + strings.Join(ids[8080][:n], ",") + " " + strings.Join(ids[8081][:n], ",")
		if command := tab.ElementText("main > div > .command pre"); command != want {
			t.Errorf("the command is %q, want %q", command, want)
		}
		return tab.ElementText("#answer")
	}
	if text := compare(2); !strings.Contains(text, "4 more runs of A and 4 more runs of B") || !strings.Contains(text, "dyno vs http://127.0.0.1:8080/ http://127.0.0.1:8081/ -c 2") {
		t.Errorf("of two runs each: %q", text)
	}
	if text := compare(6); !strings.Contains(text, "127.0.0.1:8081 (B) answers fewer requests/s than 127.0.0.1:8080 (A): −49.9 %") ||
		!strings.Contains(text, "95 % interval") {
		t.Errorf("of six runs each: %q", text)
	}
	follow(tab, `a.button[href^="/lab?"]`)
	tab.AwaitNavigation(`document.querySelector("#vs") !== null`)
	if got := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#vs input")].map((e) => e.value)`); strings.Join(got, " ") !=
		"http://127.0.0.1:8080/ http://127.0.0.1:8081/ 2  1       " {
		t.Errorf("the form has %q", got)
	}
}

// The line of a load shows where its results changed.
func TestCardsHaveChangePoints(t *testing.T) {
	home := t.TempDir()
	for i := range 16 {
		latency := time.Millisecond + time.Duration(i%3)*time.Microsecond
		if i >= 8 {
			latency *= 2
		}
		storeRun(t, home, i, 8080, latency, 0.2)
	}
	tab := openHome(t, home, `document.querySelector(".card svg.spark .turn") !== null`)
	if n := pagetest.Evaluate[int](tab, `document.querySelector(".card svg.spark").querySelectorAll(".turn").length`); n != 1 {
		t.Errorf("%d change points", n)
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll(".card").length`); n != 12 {
		t.Errorf("%d cards at first", n)
	}
	press(tab, "#more-cards")
	tab.WaitUntil(`document.querySelectorAll(".card").length === 16 && document.querySelector("#more-cards").hidden`)
	pagetest.Evaluate[bool](tab, `(() => { const e = document.querySelector("#filter"); e.value = "nothing like it";
		return e.dispatchEvent(new Event("input")); })()`)
	tab.WaitUntil(`document.querySelectorAll(".card").length === 0`)
}

// Job 4: an experiment is begun, its progress is seen on the page of results, and then what it found.
func TestJobBeginAnExperiment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are started on Linux only")
	}
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "small.yaml"), []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	d := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", "127.0.0.1:0", "--experiments", files)
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	follow(tab, `nav a[href="/lab"]`)
	tab.WaitUntil(`document.querySelector("#begin") !== null`)
	pagetest.Evaluate[bool](tab, `(() => { const e = document.querySelector("#experiment"); e.value = "small.yaml";
		return e.dispatchEvent(new Event("change")); })()`)
	offered := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#experiment option")].some((e) => e.textContent === %q)`, name)
	}
	if !pagetest.Evaluate[bool](tab, offered("small (small.yaml)")) || !pagetest.Evaluate[bool](tab, offered("hello")) {
		t.Errorf("the experiments are %q", tab.ElementText("#experiment"))
	}
	later := strings.Replace(small, "name: small", "name: later", 1) // the list has what comes
	if err := os.WriteFile(filepath.Join(files, "x.yaml"), []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	tab.WaitUntil(offered("later (x.yaml)"))
	if chosen := pagetest.Evaluate[string](tab, `document.querySelector("#experiment").value`); chosen != "small.yaml" {
		t.Errorf("the list has come anew, and %q is chosen", chosen)
	}
	press(tab, "#begin button[type=submit]")
	tab.AwaitNavigation(`document.querySelector("[data-state=running]") !== null`)
	other := chromium.OpenTab(t)
	other.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/"`))
	other.AwaitNavigation(`document.querySelector("#labs progress") !== null || document.querySelector("#labs .said > .mark") !== null`)
	tab.AwaitNavigation(`document.querySelector("[data-state=complete]") !== null && document.querySelector("#answer .sentence") !== null`)
	other.WaitUntil(`document.querySelector("#labs .said > .mark") !== null`) // by itself
	if said := other.ElementText("#labs .said"); said == "" {
		t.Error("the list does not say what was found")
	}
}

// Job 4, of one's own servers: two that run are compared in turns, from their URLs, as dyno vs does.
func TestJobCompareMyServers(t *testing.T) {
	t.Parallel()
	one, other, home := target(t), target(t), t.TempDir()
	tab := openHome(t, home, `document.querySelector("#results .begin") !== null`)
	query := url.Values{"url": {one, "http://192.0.2.1/"}, "connections": {"2"}, "rounds": {"6"}, "max-time": {"10s"}}
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + "/lab?" + query.Encode())
	tab.AwaitNavigation(`document.querySelector("#vs") !== null && !document.body.textContent.includes("Looking")`)
	if command := tab.ElementText("#vs .command pre"); command != "dyno vs -c 2 --max-time 10s --rounds 6 "+one+" http://192.0.2.1/" {
		t.Errorf("the command is %q", command)
	}
	press(tab, "#vs button[type=submit]")
	tab.WaitUntil(`document.querySelector("#vs .banner, #vs [aria-live] > *") !== null`)
	if said := tab.ElementText("#vs"); !strings.Contains(said, "--allow-target") {
		t.Errorf("of a server elsewhere it says %q", said)
	}
	tab.Complaints() // the browser notes each answer that is no success
	pagetest.Evaluate[bool](tab, fmt.Sprintf(`(document.querySelector("#versus-url2").value = %q, true)`, strings.TrimPrefix(other, "http://")))
	press(tab, "#vs button[type=submit]")
	tab.AwaitNavigation(`document.querySelector("[data-state=complete]") !== null && document.querySelector("#answer .sentence") !== null`)
	if n := pagetest.Evaluate[int](tab, `Number(document.querySelector("[data-key=done]").dataset.value)`); n < 18 { // more if some are repeated
		t.Errorf("%d trials were done", n)
	}
	if said := tab.ElementText("#state"); strings.Contains(said, "exit status") {
		t.Errorf("it says %q", said)
	}
	for report := filepath.Join(home, "experiments", "*", "report.html"); ; time.Sleep(50 * time.Millisecond) {
		if all, _ := filepath.Glob(report); len(all) > 0 { // it writes no more into a folder that is to be removed
			return
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// Job 5: the page of a result is one file that needs no dashboard, and its summary is Markdown.
func TestJobSendAColleagueThePage(t *testing.T) {
	home := t.TempDir()
	id := storeRun(t, home, 1, 8080, time.Millisecond, 0.2)
	tab := openHome(t, home, `document.querySelector("#results .card .toolbar button") !== null`)
	link := fmt.Sprintf(`[data-id="%s"] a[download]`, id)
	if name := pagetest.Evaluate[string](tab, fmt.Sprintf(`document.querySelector(%q).download`, link)); name != id+".html" {
		t.Errorf("the file is called %q", name)
	}
	page := pagetest.Evaluate[string](tab, fmt.Sprintf(`fetch(document.querySelector(%q).href).then((r) => r.text())`, link))
	alone := chromium.OpenPage(t, []byte(page))
	if sentence := alone.ElementText("#answer .sentence"); !strings.Contains(sentence, "2,000") {
		t.Errorf("the page that was sent says %q", sentence)
	}
	copied := pagetest.Evaluate[string](tab, `new Promise((done) => {
		Object.defineProperty(navigator, "clipboard", {value: {writeText: (text) => { done(text); return Promise.resolve(); }}});
		document.querySelector("#results .card .toolbar button").click();
	})`)
	if !strings.HasPrefix(copied, "**") || !strings.Contains(copied, "| --- |") && !strings.Contains(copied, "|---") ||
		!strings.Contains(copied, "dyno run") {
		t.Errorf("what is copied is %q", copied)
	}
}

// The pages of the dashboard can be used by everybody: axe-core finds nothing, light or dark, wide
// or on a telephone, where no page scrolls sideways. Of a page's four looks the two that differ in
// colours alone from another are held to the rule about colours alone.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("..", "page", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v; npm --prefix internal/view/page/web ci installs it", err)
	}
	home, empty := t.TempDir(), t.TempDir()
	a, b := storeRun(t, home, 1, 8080, time.Millisecond, 0.2), storeRun(t, home, 2, 8080, 2*time.Millisecond, 0.98)
	for _, c := range []struct{ name, home, path, ready string }{
		{"nothing stored", empty, "/", `document.querySelector("#results .begin") !== null`},
		{"results", home, "/", `document.querySelectorAll(".card .said > .mark").length === 2`},
		{"results as a table", home, "/#as=table", `document.querySelector("#results tbody") !== null`},
		{"form", home, "/live", `document.querySelector("#form") !== null`},
		{"compare", home, "/compare?id=" + a + "&id=" + b, `document.querySelector("#answer") !== null`},
		{"experiments", home, "/lab", `document.querySelector("#begin") !== null && !document.body.textContent.includes("Looking")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := openHome(t, c.home, `document.querySelector("main") !== null`)
			tab.Navigate(pagetest.Evaluate[string](tab, `location.origin`) + c.path)
			tab.AwaitNavigation(c.ready)
			pagetest.Evaluate[struct{}](tab, string(axe)+"; undefined")
			pagetest.Evaluate[bool](tab, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
			for _, width := range []int64{1280, 390} {
				for _, dark := range []bool{false, true} {
					tab.SetViewport(width, 844, dark)
					when := fmt.Sprintf("%d pixels, dark %v", width, dark)
					for _, bad := range append(tab.Misplaced(), brokenRules(tab, dark == (width == 1280))...) {
						t.Errorf("%s: %s", when, bad)
					}
				}
			}
		})
	}
}

// brokenRules are axe-core's rules, or that about colours alone, that the page breaks, with the first
// place.
func brokenRules(tab *pagetest.Tab, colours bool) []string {
	rules := ""
	if colours {
		rules = `, runOnly: { type: "rule", values: ["color-contrast"] }`
	}
	return pagetest.Evaluate[[]string](tab, `axe.run(document, { resultTypes: ["violations"], selectors: false`+rules+` }).then((r) =>
		r.violations.map((v) => v.id + ": " + v.help + ", first " + v.nodes[0].html.slice(0, 200) + ": " + v.nodes[0].failureSummary))`)
}
