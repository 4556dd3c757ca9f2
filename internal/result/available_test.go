package result

import (
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// away is a closed run of 10 s whose server was gone for so long, on average of its connections.
func away(t *testing.T, seconds float64, change func(*loadresult.Result)) *Result {
	t.Helper()
	r := closedRun()
	r.Plan.Duration, r.Measured = loadplan.Seconds(10*time.Second), 10*time.Second
	r.Unavailable = int64(seconds * 1e9 * float64(r.Plan.Connections))
	r.UnavailableMost, r.UnavailableSince = r.Unavailable, 2e9
	if change != nil {
		change(r)
	}
	return from(t, r)
}

// Objectives of errors and rps are missed by a closed loop that had no server for over 1 % of
// its window, and all say for how long.
func TestObjectivesWithoutAServer(t *testing.T) {
	open := func(r *loadresult.Result) {
		r.Plan.Rate = loadplan.RatePerSecond(500)
		r.Total.Service.Merge(r.Total.Latency)
	}
	gone := func(r *loadresult.Result) {
		r.Ended, r.Plan.Duration = loadresult.Gone, loadplan.Seconds(1000*time.Second)
	}
	counted := func(r *loadresult.Result) { r.Ended, r.Plan.Duration, r.Plan.Requested = loadresult.Gone, 0, 2006 }
	for _, c := range []struct {
		name    string
		seconds float64
		change  func(*loadresult.Result)
		share   float64
		note    string
	}{
		{"for half of it", 5, nil, 0.5, "the load could not be applied for 5s of the window"},
		{"for 1 %", 0.1, nil, 0.01, ""},
		{"for a little more", 0.101, nil, 0.0101, "the load could not be applied for 101ms of the window"},
		{"open loop", 5, open, 0, ""},
		{"gone for the rest", 5, gone, 0.995, "the server went away, and 99.5 % of the load was not applied"},
		{"gone, of a number of requests", 1, counted, 0.5, "the server went away, and 50 % of the load was not applied"},
	} {
		r := away(t, c.seconds, c.change)
		if math.Abs(r.Unavailable()-c.share) > 1e-9 || r.Applied() != (c.note == "") {
			t.Errorf("%s: %v of the load, applied %v", c.name, r.Unavailable(), r.Applied())
		}
		for expr, fails := range map[string]bool{"errors<1%": true, "errors<10": true, "rps>1": true,
			"p99<10s": false, "connect.p99<10s": false, "service.mean<10s": false} {
			o, err := ParseObjective(expr)
			if err != nil {
				t.Fatal(err)
			}
			out := o.Judge(r)
			if out.Value == nil || out.Met != !(fails && c.note != "") || (out.Note == "") != (c.note == "") ||
				!strings.Contains(out.Note, c.note) {
				t.Errorf("%s: %s is %+v", c.name, expr, out)
			}
		}
	}
}

// The verdict says it once.
func TestVerdictWithoutAServer(t *testing.T) {
	r := away(t, 5, func(r *loadresult.Result) { r.Outage = 5e9 })
	said := strings.Join(r.Generator.Reasons, "\n")
	if r.Generator.Verdict == OK || strings.Count(said, "5s on average of all connections") != 1 {
		t.Errorf("%s: %s", r.Generator.Verdict, said)
	}
}

// Of several generators it is that of all connections.
func TestUnavailableTogether(t *testing.T) {
	whole := closedRun().Plan
	whole.Connections = 40
	var parts []*Result
	for i, p := range whole.SplitBy([]int{1, 3}) {
		parts = append(parts, away(t, []float64{8, 0}[i], func(r *loadresult.Result) {
			duration, n := r.Plan.Duration, int64(p.Connections)
			r.Unavailable = r.Unavailable / int64(r.Plan.Connections) * n
			r.Plan = p
			r.Plan.Duration = duration
		}))
	}
	m, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Window; w.UnavailableS != 2 || w.UnavailableFromS == nil || *w.UnavailableFromS != 2 {
		t.Errorf("%+v", w)
	}
	parts[1].Connections = Connections{} // of which nothing was told
	if m, err = Merge(parts); err != nil || m.Window.UnavailableS != 8 {
		t.Errorf("of those that told: %+v, %v", m.Window, err)
	}
}
