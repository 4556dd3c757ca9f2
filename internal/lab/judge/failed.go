package judge

import (
	"dyno/internal/fact"
	"dyno/internal/lab"
)

// failedRounds is in how many rounds all trials of a variant fail before it counts as failed while
// the experiment goes on. One or two may fail for a reason that passes.
const failedRounds = 3

// hasEnded reports whether no trial follows.
func hasEnded(r *lab.Record) bool { return r.State == lab.Complete || r.State == lab.OverBudget }

// FailedArms are the variants of which no trial measured anything, although some ran: in all rounds
// of an experiment that has ended, and in at least failedRounds of one that has not.
func FailedArms(r *lab.Record) (all []fact.FailedVariant) {
	failed, rounds := map[string]*fact.FailedVariant{}, map[string]map[int]bool{}
	measured := map[string]bool{}
	for _, t := range r.Trials {
		if t.Failure == nil {
			measured[t.Arm] = true
			continue
		}
		if failed[t.Arm] == nil {
			failed[t.Arm] = &fact.FailedVariant{Variant: t.Arm, Phase: t.Failure.Phase,
				Why: JoinLines(t.Failure.Reason)}
			rounds[t.Arm] = map[int]bool{}
		}
		failed[t.Arm].Trials++
		rounds[t.Arm][t.Round] = true
	}
	for _, a := range r.Arms {
		f := failed[a.Name]
		if f != nil && !measured[a.Name] && !a.Control && isLoaded(a) &&
			(hasEnded(r) || len(rounds[a.Name]) >= failedRounds) {
			all = append(all, *f)
		}
	}
	return all
}

// A place is where the two trials of a pair are.
type place struct {
	level string
	round int
}

// measuredPlaces are the places at which an arm has a trial that measured something, by arm.
func measuredPlaces(r *lab.Record) map[string]map[place]bool {
	all := map[string]map[place]bool{}
	for _, t := range r.Trials {
		if t.Failure != nil {
			continue
		}
		if all[t.Arm] == nil {
			all[t.Arm] = map[place]bool{}
		}
		all[t.Arm][place{t.Level, t.Round}] = true
	}
	return all
}

// failureCautions say which variants could not be compared because all their trials failed, or no
// two of them in one round measured anything.
func failureCautions(r *lab.Record) []fact.Fact {
	if len(FailedArms(r)) == 0 && (len(r.Trials) == 0 || !LeavesNothing(r)) {
		return nil
	}
	return coverageFacts(r)
}
