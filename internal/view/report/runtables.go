package report

import (
	"slices"
	"strings"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// A Quantile is one row of the table of durations.
type Quantile struct {
	Name    string
	percent float64 // of a percentile, or 100 of the maximum; else 0
	Of      func(*result.Distribution) float64
}

// Quantiles are the rows of the table of durations.
var Quantiles = quantilesOf(new(result.Distribution))

func quantilesOf(d *result.Distribution) []Quantile {
	all := []Quantile{
		{"min", 0, func(d *result.Distribution) float64 { return d.Min }},
		{"mean", 0, func(d *result.Distribution) float64 { return d.Mean }},
		{"stdev", 0, func(d *result.Distribution) float64 { return d.Stdev }},
	}
	for _, p := range metric.Percentiles(d) {
		of := func(d *result.Distribution) float64 { us, _ := d.Percentile(p.Percent); return us }
		all = append(all, Quantile{p.Name, p.Percent, of})
	}
	return append(all, Quantile{"max", 100, func(d *result.Distribution) float64 { return d.Max }})
}

// FirstQuantiles are those that are asked for first: in one line, and among the answer's numbers.
// The page has them as tiles.
var FirstQuantiles = []string{"p50", "p90", "p99", "p99.9", "max"}

// FewForPercentile says below a table what TooFew in it means.
const FewForPercentile = format.TooFew + " too few were measured for this percentile"

// PercentileCell is what d has of it, or TooFew.
func (q Quantile) PercentileCell(d *result.Distribution) string {
	// A little more than 1 of 100 exceeds p99, in floating point.
	if q.percent > 0 && q.percent < 100 && d.Beyond(q.percent) < 0.999 {
		return format.TooFew
	}
	return format.Known(q.IsOver(d), format.Micros(q.Of(d)))
}

// IsOver reports whether d's value of it is known only to be longer: requests that it reaches had
// no answer.
func (q Quantile) IsOver(d *result.Distribution) bool {
	return q.percent > 0 && d.IsOver(q.percent)
}

// percentileText is the value of one of Quantiles, whatever the number of values: "over 2.00 s".
func percentileText(d *result.Distribution, name string) string {
	q := Quantiles[slices.IndexFunc(Quantiles, func(q Quantile) bool { return q.Name == name })]
	return format.Known(q.IsOver(d), format.Micros(q.Of(d)))
}

// quantilesText are some of Quantiles.
func quantilesText(d *result.Distribution, names ...string) string {
	var all []string
	for _, q := range Quantiles {
		if slices.Contains(names, q.Name) {
			all = append(all, q.Name+" "+q.PercentileCell(d))
		}
	}
	return strings.Join(all, ", ")
}

// durationPart is the table of durations, with what an empty cell means.
func durationPart(r *result.Result) document.Part {
	p := document.Part{Head: "Durations", Table: durationTable(r), Sides: "lr"}
	if slices.ContainsFunc(p.Table, func(row []string) bool {
		return slices.Contains(row, format.TooFew)
	}) {
		p.Under = []string{FewForPercentile}
	}
	return p
}

// durationTable has a column for each that was measured; nil when none was. In a
// closed loop on connections that are kept service time is latency, and not printed twice.
func durationTable(r *result.Result) format.Table {
	type column struct {
		name string
		of   *result.Distribution
	}
	all := []column{{"latency", r.Latency}}
	if r.SentLater() {
		all = append(all, column{"service", r.Service})
	}
	all = append(all, column{"error latency", r.ErrorLatency},
		column{"iteration", r.IterationTime()}, column{"failed iteration", r.FailedIterationTime()})
	if r.Probe != nil {
		all = append(all, column{"probe", r.Probe.Latency})
	}
	if v := r.Stream; v != nil {
		all = append(all, column{"first event", v.First}, column{"gap", v.Gap},
			column{"token time", v.Token})
	}
	all = append(all, column{"first byte", r.Phases.FirstByte}, column{"connect", r.Phases.Connect})
	if p := r.Phases; p.TLSResumed == nil {
		all = append(all, column{"TLS", p.TLS})
	} else {
		all = append(all, column{"TLS, full", p.TLSFull}, column{"resumed", p.TLSResumed})
	}
	all = append(all, column{"DNS", r.Phases.DNS})
	t := format.Table{{""}}
	for _, q := range Quantiles {
		t = append(t, []string{q.Name})
	}
	for _, c := range all {
		if c.of == nil {
			continue
		}
		t[0] = append(t[0], c.name)
		for i, q := range Quantiles {
			t[i+1] = append(t[i+1], q.PercentileCell(c.of))
		}
	}
	if len(t[0]) == 1 {
		return nil
	}
	return t
}

// errorTable has a row for each kind of error.
func errorTable(r *result.Result) format.Table {
	if len(r.Errors) == 0 {
		return nil
	}
	t := format.Table{{"count", "phase", "kind", "address", "first"}}
	sampled := slices.ContainsFunc(r.Errors, func(e result.Error) bool { return e.Sample != "" })
	if sampled {
		t[0] = append(t[0], "answer")
	}
	for _, e := range r.Errors {
		row := []string{format.Count(e.Count), format.PlainLine(e.Phase), format.PlainLine(e.Kind),
			format.PlainLine(e.Address), format.PlainLine(e.Text(r.Voice()))}
		if sampled {
			row = append(row, format.Clip(format.PlainLine(e.Sample), 60))
		}
		t = append(t, row)
	}
	return t
}

// RouteTable has a row for each route. Package payload knows its columns.
func RouteTable(r *result.Result) format.Table {
	if len(r.Routes) == 0 {
		return nil
	}
	t := format.Table{{"route", "completed", "errors", "mean"}}
	for _, p := range metric.Percentiles(new(result.Route)) {
		t[0] = append(t[0], p.Name)
	}
	t[0] = append(t[0], "max")
	streams := slices.ContainsFunc(r.Routes, func(e result.Route) bool { return e.First != nil })
	if streams {
		t[0] = append(t[0], "first event p99", "gap p99")
	}
	for _, e := range r.Routes {
		row := []string{format.PlainLine(e.Name), format.Count(e.Completed), format.Count(e.Errors)}
		times := append([]metric.Percentile{{Value: &e.Mean}}, metric.Percentiles(&e)...)
		for _, p := range append(times, metric.Percentile{Percent: 100, Value: &e.Max}) {
			text := format.TooFew
			if us := *p.Value; e.Completed > 0 && us > 0 {
				text = format.Known(p.Percent > 0 && e.IsOver(p.Percent, us), format.Micros(us))
			}
			row = append(row, text)
		}
		for _, s := range []*streamed.Times{e.First, e.Gap} {
			switch {
			case s != nil:
				row = append(row, format.Micros(s.P99))
			case streams:
				row = append(row, format.TooFew)
			}
		}
		t = append(t, row)
	}
	return t
}
