package grade

import (
	"fmt"

	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
)

// IsMiscounted reports whether the counts of a trial's server and clients contradict each other.
// The server may have missed requests that failed or were given up, and may have received retried
// requests twice.
func IsMiscounted(t *lab.Trial) bool {
	if t.Served == nil || t.Result == nil {
		return false
	}
	more, q := t.Served.Server-t.Served.Clients, t.Result.Requests
	return more > q.Retried || -more > q.Errors+q.Unfinished+q.WarmupLost
}

// miscountReasons finds a load whose server and clients counted differently.
func miscountReasons(t *lab.Trial) []lab.Reason {
	if !IsMiscounted(t) {
		return nil
	}
	s := t.Served
	return []lab.Reason{{Grade: lab.GradeF, Says: fmt.Sprintf("the server counted %s requests, and "+
		"the clients sent %s together", loadresult.CountText(s.Server), loadresult.CountText(s.Clients))}}
}
