package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/page"
)

const (
	oneRun   = "one run: it says nothing of the next one"
	overTime = "time of the window, s"
	shortest = 1e-3 // s that a rate is of, at least
	linesMax = 5    // lines of a plot
	rowsMax  = 40   // rows of a plot
)

// An interval is a point of the series with its beginning.
type interval struct {
	from  float64
	point *result.Point
}

// ratedIntervals are the intervals of the series that are long enough for a rate and lie mostly
// within the window.
func ratedIntervals(r *result.Result) (all []interval) {
	from := 0.0
	for i := range r.Series {
		p := &r.Series[i]
		within := min(p.T, r.Window.MeasuredS) - from
		if (within >= (p.T-from)/2 || i == 0) && p.T-from >= shortest {
			all = append(all, interval{from, p})
		}
		from = p.T
	}
	return all
}

// steps are the corners of a line that has one value in each interval; NaN is a gap.
func steps(all []interval, of func(*result.Point) float64) (points []Point) {
	for i, v := range all {
		if i > 0 && v.from > all[i-1].point.T {
			points = append(points, Point{X: v.from, Y: math.NaN()})
		}
		y := of(v.point)
		points = append(points, Point{X: v.from, Y: y}, Point{X: v.point.T, Y: y})
	}
	return points
}

// perSecond are the corners of a count of each interval as a rate.
func perSecond(all []interval, of func(*result.Point) int64) (points []Point) {
	for _, v := range all {
		y := float64(of(v.point)) / (v.point.T - v.from)
		points = append(points, Point{X: v.from, Y: y}, Point{X: v.point.T, Y: y})
	}
	return points
}

// Run returns the views of a run, the most important first. Those that a run of its kind has and
// that show nothing say why (View.Empty).
func Run(p page.RunPayload) []View {
	r := p.Result
	over := ratedIntervals(r)
	all := []View{heatView(over), runSpectrum(p), throughputView(r, over)}
	if r.Iterations != nil {
		all = append(all, iterationsView(r, over))
	}
	all = append(all, codesView(over), errorsView(over), inFlightView(over), trafficView(over),
		phasesView(p), statusView(r))
	if len(r.Routes) > 0 {
		all = append(all, routesView(r))
	}
	if r.Server != nil && len(r.Server.Processes) > 0 {
		all = append(all, cpuView(r))
	}
	if r.Fleet != nil {
		all = append(all, agentsView(r, over))
	}
	for i := range all {
		all[i].About = p.Words.What + "; " + p.Words.How
	}
	return all
}

// timeView is a view over the window's time.
func timeView(name, title, unit string, over []interval) View {
	v := View{Name: name, Title: title, Unit: unit, Foot: []string{intervalsText(len(over)), oneRun}}
	if len(over) == 0 {
		v.Empty = "No interval of the window is long enough to show."
		return v
	}
	end := over[len(over)-1].point.T
	v.X = linearBetween(0, end, overTime, shortRate)
	return v
}

func intervalsText(n int) string {
	return fmt.Sprintf("n = %s of about 1 s", format.Plural(int64(n), "interval"))
}

// lines adds lines to a view, with a linear axis from 0, and the legend.
func (v *View) lines(label string, text func(float64) string, none string, all ...Mark) {
	high := 0.0
	for _, m := range all {
		for _, p := range m.Points {
			if p.Y > high {
				high = p.Y
			}
		}
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: m.Name, Ink: m.Ink, Dash: m.Dash})
	}
	if high == 0 && v.Empty == "" {
		v.Empty = none
	}
	v.Y = linear(high, label, text)
}

// styled is the i-th of several lines: its colour and its dash.
func styled(i int, name string, points []Point) Mark {
	return Mark{Kind: Line, Name: name, Points: points, Ink: lineInk(i), Dash: i, Width: 2}
}

func throughputView(r *result.Result, over []interval) View {
	v := timeView("throughput", "Throughput", "requests/s over time", over)
	if len(over) == 0 {
		return v
	}
	var all []Mark
	if r.Iterations == nil {
		all = offeredLine(r)
	}
	all = append(all,
		styled(1, "sent", perSecond(over, func(p *result.Point) int64 { return p.Sent })),
		styled(0, "completed", perSecond(over, func(p *result.Point) int64 { return p.Completed })))
	v.lines("requests/s", shortRate, "Nothing was sent.", all...)
	return v
}

// offeredLine is the rate that an open plan asks for: corners of straight lines.
func offeredLine(r *result.Result) []Mark {
	if r.Model != result.OpenLoop {
		return nil
	}
	rate := r.Plan.Rate.PerSecond()
	end := r.Window.MeasuredS
	if len(r.Plan.Stages) == 0 {
		if r.Rate.Offered != nil {
			rate = *r.Rate.Offered
		}
		if r.Iterations != nil && r.Iterations.Rate.Offered != nil {
			rate = *r.Iterations.Rate.Offered
		}
		return []Mark{styled(3, "offered", []Point{{X: 0, Y: rate}, {X: end, Y: rate}})}
	}
	points := []Point{{X: 0, Y: rate}}
	for _, s := range r.Plan.Stages {
		last := points[len(points)-1]
		points = append(points, Point{X: last.X + time.Duration(s.Duration).Seconds(), Y: s.Rate.PerSecond()})
	}
	if last := points[len(points)-1]; last.X < end {
		points = append(points, Point{X: end, Y: last.Y})
	}
	return []Mark{styled(3, "offered", points)}
}

func iterationsView(r *result.Result, over []interval) View {
	v := timeView("iterations", "Iterations", "iterations/s over time", over)
	if len(over) > 0 {
		all := append(offeredLine(r),
			styled(0, "completed", perSecond(over, func(p *result.Point) int64 { return p.Iterations })),
			styled(1, "failed", perSecond(over, func(p *result.Point) int64 { return p.IterationsFailed })))
		v.lines("iterations/s", shortRate, "No iteration ended in any second of the window.", all...)
	}
	return v
}

func errorsView(over []interval) View {
	v := timeView("errors", "Errors", "errors/s over time", over)
	if len(over) > 0 {
		v.lines("errors/s", shortRate, "No error in any second of the window.",
			styled(1, "errors", perSecond(over, func(p *result.Point) int64 { return p.Errors })))
	}
	return v
}

func inFlightView(over []interval) View {
	v := timeView("in-flight", "In flight", "requests in flight at the end of each second", over)
	var points []Point
	for _, i := range over {
		points = append(points, Point{X: i.point.T, Y: float64(i.point.InFlight)})
	}
	if len(over) > 0 {
		v.lines("requests", shortRate, "Nothing was in flight at the end of any second.",
			styled(0, "in flight", points))
	}
	return v
}

func trafficView(over []interval) View {
	v := timeView("traffic", "Bytes", "bytes/s over time, headers and TLS included", over)
	if len(over) > 0 {
		v.lines("bytes/s", func(f float64) string { return trimZeros(format.Size(f)) },
			"No byte was sent or received.",
			styled(0, "in", perSecond(over, func(p *result.Point) int64 { return p.Received })),
			styled(1, "out", perSecond(over, func(p *result.Point) int64 { return p.Written })))
	}
	return v
}

// codesView is responses a second by status code, the most frequent codes.
func codesView(over []interval) View {
	v := timeView("codes", "Status codes over time", "responses/s over time, logarithmic", over)
	sums := map[string]int64{}
	for _, i := range over {
		for code, n := range i.point.Status {
			sums[code] += n
		}
	}
	known := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	if len(known) == 0 {
		v.Empty = cmp.Or(v.Empty, "The result has no status codes by second.")
		return v
	}
	if n := len(known); n > linesMax {
		v.Foot = append(v.Foot, fmt.Sprintf("the %d most frequent of %d codes", linesMax, n))
		known = known[:linesMax]
	}
	var values []float64
	for i, code := range known {
		points := perSecond(over, func(p *result.Point) int64 { return p.Status[code] })
		for at := range points {
			if points[at].Y == 0 {
				points[at].Y = math.NaN() // a logarithm has no 0
			}
			values = append(values, points[at].Y)
		}
		m := styled(i, code, points)
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: code, Ink: m.Ink, Dash: m.Dash})
	}
	v.Y = logarithmic(values, 1.3, 6, "responses/s", shortRate)
	return v
}

// agentsView is the rate of each agent of a fleet.
func agentsView(r *result.Result, over []interval) View {
	v := timeView("agents", "The rate of each agent", "requests completed/s over time", over)
	n := 0
	for _, i := range over {
		n = max(n, len(i.point.ByPart))
	}
	if n == 0 {
		v.Empty = cmp.Or(v.Empty, "The result has no seconds of each agent.")
		return v
	}
	if n > linesMax {
		v.Foot = append(v.Foot, fmt.Sprintf("the first %d of %d agents", linesMax, n))
	}
	var all []Mark
	for k := range min(n, linesMax) {
		name := fmt.Sprintf("part %d", k+1)
		if k < len(r.Fleet.Agents) {
			name = format.Clip(format.PlainLine(r.Fleet.Agents[k].Name), 40)
		}
		all = append(all, styled(k, name, steps(over, func(p *result.Point) float64 {
			if k >= len(p.ByPart) || p.ByPart[k] == nil {
				return math.NaN()
			}
			return float64(*p.ByPart[k])
		})))
	}
	for i := range all { // counts of intervals as rates
		for at := range all[i].Points {
			p := &all[i].Points[at]
			p.Y /= lengthAt(over, at/2)
		}
	}
	v.lines("requests/s", shortRate, "No agent completed anything.", all...)
	return v
}

func lengthAt(over []interval, i int) float64 {
	i = min(i, len(over)-1)
	return over[i].point.T - over[i].from
}

// statusView is how many responses had each code.
func statusView(r *result.Result) View {
	codes := slices.Sorted(maps.Keys(r.Status))
	sum := int64(0)
	for _, n := range r.Status {
		sum += n
	}
	v := View{Name: "status", Title: "Status codes", Unit: "responses in the window, logarithmic",
		Foot: []string{fmt.Sprintf("n = %s", format.Plural(sum, "response"))}}
	if sum == 0 {
		v.Empty = "There was no response."
		return v
	}
	inks := map[byte]string{'1': "c7", '2': "c3", '3': "c1", '4': "c5", '5': "c2"}
	most := 10.0
	for i, code := range codes {
		n := float64(r.Status[code])
		most = max(most, n)
		v.Rows = append(v.Rows, Row{Label: code, Says: fmt.Sprintf("%s (%s)", format.Count(r.Status[code]),
			format.Percent(100*n/float64(sum)))})
		v.Marks = append(v.Marks, bar(code, i, 0.5, n, cmp.Or(inks[code[0]], "c7")))
	}
	v.X = Axis{Low: 0.5, High: most, Log: true, Label: "responses", Text: shortRate}
	for t := 1.0; t <= most; t *= 100 {
		v.X.Ticks = append(v.X.Ticks, t)
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
	timed = slices.DeleteFunc(timed, func(x result.Route) bool { return x.Completed == 0 || x.P99 <= 0 })
	slices.SortStableFunc(timed, func(a, b result.Route) int { return cmp.Compare(b.P99, a.P99) })
	v := View{Name: "routes", Title: "Routes", Unit: "latency, logarithmic: from p50 to p99, dot p90",
		Foot: []string{fmt.Sprintf("n = %s", format.Plural(int64(len(r.Routes)), "route")), oneRun}}
	if len(timed) == 0 {
		v.Empty = "No route has a completed request."
		return v
	}
	if n := len(timed); n > rowsMax {
		v.Foot, timed = append(v.Foot, fmt.Sprintf("the %d slowest of %d", rowsMax, n)), timed[:rowsMax]
	}
	var values []float64
	for i, x := range timed {
		y := float64(i)
		values = append(values, x.P50, x.P99)
		v.Rows = append(v.Rows, Row{Label: format.PlainLine(x.Name), Says: "p99 " + format.Micros(x.P99)})
		v.Marks = append(v.Marks,
			Mark{Kind: Line, Name: "p50 to p99", Ink: "c1", Width: 7, Points: []Point{{X: x.P50, Y: y}, {X: x.P99, Y: y}}},
			Mark{Kind: Dot, Name: "p90", Ink: "c1", Width: 4, Shape: Ring, Points: []Point{{X: x.P90, Y: y}}})
	}
	v.X = logarithmic(values, 1.2, 8, "latency", shortDuration)
	return v
}

// cpuView is what a request cost each part of the server.
func cpuView(r *result.Result) View {
	v := View{Name: "cpu-cost", Title: "CPU per request", Unit: "µs of CPU for each completed request",
		Legend: []Key{{Name: "user", Ink: "a1", Kind: Rect}, {Name: "system", Ink: "a2", Kind: Rect}},
		Foot:   []string{fmt.Sprintf("n = %s or tree", format.Plural(int64(len(r.Server.Processes)), "process")), oneRun}}
	high := 0.0
	for i, u := range r.Server.Processes {
		name := cmp.Or(format.PlainLine(u.Name), "all")
		if u.PID > 0 {
			name = fmt.Sprintf("%s %d", format.Clip(name, 30), u.PID)
		}
		user, system := known(float64(u.User)), known(float64(u.System))
		high = max(high, user+system)
		v.Rows = append(v.Rows, Row{Label: name, Says: format.Micros(user + system)})
		v.Marks = append(v.Marks, bar("user", i, 0, user, "a1"), bar("system", i, user, user+system, "a2"))
	}
	if high == 0 {
		v.Empty = "This machine does not tell what CPU time the server took."
	}
	v.X = linear(high, "CPU per request", shortDuration)
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
func phasesView(p page.RunPayload) View {
	v := View{Name: "phases", Title: "Phases",
		Unit: "time, logarithmic: thin from least to most, thick from p50 to p99, dot p50",
		Foot: []string{fmt.Sprintf("n = %s", format.Plural(p.Result.Requests.Completed, "request")), oneRun}}
	var values []float64
	for _, d := range p.Distributions() {
		if d.Max <= 0 {
			continue
		}
		y, least := float64(len(v.Rows)), max(d.Min, 1e-3)
		p50, p99 := max(d.P50, 1e-3), max(d.P99, 1e-3)
		values = append(values, least, d.Max)
		v.Rows = append(v.Rows, Row{Label: d.Name,
			Says: fmt.Sprintf("p50 %s, p99 %s", format.Micros(d.P50), format.Micros(d.P99))})
		v.Marks = append(v.Marks,
			Mark{Kind: Line, Name: "least to most", Ink: "c7", Width: 1.5, Points: []Point{{X: least, Y: y}, {X: d.Max, Y: y}}},
			Mark{Kind: Line, Name: "p50 to p99", Ink: "c1", Width: 8, Points: []Point{{X: p50, Y: y}, {X: p99, Y: y}}},
			Mark{Kind: Dot, Name: "p50", Ink: "c1", Width: 5, Shape: Ring, Points: []Point{{X: p50, Y: y}}})
	}
	if len(v.Rows) == 0 {
		v.Empty = "Nothing was timed: nothing completed and no connection was opened."
	}
	v.X = logarithmic(values, 1.2, 9, "time", shortDuration)
	return v
}

// shownSpectra are the distributions that the page's spectrum has.
var shownSpectra = []string{"latency", "service", "error_latency", "iterations.time",
	"iterations.failed_time", "phases.first_byte", "probe.latency"}

// runSpectrum is all of a distribution at once.
func runSpectrum(p page.RunPayload) View {
	v := View{Name: "spectrum", Title: "Percentile spectrum",
		Unit: "latency over percentile, log of 1/(1−p)",
		Foot: []string{"each line ends where fewer than 10 values lie beyond", oneRun}}
	var values []float64
	most := 0.0
	for _, s := range p.Spectra {
		if !slices.Contains(shownSpectra, s.Of) || len(s.Points) == 0 || len(v.Marks) == linesMax {
			continue
		}
		var points []Point
		for _, at := range s.Points {
			points = append(points, Point{X: percentileX(at[0]), Y: at[1]})
			values, most = append(values, at[1]), max(most, at[0])
		}
		m := styled(len(v.Marks), s.Name, points)
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: s.Name, Ink: m.Ink, Dash: m.Dash})
		if s.Of == "latency" {
			v.Foot = append([]string{fmt.Sprintf("n = %s", format.Plural(s.Count, "request"))}, v.Foot...)
		}
	}
	if len(v.Marks) == 0 {
		v.Empty = "No spectrum: " + spectrumWhy(p) + "."
	}
	v.X, v.Y = percentileAxis(most), timeAxis(values, "time")
	return v
}

func spectrumWhy(p page.RunPayload) string {
	for _, s := range p.Spectra {
		if s.Of == "latency" && s.Why != "" {
			return s.Why
		}
	}
	return "nothing completed"
}

// heatView is latency over time: how many requests took how long, under lines of percentiles.
func heatView(over []interval) View {
	v := timeView("heat", "Latency over time",
		"latency over time; colour: requests (both logarithmic)", over)
	lines := []struct {
		name, ink string
		of        func(*result.Point) float64
	}{{"p50", "c2", func(p *result.Point) float64 { return p.P50 }},
		{"p99", "c4", func(p *result.Point) float64 { return p.P99 }},
		{"max", "c7", func(p *result.Point) float64 { return p.Max }}}
	boxes, values, top := heatBoxes(over)
	for _, m := range boxes {
		v.Marks = append(v.Marks, m)
	}
	timed := false
	for i, l := range lines {
		points := steps(over, func(p *result.Point) float64 {
			if y := l.of(p); p.Completed > 0 && y > 0 {
				timed = true
				return y
			}
			return math.NaN()
		})
		for _, p := range points {
			values = append(values, p.Y)
		}
		v.Marks = append(v.Marks, Mark{Kind: Line, Points: points, Ink: "paper", Width: 4.5, Alpha: 0.75},
			Mark{Kind: Line, Name: l.name, Points: points, Ink: l.ink, Dash: i, Width: 2})
		v.Legend = append(v.Legend, Key{Name: l.name, Ink: l.ink, Dash: i})
	}
	if !timed {
		v.Empty = cmp.Or(v.Empty, "Nothing completed in any whole interval.")
	}
	if len(boxes) > 0 {
		for _, s := range []int{0, 4, 8} {
			n := int64(math.Round(max(1, math.Pow(top, float64(s)/(heatSteps-1)))))
			name := format.Count(n)
			if s == 8 {
				name += " requests"
			}
			v.Legend = append(v.Legend, Key{Name: name, Ink: fmt.Sprintf("h%d", s), Kind: Rect})
		}
	}
	v.Y = timeAxis(values, "latency")
	return v
}

const (
	heatSteps   = 9
	heatColumns = 200 // that a picture has room for
)

// heatBoxes are the counts by time and latency, a mark for each shade, with the values that they
// reach and the largest count. Many seconds are put together.
func heatBoxes(over []interval) (marks []Mark, values []float64, top float64) {
	type box struct {
		from, to float64
		bucket   int64
		n        int64
	}
	var all []box
	together := max(1, (len(over)+heatColumns-1)/heatColumns)
	for group := range slices.Chunk(over, together) {
		counts := map[int64]int64{}
		for _, v := range group {
			for _, h := range v.point.Heat {
				counts[h[0]] += h[1]
			}
		}
		for _, bucket := range slices.Sorted(maps.Keys(counts)) {
			all = append(all, box{group[0].from, group[len(group)-1].point.T, bucket, counts[bucket]})
		}
	}
	top = 1
	for _, b := range all {
		top = max(top, float64(b.n))
	}
	byShade := make([]Mark, heatSteps)
	for _, b := range all {
		shade := heatSteps - 1
		if top > 1 {
			shade = int(math.Round(math.Log(float64(b.n)) / math.Log(top) * (heatSteps - 1)))
		}
		low, high := bucketBound(b.bucket), bucketBound(b.bucket+1)
		values = append(values, low, high)
		byShade[shade].Points = append(byShade[shade].Points, Point{X: b.from, Y: low},
			Point{X: b.to, Y: high})
	}
	for shade, m := range byShade {
		if len(m.Points) > 0 {
			m.Kind, m.Ink, m.Name = Rect, fmt.Sprintf("h%d", shade), "heat"
			marks = append(marks, m)
		}
	}
	return marks, values, top
}

// bucketBound is where a bucket of a heat map begins, in µs.
func bucketBound(bucket int64) float64 { return metric.HeatBucketStart(bucket) / 1e3 }

// lineInk is the colour of the i-th line.
func lineInk(i int) string { return fmt.Sprintf("c%d", i%8+1) }

// joined are texts with a separator, without the empty ones.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}
