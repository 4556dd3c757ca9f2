package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/cli"
	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/store"
	"dyno/internal/view/page/pagetest"
	"dyno/internal/view/serve"
)

// beDyno makes this program dyno, and what it starts too.
const beDyno = "DYNO_TEST_IS_DYNO"

var chromium pagetest.Browser

func TestMain(m *testing.M) {
	if os.Getenv(beDyno) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	chromium.Close()
	os.Exit(code)
}

// A process is dyno at work.
type process struct {
	*exec.Cmd
	home   string
	said   string          // by dyno: the first line of its stdout
	stdout strings.Builder // of run
	stderr io.Reader       // of run
}

// builtEnv names the dyno that make test has built, without the race detector.
const builtEnv = "DYNO_E2E_BINARY"

// program is the dyno that tests start: the one that make test has built, because starts of this
// program, with the race detector, would take a quarter of the tests' CPU time. It is this program if
// none was built, and with DYNO_RACE=1, which CI sets.
func program(t testing.TB) string {
	t.Helper()
	if built := os.Getenv(builtEnv); built != "" && os.Getenv("DYNO_RACE") == "" {
		return built
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// command is dyno with its results in home.
func command(t testing.TB, home string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program(t), args...), home: home}
	p.Env = append(os.Environ(), beDyno+"=1", "DYNO_HOME="+home, "GORACE=atexit_sleep_ms=20")
	t.Cleanup(p.end)
	return p
}

// dyno starts dyno, and waits for its first line.
func dyno(t testing.TB, home string, args ...string) *process {
	t.Helper()
	p := command(t, home, args...)
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	p.Stderr = &stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.end()
		t.Fatalf("dyno %q said nothing: %s", args, stderr.String())
	}
	p.said = lines.Text()
	return p
}

// run starts dyno, and leaves its stderr to the caller.
func run(t testing.TB, home string, args ...string) *process {
	t.Helper()
	p := command(t, home, args...)
	p.Stdout = &p.stdout
	var err error
	if p.stderr, err = p.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end ends it at once, unless it has.
func (p *process) end() {
	if p.ProcessState == nil {
		p.Process.Kill()
		p.Wait()
	}
}

// target is the URL of a server to load.
func target(t testing.TB) string {
	t.Helper()
	said := dyno(t, t.TempDir(), "target", "--listen", "127.0.0.1:0", "--workers", "4", "--service",
		"constant:1ms").said
	i := strings.Index(said, "http://")
	if i < 0 {
		t.Fatalf("dyno target said %q", said)
	}
	address, _, _ := strings.Cut(said[i:], " ")
	return address
}

// fill enters values into the form's fields.
func fill(tab *pagetest.Tab, fields map[string]string) {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings
	}
	tab.WaitUntil(`document.querySelector("#form") !== null`)
	pagetest.Evaluate[bool](tab, fmt.Sprintf(`Object.entries(%s).every(([name, value]) => {
		const e = document.getElementById("field-" + name) ?? document.querySelector("[name=" + name + "]");
		e.value = value;
		return e.dispatchEvent(new Event("input", {bubbles: true})) && e.dispatchEvent(new Event("change", {bubbles: true})); })`, b))
}

// follow opens what a link leads to.
func follow(tab *pagetest.Tab, selector string) {
	tab.Navigate(pagetest.Evaluate[string](tab, fmt.Sprintf(`document.querySelector(%q).href`, selector)))
}

// press clicks an element, wherever it is on the page: that scrolls smoothly, and what is
// moving may be missed.
func press(tab *pagetest.Tab, selector string) {
	pagetest.Evaluate[bool](tab, fmt.Sprintf(`(document.querySelector(%q).click(), true)`, selector))
}

// leave has the page closed, and forgets what it complained of.
func leave(tab *pagetest.Tab) {
	tab.Navigate("about:blank")
	tab.Complaints()
}

// A load is begun from the form, is seen while it runs, second by second, is stopped by the
// button, and leaves a report that has its numbers.
func TestLoadInTheBrowser(t *testing.T) {
	address := target(t)
	d := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	tab.WaitUntil(`location.search === "" && document.querySelector("#results .begin") !== null`)
	if where := pagetest.Evaluate[string](tab, `document.cookie`); where != "" {
		t.Errorf("scripts see the cookie: %q", where)
	}
	follow(tab, `nav a[href="/live"]`)
	tab.WaitUntil(`document.querySelector("[data-state=idle]") !== null`)

	fill(tab, map[string]string{"load": "rate"})
	fill(tab, map[string]string{"url": address, "rate": "fast", "duration": "-1", "http": "2"})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("#field-rate-fault").textContent !== ""`)
	for field, want := range map[string]string{"rate": `"fast" is not a rate`, "duration": "negative"} {
		if got := tab.ElementText("#field-" + field + "-fault"); !strings.Contains(got, want) {
			t.Errorf("the fault of %s is %q, want %q", field, got, want)
		}
	}
	fill(tab, map[string]string{"url": "http://192.0.2.1/", "rate": "200", "duration": "60s", "http": ""})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("#field-url-fault").textContent.includes("--allow-target")`)
	tab.Complaints() // the browser notes each answer that is no success

	fill(tab, map[string]string{"url": address})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("[data-state=running]") !== null`)
	total := `Number(document.querySelector('[data-key="total.completed"]')?.dataset.value ?? 0)`
	tab.WaitUntil(total + ` > 0`)
	first := pagetest.Evaluate[float64](tab, total)
	tab.WaitUntil(fmt.Sprintf(`%s > %v && document.querySelector("#throughput svg") !== null`, total, first))
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("figure.view svg[aria-hidden] path").length`); n < 4 {
		t.Errorf("%d curves are drawn", n)
	}
	if words := tab.ElementText("[data-state=running]"); !strings.Contains(words, "200/s") {
		t.Errorf("the load is %q", words)
	}
	spansAreNamed(t, tab)
	press(tab, "#stop")
	tab.WaitUntil(`document.querySelector("[data-state=ended]")?.dataset.ended === "interrupted"`)
	shown := pagetest.Evaluate[float64](tab, `Number(document.querySelector('[data-key="requests.completed"]').dataset.value)`)
	answered, span := tab.NumbersByPath()["rate.completed"], tab.ElementText("#span")
	if !strings.HasPrefix(span, "The whole load: ") || answered == "" || tab.NumbersByPath()["now.in_flight"] != "" {
		t.Errorf("at its end the load is %q, %q and %q in flight", span, answered, tab.NumbersByPath()["now.in_flight"])
	}
	follow(tab, "#report")
	tab.AwaitFigures()
	id := strings.TrimPrefix(pagetest.Evaluate[string](tab, `location.pathname`), "/results/")
	r, err := dynohome.OpenID(d.home, id)
	if err != nil {
		t.Fatal(err)
	}
	if float64(r.Requests.Completed) != shown {
		t.Errorf("%v were shown completed, and %d were", shown, r.Requests.Completed)
	}
	if got := tab.NumbersByPath()["requests.errors"]; got != strconv.FormatInt(r.Requests.Errors, 10) {
		t.Errorf("the report has %q errors, the result %d", got, r.Requests.Errors)
	}
}

// streamTarget is a server of streams of 20 events each.
func streamTarget(t testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 {
			io.WriteString(w, "data: x\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A load of streams is seen with its first events and gaps while it runs, and so are its first events
// and their rate in the list of results.
func TestStreamsInTheBrowser(t *testing.T) {
	d := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	tab.WaitUntil(`location.search === "" && document.querySelector("#results .begin") !== null`)
	follow(tab, `nav a[href="/live"]`)
	tab.WaitUntil(`document.querySelector("[data-state=idle]") !== null`)
	fill(tab, map[string]string{"url": streamTarget(t), "connections": "5", "duration": "60s", "stream": "sse"})
	press(tab, "#form button[type=submit]")
	tab.WaitUntil(`document.querySelector("[data-state=running]") !== null`)
	for _, figure := range []string{"first-events", "gaps"} {
		tab.WaitUntil(fmt.Sprintf(`document.querySelector("#%s svg") !== null && document.querySelector("#%s").offsetParent !== null`, figure, figure))
	}
	tab.WaitUntil(`Number(document.querySelector('[data-key="now.gap_p99_us"]')?.dataset.value ?? 0) > 1000`)
	spansAreNamed(t, tab)
	press(tab, "#stop")
	tab.WaitUntil(`document.querySelector("[data-state=ended]") !== null`)
	for _, as := range []string{"", "#as=table"} {
		tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/`+as+`"`))
		tab.WaitUntil(`document.querySelector("#results [data-key='0.streams.0.value']") !== null`)
		text := tab.ElementText("#results")
		for _, of := range store.ListedOfStreams {
			if !strings.Contains(text, of.Head) && of.Measure != "first_event_p99" { // which a short load has not
				t.Errorf("the results %s have no %q", as, of.Head)
			}
		}
	}
}

// spansAreNamed fails the test unless each figure of a load says of what time it is: of the last
// second, of now, or of all so far.
func spansAreNamed(t *testing.T, tab *pagetest.Tab) {
	t.Helper()
	names := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#now dt")].map((e) => e.textContent)`)
	if len(names) < 6 {
		t.Errorf("%d figures: %q", len(names), names)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ", last second") && !strings.HasSuffix(name, " so far") && !strings.HasSuffix(name, " now") {
			t.Errorf("%q does not say of what time", name)
		}
	}
}

// When the dashboard ends the page says so, and how to begin it again; when that is done the page
// goes on by itself.
func TestReconnects(t *testing.T) {
	home := t.TempDir()
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:"+freePort(t))
	at, err := url.Parse(d.said)
	if err != nil {
		t.Fatal(err)
	}
	tab := chromium.OpenTab(t)
	tab.Navigate(strings.Replace(d.said, "/?", "/live?", 1))
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "open"`)
	d.end()
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "lost"`)
	if said := tab.ElementText("#connection pre"); said != "dyno serve --listen "+at.Host {
		t.Errorf("the page says %q", said)
	}
	again := dyno(t, home, "serve", "--no-open", "--listen", at.Host)
	if again.said == d.said {
		t.Error("the token is the one it was")
	}
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "open" &&
		document.querySelector("[data-state=idle]") !== null`)
	if said := tab.ElementText("#connection"); said != "Connected again." {
		t.Errorf("the page says %q", said)
	}
	leave(tab) // it complained of the connections that were refused
}

// A dashboard that does not know the browser, because it keeps another store, says what to do; the
// page goes on when that was done in another tab.
func TestIsLetInAgain(t *testing.T) {
	d := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", "127.0.0.1:"+freePort(t))
	at, err := url.Parse(d.said)
	if err != nil {
		t.Fatal(err)
	}
	tab := chromium.OpenTab(t)
	tab.Navigate(strings.Replace(d.said, "/?", "/live?", 1))
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "open"`)
	d.end()
	again := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", at.Host)
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "shut"`)
	if shown := tab.ElementText("#connection"); !strings.Contains(shown, "dyno serve --listen "+at.Host) {
		t.Errorf("the page shows %q", shown)
	}
	other := chromium.OpenTab(t)
	other.Navigate(again.said)
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "open" &&
		document.querySelector("[data-state=idle]") !== null`)
	leave(tab)
}

// freePort is one that nobody has at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// A link from another site opens the page that it leads to, with what its address says; for
// somebody who was not let in it does not.
func TestLinkFromAnotherSite(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><a href="%s">there</a>`,
			html.EscapeString(r.URL.Query().Get("to")))
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) // which is another site
	d := dyno(t, t.TempDir(), "serve", "--no-open", "--listen", "127.0.0.1:0")
	base, _, _ := strings.Cut(d.said, "/?")
	tab := chromium.OpenTab(t)
	open := func() {
		t.Helper()
		tab.Navigate(elsewhere + "/?to=" + url.QueryEscape(base+"/live?a=b&c=%2F#theme=dark"))
		press(tab, "a")
	}
	open()
	tab.AwaitNavigation(`document.body.textContent.includes("has not been let in")`)
	tab.Complaints() // of the answer 401
	tab.Navigate(d.said)
	tab.AwaitNavigation(`document.querySelector("#results") !== null`)
	open()
	tab.AwaitNavigation(`document.querySelector("#connection")?.dataset.connection === "open"`)
	if at, want := pagetest.Evaluate[string](tab, `location.href`), base+"/live?a=b&c=%2F#theme=dark"; at != want {
		t.Errorf("the link leads to %s, want %s", at, want)
	}
	if by := pagetest.Evaluate[string](tab, `document.referrer`); strings.Contains(by, elsewhere) {
		t.Errorf("the page knows where the link was: %s", by)
	}
	leave(tab)
}

// An experiment that another dyno runs is seen from its first trial to its last.
func TestLabInTheBrowser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are started on Linux only")
	}
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "<i>watched")
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	running := run(t, home, "lab", "run", "-o", dir, file)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "experiment.json")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the experiment does not begin")
		}
	}
	d.end()
	d = dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0", dir)
	tab.Navigate(d.said)
	tab.WaitUntil(`document.querySelector("#labs a") !== null`)
	follow(tab, "#labs a")
	done := `Number(document.querySelector('[data-key="done"]')?.dataset.value ?? -1)`
	tab.WaitUntil(`document.querySelector("[data-state=running]") !== null && ` + done + ` >= 0`)
	seen := pagetest.Evaluate[float64](tab, done)
	tab.WaitUntil(fmt.Sprintf(`%s > %v`, done, seen))
	tab.WaitUntil(`document.querySelector("[data-state=complete]") !== null`)
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	r, err := judge.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, trial := range r.Trials {
		want, has := trial.Values["throughput"]
		if !has { // a busy machine spoiled it, and it was made again
			continue
		}
		measured++
		key := "trials." + trial.ID + ".throughput"
		shown := tab.NumbersByPath()[key]
		if got, err := strconv.ParseFloat(shown, 64); err != nil || got != want {
			t.Errorf("%s is %q, want %v", key, shown, want)
		}
	}
	all := len(r.Trials)
	if all < 4 || measured == 0 || !strings.Contains(tab.ElementText("#state"), fmt.Sprintf("%d of %d trials", all, all)) {
		t.Errorf("%d trials: %s", len(r.Trials), tab.ElementText("#state"))
	}
	follow(tab, `a[href$="/report"]`)
	tab.AwaitFigures()
	if !strings.Contains(tab.ElementText("h1"), "small") {
		t.Errorf("the report is of %q", tab.ElementText("h1"))
	}
	stored, err := os.ReadFile(filepath.Join(dir, "experiment.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := pagetest.Evaluate[map[string]string](tab, `Object.fromEntries([...document.querySelectorAll("header .actions a")].map((a) => [a.textContent, a.href]))`)
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/"`)) // a report may fetch nothing
	for name, want := range map[string]string{"JSON": string(stored), "Markdown": "small", "CSV": "throughput"} {
		got := pagetest.Evaluate[string](tab, fmt.Sprintf(`fetch(%q).then(async (r) => r.ok ? r.text() : "")`, files[name]))
		if !strings.Contains(got, want) {
			t.Errorf("as %s, %s, it is %.500s", name, files[name], got)
		}
	}
}

// An experiment is chosen on the page, from those that ship and those of a folder, is seen while it
// runs and is stopped; another one runs to its end, and has a report.
func TestLabBeganInTheBrowser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are started on Linux only")
	}
	home, files := t.TempDir(), t.TempDir()
	long := strings.Replace(strings.Replace(small, "rounds: 2", "rounds: 200", 1), "name: small", "name: long", 1)
	for name, content := range map[string]string{"small.yaml": small, "long.yml": long, "bad.yaml": "version: 1\nfrob: 2\n",
		"notes.txt": "version: 1\n"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0", "--experiments", files)
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	follow(tab, `nav a[href="/lab"]`)
	tab.WaitUntil(`document.querySelector("#begin") !== null`)
	offered := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll("#experiment option")].map((o) => o.value)`)
	want := []string{"dump-request", "hello", "load-generators", "nginx-in-front-of-go", "nginx-settings", "nginx-tuning", "redirects", "token-streams",
		"bad.yaml", "long.yml", "small.yaml"}
	if !slices.Equal(offered, want) {
		t.Errorf("offered are %q, want %q", offered, want)
	}
	choose := func(id string, quick bool) {
		t.Helper()
		pagetest.Evaluate[bool](tab, fmt.Sprintf(`(() => { const e = document.querySelector("#experiment");
			e.value = %q; e.dispatchEvent(new Event("change"));
			if (document.querySelector("#quick").checked !== %v) document.querySelector("#quick").click();
			return true; })()`, id, quick))
	}
	choose("bad.yaml", false)
	if said := tab.ElementText("#begin .banner"); !strings.Contains(said, "bad.yaml:2:1") ||
		!pagetest.Evaluate[bool](tab, `document.querySelector("#begin button[type=submit]").disabled`) {
		t.Errorf("of a file with a fault the page says %q", said)
	}
	choose("long.yml", false)
	if plan := tab.ElementText("#plan"); !strings.Contains(plan, "200 rounds") {
		t.Errorf("the plan is %q", plan)
	}
	choose("long.yml", true)
	if plan := tab.ElementText("#plan"); strings.Contains(plan, "200 rounds") {
		t.Errorf("the quick plan is %q", plan)
	}
	choose("long.yml", false)
	press(tab, "#begin button[type=submit]")
	tab.AwaitNavigation(`location.search.startsWith("?id=long-") && document.querySelector("[data-state=running]") !== null`)
	done := `Number(document.querySelector('[data-key="done"]')?.dataset.value ?? -1)`
	tab.WaitUntil(done + ` > 0 && document.querySelectorAll("#queue tbody tr").length === 20 &&
		document.querySelector("#state").textContent.includes("left")`)
	if status := pagetest.Evaluate[int](tab, `fetch("/api/load", {method: "POST", body: '{"url":"http://127.0.0.1:1/"}'})
		.then((r) => r.status)`); status != http.StatusConflict {
		t.Errorf("a load beside it: %d", status)
	}
	tab.Complaints()
	press(tab, "#stop")
	tab.WaitUntil(`document.querySelector("[data-state=interrupted]") !== null && document.querySelector("#resume")?.offsetParent`)
	if pagetest.Evaluate[bool](tab, `document.querySelector("#stop").offsetParent !== null`) {
		t.Error("there is still a button to stop it")
	}
	stopped := pagetest.Evaluate[float64](tab, done)
	press(tab, "#resume")
	tab.WaitUntil(fmt.Sprintf(`document.querySelector("[data-state=running]") !== null && document.querySelector("#stop").offsetParent && %s > %v`, done, stopped))
	press(tab, "#stop")
	tab.WaitUntil(`document.querySelector("#resume")?.offsetParent`)
	follow(tab, `nav a[href="/lab"]`)
	tab.WaitUntil(`document.querySelector("#begin") !== null`)
	choose("small.yaml", true)
	press(tab, "#begin button[type=submit]")
	tab.AwaitNavigation(`location.search.startsWith("?id=small-") && document.querySelector("[data-state=complete]") !== null &&
		document.querySelector("#stop").offsetParent === null`) // its process has ended, and writes no more
	id := pagetest.Evaluate[string](tab, `new URLSearchParams(location.search).get("id")`)
	r, err := judge.Open(filepath.Join(home, "experiments", id))
	if err != nil || !r.Quick || len(r.Trials) == 0 {
		t.Fatalf("stored is %+v, %v", r, err)
	}
	follow(tab, `a[href$="/report"]`)
	tab.AwaitFigures()
	if !strings.Contains(tab.ElementText("h1"), "small") {
		t.Errorf("the report is of %q", tab.ElementText("h1"))
	}
}

// An experiment does not outlive its dashboard, however that ends: it stops, and can be resumed.
func TestExperimentOfAKilledDashboard(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("servers are started on Linux only")
	}
	home, files := t.TempDir(), t.TempDir()
	long := strings.Replace(strings.Replace(small, "rounds: 2", "rounds: 200", 1), "name: small", "name: long", 1)
	if err := os.WriteFile(filepath.Join(files, "long.yaml"), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0", "--experiments", files)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	base, _, _ := strings.Cut(d.said, "/?")
	var begun struct{ ID string }
	for _, ask := range []func() (*http.Response, error){
		func() (*http.Response, error) { return browser.Get(d.said) },
		func() (*http.Response, error) {
			return browser.Post(base+"/api/labs", "application/json", strings.NewReader(`{"experiment":"long.yaml"}`))
		},
	} {
		answer, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		json.NewDecoder(answer.Body).Decode(&begun) // of the second
		answer.Body.Close()
	}
	dir := filepath.Join(home, "experiments", begun.ID)
	within := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s does not come to it", begun.ID, what)
			}
		}
	}
	within("a trial", func() bool {
		trials, _ := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
		return len(trials) > 0
	})
	d.end()
	within("an end", func() bool {
		h, err := lab.ReadHeading(dir)
		return err == nil && h.State == lab.Interrupted
	})
	within("letting go of its folder", func() bool {
		release, err := lab.LockFolder(dir)
		return err == nil && release() == nil
	})
	within("a report, the last that it writes", func() bool {
		_, err := os.Stat(filepath.Join(dir, "report.html"))
		return err == nil
	})
}

// watchLoad is a load of that length as a page shows it, to which the test adds intervals. end ends it.
func watchLoad(t *testing.T, length time.Duration) (show *serve.Show, tab *pagetest.Tab, end func()) {
	s, err := serve.New(serve.Config{Listen: "127.0.0.1:0", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1/", Host: "127.0.0.1", Port: 80}
	p.Duration = loadplan.Seconds(length)
	if show, err = s.Show(p, func() {}); err != nil {
		t.Fatal(err)
	}
	tab = chromium.OpenTab(t)
	tab.Navigate(s.URL("/live"))
	return show, tab, func() {
		leave(tab)
		show.End(nil, fmt.Errorf("the test is over"))
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A plot that has the keyboard keeps it while the load goes on, and so does its cursor.
func TestLivePlotKeepsTheKeyboard(t *testing.T) {
	show, tab, end := watchLoad(t, time.Minute)
	n := 0
	play := func(seconds int) {
		for range seconds {
			at := time.Duration(n) * time.Second
			show.Interval(loadresult.Interval{Index: n, From: at, To: at + time.Second, Sent: 1000, Completed: int64(1000 + n)})
			n++
		}
		tab.WaitUntil(fmt.Sprintf(`document.querySelector("#progress")?.dataset.value === "%d" &&
			document.querySelector("#throughput .foot").textContent.includes("n = %d ")`, n, n))
	}
	type shown struct {
		Focused string // the figure that has the keyboard
		Readout string
	}
	look := func() shown {
		return pagetest.Evaluate[shown](tab, `({Focused: document.activeElement.closest("figure")?.id ?? "",
			Readout: document.querySelector("#throughput .readout").textContent})`)
	}
	key := func(name string) {
		pagetest.Evaluate[bool](tab, fmt.Sprintf(`document.activeElement.dispatchEvent(
			new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: true}))`, name))
	}
	play(5)
	tab.WaitUntil(`(plot => plot !== null && (plot.focus(), true))(document.querySelector("#throughput [role=img]"))`)
	key("ArrowRight")
	key("ArrowRight")
	want := shown{"throughput", "2.0 s: sent 1,000, completed 1,001"}
	for range 3 {
		if got := look(); got != want {
			t.Errorf("after %d seconds: %+v, want %+v", n, got, want)
		}
		play(5)
	}
	key("ArrowRight")
	want.Readout = "3.0 s: sent 1,000, completed 1,002"
	if got := look(); got != want {
		t.Errorf("one step on: %+v, want %+v", got, want)
	}
	end()
}

// The plots of a load end where it ends: while its last answers are awaited, the page says so, and draws
// no more.
func TestLivePlotsEndWithTheLoad(t *testing.T) {
	show, tab, end := watchLoad(t, 10*time.Second)
	for n := range 14 {
		at := time.Duration(n) * time.Second
		show.Interval(loadresult.Interval{Index: n, From: at, To: at + time.Second, Completed: 1000, InFlight: 3})
	}
	tab.WaitUntil(`document.querySelector("#progress")?.dataset.value === "14" &&
		document.querySelector("#throughput .foot").textContent.includes("n = 10 seconds")`)
	if said := tab.ElementText("#progress"); !strings.Contains(said, "10.0 s are over; waiting for 3 answers") {
		t.Errorf("it says %q", said)
	}
	ticks := pagetest.Evaluate[[]string](tab, `[...document.querySelectorAll('#throughput text[data-axis=x]')].map((e) => e.textContent)`)
	if len(ticks) == 0 || ticks[len(ticks)-1] != "10" {
		t.Errorf("the axis has %q", ticks)
	}
	end()
}

// small is an experiment of a few seconds.
const small = `
version: 1
name: small
design: {rounds: 2, warmup: {min: 0, max: 0}, measure: 0.5s, cooldown: 0, metrics: [throughput]}
levels: [{name: c1, connections: 1, rate: 500}]
variants:
  one:
    processes: [{cmd: "{{dyno}} target --listen 127.0.0.1:{{port}}"}]
    url: http://127.0.0.1:{{port}}/
`

// dyno run --serve shows its run in the browser until it has ended and is interrupted.
func TestRunServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signal to send to another process")
	}
	p := run(t, t.TempDir(), "run", "--serve", "-c", "3", "-R", "500", "-d", "60s", "-q", target(t))
	lines := bufio.NewScanner(p.stderr)
	address := ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "watch it at ")
	}
	tab := chromium.OpenTab(t)
	tab.Navigate(address)
	total := `Number(document.querySelector('[data-key="total.completed"]')?.dataset.value ?? 0)`
	tab.WaitUntil(total + ` > 0`)
	if pagetest.Evaluate[bool](tab, `document.querySelector("#form") !== null`) {
		t.Error("there is a form")
	}
	press(tab, "#stop")
	tab.WaitUntil(`document.querySelector("[data-state=ended]")?.dataset.ended === "interrupted"`)
	shown := pagetest.Evaluate[float64](tab, `Number(document.querySelector('[data-key="requests.completed"]').dataset.value)`)
	follow(tab, "#report")
	tab.AwaitFigures()
	id := pagetest.Evaluate[string](tab, `location.pathname.replace("/results/", "")`)
	r, err := dynohome.OpenID(p.home, id)
	if err != nil {
		t.Fatal(err)
	}
	if float64(r.Requests.Completed) != shown || tab.NumbersByPath()["requests.errors"] != "0" {
		t.Errorf("%d were completed, the page had %v", r.Requests.Completed, shown)
	}
	leave(tab)
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	p.Wait()
	if code := p.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d of a run that was stopped", code)
	}
	if !strings.Contains(p.stdout.String(), "requests/s") {
		t.Errorf("it printed %q", p.stdout.String())
	}
}

// Pictures of the pages, for eyes: make screenshots.
func BenchmarkScreenshots(t *testing.B) {
	dir := os.Getenv("DYNO_SCREENSHOTS")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal("DYNO_SCREENSHOTS names no folder for pictures: ", err)
	}
	shoot := func(tab *pagetest.Tab, name string) {
		for _, width := range []int64{390, 1280, 2560} {
			for _, dark := range []bool{false, true} {
				tab.SetViewport(width, 900, dark)
				look := map[bool]string{false: "light", true: "dark"}[dark]
				tab.Screenshot(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, look)))
			}
		}
	}
	home := t.TempDir()
	url := target(t)
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(strings.Replace(d.said, "/?", "/live?", 1))
	for i, fields := range []map[string]string{{"url": url, "duration": "6", "rate": "300", "slo": "p99<20ms"},
		{"url": url, "duration": "3", "connections": "0"},
		{"url": url, "duration": "3", "connections": "2"},
		{"url": streamTarget(t), "duration": "3", "connections": "50", "stream": "sse"}} {
		fill(tab, map[string]string{"load": []string{"rate", "connections", "connections", "connections"}[i]})
		fill(tab, fields)
		if i == 0 {
			shoot(tab, "form")
		}
		press(tab, "#form button[type=submit]")
		if i == 1 {
			tab.WaitUntil(`document.querySelector("[aria-invalid]") !== null`)
			shoot(tab, "form-fault")
			tab.Complaints()
			continue
		}
		tab.WaitUntil(`document.querySelector("[data-state=running]") !== null &&
			document.querySelectorAll("#throughput path").length > 2`)
		if i == 0 {
			shoot(tab, "live")
		}
		tab.WaitUntil(`document.querySelector("[data-state=ended]") !== null`)
	}
	shoot(tab, "live-ended")
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/"`))
	tab.WaitUntil(`document.querySelectorAll("#results .card .why-not, #results .card .said > .mark").length > 1`)
	shoot(tab, "home")
	press(tab, "#as")
	shoot(tab, "home-table")
	press(tab, "#as")
	pagetest.Evaluate[int](tab, `[...document.querySelectorAll("#results input[type=checkbox]")].map((e) => e.click()).length`)
	follow(tab, "#compare")
	tab.WaitUntil(`document.querySelectorAll("main table").length > 1`)
	shoot(tab, "compare")
	if runtime.GOOS == "linux" {
		shootLab(t, tab, home, shoot)
	}
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/lab"`))
	tab.WaitUntil(`document.querySelector("#begin") !== null && document.querySelector("#labs .empty") === null`)
	shoot(tab, "experiments")
	if runtime.GOOS == "linux" {
		press(tab, "#quick")
		press(tab, "#begin button[type=submit]")
		tab.AwaitNavigation(`Number(document.querySelector('[data-key="done"]')?.dataset.value ?? 0) > 0`)
		shoot(tab, "lab-begun")
		press(tab, "#stop")
		tab.WaitUntil(`document.querySelector("[data-state=interrupted]") !== null`)
		shoot(tab, "lab-stopped")
	}
	d.end()
	tab.Navigate("about:blank")
	tab.Complaints()
	d = dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab.Navigate(strings.Replace(d.said, "/?", "/live?", 1))
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "open"`)
	d.end()
	tab.WaitUntil(`document.querySelector("#connection").dataset.connection === "lost"`)
	shoot(tab, "lost")
	leave(tab)
}

func shootLab(t testing.TB, tab *pagetest.Tab, home string, shoot func(*pagetest.Tab, string)) {
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(small, "rounds: 2", "rounds: 4", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	running := run(t, home, "lab", "run", file)
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/"`))
	for pagetest.Evaluate[bool](tab, `document.querySelector("#labs a") === null`) {
		tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/"`))
		tab.WaitUntil(`document.querySelector("#labs .empty")?.textContent !== "Looking …"`)
	}
	follow(tab, "#labs a")
	tab.WaitUntil(`Number(document.querySelector('[data-key="done"]')?.dataset.value ?? 0) > 1`)
	shoot(tab, "lab")
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
	tab.WaitUntil(`document.querySelector("[data-state=complete]") !== null`)
	shoot(tab, "lab-complete")
}

// Whatever a load or its server is called, it is text.
func TestNamesAreText(t *testing.T) {
	home := t.TempDir()
	evil := `http://127.0.0.1/<img src=x onerror=document.title=1>`
	var ids []string
	for i := range 2 {
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: evil, Host: "127.0.0.1", Port: 80}
		r, err := result.From(&loadresult.Result{Plan: p, Started: time.Now().Add(time.Duration(i) * time.Second),
			Ended: loadresult.ByDuration, Measured: time.Second, Total: metric.NewCounters()}, "<b>test</b>")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dynohome.Save(home, r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	d := dyno(t, home, "serve", "--no-open", "--listen", "127.0.0.1:0")
	tab := chromium.OpenTab(t)
	tab.Navigate(d.said)
	tab.WaitUntil(`document.querySelectorAll("#results .card .said > .mark").length === 2`)
	press(tab, "#results .card .foot button")
	pagetest.Evaluate[bool](tab, `(() => { const e = document.querySelector("#results .card input[type=text]");
		e.value = "<b>slow</b> #weekly"; e.dispatchEvent(new Event("change")); return true; })()`)
	tab.WaitUntil(`document.querySelector("#results .card .foot button")?.textContent === "<b>slow</b> #weekly"`)
	if said := tab.ElementText("#results .banner"); said != "" {
		t.Errorf("the note was kept, and the page says %q", said)
	}
	if tab.ElementText("body img, body b") != "" || pagetest.Evaluate[int](tab, `document.querySelectorAll("img, b").length`) > 0 {
		t.Error("on a card a name has become an element")
	}
	tab.Navigate(pagetest.Evaluate[string](tab, `location.origin + "/#as=table"`))
	tab.WaitUntil(`document.querySelectorAll("#results tbody tr").length === 2`)
	tab.WaitUntil(`document.querySelector("#results tbody td:last-child button")?.textContent === "<b>slow</b> #weekly"`)
	for range 2 {
		if tab.ElementText("body img, body b") != "" || pagetest.Evaluate[int](tab, `document.querySelectorAll("img, b").length`) > 0 {
			t.Error("a name has become an element")
		}
		if !strings.Contains(tab.ElementText("main"), "<img src=x") {
			t.Errorf("the name is not there: %s", tab.ElementText("main"))
		}
		pagetest.Evaluate[int](tab, `[...document.querySelectorAll("#results input[type=checkbox]")].map((e) => e.click()).length`)
		if pagetest.Evaluate[string](tab, `location.pathname`) == "/" {
			follow(tab, "#compare")
			tab.WaitUntil(`document.querySelectorAll("main table").length > 1`)
		}
	}
	for _, id := range ids {
		if !strings.Contains(tab.ElementText("main"), id) {
			t.Errorf("%s is not in the comparison", id)
		}
	}
}

// Two hours of seconds, as fast as they go: the page keeps one of them, and neither its
// document nor its heap grows on.
func TestPageIsBounded(t *testing.T) {
	s, err := serve.New(serve.Config{Listen: "127.0.0.1:0", Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	p := loadplan.DefaultPlan()
	p.Target, p.Rate = loadplan.Target{URL: "http://127.0.0.1/", Host: "127.0.0.1", Port: 80}, loadplan.RatePerSecond(1000)
	p.Duration = loadplan.Seconds(3 * time.Hour)
	show, err := s.Show(p, func() {})
	if err != nil {
		t.Fatal(err)
	}
	tab := chromium.OpenTab(t)
	tab.Navigate(s.URL("/live"))
	n := 0
	play := func(seconds int) (heap float64, nodes int) {
		for range seconds {
			at := time.Duration(n) * time.Second
			show.Interval(loadresult.Interval{Index: n, From: at, To: at + time.Second, Sent: 1000, Completed: 1000,
				LatencyTimes: loadresult.LatencyTimes{P50: 1e3, P99: float64(2+n%7) * 1e3, Max: 1e6}, Busy: 0.1})
			n++
		}
		tab.WaitUntil(fmt.Sprintf(`document.querySelector("#progress")?.dataset.value === "%d"`, n))
		if kept, want := tab.ElementText("#throughput .foot"), min(n, 3600); !strings.Contains(
			strings.ReplaceAll(kept, ",", ""), fmt.Sprintf("n = %d seconds", want)) {
			t.Errorf("after %d seconds: %q", n, kept)
		}
		return tab.MeasureHeap()
	}
	play(100)
	full, nodes := play(3600)
	heap, later := play(3600)
	if later > nodes+50 || later > 3000 {
		t.Errorf("%d nodes after an hour, %d after two", nodes, later)
	}
	if heap > full*1.3+2e6 {
		t.Errorf("%.1f MB after an hour, %.1f MB after two", full/1e6, heap/1e6)
	}
	t.Logf("%d nodes, %.1f MB after an hour; %d, %.1f MB after two", nodes, full/1e6, later, heap/1e6)
	tab.Navigate(s.URL("/live")) // late: it gets the last hour, and what was counted before
	tab.WaitUntil(fmt.Sprintf(`document.querySelector("#progress")?.dataset.value === "%d"`, n))
	if got, want := tab.NumbersByPath()["total.completed"], fmt.Sprint(1000*n); got != want {
		t.Errorf("a page that comes late says that %s were completed, and %s were", got, want)
	}
	leave(tab)
	show.End(nil, fmt.Errorf("the test is over"))
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
