package load

import (
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// A worker that lost the server for good ends the run only with all the others.
func TestGoneIsOfAllWorkers(t *testing.T) {
	ended := func(e loadresult.Ending, outage int64) *worker {
		tally := loadresult.NewTotals()
		tally.Outage = outage
		return &worker{ending: e, now: 4 * s, kind: "sim", Window: flow.Window{End: flow.NotYet}, pool: pool{outage: flow.NotYet},
			account: account{totals: &tally, last: 3 * s}}
	}
	for name, tc := range map[string]struct {
		workers  []*worker
		ended    loadresult.Ending
		measured time.Duration
		notices  int
		outage   int64
	}{
		"one of two": {[]*worker{ended(loadresult.Gone, 2*s), ended(loadresult.ByRequests, 0)}, loadresult.ByRequests, 3 * time.Second, 1, 0},
		"both":       {[]*worker{ended(loadresult.Gone, 2*s), ended(loadresult.Gone, 1*s)}, loadresult.Gone, 4 * time.Second, 0, 1 * s},
		"neither":    {[]*worker{ended(loadresult.ByRequests, 0), ended(loadresult.Interrupted, 0)}, loadresult.Interrupted, 4 * time.Second, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{result: &loadresult.Result{}, threads: 2}
			r.buildResult(tc.workers, metric.NewCounters())
			got := r.result
			if got.Ended != tc.ended || got.Measured != tc.measured || len(got.Notices) != tc.notices ||
				got.Outage != tc.outage || got.Ring != "sim" {
				t.Errorf("ended by %s, measured %v, outage %d, ring %q, notices %+v",
					got.Ended, got.Measured, got.Outage, got.Ring, got.Notices)
			}
		})
	}
}

// An interval has its latency when it is over; the result keeps it as heat.
func TestLatencyOfIntervals(t *testing.T) {
	all := make(chan loadresult.Interval, 1)
	r := &run{result: &loadresult.Result{}, viewer: loadresult.NewViewer(1, func(iv loadresult.Interval) { all <- iv })}
	defer r.viewer.Close()
	for i := range int64(3) {
		snapshot := metric.NewCounters()
		snapshot.To, snapshot.Sent = s, 1
		snapshot.Latency.Record(i + 1)
		snapshot.Service.Record(i)
		r.publishInterval(&workerReport{Counters: snapshot})
		shown, kept := <-all, r.result.Intervals[i]
		if shown.Latency.Min != i+1 || shown.Service.Min != i || shown.Latency.Count != 1 {
			t.Errorf("interval %d is shown with latency %+v, service %+v", i, shown.Latency, shown.Service)
		}
		if kept.Latency.Count+kept.Service.Count != 0 || !slices.Equal(kept.Heat, metric.Heat{{metric.HeatLowest, 1}}) {
			t.Errorf("interval %d is kept with %d latencies, %d service times, and heat %v", i,
				kept.Latency.Count, kept.Service.Count, kept.Heat)
		}
	}
}

// A lateRing wakes a little late, and each time by another time.
type lateRing struct {
	*ring.Sim
	late *int64
}

func (r lateRing) Wait(deadline int64) error {
	*r.late = (*r.late*7 + 3) % 101
	return r.Sim.Wait(deadline + *r.late*us)
}

// Seconds in which nothing happened are intervals like all others.
func TestEverySecondIsTold(t *testing.T) {
	silent := &ring.Sim{Server: func(*ring.Peer, []byte) {}}
	p := simPlan(func(p *loadplan.Plan) { p.Duration, p.Timeout = loadplan.Seconds(12*s), loadplan.Seconds(20*s) })
	r := simulate(t, p, lateRing{silent, new(int64)})
	for i, iv := range r.Intervals {
		if iv.Index != i {
			t.Fatalf("interval %d is number %d", i, iv.Index)
		}
	}
	if len(r.Intervals) < 12 {
		t.Errorf("%d intervals of 12", len(r.Intervals))
	}
}

// has reports whether a result has a notice of a kind.
func has[T fact.Args](r *loadresult.Result) bool {
	_, _, found := fact.Find[T](r.Notices)
	return found
}
