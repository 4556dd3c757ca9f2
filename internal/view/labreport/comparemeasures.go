package labreport

import (
	"fmt"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/view/document"
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
		all = append(all, measure{labanswer.MeasureName(m.Name), shownIn(m.Unit),
			func(r *result.Result) (float64, bool) { return m.Value(&lab.Trial{Result: r}) }, true,
			func(r *result.Result) bool { return m.IsOver(&lab.Trial{Result: r}) }})
	}
	return all
}

// shownIn shows values of a unit.
func shownIn(unit string) func(float64) string {
	switch {
	case strings.HasPrefix(unit, "µs"):
		return format.Micros
	case unit == "%":
		return func(v float64) string { return format.FinePercent(v / 100) }
	case unit == "streams":
		return format.Exact3
	}
	return format.Digits3
}

const mostRoutes = 20 // compared in text; JSON has all

// routesPart has, for each route, the measures of streams and of goodput that a result has of it.
func routesPart(rs []*result.Result) document.Part {
	var names []string
	for _, r := range rs {
		for _, x := range r.Routes {
			names = appendMissing(names, x.Name)
		}
	}
	var t format.Table
	shown, left := 0, 0
	for _, name := range names {
		rows := routeRows(rs, name)
		switch {
		case rows == nil:
		case shown == mostRoutes:
			left++
		default:
			t, shown = append(t, rows...), shown+1
		}
	}
	if t == nil {
		return document.Part{}
	}
	p := document.Part{Head: "Routes", Sides: "llr",
		Table: append(format.Table{append([]string{"route"}, besideHead(rs)...)}, t...)}
	p.Text = routesLeft(left)
	return p
}

// routesLeft says how many routes a table leaves out.
func routesLeft(n int) []string {
	if n <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s more are in --json.", format.Plural(int64(n), "route"))}
}

// routeMeasureName is the name of a measure in words.
func routeMeasureName(name string) string {
	if name == "cut" || name == "stalled" {
		return "streams " + name
	}
	return labanswer.MeasureName(name)
}

// routeRows are a route's rows; nil if no result has a value.
func routeRows(rs []*result.Result, name string) (rows format.Table) {
	for _, m := range lab.RouteMeasures {
		row := measure{labanswer.MeasureName(m.Name), shownIn(m.Unit),
			func(r *result.Result) (float64, bool) { return m.Value(r, name) }, true,
			func(r *result.Result) bool { return m.IsOver(r, name) }}.row(rs)
		if row != nil {
			rows = append(rows, append([]string{format.PlainLine(name)}, row...))
		}
	}
	return rows
}
