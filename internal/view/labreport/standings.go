package labreport

import (
	"fmt"
	"io"

	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// Standings writes a line for each variant: its verdict against the baseline, and why. The last
// line is why they must not be relied on, if unreliable is not "". Verdicts are withheld then.
func Standings(w io.Writer, baseline string, all []labanswer.Standing, unreliable string,
	s format.Style) error {
	p := document.Part{Head: "against " + baseline, Sides: "lll",
		Table: format.Table{{"variant", "verdict", "why"}}}
	for _, one := range all {
		word, tone := string(one.Verdict), verdictColors[one.Verdict]
		switch {
		case one.Unreliable:
			word, tone = "unreliable", ""
		case one.Verdict == answer.Undecided:
			word = "cannot tell yet"
		}
		says := one.Says
		if one.More > 0 {
			says += fmt.Sprintf("; about %s more would decide %s", format.Plural(int64(one.More), "round"),
				one.MoreOf)
		}
		if one.Rest != "" {
			says += "; " + one.Rest
		}
		p.Table = append(p.Table, []string{format.Clip(format.PlainLine(one.Variant), longestName), word,
			format.PlainLine(says)})
		p.Beside = append(p.Beside, tone)
	}
	foot := document.Part{}
	if unreliable != "" {
		row := document.Aside("caution", unreliable)
		row.Tone = format.Red
		foot.Rows = append(foot.Rows, row)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	s.Detail = true // this is what was asked, and no line of it is cut
	return document.Doc{Parts: []document.Part{p, foot}}.WriteText(w, s)
}
