package result

import (
	"math"
	"testing"

	"dyno/internal/engine/loadresult"
)

// What was due and never sent when the server ended the load is in the latency of the result, by
// how long it had been due.
func TestWaitedIsLatency(t *testing.T) {
	l := openRun()
	l.Ended, l.Waited[30] = loadresult.Gone, 6
	r := from(t, l)
	over := r.Latency.Over
	if over == nil || over.Count != 6 || math.Abs(over.US-float64(1<<30)/1e3) > 1 {
		t.Errorf("%+v of %+v", over, r.Requests.Waited)
	}
}

// What is known of requests without an answer is in µs; the result has its times in s.
func TestWaitedIsInMicroseconds(t *testing.T) {
	r := &Result{Window: Window{MeasuredS: 4, DrainedS: 0.5}}
	if l := r.waited(); l.Window != 4e6 || l.Drained != 5e5 {
		t.Errorf("%+v", l)
	}
}

// A load that ended as planned waited for its answers until the drain ended; of another each request
// waited for as long as it says.
func TestWaitedAsPlanned(t *testing.T) {
	for ended, want := range map[loadresult.Ending]bool{loadresult.ByDuration: true, loadresult.ByRequests: true,
		loadresult.Gone: false} {
		if l := (&Result{Ended: string(ended)}).waited(); l.Planned != want {
			t.Errorf("%s: planned %v", ended, l.Planned)
		}
	}
}
