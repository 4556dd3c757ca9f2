package judge

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
)

// lackingTrials are the trials of all rounds up to the last that are not stored. A round that has
// ended has a trial of each cell. A trial is missing if its file was removed. It is also missing if
// an earlier version gave two cells the same file name, and took the other cell's file for it.
func lackingTrials(r *lab.Record, stored []lab.Slot) (all []lab.Slot) {
	had, last := map[lab.TrialKey]bool{}, 0
	for _, s := range stored {
		had[s.Key(1).TrialKey] = true
		if s.Round < lab.ConfirmingRound {
			last = max(last, s.Round)
		}
	}
	q := scopeOf(r)
	for round := 1; round <= last; round++ {
		for _, a := range q.arms {
			for _, level := range q.levels {
				if !had[lab.TrialKey{Arm: a.name, Level: level, Round: round}] {
					all = append(all, lab.Slot{Round: round, Arm: a.name, Level: level})
				}
			}
		}
	}
	return all
}

// listedSlots are the slots of the trials that a record lists.
func listedSlots(r *lab.Record) (all []lab.Slot) {
	for _, t := range r.Trials {
		all = append(all, t.Slot)
	}
	return all
}

// goOn is what runs trials that are missing.
var goOn = []fact.Remedy{{Setting: "resume", Value: fact.Some}}

// lostTrials are the one fact about trials that are not stored; none if all are.
func lostTrials(r *lab.Record, stored []lab.Slot) []fact.Fact {
	lacks := lackingTrials(r, stored)
	if len(lacks) == 0 {
		return nil
	}
	return []fact.Fact{{Severity: fact.Warning, Remedies: goOn,
		Args: fact.TrialsLost{Trials: len(lacks), Cells: countByCell(lacks)}}}
}

// lossCautions names the cells of a finished experiment that lack trials or a profile of their own;
// none if nothing is missing.
func lossCautions(r *lab.Record) (all []fact.Fact) {
	if r.State != lab.Complete && r.State != lab.OverBudget {
		return nil
	}
	all = lostTrials(r, listedSlots(r))
	var one []fact.CellTrials
	for _, t := range r.Profiles {
		if t.File != "" && lab.CountSharing(r.Profiles, t) > 1 {
			one = append(one, fact.CellTrials{Variant: t.Arm, Level: t.Level})
		}
	}
	if len(one) > 0 {
		all = append(all, fact.Fact{Severity: fact.Warning, Remedies: goOn,
			Args: fact.ProfilesShared{Cells: one}})
	}
	return all
}

// countByCell lists cells with the number of their trials.
func countByCell(slots []lab.Slot) (all []fact.CellTrials) {
	for _, s := range slots {
		i := slices.IndexFunc(all, func(c fact.CellTrials) bool {
			return c.Variant == s.Arm && c.Level == s.Level
		})
		if i < 0 {
			i, all = len(all), append(all, fact.CellTrials{Variant: s.Arm, Level: s.Level})
		}
		all[i].Trials++
	}
	return all
}
