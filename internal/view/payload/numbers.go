package payload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// A Cell is a text. That of a number of the JSON has its value, and its path as Key.
type Cell struct {
	Text  string   `json:"text"`
	Key   string   `json:"key,omitempty"`
	Value *float64 `json:"value,omitempty"`
}

// A Table is as the page shows it; its CSV has the values.
type Table struct {
	Head []string `json:"head"`
	Rows [][]Cell `json:"rows"`
}

// A Tile is a number that is asked for first.
type Tile struct {
	Name string `json:"name"`
	Cell
}

func numberCell(key string, v float64, text string) Cell { return Cell{text, key, &v} }

func countCell(key string, n int64) Cell {
	return numberCell(key, float64(n), format.Count(n))
}

// quantileCell is a statistic of d, at the path of, as reports write it.
func quantileCell(of string, d *result.Distribution, q report.Quantile) Cell {
	key := of + "." + strings.ReplaceAll(q.Name, ".", "_") + "_us"
	return numberCell(key, q.Of(d), q.PercentileCell(d))
}

// TilesOf are the tiles of a run: none of rates and times if nothing was answered.
func TilesOf(r *result.Result) (all []Tile) {
	add := func(name string, c Cell) { all = append(all, Tile{name, c}) }
	rate := func(name, key string, v *float64) {
		if v != nil {
			add(name, numberCell(key, *v, format.Digits3(*v)+"/s"))
		}
	}
	times := func(name, key string, d *result.Distribution, which ...string) {
		for _, q := range report.Quantiles {
			if d != nil && slices.Contains(which, q.Name) {
				add(strings.TrimSpace(name+" "+q.Name), quantileCell(key, d, q))
			}
		}
	}
	answered := r.Requests.Completed > 0
	if answered {
		rate("answered", "rate.completed", &r.Rate.Completed)
	}
	rate("offered", "rate.offered", r.Rate.Offered)
	offered := r.Offered()
	apart := offered == nil || math.Abs(r.Rate.Sent/(*offered)-1) > 0.001
	if answered && apart && r.Rate.Sent != r.Rate.Completed {
		rate("sent", "rate.sent", &r.Rate.Sent)
	}
	if i := r.Iterations; i != nil {
		rate("iterations", "iterations.rate.completed", &i.Rate.Completed)
		rate("iterations offered", "iterations.rate.offered", i.Rate.Offered)
		times("iteration", "iterations.time", i.Time, "p50", "p99")
		if i.Failed > 0 {
			add("iterations failed", countCell("iterations.failed", i.Failed))
		}
	}
	if s := r.Stream; s != nil && s.Events > 0 {
		times("first event", "stream.first_event", s.First, "p50", "p99")
		times("gap", "stream.gap", s.Gap, "p50", "p99")
		rate("events", "stream.rate.events", &s.Rate.Events)
		if s.Tokens > 0 {
			rate("tokens", "stream.rate.tokens", &s.Rate.Tokens)
		}
	}
	if answered {
		times("", "latency", r.Latency, report.FirstQuantiles...)
	}
	if answered || r.Requests.Errors > 0 {
		add("errors", countCell("requests.errors", r.Requests.Errors))
	}
	rate("error answers", "rate.error_answers", r.Rate.ErrorAnswers)
	times("error", "error_latency", r.ErrorLatency, "p99")
	if s := r.Server; s != nil && len(s.Processes) > 0 {
		if v := float64(s.Processes[0].CPU); !math.IsNaN(v) {
			add("server CPU/request", numberCell("server.processes.0.cpu_us_per_request", v,
				format.Micros(v)))
		}
	}
	return all
}

// durations has a row for each statistic and a column for each distribution.
func (p Run) durations() (t Table) {
	all := p.everyDistribution()
	if len(all) == 0 {
		return t
	}
	t.Head = []string{""}
	counts := []Cell{{Text: "count"}}
	for _, d := range all {
		t.Head = append(t.Head, d.Name)
		counts = append(counts, countCell(d.Of+".count", d.Count))
	}
	for _, q := range report.Quantiles {
		row := []Cell{{Text: q.Name}}
		for _, d := range all {
			row = append(row, quantileCell(d.Of, d.Distribution, q))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, counts)
	return t
}

// phases has a row for each distribution with a value above 0.
func (p Run) phases() (t Table) {
	t.Head = []string{""}
	which := []string{"min", "p50", "p99", "max"}
	for _, name := range which {
		t.Head = append(t.Head, name+" µs")
	}
	for _, d := range p.everyDistribution() {
		row := []Cell{{Text: d.Name}}
		for _, q := range report.Quantiles {
			if slices.Contains(which, q.Name) {
				row = append(row, quantileCell(d.Of, d.Distribution, q))
			}
		}
		if d.Max > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// routes has the routes as reports write them.
func routes(r *result.Result) *Table {
	texts := report.RouteTable(r)
	if len(texts) == 0 {
		return nil
	}
	t := &Table{Head: texts[0]}
	for i := range r.Routes {
		e, at := &r.Routes[i], fmt.Sprintf("routes.%d.", i)
		row := []Cell{{Text: texts[i+1][0]}, countCell(at+"completed", e.Completed),
			countCell(at+"errors", e.Errors)}
		add := func(key string, us float64) { // 0: it is not in the JSON
			c := Cell{Text: texts[i+1][len(row)]}
			if us > 0 {
				c = numberCell(at+key, us, c.Text)
			}
			row = append(row, c)
		}
		add("mean_us", e.Mean)
		for _, p := range metric.Percentiles(e) {
			add(p.Key, *p.Value)
		}
		add("max_us", e.Max)
		if len(t.Head) > len(row) { // of streams
			add("first_event.p99_us", cmp.Or(e.First, new(streamed.Times)).P99)
			add("gap.p99_us", cmp.Or(e.Gap, new(streamed.Times)).P99)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// checks has the checks of responses as reports write them, with their whole names.
func checks(r *result.Result) *Table {
	texts := report.CheckTable(r)
	if len(texts) == 0 {
		return nil
	}
	t := &Table{Head: texts[0]}
	for i, k := range report.ByFailures(r.Checks) {
		c, at, row := r.Checks[k], fmt.Sprintf("checks.%d.", k), texts[i+1]
		t.Rows = append(t.Rows, []Cell{{Text: c.Name},
			numberCell(at+"failed", float64(c.Failed), row[1]),
			numberCell(at+"passed", float64(c.Passed), row[2]), {Text: row[3]}})
	}
	return t
}

// metrics has what a script counted as reports write it, with whole names.
func metrics(r *result.Result) *Table {
	texts := report.MetricTable(r)
	if len(texts) == 0 {
		return nil
	}
	t := &Table{Head: texts[0]}
	for i, m := range r.Metrics {
		row, at := []Cell{{Text: m.Name}}, fmt.Sprintf("metrics.%d.", i)
		for _, text := range texts[i+1][1:] {
			row = append(row, Cell{Text: text})
		}
		if m.Value != nil {
			row[1] = numberCell(at+"value", *m.Value, row[1].Text)
		} else if v := m.Values; v != nil {
			for k, x := range []struct {
				key string
				of  float64
			}{{"count", float64(v.Count)}, {"mean", v.Mean}, {"p50", v.P50}, {"p99", v.P99},
				{"max", v.Max}} {
				row[k+2] = numberCell(at+"values."+x.key, x.of, row[k+2].Text)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
