package judge

import (
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
)

// A Worth is how many trials can be relied on. Of a trial that was repeated, one attempt counts.
type Worth struct {
	Trials     int
	Unreliable int // of grade F, without those that failed, or that the server spoiled
}

// WorthOf counts the trials.
func WorthOf(trials []lab.TrialSummary) (w Worth) {
	counted, _ := CountedAttempts(trials)
	w.Trials = len(counted)
	cells := spoiledCells(counted)
	for _, t := range counted {
		if t.Failure != nil || t.Grade != lab.GradeF {
			continue
		}
		of := cells[lab.CellKey{Arm: t.Arm, Level: t.Level}]
		if t.SpoiledByServer() != nil && !t.IsDisturbed() && isTooMany(of.Trials, of.Of) {
			continue // SpoiledFacts has them
		}
		w.Unreliable++
	}
	return w
}

// worthOfTrials counts trials that are not summarized yet.
func worthOfTrials(trials []*lab.Trial) Worth { return WorthOf(summariesOf(trials)) }

func summariesOf(trials []*lab.Trial) (all []lab.TrialSummary) {
	for _, t := range trials {
		all = append(all, t.Summary())
	}
	return all
}

// IsUnreliable reports whether so many trials are unreliable that comparisons show nothing: neither
// that a variant is worse nor that it is not.
func (w Worth) IsUnreliable() bool { return isTooMany(w.Unreliable, w.Trials) }

func isTooMany(n, trials int) bool { return float64(n) > RepeatMax*float64(trials) }

// String is "7 of 20 trials are unreliable (grade F)", or "The only trial is unreliable (grade F)".
func (w Worth) String() string { return say.Start(fact.Fact{Args: fact.TrialsUnreliable(w)}) }

// CountedAttempts are the attempts that count: of a trial that was repeated the better graded one.
// repeated is how many trials have an unreliable attempt that does not.
func CountedAttempts(trials []lab.TrialSummary) (counted []lab.TrialSummary, repeated int) {
	at := map[lab.TrialKey]int{}
	for _, t := range trials {
		key := lab.TrialKey{Arm: t.Arm, Level: t.Level, Round: t.Round}
		i, known := at[key]
		switch {
		case !known:
			at[key] = len(counted)
			counted = append(counted, t)
		case t.Failure == nil && (counted[i].Failure != nil || t.Grade < counted[i].Grade):
			counted[i] = t
			repeated++
		case counted[i].Failure == nil && counted[i].Grade != lab.GradeF:
			repeated++
		}
	}
	return counted, repeated
}
