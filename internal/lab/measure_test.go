package lab

import (
	"math"
	"testing"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
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

// Each measure of streams and of goodput is that of the result. Silences in which a load ended are gaps
// of at least that length. Without a good request half of one counts, so that the trial has a ratio.
func TestMeasuresOfStreams(t *testing.T) {
	d := func(p50, p99 float64) *result.Distribution {
		return &result.Distribution{Count: 1000, P50: p50, P99: p99, Max: 2 * p99}
	}
	r := &result.Result{Rate: result.Rate{Completed: 8}, Window: result.Window{MeasuredS: 10},
		Requests: result.Requests{Sent: 80}}
	r.Stream = &streamed.Stream{First: d(100, 400), Gap: d(20, 30), Token: d(21, 22),
		Rate: streamed.Rate{Events: 800, Tokens: 880}}
	r.Goodput = &streamed.Goodput{Good: streamed.Good{Count: 60, Share: 0.75, Rate: 6}}
	r.Server = &result.Server{Processes: []result.Usage{{CPU: 500}}}
	check := func(name string, want float64) {
		t.Helper()
		m, known := MeasureNamed(name)
		got, ok := m.Value(&Trial{Result: r})
		if !known || ok != (want > 0) || ok && math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	check("first_event_p50", 100)
	check("first_event_p99", 400)
	check("gap_p50", 20)
	check("gap_p99", 30)
	check("token_time_p50", 21)
	check("token_time_p99", 22)
	check("events", 800)
	check("tokens", 880)
	check("cpu_event", 500*8.0/800)
	check("good", 75)
	check("goodput", 6)
	r.Goodput = &streamed.Goodput{}
	check("good", 100*0.5/80)
	check("goodput", 0.05)
	r.Requests.Waiting = new(int64(20)) // its share is of what was due
	check("good", 100*0.5/100)
	r.Stream, r.Goodput = nil, nil
	for _, name := range []string{"first_event_p99", "gap_p99", "token_time_p50", "events", "tokens", "cpu_event", "good", "goodput"} {
		check(name, 0)
	}
}
