package labreport

import (
	"fmt"
	"io"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// mostVersusCautions is how many cautions stand above the answer of dyno vs.
const mostVersusCautions = 2

// Versus writes what has to be known with the lines of Standings, which follow it: how much was
// done, why the answer must not be relied on, what speaks against it, the next step, and where all
// figures are. Next is empty where nothing more is needed.
func Versus(w io.Writer, r *lab.Record, a answer.Answer, next answer.Step, s format.Style) error {
	b := &document.Screen{Style: s}
	if a.Unreliable != "" {
		b.Add(format.Red, 0, withheldText(a), document.MostRowLines)
	}
	addVersusCautions(b, a)
	if next.Says != "" {
		b.Lines = append(b.Lines, nextLines(s, answer.Answer{Next: next})...)
	}
	b.Lines = append(b.Lines, placeLines(s, r)...)
	d := format.NewDocument(w)
	title := format.Clip(titleText(r)+"; "+shortScope(r), s.LineWidth()+2)
	fmt.Fprintln(d, s.Paint(format.Bold, title))
	for _, line := range b.Lines {
		fmt.Fprintln(d, line)
	}
	return d.Err()
}

// withheldText is why an answer must not be relied on, with what was at work in most trials.
func withheldText(a answer.Answer) string {
	for _, c := range a.Cautions {
		if c.Kind == a.Withheld && len(c.Reasons) > 0 {
			return a.Unreliable + ": " + c.Reasons[0]
		}
	}
	return a.Unreliable
}

// addVersusCautions adds the cautions that take something back from the lines that follow, and that
// neither these lines nor the sentence before say.
func addVersusCautions(b *document.Screen, a answer.Answer) {
	var all []answer.Caution
	for _, c := range a.Cautions {
		switch {
		case c.Kind == answer.GatePassed: // the exit code is the gate's
		case c.Severity == answer.Note, c.Kind == a.Withheld,
			c.Severity == answer.Doubt && a.Unreliable != "": // of what must not be relied on anyway
			continue
		}
		switch c.Kind {
		case answer.Unloaded, answer.FewRounds, answer.AboveNoise, answer.Correction, answer.Spoiled:
			continue // the line of the server says it
		}
		all = append(all, c)
	}
	for _, c := range all[:min(len(all), mostVersusCautions)] {
		color := format.Yellow
		if c.Severity == answer.Bad {
			color = format.Red
		}
		b.Add(color, 0, "! "+c.Text(), document.MostRowLines)
	}
	if n := len(all) - mostVersusCautions; n > 0 {
		more := format.Plural(int64(n), "caution")
		b.Add(format.Yellow, 0, fmt.Sprintf("! and %s more, in all of it", more), 1)
	}
}
