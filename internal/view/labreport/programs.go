package labreport

import (
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// hashShown is how many digits of a SHA-256 are shown; the record has all.
const hashShown = 16

// programPart is what the servers' processes were, as the kernel had them.
func programPart(r *lab.Record) document.Part {
	if len(r.Programs) == 0 {
		return document.Part{}
	}
	out := document.Part{Head: "What ran", Sides: "llllrl", Table: format.Table{{"variant", "process",
		"executable", "SHA-256", "trials", "arguments, in the first of them"}}}
	for _, a := range r.Arms {
		for _, p := range r.Programs {
			if p.Arm != a.Name || a.Control {
				continue // a control's are the baseline's
			}
			args := ""
			if len(p.Args) > 1 {
				args = strings.Join(p.Args[1:], " ")
			}
			out.Table = append(out.Table, []string{format.PlainLine(a.Name), format.PlainLine(p.Process),
				format.PlainLine(p.Path), format.Clip(p.SHA256, hashShown), format.Count(int64(p.Trials)),
				format.Clip(format.PlainLine(args), 80)})
		}
		if a.Version != "" {
			out.Text = append(out.Text, format.PlainLine(a.Name+": "+a.Version))
		}
	}
	return out
}
