package lab

import (
	"math"
	"testing"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
)

// Bytes are divided by all answers that arrived with them, also those to requests that had waited
// since the warm-up.
func TestBytesOfAnAnswer(t *testing.T) {
	r := &result.Result{Window: result.Window{MeasuredS: 1}}
	r.Series = []result.Point{{T: 1, Completed: 1000, Received: 118_000}, {T: 1.4, Completed: 50}}
	r.Requests.WarmupInWindow = 180
	m, _ := MeasureNamed("bytes")
	if got, ok := m.Value(&Trial{Result: r}); !ok || got != 100 {
		t.Errorf("%g bytes an answer, want 100", got)
	}
}

// The mean counts what had no answer with what that exceeds, and requests in flight are at least those
// that were answered: both are only known to be higher.
func TestMeanOfUnanswered(t *testing.T) {
	for _, c := range []struct {
		over *durations.Over
		mean float64
	}{{nil, 1000}, {&durations.Over{US: 2e6, Count: 100}, (900*1000 + 100*2e6) / 1000}} {
		r := &result.Result{Rate: result.Rate{Completed: 90}, Latency: &result.Distribution{Count: 900, Mean: 1000, Over: c.over}}
		for name, want := range map[string]float64{"mean": c.mean, InFlight: 0.09} {
			m, _ := MeasureNamed(name)
			got, ok := m.Value(&Trial{Result: r})
			if over := m.IsOver(&Trial{Result: r}); !ok || math.Abs(got/want-1) > 1e-9 || over != (c.over != nil) {
				t.Errorf("%s of %+v: %v (over: %v), want %v", name, c.over, got, over, want)
			}
		}
	}
}

// A trial has a tail if it knows of enough requests, answered or not; fewer were pooled, and of so many
// there was none at all.
func TestTailOfKnown(t *testing.T) {
	for _, c := range []struct {
		answered, over int64
		has            bool
	}{{360, 0, false}, {360, 7, false}, {360, 8, true}, {368, 0, true}} {
		d := &result.Distribution{Count: c.answered, P99: 2e6}
		if c.over > 0 {
			d.Over = &durations.Over{US: 2e6, Count: c.over}
		}
		trial := &Trial{Result: &result.Result{Latency: d}}
		m, _ := MeasureNamed("p99")
		tail, _ := TailOf("p99")
		if m.Has(trial) != c.has || (tail.Count(trial) >= tail.Least()) != c.has {
			t.Errorf("%d answered, %d not: p99: %v, %d values of %d", c.answered, c.over, m.Has(trial),
				tail.Count(trial), tail.Least())
		}
	}
}

// What had no answer is in a tail at what it is known to have taken, and not above what was answered.
func TestTailOfBounds(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	h.RecordMany(1e6, 960)
	h.RecordMany(9e9, 2)
	d := durations.New(h).WithUnanswered(durations.Bound{US: 1e6, Count: 20})
	trial := &Trial{Result: &result.Result{Latency: d}}
	tail, _ := TailOf("p99")
	var values []float64
	for _, v := range tail.Values(trial) {
		values = append(values, math.Round(math.Exp(v.Value)/1e3), float64(v.N)) // ms
	}
	if want := []float64{1, 960, 1000, 20, 9000, 2}; len(values) != len(want) || math.Abs(values[2]-1000) > 8 ||
		values[3] != 20 || values[5] != 2 {
		t.Errorf("%v, want about %v", values, want)
	}
	if least := math.Exp(tail.LeastOver(trial)); math.Abs(least-1e6) > 1 {
		t.Errorf("over from %v µs on", least)
	}
}
