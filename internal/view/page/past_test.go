package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/page/pagetest"
	"dyno/internal/view/payload"
)

// pastFolder has so many runs of the experiment in dir as they would have been before it: of the
// first half, throughput was a fifth more; and things that are no runs of it.
func pastFolder(t testing.TB, dir string, runs int) string {
	t.Helper()
	home := t.TempDir()
	for i := range runs {
		r, err := judge.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Started = r.Started.AddDate(0, 0, i-runs)
		r.Dyno = fmt.Sprintf("0.0.%d", i/3)
		for k := range r.Cells {
			m := &r.Cells[k].Median
			factor := 1 + 0.004*float64(i*7%5)
			if r.Cells[k].Metric == "throughput" && i < runs/2 {
				factor *= 1.2
			}
			m.Low, m.Estimate, m.High = m.Low*factor, m.Estimate*factor, m.High*factor
		}
		keepRecord(t, filepath.Join(home, fmt.Sprintf("fixture-%02d%s", i, hostileArm[:8])), r)
	}
	for name, change := range map[string]func(*lab.Record){"another file": func(r *lab.Record) { r.SHA256 = "ff" },
		"quick": func(r *lab.Record) { r.Quick = true }, "later": func(r *lab.Record) { r.Started = r.Started.Add(time.Hour) },
		"cut off": func(r *lab.Record) { r.State = lab.Interrupted }} {
		r, err := judge.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r.Started = r.Started.Add(-time.Hour)
		change(r)
		if name == "later" {
			r.Started = r.Started.Add(time.Hour)
		}
		keepRecord(t, filepath.Join(home, name), r)
	}
	return home
}

func keepRecord(t testing.TB, dir string, r *lab.Record) {
	t.Helper()
	b, err := json.Marshal(r)
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "experiment.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The report of an experiment has the earlier runs of the same, with every median and interval,
// the changes among them, and what they did not have in common.
func TestPast(t *testing.T) {
	dir := experimentFolder(t, 6, 2)
	var b bytes.Buffer
	if err := Experiment(&b, dir, pastFolder(t, dir, 20)); err != nil {
		t.Fatal(err)
	}
	html := b.Bytes()
	data := dataOf(t, html)
	runs, _ := lookup(data, "past.runs")
	if n := len(runs.([]any)); n != 21 {
		t.Fatalf("%d runs, and there were 20 and this one", n)
	}
	last, _ := lookup(data, "past.lines.0.median.20")
	if own, _ := lookup(data, "record.cells.0.median.estimate"); fmt.Sprintf("%.3g", own) != fmt.Sprintf("%.3g", last) {
		t.Errorf("the last run has %v, and this one %v", last, own)
	}
	changes := 0
	lines, _ := lookup(data, "past.lines")
	for i := range lines.([]any) {
		metric, _ := lookup(data, fmt.Sprintf("past.lines.%d.metric", i))
		at, found := lookup(data, fmt.Sprintf("past.lines.%d.changes.0.at", i))
		if found != (metric == "throughput") || found && at != 10.0 {
			t.Errorf("%v has a change: %v, at %v", metric, found, at)
		}
		if found {
			changes++
		}
	}
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	if n := pagetest.Evaluate[int](tab, `document.querySelectorAll("#past-1 [role=img] [data-name=change] path").length`); n != 1 {
		t.Errorf("%d changes are drawn, and all arms have the same", n)
	}
	inPlace(t, tab, "past")
	if text := tab.ElementText("#past-diff"); !strings.Contains(text, "0.0.6") {
		t.Errorf("what differs from the run before is %q", text)
	}
	pagetest.Evaluate[bool](tab, `(location.hash = "past.with=1&past-1.along=time&past-2.from=zero", true)`)
	tab.WaitUntil(`document.querySelector("#past-diff").textContent.includes("0.0.0")`)
	tab.ShowTables()
	shown := tab.NumbersByPath()
	checkNumbers(t, shown, data)
	for path := range numbers(t, data) {
		wanted := strings.HasPrefix(path, "past.lines.") && !strings.Contains(path, ".stretches.") && !strings.HasSuffix(path, ".at")
		if _, there := shown[path]; wanted && !there {
			t.Errorf("%s is not on the page", path)
		}
	}
	if changes == 0 || pagetest.Evaluate[int](tab, `document.querySelectorAll("#past a, #past img").length`) != 0 {
		t.Error("there is no change, or a way to reports that a file has not, or a name became markup")
	}
}

// dataOf is the data of a page.
func dataOf(t testing.TB, html []byte) (data any) {
	t.Helper()
	text, err := Data(html)
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A long past is cut to what there is room for, and says so.
func TestPastIsBounded(t *testing.T) {
	dir := experimentFolder(t, 1, 2)
	r, err := judge.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = dir
	var earlier []*lab.Record
	for i := range 200 {
		one := *r
		one.Started = r.Started.AddDate(0, 0, i-200)
		earlier = append(earlier, &one)
	}
	p := payload.PastOf(r, earlier)
	b, err := json.Marshal(p)
	if err != nil || len(b) > 350_000 || p.LeftOut != 141 || len(p.Runs) != 60 {
		t.Errorf("%d bytes, %d runs, %d left out, %v", len(b), len(p.Runs), p.LeftOut, err)
	}
	if payload.PastOf(r, nil) != nil {
		t.Error("an experiment without earlier runs has a past")
	}
}
