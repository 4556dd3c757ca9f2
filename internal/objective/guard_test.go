package objective

import (
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// secondOf is a second of n exchanges that all took as long, and of some that failed.
func secondOf(index int, n int64, took time.Duration, failed int64) loadresult.Interval {
	h := metric.NewHistogram(metric.Fine)
	for range n {
		h.Record(int64(took))
	}
	at := time.Duration(index) * time.Second
	return loadresult.Interval{Index: index, From: at, To: at + time.Second, Sent: n + failed, Completed: n,
		Failed: failed, Latency: h.ToSparse(), Service: h.ToSparse()}
}

// iterated adds to each second n iterations that took as long, of which each passed check a, and
// some failed check b.
func iterated(all []loadresult.Interval, n int64, took time.Duration, failed int64) []loadresult.Interval {
	h := metric.NewHistogram(metric.Fine)
	for range n {
		h.Record(int64(took))
	}
	for i := range all {
		all[i].Iterations, all[i].IterationTime = n, h.ToSparse()
		all[i].Checks = []metric.Outcomes{{Passed: n}, {Passed: n - failed, Failed: failed}}
	}
	return all
}

func TestGuard(t *testing.T) {
	const fast, slow = time.Millisecond, 100 * time.Millisecond
	type seconds []loadresult.Interval
	steady := func(n int64, took time.Duration, failed int64) (all seconds) {
		for i := range 12 {
			all = append(all, secondOf(i, n, took, failed))
		}
		return all
	}
	with := func(all seconds, n int64, took time.Duration, at ...int) seconds {
		for _, i := range at {
			all[i] = secondOf(i, n, took, 0)
		}
		return all
	}
	stop := func(all seconds, from int, n int64) seconds { // n are sent in each second and not answered
		for i := from; i < len(all); i++ {
			if all[i] = secondOf(i, 0, fast, 0); i < from+3 {
				all[i].Sent = n
			}
		}
		return all
	}
	for name, test := range map[string]struct {
		slo   string
		all   seconds
		ends  float64 // 0: it does not
		value float64
	}{
		"met":                  {"p99<20ms", steady(1000, fast, 0), 0, 0},
		"missed":               {"p99<20ms", steady(1000, slow, 0), 3, 100e3},
		"service":              {"service.mean<20ms", steady(1000, slow, 0), 3, 100e3},
		"one noisy second":     {"p99<20ms", with(steady(1000, fast, 0), 1000, slow, 0), 0, 0},
		"a noisy second":       {"p99<20ms", with(steady(1000, fast, 0), 1000, slow, 5), 0, 0},
		"two and two":          {"p99<20ms", with(steady(1000, fast, 0), 1000, slow, 2, 3, 5, 6), 0, 0},
		"three in a row":       {"p99<20ms", with(steady(1000, fast, 0), 1000, slow, 5, 6, 7), 8, 100e3},
		"three of few":         {"p50<20ms", with(steady(1000, fast, 0), 10, slow, 5, 6, 7), 0, 0},
		"a p99 of few":         {"p99<20ms", steady(100, slow, 0), 3, 100e3},
		"of very few":          {"p99<20ms", steady(10, slow, 0), 3, 100e3},
		"of single answers":    {"p99<20ms", steady(1, slow, 0), 10, 100e3},
		"one of some":          {"p99<20ms", with(steady(50, fast, 0), 1, slow, 4, 5, 6), 0, 0},
		"a median of few":      {"p50<20ms", steady(5, slow, 0), 3, 100e3},
		"few, all failing":     {"errors<1%", steady(0, fast, 5), 3, 100},
		"few, some failing":    {"errors<40%", steady(5, fast, 4), 12, 100 * 4 / 9.0},
		"no more answers":      {"p99<1.5s", stop(steady(100, fast, 0), 4, 10), 9, 1.5e6},
		"and never any":        {"p99<1.5s", stop(steady(100, fast, 0), 0, 10), 5, 1.5e6},
		"a short silence":      {"p99<1.5s", stop(steady(1000, fast, 0), 4, 1), 0, 0},
		"errors":               {"errors<1%", steady(990, fast, 100), 3, 100 * 100.0 / 1090},
		"errors by number":     {"errors<=5000", steady(10, fast, 1000), 6, 6000},
		"number not reached":   {"errors<=12000", steady(10, fast, 1000), 0, 0},
		"rate":                 {"rps>=500", steady(400, fast, 0), 3, 400},
		"nothing completes":    {"p99<20ms", steady(0, fast, 0), 0, 0},
		"iterations met":       {"iteration.p95<2s", iterated(steady(1000, slow, 0), 300, time.Second, 5), 0, 0},
		"iterations missed":    {"iteration.p95<500ms", iterated(steady(1, fast, 0), 300, time.Second, 5), 3, 1e6},
		"few iterations":       {"iteration.mean<500ms", iterated(steady(1, fast, 0), 30, time.Second, 5), 4, 1e6},
		"few beyond":           {"iteration.p99<500ms", iterated(steady(1, fast, 0), 200, time.Second, 5), 3, 1e6},
		"no iterations":        {"iteration.p95<500ms", steady(1000, slow, 0), 0, 0},
		"checks met":           {"checks>98%", iterated(steady(1000, fast, 0), 300, fast, 6), 0, 0},
		"checks missed":        {"checks>99%", iterated(steady(1000, fast, 0), 300, fast, 9), 3, 98.5},
		"one check":            {"checks.b>99%", iterated(steady(1000, fast, 0), 300, fast, 9), 3, 97},
		"another check":        {"checks.a>99%", iterated(steady(1000, fast, 0), 300, fast, 9), 0, 0},
		"few checks":           {"checks.b>99%", iterated(steady(1000, fast, 0), 30, fast, 9), 4, 70},
		"a check of no answer": {"checks.c>99%", iterated(steady(1000, fast, 0), 300, fast, 9), 0, 0},
		"a pause between":      {"p99<20ms", with(steady(1000, slow, 0), 0, fast, 1, 3), 5, 100e3},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Parse(test.slo)
			if err != nil {
				t.Fatal(err)
			}
			other, _ := Parse("p99<10s")
			g := NewGuard(loadplan.Plan{Duration: loadplan.Seconds(12 * time.Second), Checks: []string{"a", "b", "c"}},
				[]Objective{other, o})
			for _, iv := range test.all {
				out := g.Second(iv)
				if out == nil {
					continue
				}
				if *out.Aborted != test.ends || out.Expr != test.slo || out.Met ||
					*out.Value < test.value*0.999 || *out.Value > test.value*1.02 {
					t.Errorf("%s ended it after %v s by %v", out.Expr, *out.Aborted, *out.Value)
				}
				return
			}
			if test.ends > 0 {
				t.Error("it went on")
			}
		})
	}
}

// What came after the window condemns nothing, nor does what is known only at the end.
func TestGuardIsOfTheWindow(t *testing.T) {
	var all []Objective
	for slo, live := range map[string]bool{"p99<1ms": true, "latency.max<1ms": true, "errors<1%": true,
		"p99.9<1ms": true, "service.p99.9<1ms": true, "rps>9": true, "cpu<1ms": false,
		"iteration.p95<1s": true, "checks>9%": true, "checks.a>9%": true, "failed_iteration.p95<1s": false,
		"metric.a<1": false, "connect.p99<1ms": false, "first_byte.mean<1ms": false, "route.a.p99<1ms": false} {
		o, err := Parse(slo)
		if err != nil {
			t.Fatal(err)
		}
		if o.Live() != live {
			t.Errorf("%s: live is %v", slo, o.Live())
		}
		all = append(all, o)
	}
	g := NewGuard(loadplan.Plan{Duration: loadplan.Seconds(2 * time.Second)}, all)
	for i := range 10 {
		if out := g.Second(secondOf(i, 1000, time.Second, 100)); out != nil {
			t.Fatalf("second %d: %+v", i, out)
		}
	}
}
