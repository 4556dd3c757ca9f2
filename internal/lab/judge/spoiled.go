package judge

import (
	"dyno/internal/fact"
	"dyno/internal/lab"
)

// SpoiledFacts say of which variants the server itself spoiled so many trials that their figures
// are not those of the load that was asked for: whose trials, by what, and whether the machine had
// a part in it. Each has the variant and the level as its scope.
func SpoiledFacts(r *lab.Record) []fact.Fact { return spoiledFacts(r, r.Trials) }

// spoiledFacts are SpoiledFacts of some of a record's trials.
func spoiledFacts(r *lab.Record, trials []lab.TrialSummary) (all []fact.Fact) {
	counted, _ := CountedAttempts(trials)
	cells := spoiledCells(counted)
	for _, a := range r.Arms {
		for _, level := range levelsOf(counted) {
			of := cells[lab.CellKey{Arm: a.Name, Level: level}]
			if a.Control || of == nil || !isTooMany(of.Trials, of.Of) {
				continue
			}
			if of.Trials == 1 && of.Disturbed == 1 {
				continue // chance
			}
			args := *of
			for at, other := range cells {
				if at.Level == level && at.Arm != a.Name && !isControlOf(r, at.Arm, a.Name) {
					args.Others, args.OtherTrials = args.Others+other.Trials, args.OtherTrials+other.Of
				}
			}
			at := fact.Scope{Variant: a.Name, Level: level}
			f := fact.Fact{Severity: fact.Error, Scope: at, Args: args}
			if args.Starved > 0 {
				f.Severity = fact.Warning
				f.Remedies = []fact.Remedy{{Setting: "connections", Value: fact.Lower}}
			}
			all = append(all, f)
		}
	}
	return all
}

// spoiledCells count the trials that servers spoiled, by cell.
func spoiledCells(counted []lab.TrialSummary) map[lab.CellKey]*fact.ServerSpoiled {
	cells := map[lab.CellKey]*fact.ServerSpoiled{}
	for _, t := range counted {
		at := lab.CellKey{Arm: t.Arm, Level: t.Level}
		if cells[at] == nil {
			cells[at] = new(fact.ServerSpoiled)
		}
		c := cells[at]
		c.Of++
		why := t.SpoiledByServer()
		if t.Grade != lab.GradeF || why == nil || t.IsDisturbed() && why.Starved == 0 {
			continue // a busy machine makes a server slow, too
		}
		if c.Trials++; c.Trials == 1 {
			c.Why = why.Says
		}
		if t.IsDisturbed() {
			c.Disturbed++
		}
		if n := why.Starved; n > 0 && (c.Starved == 0 || n < c.Starved) {
			c.Starved, c.Connections = n, why.Asked
		}
	}
	return cells
}

// isControlOf reports whether an arm is the variant a second time.
func isControlOf(r *lab.Record, arm, variant string) bool {
	for _, a := range r.Arms {
		if a.Name == arm {
			return a.Control && a.Baseline == variant
		}
	}
	return false
}

// levelsOf are the levels of trials, in the order in which these have them first.
func levelsOf(trials []lab.TrialSummary) (all []string) {
	had := map[string]bool{}
	for _, t := range trials {
		if !had[t.Level] {
			had[t.Level], all = true, append(all, t.Level)
		}
	}
	return all
}
