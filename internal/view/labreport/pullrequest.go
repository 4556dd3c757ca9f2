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
)

// ExperimentMarkdown writes what an experiment found in less than 60 lines: the table of the
// measure that decides, what else was decided, what was refused, the cautions and the medians.
func ExperimentMarkdown(w io.Writer, r *lab.Record) error {
	var text bytes.Buffer
	d := format.NewDocument(&text)
	a := shortAnswer(r)
	fmt.Fprintf(d, "# %s\n\n", format.EscapeMarkdown(titleText(r)))
	fmt.Fprint(d, a.Markdown(experimentCommand(r)))
	writeRefused(d, a)
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
	fmt.Fprintf(d, "%s. All tables: report.html, or `dyno lab show DIR -v`.\n",
		format.EscapeMarkdown(scopeText(r)))
	_, err := text.WriteTo(w)
	return err
}

// PullRequest writes an experiment as Markdown for a pull request, in at most 3,000 characters:
// the finding, its table, what was refused, and the cautions. picture is the file of the Forest
// plot, beside; "" for none.
func PullRequest(w io.Writer, r *lab.Record, picture string) error {
	d := format.NewDocument(w)
	a := shortAnswer(r)
	parts := []string{
		fmt.Sprintf("## %s\n\n", format.EscapeMarkdown(format.Clip(titleText(r), mostReasonRunes))),
		shortMarkdown(&a, format.Clip(experimentCommand(r), mostReasonRunes))}
	if picture != "" {
		parts = append(parts, fmt.Sprintf("\n![Ratios to the baseline, with 95 %% intervals](%s)\n",
			url.PathEscape(picture)))
	}
	var refused strings.Builder
	writeRefused(&refused, a)
	parts = append(parts, refused.String())
	if g := r.Gate; g != nil {
		parts = append(parts, fmt.Sprintf("\nGate: %s\n", format.EscapeMarkdown(g.Explain())))
	}
	left := mostCharacters
	for _, part := range parts {
		if n := len([]rune(part)); n <= left {
			fmt.Fprint(d, part)
			left -= n
		}
	}
	return d.Err()
}

// shortMarkdown is the summary of an answer in at most two thirds of mostCharacters. What is too
// much is left out: of variants that were not loaded, then of cautions, then of findings.
func shortMarkdown(a *answer.Answer, command string) string {
	for {
		text := a.Markdown(command)
		switch {
		case len([]rune(text)) <= mostCharacters*2/3:
			return text
		case len(a.NotLoaded) > mostRefused:
			a.NotLoaded = a.NotLoaded[:len(a.NotLoaded)-1]
		case len(a.Cautions) > 1:
			a.Cautions = a.Cautions[:len(a.Cautions)-1]
		case len(a.Groups) > 0 && len(a.Groups[0].Findings) > 1:
			a.Groups[0].Findings = a.Groups[0].Findings[:len(a.Groups[0].Findings)-1]
		default:
			return text
		}
	}
}

// shortAnswer is the answer of an experiment with no more rows and cautions than are read at once.
func shortAnswer(r *lab.Record) answer.Answer {
	a := labanswer.Of(r)
	for i := range a.Groups {
		g := &a.Groups[i]
		g.Findings = g.Findings[:min(len(g.Findings), mostTableRows)]
		for at := range g.Findings {
			g.Findings[at].Label = format.Clip(g.Findings[at].Row(), longestLabel)
		}
	}
	for i := range a.NotLoaded {
		a.NotLoaded[i].Variant = format.Clip(a.NotLoaded[i].Variant, longestName)
	}
	a.NotLoaded = a.NotLoaded[:min(len(a.NotLoaded), mostRefused+1)]
	a.Cautions = a.Cautions[:min(len(a.Cautions), mostNoted)]
	for i := range a.Cautions {
		c := &a.Cautions[i]
		c.Says, c.Scope = format.Clip(c.Says, mostReasonRunes), format.Clip(c.Scope, mostReasonRunes)
	}
	return a
}

// writeRefused lists the variants that were not loaded, with what can be done about each.
func writeRefused(w io.Writer, a answer.Answer) {
	for i, f := range a.NotLoaded {
		if i == 0 {
			fmt.Fprint(w, "\nNot loaded:\n\n")
		}
		if i == mostRefused {
			fmt.Fprintln(w, "- and more: `dyno lab show DIR`")
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
	left := 0
	for _, g := range a.Groups[1:] {
		for _, f := range g.Findings {
			switch {
			case !f.IsDecided():
			case len(t) > mostTableRows:
				left++
			default:
				t = append(t, []string{g.Name, format.PlainLine(f.Row()), f.Value, f.Effect, f.Interval,
					string(f.Verdict)})
			}
		}
	}
	fmt.Fprintln(d)
	if len(t) > 1 {
		t.WriteMarkdown(d, "llrrrl")
	}
	if left > 0 {
		fmt.Fprintf(d, "and %d more\n\n", left)
	}
	for _, text := range undecidedLines(a.Groups[1:]) {
		fmt.Fprintf(d, "%s\n\n", format.EscapeMarkdown(format.Clip(text, mostReasonRunes)))
	}
}
