package judge

import "dyno/internal/lab"

// CountedTrials are those of the trials of an arm at a level that its figures rest on, by round:
// of two attempts one, and none of a second batch.
func CountedTrials(trials []*lab.Trial, arm, level string) (all []*lab.Trial) {
	cells := groupTrials(SelectBatch(trials, false))
	for _, round := range cells.roundNumbers() {
		if t := cells.bestTrial(arm, level, round); t != nil && t.Failure == nil && t.Result != nil {
			all = append(all, t)
		}
	}
	return all
}

// PairLogs are the logarithms of the ratios that c rests on, of each round's pair in order.
func PairLogs(c lab.Comparison, trials []*lab.Trial) []float64 {
	m, known := lab.MeasureNamed(c.Metric)
	if !known {
		return nil
	}
	return pairArms(groupTrials(SelectBatch(trials, false)), m, c.Level, c.Baseline, c.Variant).logs
}

// SelectBatch returns the trials of the first batch, or of the second, by which a gate confirms.
func SelectBatch(trials []*lab.Trial, second bool) (all []*lab.Trial) {
	for _, t := range trials {
		if (t.Round >= lab.ConfirmingRound) == second {
			all = append(all, t)
		}
	}
	return all
}

// CellValues are the values of a measure in the trials of an arm at a level, by round.
func CellValues(trials []*lab.Trial, m lab.Measure, arm, level string) []float64 {
	return cellValues(groupTrials(trials), m, arm, level)
}
