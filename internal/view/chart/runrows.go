package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

// statusView is how many responses had each code.
func statusView(r *result.Result) View {
	codes := slices.Sorted(maps.Keys(r.Status))
	sum := int64(0)
	for _, n := range r.Status {
		sum += n
	}
	v := View{Name: "status", Title: "Status codes", Unit: "responses in the window, logarithmic",
		Foot:    []string{fmt.Sprintf("n = %s", format.Plural(sum, "response"))},
		Section: "answers"}
	if sum == 0 {
		v.Empty = "There was no response."
		return v
	}
	inks := map[byte]string{'1': "c7", '2': "c3", '3': "c1", '4': "c5", '5': "c2"}
	most := 10.0
	for i, code := range codes {
		n := float64(r.Status[code])
		most = max(most, n)
		v.Rows = append(v.Rows, Row{Label: code, Says: fmt.Sprintf("%s (%s)",
			format.Count(r.Status[code]),
			format.Percent(100*n/float64(sum)))})
		v.Marks = append(v.Marks, bar(code, i, 0.5, n, cmp.Or(inks[code[0]], "c7")))
	}
	v.X = Axis{Low: 0.5, High: most, Log: true, Label: "responses"}
	for t := 1.0; t <= most; t *= 100 {
		v.X.Ticks = append(v.X.Ticks, Tick{t, format.Exact3(t)})
	}
	return v
}

// bar is a bar in a row, from one value to another.
func bar(name string, row int, from, to float64, ink string) Mark {
	y := float64(row)
	return Mark{Kind: Rect, Name: name, Ink: ink,
		Points: []Point{{X: from, Y: y - 0.3}, {X: to, Y: y + 0.3}}}
}

// routesView is each route's p50 to p99, the slowest first.
func routesView(r *result.Result) View {
	timed := slices.Clone(r.Routes)
	timed = slices.DeleteFunc(timed,
		func(x result.Route) bool { return x.Completed == 0 || x.P99 <= 0 })
	slices.SortStableFunc(timed, func(a, b result.Route) int { return cmp.Compare(b.P99, a.P99) })
	v := View{Name: "routes", Title: "Routes", Unit: "latency, logarithmic: from p50 to p99, dot p90",
		Foot:    []string{fmt.Sprintf("n = %s", format.Plural(int64(len(r.Routes)), "route")), oneRun},
		Section: "routes-all"}
	if len(timed) == 0 {
		v.Empty = "No route has a completed request."
		if slices.ContainsFunc(r.Routes, func(x result.Route) bool { return x.Completed > 0 }) {
			v.Empty = "The latency of no route is known."
		}
		return v
	}
	if n := len(timed); n > rowsMax {
		v.Foot, timed = append(v.Foot, fmt.Sprintf("the %d slowest of %d", rowsMax, n)), timed[:rowsMax]
	}
	var values []float64
	for i, x := range timed {
		y := float64(i)
		values = append(values, x.P50, x.P99)
		v.Rows = append(v.Rows, Row{Label: format.PlainLine(x.Name), Says: "p99 " +
			format.Known(x.IsOver(99, x.P99), format.Micros(x.P99))})
		v.Marks = append(v.Marks,
			Mark{Kind: Line, Name: "p50 to p99", Ink: "c1", Width: 7, Points: []Point{{X: x.P50, Y: y},
				{X: x.P99, Y: y}}},
			Mark{Kind: Dot, Name: "p90", Ink: "c1", Width: 4, Shape: Ring, Points: []Point{{X: x.P90,
				Y: y}}})
	}
	v.X = logarithmic(values, 1.2, 8, "latency", "µs")
	return v
}

// cpuView is what a request cost each part of the server.
func cpuView(r *result.Result) View {
	v := View{Name: "cpu-cost", Title: "CPU per request",
		Unit:   "µs of CPU for each completed request",
		Legend: []Key{{Name: "user", Ink: "a1", Kind: Rect}, {Name: "system", Ink: "a2", Kind: Rect}},
		Foot: []string{"n = " + format.Plural(int64(len(r.Server.Processes)), "process") +
			", each with its children",
			oneRun}, Section: "server-all"}
	high := 0.0
	for i, u := range r.Server.Processes {
		name := cmp.Or(format.PlainLine(u.Name), "all")
		if u.PID > 0 {
			name = fmt.Sprintf("%s %d", format.Clip(name, 30), u.PID)
		}
		user, system := known(float64(u.User)), known(float64(u.System))
		high = max(high, user+system)
		v.Rows = append(v.Rows, Row{Label: name, Says: format.Micros(user + system)})
		v.Marks = append(v.Marks, bar("user", i, 0, user, "a1"), bar("system", i, user, user+system,
			"a2"))
	}
	if high == 0 {
		v.Empty = "This machine does not tell what CPU time the server took."
	}
	v.X = linear(high, "CPU per request", "µs")
	return v
}

// known is 0 of what could not be read.
func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// phasesView is each distribution of a run: its range, its middle and its tail.
func phasesView(p payload.Run) View {
	v := View{Name: "phases", Title: "Phases",
		Unit: "time, logarithmic: thin from least to most, thick from p50 to p99, dot p50",
		Foot: []string{fmt.Sprintf("n = %s", format.Plural(p.Result.Requests.Completed, "request")),
			oneRun}, Section: "latencies"}
	var values []float64
	for _, d := range p.Distributions() {
		if d.Max <= 0 {
			continue
		}
		y, least := float64(len(v.Rows)), max(d.Min, 1e-3)
		p50, p99 := max(d.P50, 1e-3), max(d.P99, 1e-3)
		values = append(values, least, d.Max)
		v.Rows = append(v.Rows, Row{Label: d.Name,
			Says: fmt.Sprintf("p50 %s, p99 %s", format.Known(d.IsOver(50), format.Micros(d.P50)),
				format.Known(d.IsOver(99), format.Micros(d.P99)))})
		v.Marks = append(v.Marks,
			Mark{Kind: Line, Name: "least to most", Ink: "c7", Width: 1.5, Points: []Point{{X: least,
				Y: y}, {X: d.Max, Y: y}}},
			Mark{Kind: Line, Name: "p50 to p99", Ink: "c1", Width: 8, Points: []Point{{X: p50, Y: y},
				{X: p99, Y: y}}},
			Mark{Kind: Dot, Name: "p50", Ink: "c1", Width: 5, Shape: Ring, Points: []Point{{X: p50, Y: y}}})
	}
	if len(v.Rows) == 0 {
		v.Empty = "Nothing was timed: nothing completed and no connection was opened."
	}
	v.X = logarithmic(values, 1.2, 9, "time", "µs")
	return v
}
