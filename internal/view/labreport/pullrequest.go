package labreport

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// What Markdown to be read at once has at most.
const (
	mostMarkdownLines = 59
	mostCharacters    = 3000 // of a text for a pull request
	mostTableRows     = 8    // of a table
	mostRefused       = 3    // variants that were not loaded
	mostNoted         = 5    // cautions
	mostReasonRunes   = 200  // characters of a reason or a remedy
	mostGateRunes     = 500  // characters of what a gate decided
)

// ExperimentMarkdown writes what an experiment found in less than 60 lines: the table of the
// measure that decides, what else was decided, what was refused, the cautions and the medians.
func ExperimentMarkdown(w io.Writer, r *lab.Record) error {
	var text bytes.Buffer
	d := format.NewDocument(&text)
	a := shortAnswer(r)
	fmt.Fprintf(d, "# %s\n\n", format.EscapeMarkdown(titleText(r)))
	fmt.Fprint(d, a.Markdown(experimentCommand(r), answer.Limits{Rows: mostTableRows,
		Cautions: mostNoted, More: showAll}))
	writeRefused(d, a, mostRefused)
	writeOthers(d, a)
	const rest = 12 // lines about medians besides their rows, and the end
	room := mostMarkdownLines - rest - bytes.Count(text.Bytes(), []byte("\n"))
	if s := medianSection(r); len(s.table) > 1 && room > 0 {
		rows := s.table[:min(len(s.table), room+1)]
		fmt.Fprintf(d, "\n%s\n\n", format.EscapeMarkdown("Medians. "+s.text[0]))
		rows.WriteMarkdown(d, s.sides)
		if n := len(s.table) - len(rows); n > 0 {
			fmt.Fprintf(d, "and %s more\n\n", format.Plural(int64(n), "row"))
		}
	}
	fmt.Fprintf(d, "Next: %s\n\n", format.EscapeMarkdown(a.Next.Says))
	fmt.Fprintf(d, "%s. All tables: report.html, or %s.\n", format.EscapeMarkdown(scopeText(r)),
		format.CodeSpan(showAll))
	_, err := text.WriteTo(w)
	return err
}

// PullRequest writes an experiment as Markdown for a pull request, in at most 3,000 characters:
// the finding, its table, what was refused, and the cautions. picture is the file of the Forest
// plot, beside; "" for none.
func PullRequest(w io.Writer, r *lab.Record, picture string) error {
	d := format.NewDocument(w)
	a := shortAnswer(r)
	gate := ""
	if g := r.Gate; g != nil {
		gate = fmt.Sprintf("\nGate: %s\n", format.EscapeMarkdown(format.Clip(g.Explain(), mostGateRunes)))
	}
	parts := []string{
		fmt.Sprintf("## %s\n\n", format.EscapeMarkdown(format.Clip(titleText(r), mostReasonRunes))),
		shortMarkdown(r, a), gate}
	if picture != "" {
		parts = append(parts, fmt.Sprintf("\n![Ratios to the baseline, with 95 %% intervals](%s)\n",
			url.PathEscape(picture)))
	}
	for i := range mostRefused + 1 { // the longest list of these that may have room
		var refused strings.Builder
		writeRefused(&refused, a, mostRefused-i)
		parts = append(parts, refused.String())
	}
	left, refused := mostCharacters, false
	for _, part := range parts {
		isRefused := strings.HasPrefix(part, notLoadedHead)
		if n := len([]rune(part)); n <= left && !(isRefused && refused) {
			fmt.Fprint(d, part)
			left, refused = left-n, refused || isRefused
		}
	}
	return d.Err()
}

// shortMarkdown is the summary with as many rows and cautions as there is room for.
func shortMarkdown(r *lab.Record, a answer.Answer) string {
	most := answer.Limits{Rows: mostTableRows, Cautions: mostNoted, More: showAll}
	for {
		text := a.Markdown(format.Clip(experimentCommand(r), mostReasonRunes), most)
		switch {
		case len([]rune(text)) <= mostCharacters*3/5:
			return text
		case most.Cautions > 1:
			most.Cautions--
		case most.Rows > 1:
			most.Rows--
		default:
			return text
		}
	}
}

// showAll prints everything that is known of an experiment. Who reads Markdown may be on another
// machine, so it has no folder.
const showAll = "dyno lab show -v DIR"

// shortAnswer is the answer of an experiment with texts that are no longer than is read at once.
func shortAnswer(r *lab.Record) answer.Answer {
	a := labanswer.Of(r)
	for i := range a.Groups {
		g := &a.Groups[i]
		for at := range g.Findings {
			g.Findings[at].Label = format.Clip(g.Findings[at].Row(), longestLabel)
		}
	}
	for i := range a.NotLoaded {
		a.NotLoaded[i].Variant = format.Clip(a.NotLoaded[i].Variant, longestName)
	}
	for i := range a.Cautions {
		c := &a.Cautions[i]
		if c.Kind == answer.Unloaded {
			c.Reasons = nil // they are in a list of their own
		}
		c.Says, c.Scope = format.Clip(c.Says, mostReasonRunes), format.Clip(c.Scope, mostReasonRunes)
		for at, reason := range c.Reasons {
			c.Reasons[at] = format.Clip(reason, mostReasonRunes)
		}
	}
	return a
}

const notLoadedHead = "\nNot loaded:\n\n"

// writeRefused lists so many of the variants that were not loaded, each with its remedy.
func writeRefused(w io.Writer, a answer.Answer, most int) {
	for i, f := range a.NotLoaded {
		if i == 0 {
			fmt.Fprint(w, notLoadedHead)
		}
		if i == most {
			fmt.Fprintf(w, "- and %s more: %s\n", format.Plural(int64(len(a.NotLoaded)-i), "variant"),
				format.CodeSpan(showAll))
			return
		}
		s := format.Clip(f.Why, mostReasonRunes)
		if f.Remedy != "" {
			s += "; " + format.Clip(f.Remedy, mostReasonRunes)
		}
		fmt.Fprintf(w, "- %s: %s\n", format.EscapeMarkdown(format.PlainLine(f.Variant)),
			format.EscapeCell(s))
	}
}

// writeOthers writes what the measures behind the first decide.
func writeOthers(d *format.Document, a answer.Answer) {
	if len(a.Groups) < 2 {
		return
	}
	t := format.Table{{"measure", "variant", "value", "change", "95 % interval", "verdict"}}
	var decided []answer.Finding
	var names []string
	for _, g := range a.Groups[1:] {
		for _, f := range g.Findings {
			if f.IsDecided() {
				decided, names = append(decided, f), append(names, g.Name)
			}
		}
	}
	shown := answer.Shown(decided, mostTableRows)
	for _, i := range shown {
		f := decided[i]
		t = append(t, []string{names[i], format.PlainLine(f.Row()), f.Value, f.Effect, f.Interval,
			string(f.Verdict)})
	}
	fmt.Fprintln(d)
	if len(t) > 1 {
		t.WriteMarkdown(d, "llrrrl")
	}
	if n := len(decided) - len(shown); n > 0 {
		fmt.Fprintf(d, "and %s more: %s\n\n", format.Plural(int64(n), "row"), format.CodeSpan(showAll))
	}
	for _, text := range undecidedLines(a.Groups[1:]) {
		fmt.Fprintf(d, "%s\n\n", format.EscapeMarkdown(format.Clip(text, mostReasonRunes)))
	}
}
