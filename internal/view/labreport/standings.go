package labreport

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// Standings writes a line for each variant: its verdict against the baseline, and why. The last
// line is why they must not be relied on, if unreliable is not "". Verdicts are withheld then.
func Standings(w io.Writer, baseline string, all []labanswer.Standing, unreliable string,
	s format.Style) error {
	d := format.NewDocument(w)
	rows := format.Table{}
	for _, one := range all {
		word := string(one.Verdict)
		switch {
		case one.Unreliable:
			word = "unreliable"
		case one.Verdict == answer.Undecided:
			word = "cannot tell yet"
		}
		rows = append(rows, []string{format.Clip(format.PlainLine(one.Variant), longestName), word})
	}
	var b strings.Builder
	rows.WriteText(&b, "", "ll")
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	fmt.Fprintf(d, "\n%s\n", s.Paint(format.Bold, "against "+format.PlainLine(baseline)))
	for i, one := range all {
		says := one.Says
		if one.More > 0 {
			says += fmt.Sprintf("; about %s more would decide %s", format.Plural(int64(one.More), "round"),
				format.PlainLine(one.MoreOf))
		}
		if one.Rest != "" {
			says += "; " + one.Rest
		}
		line := strings.TrimRight("  "+lines[i]+"  "+format.PlainLine(says), " ")
		if c := verdictColors[one.Verdict]; c != "" && !one.Unreliable {
			line = s.Paint(c, line)
		}
		fmt.Fprintln(d, line)
	}
	if unreliable != "" {
		fmt.Fprintln(d, s.Paint(format.Red, format.PlainLine(unreliable)))
	}
	return d.Err()
}
