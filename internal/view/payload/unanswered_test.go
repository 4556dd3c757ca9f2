package payload

import (
	"math"
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/result/durations"
)

// A spectrum counts the requests that had no answer, and ends where they begin.
func TestSpectraOfUnanswered(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	for us := range int64(9000) {
		h.Record((us + 1) * int64(time.Microsecond))
	}
	d := durations.New(h).WithUnanswered(durations.Bound{US: 2e6, Count: 1000}) // of 10,000 the longest tenth
	points := spectrumOf("latency", "latency", d).Points
	last := points[len(points)-1]
	if last[0] > 0.9 || last[0] < 0.85 {
		t.Errorf("it ends at %v", last[0])
	}
	for _, p := range points[1:] {
		if math.Abs(p[1]/(1e4*p[0])-1) > 0.01 {
			t.Errorf("%v µs at %v, want %v", p[1], p[0], 1e4*p[0])
		}
	}
	trials := []*lab.Trial{{Result: &result.Result{Latency: d}}, {Result: &result.Result{Latency: d}}}
	at := spectrumFractions()
	one, err := cellSpectrum(cellTrials{Trials: []int{0, 1}}, trials, "latency", at)
	if err != nil || len(one.Merged) == 0 {
		t.Fatal(err, one)
	}
	for i, us := range one.Merged {
		if at[i] > 0.9 || math.Abs(us/(1e4*at[i])-1) > 0.01 {
			t.Errorf("of trials %v µs at %v", us, at[i])
		}
	}
	if n := len(one.Merged); at[n] <= 0.9 {
		t.Errorf("of trials it ends at %v", at[n-1])
	}
}
