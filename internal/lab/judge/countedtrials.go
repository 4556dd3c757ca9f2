package judge

import "dyno/internal/lab"

// CountedTrials are the trials from which the figures of an arm at a level are computed, by round:
// one of two attempts, and none of a second batch.
func CountedTrials(trials []*lab.Trial, arm, level string) (all []*lab.Trial) {
	cells := groupTrials(SelectBatch(trials, false))
	for _, round := range cells.roundNumbers() {
		if t := cells.bestTrial(arm, level, round); t != nil && t.Failure == nil && t.Result != nil {
			all = append(all, t)
		}
	}
	return all
}

// PairLogs are the logarithms of the ratios that c is computed from, one a round, in order; none of
// a percentile of all trials together.
func PairLogs(c lab.Comparison, trials []*lab.Trial) []float64 {
	m, known := lab.MeasureNamed(c.Metric)
	if !known || c.Pooled > 0 {
		return nil
	}
	return pairArms(groupTrials(SelectBatch(trials, false)), m, c.Level, c.Baseline, c.Variant).logs
}

// SelectBatch returns the trials of the first batch, or those of the second batch of a gate.
func SelectBatch(trials []*lab.Trial, second bool) (all []*lab.Trial) {
	for _, t := range trials {
		if (t.Round >= lab.ConfirmingRound) == second && !t.TriesGenerator() {
			all = append(all, t)
		}
	}
	return all
}

// CellValues are the values of a measure in the trials of an arm at a level, by round.
func CellValues(trials []*lab.Trial, m lab.Measure, arm, level string) []float64 {
	return cellValues(groupTrials(trials), m, arm, level)
}
