package labreport

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// Rehearsal writes which variants of an experiment started and answered alike, and what can be done
// about the others.
func Rehearsal(w io.Writer, r *lab.Record) error {
	alike, all := 0, 0
	t := format.Table{}
	for _, a := range r.Arms {
		if a.Control || a.LeftOut {
			continue
		}
		if all++; len(a.Missing) == 0 && a.Unfit == "" {
			alike++
		}
		t = append(t, []string{format.PlainLine(a.Name), format.PlainLine(rehearsalText(a))})
	}
	fmt.Fprintf(w, "%s: %d of %s started and can be compared\n", format.PlainLine(r.Name), alike,
		format.Plural(int64(all), "variant"))
	t.WriteText(w, "  ", "ll")
	return nil
}

// rehearsalText is how a variant answered, or why it cannot be compared, with the remedy.
func rehearsalText(a lab.Arm) string {
	switch {
	case len(a.Missing) > 0:
		return "not available here: " + strings.Join(a.Missing, "; ")
	case a.Unfit != "" && a.Remedy != "":
		return "cannot be compared: " + a.Unfit + " (" + a.Remedy + ")"
	case a.Unfit != "":
		return "cannot be compared: " + a.Unfit
	case a.Answer == nil:
		return "not asked"
	}
	s := fmt.Sprintf("%s %d", a.Answer.Version, a.Answer.Status)
	if a.Version != "" {
		s += ", " + a.Version
	}
	return s
}
