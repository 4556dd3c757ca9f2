package objective

import (
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/durations"
	"dyno/internal/result/scripted"
)

func TestObjectivesAreRead(t *testing.T) {
	for _, c := range []struct{ in, expr string }{
		{"p99<20ms", "p99<20ms"}, {" p99.9 <= 100ms ", "p99.9<=100ms"}, {"service.p95<5ms", "service.p95<5ms"},
		{"errors<0.1%", "errors<0.1%"}, {"errors<=0", "errors<=0"}, {"rps>=10k", "rps>=10k"},
		{"route.a.b.p99<50ms", "route.a.b.p99<50ms"}, {"first_byte.mean<1s", "first_byte.mean<1s"},
		{"connect.p99<5ms", "connect.p99<5ms"},
		{"dns.p99<5ms", "dns.p99<5ms"}, {"tls_full.p50<5ms", "tls_full.p50<5ms"},
		{"tls_resumed.max<5ms", "tls_resumed.max<5ms"},
		{"p97.25<1h", "p97.25<1h"}, {"rps>10/s", "rps>10/s"},
		{"iteration.p95<2s", "iteration.p95<2s"}, {"iteration.max<1m", "iteration.max<1m"},
		{"failed_iteration.mean<2s", "failed_iteration.mean<2s"}, {"checks>99.9%", "checks>99.9%"},
		{" checks.the price is right >= 99% ", "checks.the price is right>=99%"},
		{"checks.a.b>=100%", "checks.a.b>=100%"},
		{" metric.cache hits >= 10 ", "metric.cache hits>=10"}, {"metric.size.p99.9<1.5k", "metric.size.p99.9<1.5k"},
		{"p99 < 20 ms", "p99<20ms"}, {"errors <= 0.1 %", "errors<=0.1%"}, {"rps > 10 k", "rps>10k"},
	} {
		if o, err := Parse(c.in); err != nil || o.Expr != c.expr {
			t.Errorf("%q: %q, %v", c.in, o.Expr, err)
		}
	}
}

// Commas separate objectives, but not the words of a check's name.
func TestListsOfObjectives(t *testing.T) {
	for in, want := range map[string]string{"p99<20ms": "p99<20ms", "p99<20ms,errors<1%": "p99<20ms|errors<1%",
		" p99 < 20 ms , errors < 1 %, rps>=10k": "p99<20ms|errors<1%|rps>=10k",
		"checks.a, b>99%":                       "checks.a, b>99%", "checks.a, b>99%, p99<1s": "checks.a, b>99%|p99<1s"} {
		all, err := ParseList(in)
		var got []string
		for _, o := range all {
			got = append(got, o.Expr)
		}
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{"p99<20ms,": `"", column 1: write an objective`,
		"p99<20ms,q<1": `"q<1", column 1: "q" is not one of`, "p99<20,errors<1%": "column 5: write a duration with its unit"} {
		if all, err := ParseList(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %s", in, all, err, want)
		}
	}
}

func TestMalformedObjectivesNameTheColumn(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "column 1: write an objective"},
		{"p99", "column 4: <, <=, > or >= is wanted"},
		{"p99=20ms", `column 4: "=" is not <, <=, > or >=`},
		{"p99<20", "column 5: write a duration with its unit"},
		{"p99<", "column 5: write a duration with its unit"},
		{"p99<-1ms", "column 5: write a duration"},
		{"p100<1s", `column 1: "p100" is not one of min, mean`},
		{"p0<1s", "column 1:"}, {"pNaN<1s", "column 1:"}, {"p1e1<1s", "column 1:"}, {".p99<1s", "column 1:"},
		{"q.p99<1s", `column 1: "q" is not one of latency, service`},
		{"errors<1ms", "column 8: write a number or a percentage"},
		{"errors<x%", "column 8: write a percentage"},
		{"errors<200%", "column 8: 200% is more than 100 %"},
		{"rps>5%", "column 5: write a number"}, {"rps>0x10", "column 5:"}, {"rps>NaN", "column 5:"},
		{"route.p99<1s", "column 1: of a route there are"},
		{"route.a.p95<1s", "column 1: of a route there are"},
		{"  p99<x", "column 7:"},
		{"iteration<2s", `column 1: "iteration" has several statistics: write iteration.p99`},
		{"iteration.<2s", `column 1: "" is not one of min`},
		{"iteration.p95<2", "column 15: write a duration with its unit"},
		{"iteration.p95<5%", "column 15: write a duration"}, {"iteration.rps<5", `column 1: "rps" is not one`},
		{"checks>0.999", `column 8: write a percentage, such as 0.1%, not "0.999"`},
		{"checks>2s", "column 8: write a percentage"}, {"checks>101%", "column 8: 101% is more than 100 %"},
		{"checks.>99%", "column 1: of one check: write checks.NAME"}, {"check>99%", `column 1: "check" is not one`},
		{"check.a>99%", `column 1: "check" is not one of latency`},
		{"metric.<3", "column 1: of a metric: write metric.NAME<3"}, {"metric.a<3ms", "column 10: write a number"},
		{"the price>99%", "column 4: <, <=, > or >= is wanted"},
	} {
		if _, err := Parse(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.in, err, c.want)
		}
	}
}

// Each value is that of the sample, by hand.
func TestObjectivesAreJudged(t *testing.T) {
	ms := make([]time.Duration, 1000)
	for i := range ms {
		ms[i] = time.Duration(i+1) * time.Millisecond
	}
	q := result.Requests{Sent: 1007, Completed: 1000, Errors: 5, Unfinished: 2}
	r := result.Provisional(result.Measured{Took: 10 * time.Second, Requests: q, Latency: histogram(ms...),
		Service: histogram(), Iterations: histogram()})
	r.Service, r.Routes = nil, []result.Route{{Name: "a.b", Completed: 100, P99: 3000}}
	for _, c := range []struct {
		expr  string
		value float64
		met   bool
	}{
		{"p99<991ms", 990_000, true}, {"p99<990ms", 990_000, false}, {"p99>=990ms", 990_000, true},
		{"max<=1s", 1e6, true}, {"p97.2<973ms", 972_000, true}, {"p97.2>973ms", 972_000, false},
		{"errors<=7", 7, true}, {"errors<1%", 100 * 7.0 / 1007, true}, {"errors<0.5%", 100 * 7.0 / 1007, false},
		{"rps>=100", 100, true}, {"rps>0.1k", 100, false}, {"route.a.b.p99<=3ms", 3000, true},
	} {
		o, err := Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Judge(r)
		if got.Value == nil || math.Abs(*got.Value/c.value-1) > 0.001 || got.Met != c.met {
			t.Errorf("%s: %+v, value %v; want %v, %v", c.expr, got, *got.Value, c.value, c.met)
		}
	}
	for _, expr := range []string{"service.p99<1s", "route.x.p99<1s", "tls.max<1s"} {
		o, _ := Parse(expr)
		if got := o.Judge(r); got.Value != nil || got.Met {
			t.Errorf("%s of nothing: %+v", expr, got)
		}
	}
}

// A request that has no answer took longer than it has waited. What is only known to be higher proves
// that a ceiling is missed, or that a floor is met, and nothing else.
func TestUnansweredRequests(t *testing.T) {
	const met, missed, undecided = "met", "missed", "no-answers"
	for _, c := range []struct {
		expr                string
		unfinished, waiting int64
		drained             float64
		value               float64 // ms
		want                string
		note                string
	}{
		{"p99<1s", 0, 0, 2, 150, met, ""},
		{"p99<1s", 10, 0, 2, 150, met, ""},
		{"p99<1s", 11, 0, 2, 2000, missed, "11 of 1,000 requests had no answer 2 s after the window"},
		{"p99<=2s", 11, 0, 2, 2000, undecided, "11 of 1,000 requests had no answer 2 s after the window"},
		{"p99<5s", 11, 0, 2, 2000, undecided, "11 of 1,000 requests had no answer 2 s after the window"},
		{"p99>1s", 11, 0, 2, 2000, met, ""},
		{"p99>=2s", 11, 0, 2, 2000, met, ""},
		{"p99>5s", 11, 0, 2, 2000, undecided, "11 of 1,000 requests had no answer 2 s after the window"},
		{"p99<1s", 5, 600, 2, 2000, missed, "605 of 1,600 requests had no answer 2 s after the window"},
		{"latency.p99<=1s", 11, 0, 2, 2000, missed, "11 of 1,000 requests had no answer 2 s after the window"},
		{"p99<1s", 11, 0, 0.9, 900, undecided, "11 of 1,000 requests had no answer 0.9 s after the window"},
		{"p50<1s", 11, 0, 2, 50, met, ""},
		{"p90<1s", 100, 0, 2, 150, met, ""},
		{"p90<1s", 101, 0, 2, 2000, missed, "101 of 1,000 requests had no answer 2 s after the window"},
		{"p95<100ms", 20, 0, 2, 150, missed, "20 of 1,000 requests had no answer 2 s after the window"}, // 35 answers took 150 ms
		{"p95<100ms", 10, 0, 2, 50, met, ""},
		{"max<1s", 1, 0, 2, 2000, missed, "1 of 1,000 requests had no answer 2 s after the window"},
		{"max<3s", 1, 0, 2, 2000, undecided, "1 of 1,000 requests had no answer 2 s after the window"},
		{"max>1s", 1, 0, 2, 2000, met, ""},
		{"min<60ms", 1, 0, 2, 50, met, ""}, {"min>60ms", 1, 0, 2, 50, missed, ""},
		{"min>60ms", 1, 0, 0.01, 10, undecided, "1 of 1,000 requests had no answer 0.01 s after the window"},
		{"mean<80ms", 20, 0, 2, (35*150 + 945*50 + 20*2000) / 1000., missed, "20 of 1,000 requests had no answer 2 s after the window"},
		{"mean<100ms", 20, 0, 2, (35*150 + 945*50 + 20*2000) / 1000., undecided, "20 of 1,000 requests had no answer 2 s after the window"},
		{"mean>80ms", 20, 0, 2, (35*150 + 945*50 + 20*2000) / 1000., met, ""},
		{"stdev<1ms", 20, 0, 2, 18.56, undecided, "20 of 1,000 requests had no answer 2 s after the window"},
		{"stdev<20ms", 0, 0, 2, 18.37, met, ""},
	} {
		for _, whose := range []string{"", "service.", "first_byte."} {
			expr := whose + strings.TrimPrefix(c.expr, "latency.")
			o, err := Parse(expr)
			if err != nil {
				t.Fatal(err)
			}
			ms := make([]time.Duration, 1000-c.unfinished)
			for i := range ms {
				if ms[i] = 50 * time.Millisecond; i < 35 {
					ms[i] = 150 * time.Millisecond
				}
			}
			r := result.Provisional(result.Measured{Took: 10 * time.Second, Latency: histogram(ms...),
				Service: histogram(), Iterations: histogram(), Requests: result.Requests{Sent: 1000,
					Completed: 1000 - c.unfinished, Unfinished: c.unfinished, Waiting: &c.waiting}})
			r.Latency = r.Latency.WithUnanswered(durations.Bound{US: c.drained * 1e6, Count: c.unfinished + c.waiting})
			r.Service, r.Phases.FirstByte = r.Latency, r.Latency
			r.Ended, r.Window.DrainedS = string(loadresult.ByDuration), c.drained
			got := o.Judge(r)
			state := map[bool]string{true: met, false: missed}[got.Met]
			if got.IsUndecided() {
				state = got.Undecided
			}
			if state != c.want || got.IsMissed() != (c.want == missed) || got.Note != c.note ||
				math.Abs(*got.Value/1e3/c.value-1) > 0.001 {
				t.Errorf("%s, %d unfinished, %d never sent, drained for %v s: %v, %+v; want %s, %v, %q", expr, c.unfinished,
					c.waiting, c.drained, *got.Value, got, c.want, c.value, c.note)
			}
		}
	}
}

// So it is with iterations, and with a route of which a tenth was given up after 3 s. Nothing is known of a
// route's percentile that several generators have.
func TestUnansweredOfOthers(t *testing.T) {
	values := make([]time.Duration, 900)
	for i := range values {
		values[i] = 50 * time.Millisecond
	}
	r := result.Provisional(result.Measured{Took: 10 * time.Second, Latency: histogram(), Service: histogram(),
		Iterations: histogram(values...), Requests: result.Requests{Sent: 1000}})
	r.Window.DrainedS, r.Ended = 2, string(loadresult.ByDuration)
	r.Requests.Unanswered = loadresult.Unanswered{{After: 3e9, Requests: 100}}
	r.Iterations.Time = r.Iterations.Time.WithUnanswered(durations.Bound{US: 2e6, Count: 100})
	r.Routes = []result.Route{{Name: "a", Completed: 900, Mean: 50e3, P50: 50e3, P90: 50e3, P99: 3e6, Max: 3e6,
		Over: &durations.Over{US: 3e6, Count: 100, Answered: 50e3}}, {Name: "b", Completed: 900, Mean: 50e3, Max: 50e3}}
	for expr, want := range map[string]struct{ state, note string }{
		"iteration.p90<100ms":  {"met", ""},
		"iteration.p99<1s":     {"missed", "100 of 1,000 iterations had not ended 2 s after the window"},
		"iteration.p99<5s":     {"no-answers", "100 of 1,000 iterations had not ended 2 s after the window"},
		"iteration.mean>200ms": {"met", ""},
		"route.a.p90<100ms":    {"met", ""}, "route.a.p99<1s": {"missed", "100 of 1,000 requests had no answer in 3 s"},
		"route.a.p99<5s": {"no-answers", "100 of 1,000 requests had no answer in 3 s"}, "route.a.max>1s": {"met", ""},
		"route.a.mean<300ms": {"missed", "100 of 1,000 requests had no answer in 3 s"}, "route.b.mean<1s": {"met", ""},
		"route.a.mean<400ms": {"no-answers", "100 of 1,000 requests had no answer in 3 s"}, "route.b.p99<1s": {"missed", ""},
	} {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Judge(r)
		state := map[bool]string{true: "met", false: "missed"}[got.Met]
		if got.IsUndecided() {
			state = got.Undecided
		}
		if state != want.state || got.Note != want.note {
			t.Errorf("%s: %+v, want %v", expr, got, want)
		}
	}
}

// Where no request was ever due nothing was measured, and no objective is met.
func TestNothingMeasuredMeetsNothing(t *testing.T) {
	for _, expr := range []string{"rps<=100", "errors<5", "errors<1%", "p99<1s", "rps>=0"} {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Judge(&result.Result{Ended: string(loadresult.Unreachable)}); got.Value != nil || got.Met {
			t.Errorf("%s: %+v", expr, got)
		}
	}
}

// Objectives on what a script counted: a counter's name may look like that of a histogram's statistic.
func TestMetricsAreJudged(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	for i := range int64(100) {
		h.Record(1000 * (i + 1))
	}
	all := scripted.From([]metric.Named{{Name: "hits", Sum: 7.5}, {Name: "size", Histogram: h}, {Name: "x.p99", Sum: 2}})
	r := &result.Result{Scenario: result.Scenario{Metrics: all}}
	for expr, want := range map[string]float64{"metric.hits<8": 7.5, "metric.size.count>=100": 100, "metric.size.min<2": 1,
		"metric.size.max<=100": 100, "metric.size.mean<51": 50.5, "metric.x.p99<3": 2, "metric.size.stdev<30": 28.9,
		"metric.size.p50<51": 50, "metric.size.p99<=100": 99} {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Judge(r); got.Value == nil || math.Abs(*got.Value/want-1) > 0.002 || !got.Met || got.Unit != "" {
			t.Errorf("%s: %+v, %v", expr, got, got.Value)
		}
	}
	for _, expr := range []string{"metric.none<1", "metric.size<1", "metric.size.p0<1", "metric.hits.p50<1", "metric.size.median<1"} {
		if o, err := Parse(expr); err != nil || o.Judge(r).Value != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestWhatObjectivesAreAbout(t *testing.T) {
	for _, c := range []struct {
		expr            string
		q, limit        float64
		ceiling, errors bool
	}{
		{"p99<20ms", 0.99, 20_000, true, false}, {"latency.p99.9<=1s", 0.999, 1e6, true, false},
		{"service.p99<1ms", 0, 1000, true, false}, {"mean<1ms", 0, 1000, true, false},
		{"errors<0.1%", 0, 0.1, true, true}, {"rps>=10k", 0, 10_000, false, false},
		{"route.p50.p99<1s", 0, 1e6, true, false},
		{"iteration.p95<2s", 0, 2e6, true, false}, {"checks>99.9%", 0, 99.9, false, false},
	} {
		o, err := Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		q, _, ok := o.Bounded()
		if ok != (c.q > 0) || ok && math.Abs(q-c.q) > 1e-12 || o.Limit() != c.limit ||
			o.IsUpperBound() != c.ceiling || o.OfErrors() != c.errors {
			t.Errorf("%s: quantile %v, %v, limit %v, ceiling %v, of errors %v", c.expr, q, ok, o.Limit(),
				o.IsUpperBound(), o.OfErrors())
		}
	}
}

// A search needs objectives that more load makes harder, and bounds those of which each request has a
// value of its own.
func TestObjectivesOfASearch(t *testing.T) {
	for _, c := range []struct {
		expr, of string
		q        float64
		harder   bool
	}{
		{"p99<20ms", "latency", 0.99, true}, {"first_event.p99<300ms", result.FirstEvent, 0.99, true},
		{"ttft.p50<=1s", result.FirstEvent, 0.5, true}, {"first_event.max<1s", "", 0, true}, {"gap.p99<1s", "", 0, true},
		{"good>99%", "", 0, true}, {"good<50%", "", 0, false}, {"checks>=99%", "", 0, true}, {"errors<1%", "", 0, true},
		{"rps>10", "", 0, false}, {"goodput>5/s", "", 0, false}, {"p50>1ms", "latency", 0.5, false},
	} {
		o, err := Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		q, of, ok := o.Bounded()
		if ok != (c.q > 0) || ok && (math.Abs(q-c.q) > 1e-12 || of != c.of) || o.HarderWithLoad() != c.harder {
			t.Errorf("%s: quantile %v of %q (%v), harder %v", c.expr, q, of, ok, o.HarderWithLoad())
		}
	}
}

func FuzzParseObjective(f *testing.F) {
	for _, s := range []string{"p99<20ms", "errors<0.1%", "rps>=10k", "route.a.p99<1s", ".", "p.<",
		"checks.a b>9%", "checks. >1%", "iteration.p95<2s"} {
		f.Add(s)
	}
	r := &result.Result{Latency: &result.Distribution{Count: 1, P50: 1}}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := Parse(s)
		if err != nil {
			return
		}
		o.Judge(r)
		if again, err := Parse(o.Expr); err != nil || again.Expr != o.Expr {
			t.Errorf("%q is read as %q, and that as %q: %v", s, o.Expr, again.Expr, err)
		}
	})
}

func histogram(all ...time.Duration) *metric.Histogram {
	h := metric.NewHistogram(metric.Fine)
	for _, d := range all {
		h.Record(int64(d))
	}
	return h
}

// Objectives that no result can meet are known before the load.
func TestUnknown(t *testing.T) {
	of := Names{Checks: []string{"is 200", "has a body"}, Counters: []string{"hits", "a.b"}, Histograms: []string{"size", "x.y"}}
	for expr, want := range map[string]string{
		"p99<1s": "", "errors<1%": "", "checks>99%": "", "checks.is 200>99%": "", "metric.hits<3": "", "metric.a.b<3": "",
		"metric.size.p99<3": "", "metric.size.p99.9<3": "", "metric.size.count>3": "", "metric.x.y.max<3": "",
		"checks.is 20>99%":     `the run has no check "is 20"; did you mean "is 200"?`,
		"checks.other>99%":     `no check "other"; it has "is 200", "has a body"`,
		"metric.hit<3":         `the script has no counter or histogram "hit"; did you mean "hits"?`,
		"metric.size<3":        `"size" is a histogram; write which of its values, such as metric.size.p99`,
		"metric.size.median<3": `"median" is no value of a histogram; write count, min`,
		"metric.size.p0<3":     `"p0" is no value`, "metric.none.p99<3": `no counter or histogram "none.p99"; it has "hits"`,
	} {
		o, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Unknown(of)
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, want %q", expr, got, want)
		}
	}
	for expr, names := range map[string]Names{"checks>99%": {}, "checks.a>99%": {}, "metric.a<3": {}} {
		if o, err := Parse(expr); err != nil || o.Unknown(names) == nil {
			t.Errorf("%s: nothing, %v", expr, err)
		}
	}
	if o, _ := Parse("metric.other<3"); o.Unknown(Names{Counters: []string{"a"}, More: true}) != nil {
		t.Error("a script may compute the names of its counters")
	}
}
