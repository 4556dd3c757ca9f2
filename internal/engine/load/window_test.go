package load

import (
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// The window of an open loop that is asked for so many requests lasts until the next one would
// have been due: 100 at 100/s are a second, however quick their answers are. When the last answer
// comes later, the window lasts until then.
func TestWindowOfRequestsAtARate(t *testing.T) {
	for name, test := range map[string]struct {
		requested int64
		rate      float64
		takes     int64
		want      time.Duration
	}{
		"one":         {1, 1, ms, time.Second},
		"many":        {100, 100, ms, time.Second},
		"slow answer": {2, 100, 50 * ms, 60 * time.Millisecond},
	} {
		sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(test.takes, hello) }}
		r := simulate(t, simPlan(func(p *loadplan.Plan) {
			p.Connections, p.Rate, p.Arrival = int(min(test.requested, 4)), loadplan.RatePerSecond(test.rate), loadplan.Even
			p.Duration, p.Requested = 0, test.requested
		}), sim)
		if got := r.Measured.Round(time.Millisecond); r.Ended != loadresult.ByRequests || got != test.want {
			t.Errorf("%s: %v, ended %s, want %v", name, got, r.Ended, test.want)
		}
	}
}

// A schedule that ends before all requests were due adds nothing to the window.
func TestWindowOfAScheduleThatEnds(t *testing.T) {
	f, v := &flow.Flow{Left: 0, Next: 7, Schedule: emptySchedule{}}, &flow.Window{Start: 100}
	if f.AdvanceArrival(); !f.Over || f.FirstUnrequested(v) != 107 {
		t.Errorf("over %v, %d", f.Over, f.FirstUnrequested(v))
	}
	if f.Next = loadplan.AtOnce; f.FirstUnrequested(v) != flow.NotYet {
		t.Error("a closed loop has a next arrival")
	}
	if f.Next, f.Left = 7, 1; f.FirstUnrequested(v) != flow.NotYet {
		t.Error("a run that was not asked for its last request has an end of arrivals")
	}
}

// emptySchedule has no arrivals.
type emptySchedule struct{}

func (emptySchedule) Next() (int64, bool)   { return 0, false }
func (emptySchedule) Left(_, _ int64) int64 { return 0 }
