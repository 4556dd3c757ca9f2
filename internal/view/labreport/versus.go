package labreport

import (
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
	rows := versusCautions(a)
	if a.Unreliable != "" {
		rows = append([]document.Row{{Name: "verdict", Text: withheldText(a), Tone: format.Red, Most: 2}},
			rows...)
	}
	if next.Says != "" {
		rows = append(rows, nextRow(next))
	}
	return document.Doc{Title: titleText(r) + "; " + shortScope(r),
		Parts: []document.Part{{Rows: append(rows, placeRows(r)...)}}}.WriteText(w, s)
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

// versusCautions are the cautions that take something back from the lines that follow, and that
// neither these lines nor the sentence before say.
func versusCautions(a answer.Answer) (rows []document.Row) {
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
		rows = append(rows, cautionRow(c))
	}
	if n := len(all) - mostVersusCautions; n > 0 {
		rows = append(rows, document.Aside("caution",
			"and "+format.Plural(int64(n), "caution")+" more, in all of it"))
	}
	return rows
}
