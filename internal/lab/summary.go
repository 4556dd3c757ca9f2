package lab

import (
	"encoding/json"
	"fmt"
	"slices"
)

// MissedObjective describes an objective that an arm did not meet in every trial; "" if there is
// none.
func (r *Record) MissedObjective() string {
	for _, o := range r.Objectives {
		if o.IsMissed() {
			at := r.ShownLevel(o.Level)
			if at != "" {
				at = " at " + at
			}
			return fmt.Sprintf("%s of %s%s: met in %d of %d trials", o.Expr, o.Arm, at, o.Met, o.Trials)
		}
	}
	return ""
}

// HasSeveralLevels reports whether there is more than one level, or load of stored results.
func (r *Record) HasSeveralLevels() bool {
	if r.Experiment != nil {
		return len(r.Experiment.Levels) > 1
	}
	return slices.ContainsFunc(r.Verdicts, func(c Comparison) bool { // of stored results
		return c.Against > 0 && c.Level != r.Verdicts[0].Level
	})
}

// ShownLevel is a level as texts name it: "" where there is only one, as the load says all of it.
func (r *Record) ShownLevel(level string) string {
	if r.HasSeveralLevels() {
		return level
	}
	return ""
}

// RoundsRun is how many rounds have a trial, without those of a gate's second batch.
func (r *Record) RoundsRun() int {
	rounds := map[int]bool{}
	for _, t := range r.Trials {
		if t.Round < ConfirmingRound {
			rounds[t.Round] = true
		}
	}
	return len(rounds)
}

// PlannedRounds is how many rounds the experiment was to have at most; 0 if its plan cannot be
// read.
func (r *Record) PlannedRounds() int {
	var plan struct {
		Design struct {
			Rounds    int `json:"rounds"`
			MaxRounds int `json:"max_rounds"`
		} `json:"design"`
	}
	if json.Unmarshal(r.Plan, &plan) != nil {
		return 0
	}
	return max(plan.Design.Rounds, plan.Design.MaxRounds)
}

// HasMeasured reports whether any trial measured anything.
func (r *Record) HasMeasured() bool {
	for _, t := range r.Trials {
		if t.Failure == nil {
			return true
		}
	}
	return false
}

// LoadedCells are the arms that can be loaded, at each level: the cells of a round.
func (r *Record) LoadedCells() (all []CellKey) {
	for _, a := range r.Arms {
		if len(a.Missing) > 0 || a.Unfit != "" {
			continue
		}
		for _, l := range r.Experiment.Levels {
			all = append(all, CellKey{a.Name, l.Name})
		}
	}
	return all
}
