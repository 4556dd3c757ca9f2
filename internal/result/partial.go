package result

import (
	"strings"

	"dyno/internal/engine/loadresult"
)

// Partial is why r covers less than planned, in the fewest words: how it ended, or which agents
// were lost. It is "" for a complete run. Whether the numbers can be relied on is a matter of the
// verdict.
func (r *Result) Partial() string {
	if lost := r.Fleet.Lost(); len(lost) > 0 {
		return "LOST agent " + strings.Join(lost, ", agent ")
	}
	return partial[loadresult.Ending(r.Ended)]
}

var partial = map[loadresult.Ending]string{
	loadresult.Interrupted: "interrupted",
	loadresult.Aborted:     "aborted",
	loadresult.Stopped:     "stopped by the script",
	loadresult.Faulted:     "the script FAILED",
	loadresult.Gone:        "server gone",
	loadresult.Unserved:    "server answered nothing more",
	loadresult.Unreachable: "unreachable",
	loadresult.Lost:        "LOST an agent",
}
