// Package historytext writes what has been stored as text: `dyno history`. It has the words of
// results, series, changes and experiments that page and dashboard show too.
package historytext

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/store"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
	"dyno/internal/view/report"
)

const (
	sparkWidest = 40 // values of a series that are drawn, the newest
	noteWidest  = 40 // characters of a note in a list
	instant     = "2006-01-02 15:04:05"
)

// Write writes what has been stored: results, newest first, then what became of each configuration
// on each machine, then experiments.
func Write(w io.Writer, h store.History, s format.Style) error {
	results := document.Part{}
	results.Table, results.Sides = withoutEmpty(resultList(h), listSides)
	left := func(n int, text string) {
		if n > 0 {
			results.Under = append(results.Under, fmt.Sprintf(text, format.Plural(int64(n), "result")))
		}
	}
	left(h.Older, "and %s more, older: --limit 0")
	left(h.Elsewhere, "and %s of other machines: --machine all")
	if slices.ContainsFunc(h.Entries, hasNoTail) {
		results.Under = append(results.Under, "p99: "+report.FewForPercentile)
	}
	results.Under = append(results.Under, doubtWords(h.Entries)...)
	parts := []document.Part{{Rows: nextRows(h.Entries)}, results, seriesPart(h.Series),
		{Head: "Experiments", Table: experimentList(h.Experiments), Sides: "lllrrrl"}}
	if all := h.Size; len(h.Entries)+len(h.Experiments) > 0 && all != (store.Size{}) {
		parts = append(parts, document.Part{Text: []string{storedText(all)}})
	}
	return document.Doc{Parts: parts}.WriteText(w, s)
}

// listSides are the sides of the columns of resultList.
var listSides = "llllrr" + strings.Repeat("r", len(store.ListedOfStreams)) + "llrll"

// withoutEmpty is a table without columns that have a head alone.
func withoutEmpty(all format.Table, sides string) (kept format.Table, of string) {
	kept = make(format.Table, len(all))
	for i := range sides {
		if !slices.ContainsFunc(all[min(1, len(all)):], func(row []string) bool { return row[i] != "" }) {
			continue
		}
		of += sides[i : i+1]
		for k, row := range all {
			kept[k] = append(kept[k], row[i])
		}
	}
	return kept, of
}

// doubts are words of a generator's self-check, with what they mean.
var doubts = []struct{ word, means string }{
	{result.Suspect, "the generator may have made some of the numbers itself"},
	{result.ClientBound, "the generator was the limit, or the load was not the one asked for"},
}

// doubtWords explain the words of self-checks that a list has.
func doubtWords(all []store.Entry) (under []string) {
	for _, d := range doubts {
		if slices.ContainsFunc(all, func(e store.Entry) bool { return e.Generator == d.word }) {
			under = append(under, d.word+": "+d.means)
		}
	}
	if len(under) > 0 {
		under[len(under)-1] += "; dyno report ID says why"
	}
	return under
}

// nextRows are what can be done with the newest result: it is read, and compared with the one
// before of the same URL. Two that are sound are compared if the newest are not.
func nextRows(all []store.Entry) (rows []document.Row) {
	if len(all) == 0 {
		return nil
	}
	newest := all[0]
	rows = []document.Row{{Name: "next", Text: "read the newest",
		Command: "dyno report " + newest.ID + " -v"}}
	of := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool { return e.URL != newest.URL })
	sound := slices.DeleteFunc(slices.Clone(of), func(e store.Entry) bool {
		return e.Generator == result.Suspect || e.Generator == result.ClientBound ||
			e.Verdict != e.Generator
	})
	says := "compare it with the one before"
	switch {
	case len(sound) > 1 && (sound[0].ID != of[0].ID || sound[1].ID != of[1].ID):
		of, says = sound, "compare the two newest of its URL that are sound"
	case len(of) < 2:
		return rows
	}
	return append(rows, document.Row{Text: says, Command: "dyno compare " + of[1].ID + " " + of[0].ID})
}

// hasNoTail reports whether requests of a result were answered, too few for a p99.
func hasNoTail(e store.Entry) bool {
	_, has := e.Values["p99"]
	return !has && e.Values["throughput"] > 0
}

// seriesPart has each series as a line of bars, with its changes.
func seriesPart(all []store.Series) (p document.Part) {
	for _, t := range all {
		if len(t.Runs) < 2 && len(t.Changes) == 0 {
			continue // there is nothing to draw
		}
		p.Head = fmt.Sprintf("%s (%s), from the oldest to the newest", t.Metric.Name, t.Metric.Unit)
		p.Rows = append(p.Rows, seriesRows(t)...)
	}
	return p
}

// storedText is what all that is stored takes.
func storedText(all store.Size) string {
	said := fmt.Sprintf("stored in all: %s", format.Bytes(all.Results+all.Data+all.Experiments))
	if all.Data > 0 {
		said += fmt.Sprintf(", of which %s are requests that results share", format.Bytes(all.Data))
	}
	if all.Experiments > 0 {
		said += fmt.Sprintf(", of which %s are experiments", format.Bytes(all.Experiments))
	}
	return said
}

// resultList is a row for each result.
func resultList(h store.History) format.Table {
	if len(h.Entries) == 0 {
		return nil
	}
	series := map[string]string{}
	for _, t := range h.Series {
		series[t.Plan+t.Machine] = t.Name
	}
	head := []string{"ID", "started", "series", "model", "req/s", "p99"}
	for _, l := range store.ListedOfStreams {
		head = append(head, l.Head)
	}
	all := format.Table{append(head, "generator", "remarks", "size", "URL", "note")}
	for _, e := range h.Entries {
		rate := "–"
		if v, has := e.Values["throughput"]; has {
			rate = format.Digits3(v)
		}
		var remarks []string
		if e.Verdict != e.Generator { // the server's, or of an objective
			remarks = append(remarks, format.PlainLine(e.Verdict))
		}
		if e.Partial != "" {
			remarks = append(remarks, format.Clip(format.PlainLine(e.Partial), noteWidest))
		}
		if v, has := e.Values[store.Errors]; has {
			remarks = append(remarks, format.Percent(v)+" errors")
		}
		row := []string{e.ID, e.Started.Local().Format(instant), series[e.Plan+e.Machine], e.Model, rate,
			cmp.Or(figureText(e.Figure("p99", "p99")), "–")}
		for _, f := range e.StreamFigures() {
			row = append(row, figureText(f))
		}
		all = append(all, append(row, format.PlainLine(e.Generator), strings.Join(remarks, ", "),
			format.Bytes(e.Size), format.URL(e.URL), format.Clip(NoteLine(e.Note), noteWidest)))
	}
	return all
}

// figureText is a figure below a head with its unit; "" if there is none.
func figureText(f store.Figure) string {
	switch {
	case f.Value == 0:
		return ""
	case f.Unit == "µs":
		return format.Known(f.Over, format.Micros(f.Value))
	}
	return format.Known(f.Over, format.Digits3(f.Value))
}

// NoteLine is a note on one line, without what a terminal would obey.
func NoteLine(s string) string { return format.PlainLine(strings.Join(strings.Fields(s), " ")) }

// seriesRows are a series: its load, its values as a line of bars, and its changes.
func seriesRows(t store.Series) []document.Row {
	of := "; " + report.Machine(t.Newest.Host)
	if t.Newest.Fleet != "" {
		of = ""
	}
	all := []document.Row{{Name: t.Name, Text: format.URL(t.Newest.URL) + ", " + SeriesLoad(t) + of}}
	add := func(tone format.Color, text string) {
		all = append(all, document.Row{Text: text, Tone: tone})
	}
	if len(t.Runs) > 0 {
		newest := t.Runs[len(t.Runs)-1]
		low, high := extremes(newestRuns(t))
		add("", fmt.Sprintf("%s from %s to %s, %s, last %s, %s", sparkline(t),
			inUnitText(low, t.Metric.Unit), inUnitText(high, t.Metric.Unit),
			format.Plural(int64(len(t.Runs)), "run"),
			format.Known(newest.Over, inUnitText(newest.Value, t.Metric.Unit)),
			newest.Started.Local().Format(instant)))
	}
	for _, f := range []*fact.Fact{t.RatesApart(), t.Unproven()} {
		if f != nil {
			add(format.Yellow, say.Sentence(*f))
		}
	}
	for _, c := range t.Changes {
		tone := format.Green
		if c.Verdict == store.Worse {
			tone = format.Red
		}
		add(tone, fmt.Sprintf("since %s (%s) %s", c.After[0].ID, c.At().Local().Format(instant),
			ChangeWords(c)))
	}
	return all
}

// ChangeWords is a change point in words: how much it is, on what that rests, and since when it is
// published, if it is.
func ChangeWords(c store.Change) string {
	change, interval := c.Bound.Change(c.Ratio, c.Low, c.High)
	said := fmt.Sprintf("%s: %s %s, of %s before and %d after", c.Verdict, change, interval,
		format.Plural(int64(len(c.Before)), "run"), len(c.After))
	if c.Published.IsZero() {
		return said
	}
	return said + "; published " + c.Published.Format(time.DateOnly)
}

// SeriesLoad is the load that a series' results were made under, by whom if by a fleet, and
// what else tells it from another that is the same so far.
func SeriesLoad(t store.Series) string {
	said := t.Newest.Model
	if t.Newest.Offered > 0 {
		said += ", " + format.Exact3(t.Newest.Offered) + "/s"
	}
	said += ", " + format.Plural(int64(t.Newest.Connections), "connection")
	if t.Newest.Fleet != "" {
		said += ", fleet of " + format.Clip(format.PlainLine(t.Newest.Fleet), noteWidest)
	}
	if own := distinguishingFlags(t); own != "" {
		said += ", " + format.Clip(own, noteWidest)
	}
	return said
}

// distinguishingFlags is by what a series differs from those that have the same URL, load and
// machine: the shortest flag that it alone has, else all that not every one of them has, which may
// be none.
func distinguishingFlags(t store.Series) string {
	if t.Asked == nil || len(t.Others) == 0 {
		return ""
	}
	mine, own, some := flagsOf(*t.Asked), "", []string{}
	others := make([][]string, len(t.Others))
	for i, p := range t.Others {
		if others[i] = flagsOf(*p); slices.Equal(others[i], mine) { // files, long values
			return "plan " + t.Plan
		}
	}
	for _, flag := range mine {
		n := 0
		for _, other := range others {
			if slices.Contains(other, flag) {
				n++
			}
		}
		if n == 0 && (own == "" || len(flag) < len(own)) {
			own = flag
		}
		if n < len(others) {
			some = append(some, flag)
		}
	}
	return cmp.Or(own, strings.Join(some, " "))
}

// flagsOf are a plan's flags, sorted and as far as they are shown, but for those in which results
// of one series may differ.
func flagsOf(p loadplan.Plan) []string {
	d := loadplan.DefaultPlan()
	p.Seed, p.Values, p.Requested, p.Duration = 0, 0, 0, 0
	p.Drain, p.Timeout, p.Connecting = d.Drain, d.Timeout, d.Connecting
	flags := repeat.Flags(p)
	for i, flag := range flags {
		flags[i] = format.Clip(format.PlainLine(flag), noteWidest)
	}
	slices.Sort(flags)
	return flags
}

// bars are those of a line, from the lowest to the highest.
var bars = []rune("▁▂▃▄▅▆▇█")

// newestRuns are those of a series that are drawn.
func newestRuns(t store.Series) []store.Run { return t.Runs[max(len(t.Runs)-sparkWidest, 0):] }

// extremes are the lowest and the highest value of runs.
func extremes(runs []store.Run) (low, high float64) {
	low, high = runs[0].Value, runs[0].Value
	for _, r := range runs {
		low, high = min(low, r.Value), max(high, r.Value)
	}
	return low, high
}

// sparkline draws the newest values of a series, from the lowest of them to the highest, with
// a line before the first after each change.
func sparkline(t store.Series) string {
	runs := newestRuns(t)
	low, high := extremes(runs)
	var b strings.Builder
	for _, r := range runs {
		if slices.ContainsFunc(t.Changes, func(c store.Change) bool { return c.After[0].ID == r.ID }) {
			b.WriteRune('│')
		}
		at := len(bars) / 2
		if high > low {
			at = min(int((r.Value-low)/(high-low)*float64(len(bars))), len(bars)-1)
		}
		b.WriteRune(bars[at])
	}
	return b.String()
}

// inUnitText is a value of a measure for people.
func inUnitText(v float64, unit string) string {
	switch unit {
	case "µs":
		return format.Micros(v)
	case "µs/req":
		return format.Micros(v) + " a request"
	}
	return format.Digits3(v) + " " + unit
}

func experimentList(all []store.Experiment) format.Table {
	if len(all) == 0 {
		return nil
	}
	t := format.Table{{"folder", "started", "state", "trials", "different", "size", "gate"}}
	for _, e := range all {
		state := string(e.State)
		if e.Quick {
			state += ", --quick"
		}
		t = append(t, []string{e.Dir, e.Started.Local().Format(instant), state,
			format.Count(int64(e.Trials)), fmt.Sprintf("%d of %s", e.Different,
				format.Plural(int64(e.Compared), "comparison")),
			format.Bytes(e.Size), e.Gate})
	}
	return t
}
