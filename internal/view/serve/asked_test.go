package serve

import (
	"bytes"
	"encoding/json"
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
)

// What a report cannot be had as is refused with what it can, and a form says whether it is that of the
// next step.
func TestSaysWhatIsTrue(t *testing.T) {
	home := t.TempDir()
	store := func(minute int, verdict string) string {
		t.Helper()
		p := loadplan.DefaultPlan()
		p.Target = loadplan.Target{URL: "http://127.0.0.1:1/", Host: "127.0.0.1", Port: 1}
		p.Requests = []loadplan.Request{{Weight: 1}}
		c := metric.NewCounters()
		for range 1000 {
			c.Latency.Record(int64(time.Millisecond))
			c.Service.Record(int64(time.Millisecond))
		}
		c.Sent, c.Completed = 1000, 1000
		r, err := result.From(&loadresult.Result{Plan: p, Ended: loadresult.ByDuration, Total: c,
			Started: time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC), Measured: 10 * time.Second}, "test")
		if err != nil {
			t.Fatal(err)
		}
		r.Generator.Verdict, r.Generator.Reasons, r.Generator.Doubts = verdict, nil, nil
		if _, err := dynohome.Save(home, r); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	g := begin(t, Config{Home: home})
	for id, next := range map[string]bool{store(1, result.OK): false, store(2, result.Suspect): true} {
		for query, want := range map[string]bool{"": false, "?next": next} {
			var form filledForm
			said := text(t, g.ask(t, "GET", "/api/results/"+id+"/form"+query, ""))
			if err := json.Unmarshal([]byte(said), &form); err != nil || form.Next != want || form.Fields["url"] == nil {
				t.Errorf("%v: %s: next is %v, want %v: %s", err, query, form.Next, want, said)
			}
		}
		for query, want := range map[string]int{"?download=pdf": 400, "?download=MD": 400, "?download=": 200,
			"?download": 200, "?download=csv": 200} {
			r := g.ask(t, "GET", "/results/"+id+query, "")
			said := text(t, r)
			if r.StatusCode != want || want == 400 && (!strings.Contains(said, "?download=md, ?download=json") ||
				r.Header.Get("Content-Disposition") != "") {
				t.Errorf("%s: %d: %.200s", query, r.StatusCode, said)
			}
		}
	}
}

// A record that is downloaded is the file of the folder, byte for byte.
func TestRecordIsTheStoredFile(t *testing.T) {
	r := &lab.Record{}
	r.Name, r.State = "a <b> & c", lab.Complete
	dir := t.TempDir()
	if err := (lab.Folder{Dir: dir}).WriteJSON(lab.RecordFile, r); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(dir, lab.RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := writeRecord(&got, r); err != nil || got.String() != string(want) {
		t.Errorf("%v: %q, want %q", err, got.String(), want)
	}
}
