package lab

import (
	"fmt"
	"path/filepath"
)

// OpenTrial reads a trial of the experiment whose folder is dir, by the ID that the record
// has of it, with what was recorded meanwhile. That is large: look at one after the other.
func OpenTrial(dir, id string) (*Trial, error) {
	if id == "" || id != filepath.Base(id) || !filepath.IsLocal(id) {
		return nil, fmt.Errorf("%q is no trial's ID; the record of %s is damaged", id, dir)
	}
	t := new(Trial)
	err := store{dir: dir}.read(filepath.Join(trialsFolder, id+".json"), TrialFormat, t)
	if err != nil {
		return nil, fmt.Errorf("reading trial %s: %w", id, err)
	}
	return t, nil
}

// Counted are those of the trials of an arm at a level that its figures rest on, by round:
// of two attempts one, and none of a second batch.
func Counted(trials []*Trial, arm, level string) (all []*Trial) {
	cells := sortTrials(batch(trials, false))
	for _, round := range cells.rounds() {
		if t := cells.best(arm, level, round); t != nil && t.Failure == nil && t.Result != nil {
			all = append(all, t)
		}
	}
	return all
}

// Logs are the logarithms of the ratios that c rests on, of each round's pair in order.
func (c Comparison) Logs(trials []*Trial) []float64 {
	m, known := measure(c.Metric)
	if !known {
		return nil
	}
	return pair(sortTrials(batch(trials, false)), m, c.Level, c.Baseline, c.Variant).logs
}
