package run

import (
	"context"
	"dyno/internal/lab"
	"math"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// seconds runs a load whose seconds have the given rates, without taking any.
func seconds(rates []float64) result.Runner {
	return func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		n := 0
		for i, rate := range rates {
			if ctx.Err() != nil || time.Duration(i)*time.Second >= time.Duration(p.Duration) {
				break
			}
			each(loadresult.Interval{From: time.Duration(i) * time.Second,
				To: time.Duration(i+1) * time.Second, Completed: int64(rate)})
			n++
		}
		return &result.Result{Window: result.Window{MeasuredS: float64(n)},
			Requests: result.Requests{Completed: 1}}, nil
	}
}

func TestWarm(t *testing.T) {
	rule := func(least, most time.Duration) experiment.Warmup {
		return experiment.Warmup{Min: experiment.Duration(least), Max: experiment.Duration(most), CoV: 0.02}
	}
	const s = time.Second
	flat := make([]float64, 60)
	rising := make([]float64, 60)
	jagged := make([]float64, 60)
	for i := range flat {
		flat[i], rising[i], jagged[i] = 1000, 1000*(1-math.Exp(-float64(i)/4)), 1000+float64(i%2)*300
	}
	for _, c := range []struct {
		name   string
		rates  []float64
		rule   experiment.Warmup
		took   float64
		steady lab.Answer
	}{
		{"at once", flat, rule(0, 30*s), 5, lab.Yes},
		{"not before the least", flat, rule(10*s, 30*s), 10, lab.Yes},
		{"when it is", rising, rule(0, 30*s), 14, lab.Yes},
		{"never", jagged, rule(0, 30*s), 30, lab.No},
		{"too short to tell", flat, rule(0, 2*s), 2, lab.Unknown},
		{"short", flat, rule(0, 4*s), 4, lab.Yes},
	} {
		w, _, err := warmUp(t.Context(), seconds(c.rates), loadplan.Plan{}, c.rule)
		if err != nil || math.Abs(w.TookS-c.took) > 2*float64(map[string]int{"when it is": 1}[c.name]) ||
			w.Steady != c.steady {
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
	if w, _, err := warmUp(t.Context(), nil, loadplan.Plan{}, rule(0, 0)); w != nil || err != nil {
		t.Errorf("no warm-up took %+v, %v", w, err)
	}
}

// Streams are steady when their events are, for few of them end in a second, and all of them may end.
// Their load is measured when the first ones of it have ended.
func TestWarmStreams(t *testing.T) {
	var given loadplan.Plan
	run := func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		given = p
		for i := range 30 {
			if ctx.Err() != nil {
				break
			}
			iv := loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
				Completed: int64(i % 3)}
			iv.Events = 800
			each(iv)
		}
		return &result.Result{Latency: &result.Distribution{P99: 6e6}}, nil
	}
	p := loadplan.DefaultPlan()
	p.Stream.Format, p.Drain, p.Warmup = "sse", loadplan.StreamDrain, loadplan.Seconds(time.Second/2)
	rule := experiment.Warmup{Max: experiment.Duration(30 * time.Second), CoV: 0.02}
	w, first, err := warmUp(t.Context(), run, p, rule)
	if err != nil || w.Steady != lab.Yes || len(w.Rates) != 5 || w.Rates[4] != 800 || given.Drain != loadplan.StreamDrain {
		t.Errorf("%v, %+v, drain %v", err, w, given.Drain)
	}
	for _, c := range []struct {
		plain bool
		p99   float64
		want  time.Duration
	}{{false, 6e6, 6 * time.Second}, {false, 1e5, time.Second / 2}, {false, 60e6, 30 * time.Second}, {true, 6e6, time.Second / 2}} {
		one := p
		if c.plain {
			one.Stream.Format = ""
		}
		first.Latency.P99 = c.p99
		if settleStreams(&one, first); time.Duration(one.Warmup) != c.want {
			t.Errorf("%+v: %v", c, one.Warmup)
		}
	}
}
