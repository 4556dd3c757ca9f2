package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/textplot"
)

// Search writes what a search found: the rate or number in words, then every probe, as a table and
// as a plot.
func Search(w io.Writer, s *capacity.Search, style format.Style) error {
	return searchDocument(s).WriteText(w, style)
}

// SearchMarkdown writes the same for a page or a pull request.
func SearchMarkdown(w io.Writer, s *capacity.Search) error {
	return searchDocument(s).WriteMarkdown(w)
}

func searchDocument(s *capacity.Search) document.Doc {
	tone := map[capacity.End]format.Color{capacity.Found: format.Green,
		capacity.Missed: format.Red}[s.End]
	lead := []document.Row{
		{Name: "verdict", Text: CertifiedText(s), Tone: cmp.Or(tone, format.Yellow)},
		{Name: "because", Text: s.Reason}}
	for _, text := range searchWarnings(s) {
		lead = append(lead, document.Aside("warning", text))
	}
	if s.Closed != nil {
		lead = append(lead, document.Row{Name: "closed loop",
			Text: format.Digits3(*s.Closed) + " " + s.Counts() + "/s on " + format.Plural(
				int64(s.Plan.Connections), "connection") + ", at no set rate and whatever the latency"})
	}
	lead = append(lead, searchStep(s)...)
	d := document.Doc{Title: searchText(s), Parts: []document.Part{{Rows: lead, Apart: true}}}
	if len(s.Probes) == 0 {
		return d
	}
	told, notes := probeNotes(s.Probes), document.Part{}
	for i, text := range told.texts {
		notes.Rows = append(notes.Rows, document.Row{Name: fmt.Sprintf("[%d]", i+1), Text: text})
	}
	d.Parts = append(d.Parts, document.Part{Head: "Probes", Table: probeTable(s), Sides: "r",
		Under: []string{"completed: in a second; measured: for how long; in brackets: the 95 % bounds " +
			"of a value"}}, notes,
		document.Part{Plot: probePlot(s)})
	return d
}

// searchWarnings are what one must know of a search besides.
func searchWarnings(s *capacity.Search) []string {
	all := []string{}
	for _, text := range s.Warnings {
		all = append(all, format.PlainLine(text))
	}
	if s.IsShort() {
		all = append(all, tooShort)
	}
	return all
}

// tooShort warns of probes that few finds.
const tooShort = "the probes took less than 8 s, so their bounds are too narrow: the limit may " +
	"be higher or lower; give --probe-time 8s or more"

// searchText is what was searched: with what load.
func searchText(s *capacity.Search) string {
	if a := s.Of(); a != capacity.Rates {
		how := ", a closed loop: how many " + string(a) + "?"
		return strings.TrimPrefix(format.URL(s.Plan.Target.URL)+how, ", ")
	}
	law := s.Plan.Arrival
	if law == "" {
		law = loadplan.Even
	}
	return strings.TrimPrefix(fmt.Sprintf("%s, %s arrivals, %s", format.URL(s.Plan.Target.URL), law,
		format.Plural(int64(s.Plan.Connections), "connection")), ", ")
}

// CertifiedText is what a search found, in a sentence.
func CertifiedText(s *capacity.Search) string {
	what := strings.Join(s.Objectives, " and ")
	certified, low, high := s.Bracket()
	meets := levelText(s.Of(), cmp.Or(certified, low), " "+s.Unit()) + " meet " + what
	noun := "rate"
	if a := s.Of(); a != capacity.Rates {
		if noun = "number of " + string(a); cmp.Or(certified, low) == 1 {
			meets = levelText(s.Of(), 1, " "+s.Unit()) + " meets " + what
		}
		if certified > 0 && s.End == capacity.Found {
			return fmt.Sprintf("%s; %s do not", meets, format.Count(int64(high)))
		}
	}
	switch {
	case certified > 0 && s.End == capacity.Found:
		return meets
	case s.End == capacity.Interrupted && low > 0:
		return "INTERRUPTED: at least " + meets + ", not confirmed"
	case certified > 0:
		return "at least " + meets + ": CLIENT-BOUND, the server's limit was not found"
	case s.End == capacity.Missed && len(s.Probes) == 0:
		return "no " + noun + " meets " + what
	}
	return map[capacity.End]string{
		capacity.Missed:       "not even the lowest " + noun + " meets " + what,
		capacity.ClientBound:  "CLIENT-BOUND: nothing can be said of the server",
		capacity.Inconclusive: "INCONCLUSIVE: no " + noun + " is certified",
		capacity.Unreachable:  "UNREACHABLE",
		capacity.Interrupted:  "INTERRUPTED: no " + noun + " is certified",
	}[s.End]
}

// levelText is a level with its unit: 740 requests/s, if that is a rate's, or 82 users.
func levelText(of capacity.Axis, level float64, unit string) string {
	if of == capacity.Rates {
		return format.Exact3(level) + unit
	}
	return format.Plural(int64(level), strings.TrimSuffix(string(of), "s"))
}

func probeTable(s *capacity.Search) format.Table {
	t := format.Table{{"rate", "completed", "measured"}}
	if a := s.Of(); a != capacity.Rates || s.Plan.CountsIterations() {
		t[0][0] = s.Unit()
	}
	for _, expr := range s.Objectives {
		t[0] = append(t[0], format.PlainLine(expr))
	}
	t[0] = append(t[0], "outcome", "")
	notes := probeNotes(s.Probes)
	for i, p := range s.Probes {
		row := []string{probedLevel(p), format.Exact3(p.Completed), format.Seconds(p.Measured)}
		for _, j := range p.Judged {
			row = append(row, boundedValue(j))
		}
		note := ""
		if p.Purpose != capacity.Trial {
			note = string(p.Purpose)
		}
		for _, n := range notes.of[i] {
			note = strings.TrimSpace(fmt.Sprintf("%s [%d]", note, n))
		}
		t = append(t, append(row, strings.ToUpper(string(p.Outcome)), note))
	}
	return t
}

// boundedValue is a value with its bounds.
func boundedValue(j capacity.Judged) string {
	if j.Value == nil {
		return format.TooFew
	}
	bound := func(v *float64) string {
		if v == nil {
			return "?"
		}
		return objectiveValue(result.Outcome{Value: v, Unit: j.Unit})
	}
	if j.Low == nil && j.High == nil {
		return objectiveValue(j.Outcome)
	}
	return fmt.Sprintf("%s (%s to %s)", objectiveValue(j.Outcome), bound(j.Low), bound(j.High))
}

// notes are what probes' values do not say, each kind once.
type notes struct {
	of    [][]int  // the notes of each probe, from 1 on
	texts []string // of all probes that have it: amounts are ranges
}

// probeNotes are the notes of probes.
func probeNotes(all []capacity.Probe) notes {
	n := notes{of: make([][]int, len(all))}
	var facts []fact.Fact
	var probes []int // of each fact
	for i, p := range all {
		if len(p.Facts) == 0 && p.Why != "" { // of an older dyno: only the same texts are one
			p.Facts = []fact.Fact{{Args: fact.Told{Text: p.Why}}}
		}
		for _, f := range p.Facts {
			facts, probes = append(facts, f), append(probes, i)
		}
	}
	for _, said := range say.Merge(facts, nil) {
		n.texts = append(n.texts, format.PlainLine(said.Text))
		for _, at := range said.Of {
			n.of[probes[at]] = append(n.of[probes[at]], len(n.texts))
		}
	}
	return n
}

// marks are how probes are drawn.
var marks = map[capacity.Outcome]rune{capacity.Passed: 'o', capacity.Failed: 'x',
	capacity.Undecided: '?', capacity.OurLimit: '#'}

// probePlot draws the first objective's value over the rate.
func probePlot(s *capacity.Search) []string {
	p := textplot.Plot{XName: s.Unit(), YName: format.PlainLine(s.Objectives[0]), Log: true,
		X: format.Exact3}
	for _, probe := range s.Probes {
		j := probe.Judged[0]
		if j.Value == nil || marks[probe.Outcome] == 0 {
			continue
		}
		p.Y = func(v float64) string { return objectiveValue(result.Outcome{Value: &v, Unit: j.Unit}) }
		_, level := probe.Level()
		p.Points = append(p.Points, textplot.Point{X: level, Y: *j.Value, As: marks[probe.Outcome]})
	}
	if len(p.Points) < 2 {
		return nil
	}
	if o, err := objective.Parse(s.Objectives[0]); err == nil {
		p.Line = o.Limit()
	}
	return append(p.Lines(), probeLegend(s, p))
}

// probeLegend explains what a plot has.
func probeLegend(s *capacity.Search, p textplot.Plot) string {
	legend := ""
	for _, of := range []struct {
		outcome capacity.Outcome
		says    string
	}{{capacity.Passed, "pass"}, {capacity.Failed, "fail"}, {capacity.Undecided, "undecided"},
		{capacity.OurLimit, "client-bound"}} {
		mark := marks[of.outcome]
		if slices.ContainsFunc(p.Points, func(d textplot.Point) bool { return d.As == mark }) {
			legend += string(mark) + " " + of.says + "  "
		}
	}
	if p.Line > 0 {
		legend += "- " + format.PlainLine(s.Objectives[0]) + "  "
	}
	return legend + "(both axes are logarithmic)"
}

// probedLevel is the level of a probe.
func probedLevel(p capacity.Probe) string {
	of, level := p.Level()
	if of == capacity.Rates {
		return format.Exact3(level)
	}
	return format.Count(int64(level))
}

// LevelText is that with its unit: 740/s, or 82 users.
func LevelText(p capacity.Probe) string {
	of, level := p.Level()
	return levelText(of, level, "/s")
}

// ProbeLine is one probe in a line.
func ProbeLine(p capacity.Probe) string {
	s := LevelText(p)
	for _, j := range p.Judged {
		s += ", " + format.PlainLine(j.Expr) + ": " + boundedValue(j)
	}
	s += ": " + strings.ToUpper(string(p.Outcome))
	if p.Purpose != capacity.Trial {
		s += " (" + string(p.Purpose) + ")"
	}
	return s
}

// Curve writes a sweep: the law and its peak in words, then the points, as a table and as a plot.
func Curve(w io.Writer, c *capacity.Curve, style format.Style) error {
	return curveDocument(c).WriteText(w, style)
}

// CurveMarkdown writes the same for a page or a pull request.
func CurveMarkdown(w io.Writer, c *capacity.Curve) error {
	return curveDocument(c).WriteMarkdown(w)
}

func curveDocument(c *capacity.Curve) document.Doc {
	lead := slices.Concat([]document.Row{{Name: "verdict", Text: PeakText(c), Tone: format.Bold}},
		lawRows(c), curveDoubts(c))
	title := strings.TrimPrefix(format.URL(c.Plan.Target.URL)+", "+sweepText(c), ", ")
	d := document.Doc{Title: title, Parts: []document.Part{{Rows: lead, Apart: true}}}
	if len(c.Points) > 0 {
		d.Parts = append(d.Parts, document.Part{Head: "Points", Table: pointTable(c), Sides: "r"},
			document.Part{Plot: curvePlot(c)})
	}
	return d
}

// sweepText is over what was swept, and how often.
func sweepText(c *capacity.Curve) string {
	return fmt.Sprintf("a sweep over %s, %s", c.Axis, format.Plural(int64(c.Rounds), "round"))
}

// lawRows are the law and how well it fits; none if there is none.
func lawRows(c *capacity.Curve) []document.Row {
	f := c.Fit
	if f == nil {
		return nil
	}
	return []document.Row{{Name: "law", Text: fmt.Sprintf("X(N) = γN / (1 + σ(N−1) + κN(N−1)), "+
		"γ %s/s, σ %s (contention), κ %s (coherency), R² %.4f", format.Digits3(f.Gamma),
		format.SignificantDigits(f.Sigma, 4), format.SignificantDigits(f.Kappa, 4), f.R2)},
		{Name: "residuals", Text: "up to " + format.Percent(100*largestValue(f.Residuals)) +
			" of the law's value"}}
}

// curveDoubts are what one must know besides.
func curveDoubts(c *capacity.Curve) (all []document.Row) {
	add := func(name, text string) { all = append(all, document.Aside(name, text)) }
	if c.Apart > 0 {
		add("warning", format.Plural(int64(c.Apart), "point")+" left out of the law: the generator was "+
			"the limit, or nothing was completed")
	}
	if c.Left > 0 {
		add("interrupted", format.Plural(int64(c.Left), "point")+" not measured")
	}
	var failing []capacity.Point
	for _, p := range c.Points {
		if p.Errors > 0 {
			failing = append(failing, p)
		}
	}
	if len(failing) > 0 {
		first := failing[0]
		add("warning", fmt.Sprintf("requests failed at %s of %s (%s of them at %s %s): throughput and "+
			"latency are those of the others", format.Count(int64(len(failing))),
			format.Plural(int64(len(c.Points)), "point"), format.Count(first.Errors), c.Axis,
			format.Exact3(first.Level)))
	}
	return all
}

func largestValue(all []float64) (most float64) {
	for _, v := range all {
		most = max(most, math.Abs(v))
	}
	return most
}

// PeakText is where a sweep has most throughput, in a sentence.
func PeakText(c *capacity.Curve) string {
	f := c.Fit
	switch {
	case f == nil:
		return mostText(c) + "no law: " + c.NoFit
	case f.PeakN == nil:
		return "no peak in range: by the law throughput still grows at the highest level"
	}
	x := format.Digits3(*f.PeakX) + rangeText(f.PeakXInterval)
	n := format.Digits3(*f.PeakN) + rangeText(f.PeakNInterval)
	s := fmt.Sprintf("by the law %s requests/s at most, with %s in flight", x, n)
	if _, most := c.Most(); most > *f.PeakX { // no law takes back what was measured
		s = fmt.Sprintf("%sthe law's peak is lower: %s requests/s, with %s in flight", mostText(c), x, n)
	}
	if f.PeakNInterval == nil {
		s += "; 8 rounds or more would give intervals"
	}
	return s
}

// mostText is the level with the most throughput by the medians of its rounds.
func mostText(c *capacity.Curve) string {
	best, most := c.Most()
	completed := func(p capacity.Point) bool { return p.X > 0 }
	switch {
	case !slices.ContainsFunc(c.Points, completed):
		return "no request was completed; "
	case most == 0: // by the generator's limit
		return ""
	}
	return fmt.Sprintf("%s requests/s at most, at %s %s; ", format.Digits3(most), c.Axis,
		format.Exact3(best))
}

// rangeText is an interval in brackets.
func rangeText(r *capacity.Range) string {
	switch {
	case r == nil:
		return ""
	case r.High == nil:
		return " (" + format.Digits3(r.Low) + " to beyond the range)"
	}
	return " (" + format.Digits3(r.Low) + " to " + format.Digits3(*r.High) + ")"
}

// pointTable are those of a sweep, by level and round.
func pointTable(c *capacity.Curve) format.Table {
	head, completed := string(c.Axis), "completed"
	if c.Plan.CountsIterations() {
		completed = "requests/s"
		if c.Axis == capacity.Rates {
			head = c.Counts() + "/s"
		}
	}
	t := format.Table{{head, "round", "in flight", completed, "p50", "p99", "errors",
		"generator"}}
	all := slices.Clone(c.Points)
	slices.SortStableFunc(all, func(a, b capacity.Point) int {
		if a.Level != b.Level {
			return int(math.Copysign(1, a.Level-b.Level))
		}
		return a.Round - b.Round
	})
	for _, p := range all {
		t = append(t, []string{format.Exact3(p.Level), format.Count(int64(p.Round)), format.Exact3(p.N),
			format.Exact3(p.X), pointLatency(p, "p50"), pointLatency(p, "p99"), format.Count(p.Errors),
			generatorWord(p.Verdict, p.Short)})
	}
	return t
}

// pointLatency is a percentile of a point, which has none where nothing was completed.
func pointLatency(p capacity.Point, name string) string {
	if p.X == 0 {
		return "–"
	}
	us := map[string]float64{"p50": p.P50, "p99": p.P99}[name]
	return format.Known(slices.Contains(p.Over, name), format.Micros(us))
}

// PointLine is one point in a line.
func PointLine(p capacity.Point, axis capacity.Axis) string {
	if p.Cause != "" {
		return fmt.Sprintf("round %d, %s %s: %s", p.Round, axis, format.Exact3(p.Level),
			format.PlainLine(p.Cause))
	}
	return fmt.Sprintf("round %d, %s %s: %s requests/s, p99 %s, %s", p.Round, axis,
		format.Exact3(p.Level), format.Digits3(p.X), pointLatency(p, "p99"),
		generatorWord(p.Verdict, p.Short))
}

// curvePlot draws the points over the law.
func curvePlot(c *capacity.Curve) []string {
	p := textplot.Plot{XName: "in flight", YName: "requests/s", X: format.Exact3, Y: format.Digits3}
	low, high := math.Inf(1), 0.0
	for _, point := range c.Points {
		low, high = min(low, point.N), max(high, point.N)
	}
	if c.Fit != nil && high > low {
		for i := range textplot.Width {
			n := low + (high-low)*float64(i)/float64(textplot.Width-1)
			p.Points = append(p.Points, textplot.Point{X: n, Y: c.Fit.At(n), As: '·'})
		}
	}
	for _, point := range c.Points {
		as := 'o'
		if !point.Counts() {
			as = '#'
		}
		p.Points = append(p.Points, textplot.Point{X: point.N, Y: point.X, As: as})
	}
	return p.Lines()
}

// IndentedJSON writes any of these as JSON, indented.
func IndentedJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
