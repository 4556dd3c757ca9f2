package stats

import (
	"math"
	"slices"
)

// An Effort is where the noise of trials comes from, and what follows for their length.
type Effort struct {
	Within  float64 // variance of an interval of a trial, about the trial's mean
	Between float64 // variance of trials besides, as if they were infinitely long; at least 0
	// Length is how many intervals a trial should have for the most precise answer in a given
	// time: at least 1; 0 if trials differ by no more than their intervals explain, so that the
	// longer they are the better.
	Length int
}

// VarianceComponents finds the Effort of trials of equal intervals, such as the throughput of
// each second. A cell is the trials of one thing; variances are pooled over cells, so that these
// may have other means. cost is what a trial takes besides, in intervals: its start and warm-up.
// Trials of fewer than two intervals, and cells with fewer than two of them, are left out; ok is
// false if nothing is left. Source: Kalibera, Jones, "Rigorous benchmarking in reasonable time",
// ISMM 2013; with trials of one length it is the analysis of variance of one random factor.
//
// Neighbouring seconds are alike, which makes Within too small and Between too large: Length
// errs towards short trials and many, never towards one long trial.
func VarianceComponents(cells [][][]float64, cost float64) (e Effort, ok bool) {
	var within, means, number weightedMean
	for _, trials := range cells {
		trials = slices.DeleteFunc(slices.Clone(trials), func(t []float64) bool { return len(t) < 2 })
		if len(trials) < 2 {
			continue
		}
		all := make([]float64, len(trials))
		for i, t := range trials {
			m, v := moments(t)
			all[i] = m
			within.addWeighted(v*float64(len(t)), float64(len(t)-1))
			number.addWeighted(1/float64(len(t)), 1)
		}
		_, v := moments(all)
		means.addWeighted(v*float64(len(all)), float64(len(all)-1))
	}
	if means.by == 0 {
		return e, false
	}
	e.Within = within.mean()
	e.Between = max(means.mean()-e.Within*number.mean(), 0)
	if e.Between > 0 {
		e.Length = max(1, int(math.Ceil(math.Sqrt(cost*e.Within/e.Between))))
	}
	return e, true
}

// A weightedMean is a sum and what it is to be divided by.
type weightedMean struct{ sum, by float64 }

func (p *weightedMean) addWeighted(sum, by float64) { p.sum, p.by = p.sum+sum, p.by+by }
func (p weightedMean) mean() float64                { return p.sum / p.by }
