// Package screen draws a run while it runs (--tui): curves of the last minute, a table of
// latencies, what users did and checks found, the status codes, the errors and the generator. It
// knows no terminal: the keys and the redrawing of --tui are in cli/tui.go.
//
//	curve.go    the curve of the last seconds
//	screen.go   all other rows: progress, rate, percentiles, errors, generator
//	users.go    rows of a scenario
package screen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// A Screen is what a run has shown so far, as a picture of a terminal's
// size. It does no I/O and reads no clock: instants are those of the caller, after
// an origin of the caller's.
type Screen struct {
	plan     loadplan.Plan
	began    time.Duration         // the window did; known from the first interval on
	minute   []loadresult.Interval // the last, of whole seconds
	last     *metric.Histogram
	all      *metric.Histogram
	wrong    *metric.Histogram // of answers that were errors, all
	status   map[uint16]int64
	passages *metric.Histogram   // times of iterations that completed, all
	errors   loadresult.Interval // only counts, and what failed, of the whole run
	stopping bool
}

// New is the screen of a run that has yet to begin.
func New(p loadplan.Plan) *Screen {
	return &Screen{plan: p, last: metric.NewHistogram(metric.Fine),
		all: metric.NewHistogram(metric.Fine), wrong: metric.NewHistogram(metric.Fine),
		passages: metric.NewHistogram(metric.Fine),
		status:   map[uint16]int64{}}
}

// minute is how many seconds the curves go back.
const minute = 60

// Add takes an interval, which has come at that instant. What comes after the
// window is counted, and is no second of it.
func (s *Screen) Add(iv loadresult.Interval, at time.Duration) {
	for code, n := range iv.Status {
		s.status[code] += n
	}
	s.errors.Add(loadresult.Interval{Sent: iv.Sent, Completed: iv.Completed, Failed: iv.Failed,
		Failures: iv.Failures, Iterations: iv.Iterations, IterationsFailed: iv.IterationsFailed,
		Checks: iv.Checks})
	s.passages.MergeSparse(iv.IterationTime)
	s.all.MergeSparse(iv.Latency)
	s.wrong.MergeSparse(iv.ErrorLatency)
	end := time.Duration(s.plan.Duration)
	if end > 0 && iv.From >= end || iv.To-iv.From < report.ShortestInterval {
		return
	}
	s.last.Reset()
	s.last.MergeSparse(iv.Latency)
	s.began = at - iv.To
	s.minute = append(s.minute, iv)
	s.minute = s.minute[max(len(s.minute)-minute, 0):]
}

// Stop says that the user wants it over.
func (s *Screen) Stop() { s.stopping = true }

// A row is a line of the picture, of one colour.
type row struct {
	text  string
	color format.Color
}

// Draw is the picture at an instant: height lines of at most width columns.
func (s *Screen) Draw(at time.Duration, width, height int, style format.Style) string {
	var b strings.Builder
	for i, r := range s.allRows(at, width, height) {
		if i == height {
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		text := format.Clip(r.text, width)
		if r.color != "" {
			text = style.Paint(r.color, text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// A layout is how many lines each part of the picture has that can have more or
// fewer.
type layout struct {
	rate, p99, p50 int // of the curves
	errors         int
	gap            bool // between the parts
}

const (
	fixedRows = 10 // those that are always there
	gaps      = 4
	mostRate  = 10 // lines of a curve
	mostP99   = 8
	mostP50   = 5
)

// shareHeight divides what the fixed lines leave of the height.
func (s *Screen) shareHeight(height int) (l layout) {
	room := max(height-fixedRows-1-len(s.scenarioRows()), 0)
	if s.wrong.Count > 0 { // they have a line of their own
		room = max(room-1, 0)
	}
	if l.gap = room >= gaps+6; l.gap {
		room -= gaps
	}
	l.errors = 1 + min(max(len(s.errors.Failures)-1, 0), room/4)
	room -= l.errors - 1
	l.p50 = min(room*2/9, mostP50)
	l.p99 = min(room*3/9, mostP99)
	l.rate = min(room-l.p50-l.p99, mostRate)
	return l
}

func (s *Screen) allRows(at time.Duration, width, height int) []row {
	l := s.shareHeight(height)
	var all []row
	add := func(more ...row) { all = append(all, more...) }
	gap := func() {
		if l.gap {
			add(row{})
		}
	}
	add(row{report.PlanText(s.plan), format.Bold}, s.progressRow(at, width))
	gap()
	add(s.rateRows(width, l.rate)...)
	gap()
	p99 := func(iv loadresult.Interval) float64 { return iv.P99 }
	p50 := func(iv loadresult.Interval) float64 { return iv.P50 }
	add(s.latencyRows("p99", p99, width, l.p99)...)
	add(s.latencyRows("p50", p50, width, l.p50)...)
	gap()
	add(s.percentileRows(width)...)
	gap()
	add(s.scenarioRows()...)
	add(s.statusRow())
	add(s.failureRows(l.errors)...)
	return append(all, s.generatorRow())
}

// progressRow is how far the run is, by time or by requests, whichever is further.
func (s *Screen) progressRow(at time.Duration, width int) row {
	const stop = "   q stops"
	switch {
	case s.stopping:
		return row{"stopping: the report follows", format.Yellow}
	case len(s.minute) == 0:
		text := "starting"
		if s.plan.Warmup > 0 {
			text += ", warming up for " + s.plan.Warmup.String()
		}
		return row{text + stop, ""}
	}
	share, text := 0.0, ""
	if end := time.Duration(s.plan.Duration); end > 0 {
		gone := min(at-s.began, end).Truncate(time.Second)
		share, text = float64(gone)/float64(end), fmt.Sprintf("%v of %v", gone, end)
	}
	if n := s.plan.Requested; n > 0 {
		have, what := s.errors.Sent, "requests"
		if s.plan.CountsIterations() {
			have, what = s.errors.Iterations+s.errors.IterationsFailed, "iterations"
		}
		if done := float64(have) / float64(n); done >= share {
			share, text = done, fmt.Sprintf("%s of %s %s", format.Count(have), format.Count(n), what)
		}
	}
	percent := fmt.Sprintf(" %3.0f %%", 100*share)
	bar := max(width-utf8.RuneCountInString(text+percent+stop)-2, 0)
	full := min(int(share*float64(bar)), bar)
	return row{text + "  " + strings.Repeat("█", full) + strings.Repeat("░", bar-full) +
		percent + stop, ""}
}

// rateRows is the last minute's throughput.
func (s *Screen) rateRows(width, lines int) []row {
	c := curve{name: "requests/s", show: format.Digits3}
	for _, iv := range s.minute {
		c.values = append(c.values, float64(iv.Answered())/(iv.To-iv.From).Seconds())
	}
	return c.screenRows(width, lines, fmt.Sprintf("in all %s, %s", format.Count(s.errors.Completed),
		format.Plural(s.errors.Failed, "error")))
}

// latencyRows is the last minute's of a percentile of latency.
func (s *Screen) latencyRows(name string, of func(loadresult.Interval) float64,
	width, lines int) []row {
	c := curve{name: name, show: format.Micros}
	for _, iv := range s.minute {
		c.values = append(c.values, of(iv))
	}
	return c.screenRows(width, lines, "")
}

// A screenColumn is one of the table of latencies.
type screenColumn struct {
	name  string
	rank  int   // there is one where so many fit
	needs int64 // values, or it would be but another name of the maximum
	of    func(*metric.Histogram) float64
}

func screenQuantile(name string, rank int, needs int64, q float64) screenColumn {
	return screenColumn{name, rank, needs, func(h *metric.Histogram) float64 {
		return float64(h.ToSparse().Quantile(q))
	}}
}

var screenColumns = []screenColumn{
	{"mean", 5, 1, (*metric.Histogram).Mean},
	screenQuantile("p50", 3, 2, 0.5),
	screenQuantile("p90", 4, 10, 0.9),
	screenQuantile("p99", 2, 100, 0.99),
	screenQuantile("p99.9", 6, 1000, 0.999),
	{"max", 1, 1, func(h *metric.Histogram) float64 { return float64(h.Max) }},
}

// percentileRows are those of the last second, of all, and of all errors where there were some.
func (s *Screen) percentileRows(width int) []row {
	const each = 10
	fit := max((width-labelWidth)/each, 1)
	all := []row{{fmt.Sprintf("%-*s", labelWidth, "latency"), format.Bold},
		{text: fmt.Sprintf("%-*s", labelWidth, "last second")},
		{text: fmt.Sprintf("%-*s", labelWidth, "all")}}
	rows := []*metric.Histogram{s.last, s.all}
	if s.wrong.Count > 0 {
		all = append(all, row{fmt.Sprintf("%-*s", labelWidth, "all errors"), format.Yellow})
		rows = append(rows, s.wrong)
	}
	for _, m := range screenColumns {
		if m.rank > fit {
			continue
		}
		all[0].text += fmt.Sprintf("%*s", each, m.name)
		for i, h := range rows {
			cell := format.TooFew
			if h.Count >= m.needs {
				cell = format.Micros(m.of(h) / 1e3)
			}
			all[i+1].text += fmt.Sprintf("%*s", each, cell)
		}
	}
	return all
}

const factLine = "%-11s %s"

func (s *Screen) statusRow() row {
	var all []string
	bad := format.Color("")
	for _, f := range s.errors.Failures {
		if f.Phase == loadresult.Expect {
			bad = format.Yellow
		}
	}
	for _, code := range slices.Sorted(maps.Keys(s.status)) {
		all = append(all, strconv.Itoa(int(code))+": "+format.Count(s.status[code]))
	}
	if all == nil {
		all = []string{"no response yet"}
	}
	return row{fmt.Sprintf(factLine, "status", strings.Join(all, "; ")), bad}
}

// failureRows are those that were most frequent, in so many lines.
func (s *Screen) failureRows(lines int) (all []row) {
	known := s.errors.Failures
	if len(known) == 0 {
		return []row{{fmt.Sprintf(factLine, "errors", "none"), ""}}
	}
	for i, f := range known[:min(lines, len(known))] {
		name := ""
		if i == 0 {
			name = "errors"
		}
		kind := format.PlainLine(f.Kind)
		if string(f.Phase) != f.Kind {
			kind = format.PlainLine(string(f.Phase)) + " " + kind
		}
		text := fmt.Sprintf("%s × %s %s: %s", format.Count(f.Count), kind,
			format.PlainLine(f.Address),
			format.PlainLine(say.WithAdvice(f.Detail, f.Remedies, setting.VoiceOf(&s.plan))))
		if rest := len(known) - lines; rest > 0 && i == lines-1 {
			text = fmt.Sprintf("(%s more) ", format.Plural(int64(rest), "kind")) + text
		}
		all = append(all, row{fmt.Sprintf(factLine, name, text), format.Red})
	}
	return all
}

// nearLimit is from what share of its time a generator that is busy is near its
// limit: the report's verdict says what follows from it.
const nearLimit = 0.8

// generatorRow is how well the load was made in the last second.
func (s *Screen) generatorRow() row {
	text, c := "has nothing to tell yet", format.Color("")
	if n := len(s.minute); n > 0 {
		iv := s.minute[n-1]
		text = "busy " + format.Percent(100*iv.Busy)
		if iv.Busy >= nearLimit {
			text, c = text+", near its limit", format.Yellow
		}
		if s.plan.Open() {
			text += ", send lag max " + format.Micros(float64(iv.LagMax)/1e3)
		}
		text += fmt.Sprintf("; %s in flight, %s/s in", format.Count(iv.InFlight),
			report.PerSecondText(iv, format.Size, iv.Received)) + report.ActiveUsers(s.plan, iv)
	}
	return row{fmt.Sprintf(factLine, "generator", text), c}
}
