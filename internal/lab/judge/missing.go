package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
	"strings"
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

// lossCautions names the cells of a finished experiment that lack trials or a profile of their own;
// none if nothing is missing.
func lossCautions(r *lab.Record) (all []string) {
	if r.State != lab.Complete && r.State != lab.OverBudget {
		return nil
	}
	if lacks := lackingTrials(r, listedSlots(r)); len(lacks) > 0 {
		all = append(all, fmt.Sprintf("%d trials that were planned are not stored: %s; what is compared "+
			"rests on the other rounds, and --resume runs these", len(lacks), countByCell(lacks)))
	}
	var one []string
	for _, t := range r.Profiles {
		if t.File != "" && lab.CountSharing(r.Profiles, t) > 1 {
			one = append(one, t.Arm+" at "+t.Level)
		}
	}
	if len(one) > 0 {
		all = append(all, fmt.Sprintf("the profiles of %s share one file, in which only the last was "+
			"kept; --resume takes them again", strings.Join(one, " and of ")))
	}
	return all
}

// countByCell lists cells with the number of their trials.
func countByCell(slots []lab.Slot) string {
	var cells []lab.CellKey
	count := map[lab.CellKey]int{}
	for _, s := range slots {
		c := lab.CellKey{Arm: s.Arm, Level: s.Level}
		if count[c]++; !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	var all []string
	for _, c := range cells {
		all = append(all, fmt.Sprintf("%d of %s at %s", count[c], c.Arm, c.Level))
	}
	return strings.Join(all, ", ")
}
