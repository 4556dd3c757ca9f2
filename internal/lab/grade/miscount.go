package grade

import (
	"fmt"

	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// isMiscounted reports whether the counts of server and clients contradict each other. The server
// may have missed requests that failed or were given up, and may have received retried requests
// twice.
func isMiscounted(s *lab.Served, q result.Requests) bool {
	more := s.Server - s.Clients
	return more > q.Retried || -more > q.Errors+q.Unfinished+q.WarmupLost
}

// MiscountReasons finds a load whose server and clients counted differently.
func MiscountReasons(t *lab.Trial) []lab.Reason {
	s := t.Served
	if s == nil || t.Result == nil || !isMiscounted(s, t.Result.Requests) {
		return nil
	}
	return []lab.Reason{{Grade: lab.GradeF, Says: fmt.Sprintf("the server counted %s requests, and "+
		"the clients sent %s together", loadresult.CountText(s.Server), loadresult.CountText(s.Clients))}}
}
