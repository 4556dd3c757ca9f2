package judge

import (
	"dyno/internal/lab"
	"fmt"

	"dyno/internal/result"
)

// isMiscounted reports whether server and clients do not say the same of a load. A server need not
// have seen what failed and what nobody waited for any more, and may have seen twice what was
// sent again.
func isMiscounted(s *lab.Served, q result.Requests) bool {
	more := s.Server - s.Clients
	return more > q.Retried || -more > q.Errors+q.Unfinished+q.WarmupLost
}

// miscountReasons looks for a load of which server and clients do not say the same.
func miscountReasons(t *lab.Trial) []lab.Reason {
	s := t.Served
	if s == nil || t.Result == nil || !isMiscounted(s, t.Result.Requests) {
		return nil
	}
	return []lab.Reason{{Grade: lab.GradeF, Says: fmt.Sprintf("the server counted %d requests, and "+
		"the clients sent %d together", s.Server, s.Clients)}}
}

// miscountCautions says of each arm in how many trials its server counted otherwise than the
// clients did, and of the first of them what.
func miscountCautions(trials []*lab.Trial) (all []string) {
	var arms []string
	off, counted, first := map[string]int{}, map[string]int{}, map[string]string{}
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		counted[t.Arm]++
		for _, why := range miscountReasons(t) {
			if off[t.Arm]++; off[t.Arm] == 1 {
				arms = append(arms, t.Arm)
				first[t.Arm] = why.Says
			}
		}
	}
	for _, arm := range arms {
		all = append(all, fmt.Sprintf("%s: in %d of %d trials %s", arm, off[arm], counted[arm],
			first[arm]))
	}
	return all
}

// countAgreement is that of trials; nil if no server told its count.
func countAgreement(trials []*lab.Trial) *lab.Agreement {
	var a lab.Agreement
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		a.Trials++
		switch {
		case t.Served.Server == t.Served.Clients:
			a.Alike++
		case len(miscountReasons(t)) > 0:
			a.Off++
		}
		a.Server += t.Served.Server
		a.Clients += t.Served.Clients
	}
	if a.Trials == 0 {
		return nil
	}
	return &a
}
