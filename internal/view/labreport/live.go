package labreport

import (
	"cmp"
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
	var head, foot document.Part
	if now != "" {
		head.Rows = []document.Row{{Name: "now", Text: now, Most: 1}}
	}
	parts := []document.Part{head}
	for _, g := range a.Groups[:min(len(a.Groups), mostLiveGroups)] {
		parts = append(parts, livePart(g))
	}
	if n := len(a.Groups) - mostLiveGroups; n > 0 {
		foot.Text = []string{"also: " + format.Plural(int64(n), "measure")}
	}
	if len(a.Groups) == 0 {
		foot.Text = []string{"nothing can be compared yet"}
	}
	d := document.Doc{Title: progressText(p), Parts: append(parts, foot)}
	for i := range d.Parts {
		d.Parts[i].Close = true
	}
	lines := d.TextLines(s)
	if len(lines) > most {
		lines = append(lines[:most-1], "  …")
	}
	return lines
}

// livePart has the findings of a measure, without what would decide them.
func livePart(g answer.Group) document.Part {
	p := document.Part{Head: g.Name + " against " + g.Against + " (" + g.Better + ")", Sides: "lrrl",
		Table: format.Table{{"variant", "median", "change", "95 % interval", "verdict"}}}
	for _, f := range g.Findings[:min(len(g.Findings), mostLiveRows)] {
		p.Table = append(p.Table, []string{format.Clip(format.PlainLine(f.Variant), longestName),
			f.Value, f.Effect, cmp.Or(f.Interval, format.TooFew), f.Words()})
		p.Beside = append(p.Beside, verdictColors[f.Verdict])
	}
	if n := len(g.Findings) - mostLiveRows; n > 0 {
		p.Under = []string{fmt.Sprintf("and %d more", n)}
	}
	return p
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
