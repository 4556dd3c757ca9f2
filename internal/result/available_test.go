package result

import (
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
	r.UnavailableMost, r.UnavailableSince = int64(seconds*1e9), 2e9
	r.Unavailable = r.UnavailableMost * int64(r.Plan.Connections)
	if change != nil {
		change(r)
	}
	return from(t, r)
}

// The verdict says it once.
func TestVerdictWithoutAServer(t *testing.T) {
	r := away(t, 5, func(r *loadresult.Result) { r.Outage = 5e9 })
	said := strings.Join(r.Generator.Reasons, "\n")
	if r.Generator.Verdict == OK || strings.Count(said, "no connection could be opened for 5 s of the window's 10 s (reset), from 2 s to 7 s of the window") != 1 {
		t.Errorf("%s: %s", r.Generator.Verdict, said)
	}
	r = away(t, 5, func(r *loadresult.Result) { r.Ended = loadresult.Unserved })
	said = strings.Join(r.Generator.Reasons, "\n")
	if r.Generator.Verdict == OK || strings.Contains(said, "connections had no server") || !strings.Contains(said, "without an answer") {
		t.Errorf("%s: %s", r.Generator.Verdict, said)
	}
}

// Of several generators it is that of all connections.
func TestUnavailableTogether(t *testing.T) {
	whole := closedRun().Plan
	whole.Connections = 40
	var parts []*loadresult.Result
	for i, p := range whole.SplitBy([]int{1, 3}) {
		away(t, []float64{8, 0}[i], func(r *loadresult.Result) {
			duration, n := r.Plan.Duration, int64(p.Connections)
			r.Unavailable = r.Unavailable / int64(r.Plan.Connections) * n
			r.Plan = p
			r.Plan.Duration = duration
			parts = append(parts, r)
		})
	}
	m := together(t, parts...)
	if w := m.Window; w.UnavailableS != 2 || w.UnavailableLongestS != 8 || w.UnavailableFromS == nil || *w.UnavailableFromS != 2 {
		t.Errorf("%+v", w)
	}
	parts[1].Partial = true // nothing was told of its connections
	if m = together(t, parts...); m.Window.UnavailableS != 8 {
		t.Errorf("of those that told: %+v", m.Window)
	}
}

// Where users are fewer than connections, slots are as many as users: of 8 users 3 are held, and the others
// have 1,000 answers.
func TestSlotsOfFewUsers(t *testing.T) {
	for users, want := range map[int]int{8: 8, 90: 50, 0: 50} {
		r := away(t, 0, func(r *loadresult.Result) { r.Plan.Connections, r.Plan.Users = 50, users })
		if l := r.waited(); l.Slots != want {
			t.Errorf("%d users of 50 connections: %d slots, want %d", users, l.Slots, want)
		}
	}
}
