package chart

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/payload"
)

const (
	oneRun   = "one run: it says nothing of the next one"
	overTime = "time of the window, s"
	first    = "first" // the section of the page that is seen first
	shortest = 1e-3    // s that a rate is of, at least
	linesMax = 5       // lines of a plot
	rowsMax  = 40      // rows of a plot
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

// steps are the steps of a line that has one value in each interval; NaN is a gap.
func steps(all []interval, of func(*result.Point) float64) (points []Point) {
	for _, v := range all {
		points = append(points, Point{X: v.point.T, Low: v.from, Y: of(v.point)})
	}
	return points
}

// rates are the steps of a count of each interval as a rate; NaN is a gap.
func rates(all []interval, of func(*result.Point) float64) []Point {
	long := map[*result.Point]float64{}
	for _, v := range all {
		long[v.point] = v.point.T - v.from
	}
	return steps(all, func(p *result.Point) float64 { return of(p) / long[p] })
}

// perSecond are likewise those of a count that every interval has.
func perSecond(all []interval, of func(*result.Point) int64) []Point {
	return rates(all, func(p *result.Point) float64 { return float64(of(p)) })
}

// Run returns the views of a run, the most important first. Those that a run of its kind has and
// that show nothing say why (View.Empty).
func Run(p payload.Run) []View {
	r := p.Result
	over := ratedIntervals(r)
	all := []View{heatView(over, p.Words.Unanswered), runSpectrum(p), throughputView(r, over)}
	if r.Iterations != nil {
		all = append(all, iterationsView(r, over))
	}
	all = append(all, streamViews(r, over)...)
	all = append(all, inFlightView(over), trafficView(over), statusView(r), codesView(r, over),
		errorsView(over), phasesView(p))
	if len(r.Routes) > 0 {
		all = append(all, routesView(r))
	}
	if r.Server != nil && len(r.Server.Processes) > 0 {
		all = append(all, cpuView(r))
	}
	if r.Fleet != nil || partsOf(over) > 0 {
		all = append(all, agentsView(r, over))
	}
	for i := range all {
		all[i].About = joined("; ", p.Words.What, p.Words.Model, p.Words.How, dateText(r.Window.Started))
	}
	return all
}

// dateText is an instant as the page writes it.
func dateText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// timeView is a view over the window's time.
func timeView(name, title, unit string, over []interval) View {
	v := View{Name: name, Title: title, Unit: unit, Foot: []string{intervalsText(len(over)), oneRun},
		Section: "over-time", Cursor: true}
	if len(over) == 0 {
		v.Empty = "No interval of the window is long enough to show."
		return v
	}
	end := over[len(over)-1].point.T
	v.X = linearBetween(0, end, overTime, "")
	return v
}

func intervalsText(n int) string {
	return fmt.Sprintf("n = %s of about 1 s", format.Plural(int64(n), "interval"))
}

// lines adds lines to a view, with a linear axis from 0, and the legend.
func (v *View) lines(label, unit, none string, all ...Mark) {
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
	v.Y = linear(high, label, unit)
	v.Summary = fmt.Sprintf("%s over time: at most %s", v.Title, format.Amount(unit, high))
}

// styled is the i-th of several lines: its colour and its dash.
func styled(i int, name string, points []Point) Mark {
	return Mark{Kind: Line, Name: name, Points: points, Ink: lineInk(i), Dash: i, Width: 2}
}

// stepped is likewise a line of steps.
func stepped(i int, name string, points []Point) Mark {
	m := styled(i, name, points)
	m.Kind = Steps
	return m
}

func throughputView(r *result.Result, over []interval) View {
	v := timeView("throughput", "Throughput", "requests/s over time", over)
	v.Section = first
	if len(over) == 0 {
		return v
	}
	var all []Mark
	if r.Iterations == nil {
		all = offeredLine(r)
	}
	all = append(all,
		stepped(1, "sent", perSecond(over, func(p *result.Point) int64 { return p.Sent })),
		stepped(0, "completed", perSecond(over, (*result.Point).Answered)))
	v.lines("requests/s", "", "Nothing was sent.", all...)
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
		points = append(points, Point{X: last.X + time.Duration(s.Duration).Seconds(),
			Y: s.Rate.PerSecond()})
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
			stepped(0, "completed", perSecond(over, (*result.Point).Passed)),
			stepped(1, "failed", perSecond(over, func(p *result.Point) int64 { return p.IterationsFailed })))
		v.lines("iterations/s", "", "No iteration ended in any second of the window.", all...)
	}
	return v
}

func errorsView(over []interval) View {
	v := timeView("errors", "Errors", "errors/s over time", over)
	v.Section = "answers"
	if len(over) > 0 {
		v.lines("errors/s", "", "No error in any second of the window.",
			stepped(1, "errors", perSecond(over, func(p *result.Point) int64 { return p.Errors })))
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
		v.lines("requests", "", "Nothing was in flight at the end of any second.",
			styled(0, "in flight", points))
	}
	return v
}

func trafficView(over []interval) View {
	v := timeView("traffic", "Bytes", "bytes/s over time, headers and TLS included", over)
	if len(over) > 0 {
		v.lines("bytes/s", "bytes",
			"No byte was sent or received.",
			stepped(0, "in", perSecond(over, func(p *result.Point) int64 { return p.Received })),
			stepped(1, "out", perSecond(over, func(p *result.Point) int64 { return p.Written })))
	}
	return v
}

// codesView is responses a second by status code, the most frequent codes.
func codesView(r *result.Result, over []interval) View {
	v := timeView("codes", "Status codes over time", "responses/s over time", over)
	v.Section = "answers"
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
		if v.Empty == "" && len(r.Status) == 0 {
			v.Empty = "There was no response."
		}
		v.Empty = cmp.Or(v.Empty, "The result has no status codes by second.")
		return v
	}
	v.Foot = append(v.Foot, "a gap: none in that time")
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
		m := stepped(i, code, points)
		v.Marks = append(v.Marks, m)
		v.Legend = append(v.Legend, Key{Name: code, Ink: m.Ink, Dash: m.Dash})
	}
	_, high, _ := extent(values, true)
	v.Y = linear(high, "responses/s", "")
	if len(known) > 1 {
		v.Y = logarithmic(values, 1.3, 6, "responses/s", "").or("logarithmic", v.Y, "linear")
	}
	v.Summary = fmt.Sprintf("Status codes over time: %s; at most %s/s", strings.Join(known, ", "),
		format.Amount("", high))
	return v
}

const agentsMost = 24 // agents that are drawn

// partsOf is how many parts of a load the seconds tell apart.
func partsOf(over []interval) (n int) {
	for _, i := range over {
		n = max(n, len(i.point.ByPart))
	}
	return n
}

// agentsView is the rate of each agent of a fleet, or of each part of a load, in a small plot each,
// lost ones first.
func agentsView(r *result.Result, over []interval) View {
	what := "part"
	if r.Fleet != nil {
		what = "agent"
	}
	v := timeView("agents", "The rate of each "+what,
		"requests completed/s over time, all to one scale", over)
	v.Section = "fleet-all"
	n := partsOf(over)
	if n == 0 {
		v.Empty = cmp.Or(v.Empty, "The result has no seconds of each agent: there are too many, or an "+
			"older dyno wrote it.")
		return v
	}
	v.Foot = append(v.Foot, "a gap: it said nothing of that time")
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	if n > agentsMost {
		v.Foot = append(v.Foot, fmt.Sprintf("%d of %d %ss, lost ones first; the table has all",
			agentsMost, n, what))
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost(r, b), lost(r, a)) })
		order = order[:agentsMost]
	}
	var all []Mark
	var names []string
	for _, k := range order {
		name := agentName(r, k)
		if slices.Contains(names, name) {
			name = fmt.Sprintf("%s, part %d", name, k+1)
		}
		m := stepped(0, name, rates(over, func(p *result.Point) float64 {
			if k >= len(p.ByPart) || p.ByPart[k] == nil {
				return math.NaN()
			}
			return float64(*p.ByPart[k])
		}))
		m.Of = name
		all, names = append(all, m), append(names, name)
	}
	v.lines("requests/s", "", "No agent completed anything.", all...)
	v.Legend = nil
	return v.dividedAmong(names, alone)
}

func agentName(r *result.Result, k int) string {
	if r.Fleet != nil && k < len(r.Fleet.Agents) {
		return format.Clip(format.PlainLine(r.Fleet.Agents[k].Name), 40)
	}
	return fmt.Sprintf("part %d", k+1)
}

// lost is 1 of an agent that was lost.
func lost(r *result.Result, k int) int {
	if r.Fleet != nil && k < len(r.Fleet.Agents) && r.Fleet.Agents[k].Lost != "" {
		return 1
	}
	return 0
}

// lineInk is the colour of the i-th line.
func lineInk(i int) string { return fmt.Sprintf("c%d", i%8+1) }

// joined are texts with a separator, without the empty ones.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}
