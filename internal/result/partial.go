package result

import (
	"strings"

	"dyno/internal/engine/load"
)

// Partial is why r is of less than what was planned, in the fewest words: by its end, or by
// agents that were lost on the way. It is "" of a whole run, and says nothing of how far the
// numbers can be relied on otherwise: that is the verdict's.
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
