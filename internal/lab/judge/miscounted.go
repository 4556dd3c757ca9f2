package judge

import (
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/grade"
)

// miscountCautions reports, for each arm, in how many trials the server's count differed from the
// clients', with the numbers of the first.
func miscountCautions(trials []*lab.Trial) (all []fact.Fact) {
	var arms []string
	of := map[string]*fact.Miscounted{}
	for _, t := range trials {
		if t.Served == nil {
			continue
		}
		if of[t.Arm] == nil {
			of[t.Arm] = new(fact.Miscounted)
		}
		m := of[t.Arm]
		m.Of++
		if !grade.IsMiscounted(t) {
			continue
		}
		if m.Trials++; m.Trials == 1 {
			m.Server, m.Clients = t.Served.Server, t.Served.Clients
			arms = append(arms, t.Arm)
		}
	}
	for _, arm := range arms {
		all = append(all, warn(*of[arm], fact.Scope{Variant: arm}))
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
		case grade.IsMiscounted(t):
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
