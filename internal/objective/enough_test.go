package objective

import (
	"testing"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
)

// A percentile that so few values cannot have is undecided where their longest meets the limit, and
// missed where it does not.
func TestTooFewForAPercentile(t *testing.T) {
	values := func(n int64) *metric.Histogram {
		h := metric.NewHistogram(metric.Fine)
		for range n {
			h.Record(int64(10 * time.Millisecond))
		}
		return h
	}
	of := func(n int64) *result.Result {
		r := result.Provisional(result.Measured{Took: time.Second, Latency: values(n), Service: values(n),
			Iterations: values(n), Requests: result.Requests{Sent: n, Completed: n}})
		r.Phases.FirstByte = r.Latency
		r.Routes = []result.Route{{Name: "a.b", Completed: n, P99: 10e3}}
		return r
	}
	for _, test := range []struct {
		slo   string
		n     int64
		needs int64
		met   bool
	}{
		{"p99.999<1s", 100, 100_000, false}, {"p99.999<1s", 99_999, 100_000, false}, {"p99.999<1s", 100_000, 0, true},
		{"p99<1s", 99, 100, false}, {"p99<1s", 100, 0, true}, {"p99<1ms", 99, 0, false},
		{"p50<1s", 1, 2, false}, {"p50<1s", 2, 0, true}, {"p95<1s", 20, 0, true}, {"p95>1ms", 19, 20, false},
		{"latency.p99.9<1s", 999, 1000, false}, {"service.p99.9<1s", 999, 1000, false},
		{"first_byte.p99.9<1s", 999, 1000, false}, {"iteration.p99.9<1s", 999, 1000, false},
		{"iteration.p99.9<1s", 1000, 0, true}, {"route.a.b.p99<1s", 99, 100, false},
		{"route.a.b.p99<1s", 100, 0, true}, {"max<1s", 1, 0, true}, {"mean<1s", 1, 0, true},
		{"errors<1%", 1, 0, true}, {"rps>1", 2, 0, true},
	} {
		o, err := Parse(test.slo)
		if err != nil {
			t.Fatal(err)
		}
		out := o.Judge(of(test.n))
		if out.Needs != test.needs || out.Met != test.met || out.IsMissed() == (test.met || test.needs > 0) ||
			out.IsUndecided() != (out.Undecided == result.FewValues) || out.IsUndecided() != (test.needs > 0) {
			t.Errorf("%s of %d: %+v, want needs %d, met %v", test.slo, test.n, out, test.needs, test.met)
		}
	}

	// 98 answers and two requests without one are a hundred values: p98 is the longest of those answered.
	r := of(98)
	r.Latency = r.Latency.WithUnanswered(durations.Bound{US: 2e6, Count: 2})
	if o, _ := Parse("p98<1s"); !o.Judge(r).Met {
		t.Errorf("%+v", o.Judge(r))
	}
	if o, _ := Parse("p99.9>1s"); o.Judge(r).Needs != 1000 {
		t.Errorf("%+v", o.Judge(r))
	}
	if old := (result.Outcome{Needs: 5}); !old.IsUndecided() || old.IsMissed() {
		t.Error("an older result is not undecided")
	}
}
