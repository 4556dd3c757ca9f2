package labreport

import (
	"fmt"
	"strings"
	"time"

	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// What a live table has at most.
const (
	mostLiveGroups = 3 // measures
	mostLiveRows   = 8 // variants of each
)

// LiveTable is an experiment that runs, in lines for a terminal: the trials and rounds that are
// done, the time that is left, what is being done now, and each variant's change with its interval,
// which narrows from round to round. It has at most so many lines, each as wide as the style says.
func LiveTable(p *judge.Progress, now string, s format.Style, most int) []string {
	a := labanswer.Of(p.Record)
	b := &document.Screen{Style: s}
	b.Add(format.Bold, 0, progressText(p), 1)
	if now != "" {
		b.Add("", 0, "now: "+now, 1)
	}
	for i, g := range a.Groups {
		if i == mostLiveGroups {
			b.Add("", 0, "also: "+format.Plural(int64(len(a.Groups)-i), "measure"), 1)
			break
		}
		addLiveGroup(b, g)
	}
	if len(a.Groups) == 0 {
		b.Add("", 0, "nothing can be compared yet", 1)
	}
	if len(b.Lines) > most {
		b.Lines = append(b.Lines[:most-1], "  …")
	}
	return b.Lines
}

// addLiveGroup adds the findings of a measure, without what would decide them.
func addLiveGroup(b *document.Screen, g answer.Group) {
	b.Add("", 0, g.Name+" against "+g.Against+" ("+g.Better+")", 1)
	rows := format.Table{}
	for _, f := range g.Findings[:min(len(g.Findings), mostLiveRows)] {
		interval := f.Interval
		if interval == "" {
			interval = format.TooFew
		}
		rows = append(rows, []string{format.Clip(format.PlainLine(f.Variant), longestName), f.Value,
			f.Effect, interval})
	}
	for i, line := range document.AlignedRows(rows, "lrrl") {
		f := g.Findings[i]
		b.AddRow(verdictColors[f.Verdict], line, f.Words())
	}
	if n := len(g.Findings) - mostLiveRows; n > 0 {
		b.Add("", document.RowIndent-2, fmt.Sprintf("and %d more", n), 1)
	}
}

// progressText is how much is done, and how long the rest takes.
func progressText(p *judge.Progress) string {
	r := p.Record
	done := len(r.Trials)
	parts := []string{fmt.Sprintf("%s of %s trials done", format.Count(int64(done)),
		format.Count(int64(done+len(p.Queue))))}
	rounds := fmt.Sprintf("round %s", format.Count(int64(r.RoundsRun())))
	if d := r.Experiment; d != nil && d.Design.Precision == 0 {
		rounds += " of " + format.Count(int64(max(d.Design.Rounds, r.RoundsRun())))
	}
	if r.RoundsRun() > 0 {
		parts = append(parts, rounds)
	}
	if p.Left > 0 {
		parts = append(parts, fmt.Sprintf("about %v left", p.Left.Round(time.Second)))
	}
	return format.PlainLine(r.Name) + ": " + strings.Join(parts, ", ")
}
