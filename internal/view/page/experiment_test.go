package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"dyno/internal/view/page/pagetest"
)

// largest is what the page of 60 trials of 60 s may weigh.
const largest = 3_000_000

// experimentHTML is the page of a folder, and its data.
func experimentHTML(t testing.TB, dir string) (html []byte, data any) {
	t.Helper()
	var b bytes.Buffer
	if err := Experiment(&b, dir, ""); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), dataOf(t, b.Bytes())
}

// lookup finds what a path of the JSON leads to. Keys may have dots in them.
func lookup(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	switch v := v.(type) {
	case []any:
		index, rest, _ := strings.Cut(path, ".")
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return lookup(v[i], rest)
	case map[string]any:
		for end := 0; end <= len(path); end++ {
			if end < len(path) && path[end] != '.' {
				continue
			}
			child, there := v[path[:end]]
			if !there {
				continue
			}
			if found, ok := lookup(child, strings.TrimPrefix(path[end:], ".")); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// checkNumbers holds every number that the page shows against the data, and returns how many
// there are.
func checkNumbers(t *testing.T, shown map[string]string, data any) int {
	t.Helper()
	for path, text := range shown {
		want, there := lookup(data, path)
		if text == "null" && (!there || want == nil) {
			continue
		}
		got, err := strconv.ParseFloat(text, 64)
		if number, is := want.(float64); err != nil || !there || !is || number != got {
			t.Errorf("%s: the page shows %q and the JSON has %v", path, text, want)
		}
	}
	return len(shown)
}

// The page of 60 trials of 60 s is small enough, shows every view with its numbers, and takes
// no name for markup.
func TestExperimentPage(t *testing.T) {
	html, data := experimentHTML(t, experimentFolder(t, 10, 60))
	t.Logf("the page of 60 trials of 60 s has %d bytes", len(html))
	if len(html) >= largest {
		t.Errorf("%d bytes, at most %d", len(html), largest)
	}
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	for _, id := range []string{"decide", "forest-1", "forest-2", "trials-1", "trials-2", "machine", "spectrum-1", "spectrum-2", "shift-1",
		"shift-2", "cost-1", "cost-2", "server", "warmup-1", "warmup-2", "flames", "published"} {
		if n := pagetest.Evaluate[int](tab, fmt.Sprintf(
			`document.querySelectorAll("#%s .plot svg :is(path, rect, circle, line)").length`, id)); n < 3 {
			t.Errorf("%s: %d marks are drawn", id, n)
		}
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("#medians td svg.spark polyline").length`); n != 6 {
		t.Errorf("%d cells have a line of their trials", n)
	}
	inert(t, tab)
	tab.ShowTables()
	shown := tab.NumbersByPath()
	n := checkNumbers(t, shown, data)
	t.Logf("%d numbers", n)
	for _, path := range experimentNumbers(data) {
		if _, there := shown[path]; !there {
			t.Errorf("%s is not on the page", path)
		}
	}
}

// experimentNumbers are numbers that a page must have: of each list some of each entry.
func experimentNumbers(data any) (paths []string) {
	each := func(list string, of ...string) {
		all, _ := lookup(data, list)
		for i := range all.([]any) {
			for _, key := range of {
				paths = append(paths, fmt.Sprintf("%s.%d.%s", list, i, key))
			}
		}
	}
	each("record.verdicts", "ratio", "low", "high", "trials", "p_adjusted")
	each("record.parts", "cpu_us_per_request", "user_us_per_request", "system_us_per_request",
		"memory_bytes")
	each("record.trials", "round", "values.throughput", "values.p99")
	each("strip.steal_percent", "")
	each("comings", "ready.estimate", "steady.estimate")
	each("starts", "ready_s", "cut.cut_s", "cut.change", "cut.standard_errors")
	each("record.shifts.0.points", "ratio.estimate", "band.high")
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], ".")
	}
	return append(paths, "record.published.1.ratio", "record.published.1.ours_ratio", "record.spent_s",
		"record.fairness.rows.1.cells.1.percent", "record.profiles.0.top.0.flat.share",
		"record.host.cpus")
}

// inert fails if a name has become an element, or has been lost.
func inert(t *testing.T, tab *pagetest.Tab) {
	t.Helper()
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("img, b, body script:not([id=data]):not(:last-of-type)").length`); n > 0 {
		t.Errorf("%d elements were made of names", n)
	}
	text := pagetest.Evaluate[string](tab, `document.body.textContent`)
	for _, name := range []string{hostileArm, scripts, "<b>bold</b>", "<script>alert(2)</script>"} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is not on the page as text", name)
		}
	}
}

// What is drawn can be changed, and the address says so: the page reloaded shows the same.
func TestExperimentPageState(t *testing.T) {
	html, _ := experimentHTML(t, experimentFolder(t, 6, 2))
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	// What was drawn before a variant was left out is drawn no more.
	pagetest.Evaluate[chromedp.Void](tab, `{ window.old = document.querySelector("#medians-open"); window.was = old.querySelector("table");
		document.querySelector("#band-variants-2").click(); document.querySelector("#band-variants-2").click() }`)
	tab.AwaitFigures()
	pagetest.Evaluate[chromedp.Void](tab, `{ const e = document.querySelector("#medians-open select"); e.value = "p99";
		e.dispatchEvent(new Event("change")) }`)
	tab.WaitUntil(`document.querySelector("#medians-open th:nth-child(3)").textContent.includes("p99")`)
	if !pagetest.Evaluate[bool](tab, `old !== document.querySelector("#medians-open") && old.querySelector("table") === was`) {
		t.Error("what has left the page is drawn again, or has not left it")
	}
	boxes := `document.querySelectorAll("#flames g[data-box]").length`
	whole := pagetest.Evaluate[int](tab, boxes)
	pagetest.Evaluate[chromedp.Void](tab, `document.querySelector('#flames g[data-box="middle.3"]')
		.dispatchEvent(new MouseEvent("click"))`)
	tab.WaitUntil(boxes + fmt.Sprintf(" < %d", whole))
	pagetest.Evaluate[chromedp.Void](tab, `{ const e = document.querySelector("input[type=search]");
		e.value = "LEAF.1"; e.dispatchEvent(new Event("input")) }`)
	tab.WaitUntil(`document.querySelector("#flames").textContent.includes("“leaf.1” is in")`)
	hash := pagetest.Evaluate[string](tab, `location.hash`)
	if !strings.Contains(hash, "flames.zoom=") || !strings.Contains(hash, "flames.search=") {
		t.Errorf("the address says %q", hash)
	}
	pagetest.Evaluate[chromedp.Void](tab, `{ const e = document.querySelector("#server select"); e.value = "r500";
		e.dispatchEvent(new Event("change")) }`)
	tab.WaitUntil(`location.hash.includes("server.level=r500")`)
	// A variant that is left out is drawn nowhere, and its verdicts stay.
	lines := `document.querySelectorAll("#medians-open svg.spark").length`
	verdicts := pagetest.Evaluate[int](tab, `document.querySelectorAll('ul[aria-label="Verdicts"] li').length`)
	if folded := `document.querySelector('ul[aria-label="Verdicts"]').closest("details")?.open === false`; !pagetest.Evaluate[bool](tab, folded) {
		t.Error("the sentences that repeat the table of comparisons are not folded")
	}
	pagetest.Evaluate[chromedp.Void](tab, `document.querySelector("#band-variants-2").click()`)
	tab.WaitUntil(`location.hash.includes("variants.off=2") && ` + lines + ` === 2`)
	tab.AwaitFigures()
	if text := tab.ElementText("#warmup-1 .legend"); strings.Contains(text, hostileArm) || !strings.Contains(text, "go (A/A)") {
		t.Errorf("the legend is %q", text)
	}
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll('ul[aria-label="Verdicts"] li').length`); n != verdicts || n == 0 {
		t.Errorf("%d verdicts, and there were %d", n, verdicts)
	}
	pagetest.Evaluate[chromedp.Void](tab, `document.querySelector("#band-variants-2").click()`)
	pagetest.Evaluate[chromedp.Void](tab, `document.querySelector("#band-levels-0").click()`)
	tab.WaitUntil(lines + ` === 3 && document.querySelector("#forest-1") === null && document.querySelector("#forest-2") !== null`)
	// The file for speedscope is made when it is asked for.
	pagetest.Evaluate[chromedp.Void](tab, `{ const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.made = blob; return make(blob) };
		[...document.querySelectorAll(".files button")].find((e) => e.textContent === "speedscope").click() }`)
	tab.WaitUntil(`window.made !== undefined`)
	speedscope := pagetest.Evaluate[int](tab, `window.made.text().then((s) => JSON.parse(s).profiles.length)`)
	if speedscope != 2 {
		t.Errorf("the file for speedscope has %d profiles", speedscope)
	}
}

// An experiment of which little is known has a page all the same.
func TestExperimentPageOfLittle(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(t *testing.T, dir string)
	}{
		{"one round", func(*testing.T, string) {}},
		{"no recording, profile or result", func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "profiles")); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
			if err != nil {
				t.Fatal(err)
			}
			for i, file := range files {
				rewrite(t, file, func(trial map[string]any) {
					delete(trial, "meanwhile")
					delete(trial, "warmup")
					if i%2 == 0 {
						delete(trial, "result")
						trial["grade"] = "F"
						trial["failure"] = map[string]any{"phase": "start", "reason": hostileArm}
					}
				})
			}
		}},
		{"nothing of what is optional", func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
				for _, key := range []string{"fairness", "profiles", "published", "ceilings", "shifts", "parts",
					"machine", "sampler_percent", "ended"} {
					delete(record, key)
				}
				for _, key := range []string{"verdicts", "ranks", "cells", "cautions", "trials"} {
					record[key] = nil
				}
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := experimentFolder(t, 1, 2)
			c.take(t, dir)
			html, data := experimentHTML(t, dir)
			tab := chromium.OpenPage(t, html)
			tab.ShowTables()
			if n := checkNumbers(t, tab.NumbersByPath(), data); n == 0 {
				t.Error("it shows no number")
			}
		})
	}
}

func rewrite(t *testing.T, file string, change func(map[string]any)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	change(v)
	if b, err = json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What cannot be read is said, with its place.
func TestExperimentFaults(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(dir string) error
	}{
		{"no folder", "experiment.json", func(dir string) error { return os.RemoveAll(dir) }},
		{"a trial is gone", "r001-1-c100", func(dir string) error {
			return os.Remove(filepath.Join(dir, "trials", "r001-1-c100.json"))
		}},
		{"a trial is cut short", "r001-1-c100", func(dir string) error {
			return os.Truncate(filepath.Join(dir, "trials", "r001-1-c100.json"), 1000)
		}},
		{"another format", "dyno.trial/1", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "trials", "r001-1-c100.json"), []byte(`{"format":"x"}`), 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := experimentFolder(t, 1, 2)
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			err := Experiment(new(bytes.Buffer), dir, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

// A record that names files outside its folder gets none of them.
func TestExperimentStaysInside(t *testing.T) {
	dir := experimentFolder(t, 1, 2)
	outside := filepath.Join(filepath.Dir(dir), "secret.pb.gz")
	b, err := os.ReadFile(filepath.Join(dir, "profiles", "0-c100-cpu.pb.gz"))
	if err == nil {
		err = os.WriteFile(outside, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
		record["profiles"].([]any)[0].(map[string]any)["file"] = "../secret.pb.gz"
	})
	_, data := experimentHTML(t, dir)
	if problem, _ := lookup(data, "flames.0.problem"); problem == nil ||
		!strings.Contains(problem.(string), "outside") {
		t.Errorf("a profile outside the folder: %v", problem)
	}
	rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
		record["trials"].([]any)[0].(map[string]any)["id"] = "../experiment"
	})
	if err := Experiment(new(bytes.Buffer), dir, ""); err == nil {
		t.Error("a trial outside the folder was read")
	}
}

// BenchmarkScreenshotsOfExperiments takes pictures of every section; make screenshots asks for it.
func BenchmarkScreenshotsOfExperiments(b *testing.B) {
	html, _ := experimentHTML(b, experimentFolder(b, 10, 60))
	tab := chromium.OpenPage(b, html)
	shootSections(b, tab, "experiment", pagetest.Evaluate[[]string](tab,
		`[...document.querySelectorAll("main section[id]:not(#answer)")].map((s) => s.id)`)...)
}

// BenchmarkScreenshotsOfLadders takes them of what takes more levels, and earlier runs.
func BenchmarkScreenshotsOfLadders(b *testing.B) {
	dir := experimentAt(b, 8, 12, []string{"c100", "c1", "r500", "c16", "c4", "r250"})
	tab := chromium.OpenPage(b, made(b, func(w io.Writer) error {
		return Experiment(w, dir, pastFolder(b, dir, 24))
	}))
	shootSections(b, tab, "ladders", "load", "past", "medians", "warm")
}

// shootSections takes pictures of sections one by one.
func shootSections(b *testing.B, tab *pagetest.Tab, name string, ids ...string) {
	for _, id := range ids {
		only(tab, id)
		shoot(b, tab, name+"-"+id)
	}
}
