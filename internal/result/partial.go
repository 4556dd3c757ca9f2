package result

import (
	"strings"

	"dyno/internal/engine/load"
)

// Partial is why r covers less than planned, in the fewest words: how it ended, or which agents
// were lost. It is "" for a complete run. Whether the numbers can be relied on is a matter of the
// verdict.
func (r *Result) Partial() string {
	if lost := r.Fleet.Lost(); len(lost) > 0 {
		return "LOST agent " + strings.Join(lost, ", agent ")
	}
	return partial[load.Ending(r.Ended)]
}

var partial = map[load.Ending]string{
	load.Interrupted: "interrupted",
	load.Aborted:     "aborted",
	load.Gone:        "server gone",
	load.Unreachable: "unreachable",
	load.Lost:        "LOST an agent",
}
