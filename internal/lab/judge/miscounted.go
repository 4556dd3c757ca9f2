package judge

import (
	"fmt"

	"dyno/internal/lab"
	"dyno/internal/lab/grade"
)

// miscountCautions reports, for each arm, in how many trials the server's count differed from the
// clients', with the numbers of the first.
func miscountCautions(trials []*lab.Trial) (all []string) {
	var arms []string
	off, counted, first := map[string]int{}, map[string]int{}, map[string]string{}
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		counted[t.Arm]++
		for _, why := range grade.MiscountReasons(t) {
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

// countAgreement adds up the counts of all trials; nil if no server counts.
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
		case len(grade.MiscountReasons(t)) > 0:
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
