package load

import (
	"testing"
	"time"

	"dyno/metric"
)

// A worker that lost the server for good ends the run only with all the others.
func TestGoneIsOfAllWorkers(t *testing.T) {
	ended := func(e Ending, outage int64) *worker {
		tally := newTally()
		tally.Outage = outage
		return &worker{ending: e, from: 0, now: 4 * s, lastDone: 3 * s, tally: &tally, kind: "sim"}
	}
	for name, tc := range map[string]struct {
		workers  []*worker
		ended    Ending
		measured time.Duration
		notices  int
		outage   int64
	}{
		"one of two": {[]*worker{ended(Gone, 2*s), ended(ByRequests, 0)}, ByRequests, 3 * time.Second, 1, 0},
		"both":       {[]*worker{ended(Gone, 2*s), ended(Gone, 1*s)}, Gone, 4 * time.Second, 0, 1 * s},
		"neither":    {[]*worker{ended(ByRequests, 0), ended(Interrupted, 0)}, Interrupted, 4 * time.Second, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{result: &Result{}, threads: 2}
			r.conclude(tc.workers, metric.NewSnapshot())
			got := r.result
			if got.Ended != tc.ended || got.Measured != tc.measured || len(got.Notices) != tc.notices ||
				got.Outage != tc.outage || got.Ring != "sim" {
				t.Errorf("ended by %s, measured %v, outage %d, ring %q, notices %q",
					got.Ended, got.Measured, got.Outage, got.Ring, got.Notices)
			}
		})
	}
}

// An interval has its latency, and the result that of the last hour's.
func TestLatencyOfIntervals(t *testing.T) {
	r := &run{result: &Result{}}
	for range latencies {
		r.result.Intervals = append(r.result.Intervals, Interval{Latency: metric.Sparse{Count: 1}})
	}
	for i := range int64(5) {
		snapshot := metric.NewSnapshot()
		snapshot.To, snapshot.Sent = s, 1
		snapshot.Latency.Record(i + 1)
		r.emit(snapshot)
	}
	for i, iv := range r.result.Intervals {
		if want := min(max(i-4, 0), 1); iv.Latency.Count != int64(want) {
			t.Fatalf("interval %d has the latency of %d exchanges, want %d", i, iv.Latency.Count, want)
		}
	}
	last := r.result.Intervals[latencies+4].Latency
	if last.Min != 5 || last.Max != 5 {
		t.Errorf("the last latency is %d to %d", last.Min, last.Max)
	}
}
