package judge

import (
	"dyno/internal/lab"
	"fmt"
	"slices"
	"strings"
)

// lackingTrials are the trials of rounds 1 to the last that are not among those that are stored.
// Every round that has ended has a trial of each cell. One is lacking where its file was removed,
// and where an earlier version, whose files of two cells could have one name, took the other cell's
// for it.
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

// listedSlots are those of the trials that a record lists.
func listedSlots(r *lab.Record) (all []lab.Slot) {
	for _, t := range r.Trials {
		all = append(all, t.Slot)
	}
	return all
}

// lossCautions says of which cells an experiment that has ended lacks trials or has no profile of
// its own; nothing if there is none.
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

// countByCell are the cells of trials, each with how many there are.
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
