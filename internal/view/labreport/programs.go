package labreport

import (
	"strings"

	"dyno/internal/lab"
	"dyno/internal/view/format"
)

// hashShown is how many digits of a SHA-256 are shown; the record has all.
const hashShown = 16

// programSection is what the servers' processes were, as the kernel had them.
func programSection(r *lab.Record) section {
	if len(r.Programs) == 0 {
		return section{}
	}
	out := section{head: "What ran", sides: "llllrl", table: format.Table{{"variant", "process",
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
			out.table = append(out.table, []string{format.PlainLine(a.Name), format.PlainLine(p.Process),
				format.PlainLine(p.Path), format.Clip(p.SHA256, hashShown), format.Count(int64(p.Trials)),
				format.Clip(format.PlainLine(args), 80)})
		}
		if a.Version != "" {
			out.text = append(out.text, format.PlainLine(a.Name+": "+a.Version))
		}
	}
	return out
}
