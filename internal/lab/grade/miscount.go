package grade

import (
	"dyno/internal/fact"
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
	return []lab.Reason{reason(lab.GradeF, fact.CountsDiffer{Server: s.Server, Clients: s.Clients})}
}
