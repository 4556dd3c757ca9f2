package labreport

import (
	"strings"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/report"
)

// quantileOf is a quantile of a distribution that a result may have. It has no value if too few
// were measured.
func quantileOf(q report.Quantile, of func(*result.Result) *result.Distribution) func(
	*result.Result) (float64, bool) {
	return func(r *result.Result) (float64, bool) {
		d := of(r)
		if d == nil || q.PercentileCell(d) == format.TooFew {
			return 0, false
		}
		return q.Of(d), true
	}
}

// isOver is whether the quantile is only known to be higher.
func isOver(q report.Quantile, of func(*result.Result) *result.Distribution) func(
	*result.Result) bool {
	return func(r *result.Result) bool { return of(r) != nil && q.IsOver(of(r)) }
}

func latencyOf(r *result.Result) *result.Distribution { return r.Latency }

func errorLatencyOf(r *result.Result) *result.Distribution { return r.ErrorLatency }

// scenarioMeasures are those of iterations and of checks.
func scenarioMeasures() []measure {
	all := []measure{{"iterations/s", format.Digits3, func(r *result.Result) (float64, bool) {
		if r.Iterations == nil {
			return 0, false
		}
		return r.Iterations.Rate.Completed, true
	}, true, nil}}
	for _, q := range report.Quantiles {
		if q.Name == "p50" || q.Name == "p99" {
			all = append(all, measure{"iteration " + q.Name, format.Micros,
				quantileOf(q, (*result.Result).IterationTime), true,
				isOver(q, (*result.Result).IterationTime)})
		}
	}
	return append(all, measure{name: "checks passed", show: format.FinePercent, some: true,
		of: func(r *result.Result) (float64, bool) { return r.Passed("") }})
}

// streamMeasures are those of streams of events, and of goodput.
func streamMeasures() (all []measure) {
	for _, m := range lab.StreamMeasures {
		show := format.Digits3
		switch {
		case strings.HasPrefix(m.Unit, "µs"):
			show = format.Micros
		case m.Unit == "%":
			show = func(v float64) string { return format.FinePercent(v / 100) }
		}
		all = append(all, measure{labanswer.MeasureName(m.Name), show,
			func(r *result.Result) (float64, bool) { return m.Value(&lab.Trial{Result: r}) }, true,
			func(r *result.Result) bool { return m.IsOver(&lab.Trial{Result: r}) }})
	}
	return all
}
