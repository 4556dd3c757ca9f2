package report

import (
	"testing"

	"dyno/internal/result"
)

// A suspect generator says which numbers it may have made itself.
func TestDoubtedNumbers(t *testing.T) {
	doubt := func(c result.Cause, k result.Kind, v string) result.Doubt {
		return result.Doubt{Cause: c, Kind: k, Verdict: v}
	}
	pause := doubt(result.Pauses, result.HeldUp, result.Suspect)
	held := doubt(result.StoodStill, result.HeldUp, result.Suspect)
	for _, c := range []struct {
		model  string
		doubts []result.Doubt
		want   string
	}{
		{result.ClosedLoop, []result.Doubt{pause}, "the highest latencies"},
		{result.ClosedLoop, []result.Doubt{pause, held}, "rate and latency"},
		{result.OpenLoop, []result.Doubt{held, pause}, "latency"},
		{result.OpenLoop, []result.Doubt{held, doubt("ports", result.Resource, result.Suspect)}, "these numbers"},
		{result.OpenLoop, []result.Doubt{pause, doubt("ports", result.Resource, result.OK)}, "the highest latencies"},
		{result.OpenLoop, nil, "these numbers"}, // of an older file
	} {
		r := &result.Result{Model: c.model, Generator: result.Generator{Verdict: result.Suspect, Doubts: c.doubts, Reasons: make([]string, len(c.doubts))}}
		if got := doubtedNumbers(r); got != c.want {
			t.Errorf("%s, %+v: %q, not %q", c.model, c.doubts, got, c.want)
		}
	}
}
