package chart

import (
	"testing"

	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/view/payload"
)

// What is only known to be longer is over it: in routes, and in phases.
func TestRowsOfUnanswered(t *testing.T) {
	over := &durations.Over{US: 2e6, Count: 4, Answered: 3000}
	r := &result.Result{Routes: []result.Route{{Name: "held", Completed: 96, P50: 1000, P90: 2000, P99: 2e6, Max: 2e6, Over: over},
		{Name: "answered", Completed: 96, P50: 1000, P90: 2000, P99: 3000, Max: 4000}}}
	for i, want := range []string{"p99 over 2.00 s", "p99 3.00 ms"} {
		if got := routesView(r).Rows[i].Says; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p := payload.Run{Result: &result.Result{Latency: &result.Distribution{Count: 96, P50: 1000, P99: 2e6, Max: 2e6, Over: over}}}
	if got := phasesView(p).Rows[0].Says; got != "p50 1.00 ms, p99 over 2.00 s" {
		t.Errorf("%q", got)
	}
}

// A route whose latency a generator could not tell is no route without a completed request.
func TestRoutesWithoutLatency(t *testing.T) {
	for completed, want := range map[int64]string{0: "No route has a completed request.", 7: "The latency of no route is known."} {
		r := &result.Result{Routes: []result.Route{{Name: "a"}, {Name: "b", Completed: completed}}}
		if got := routesView(r).Empty; got != want {
			t.Errorf("%d completed: %q, want %q", completed, got, want)
		}
	}
}
