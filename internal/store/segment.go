package store

import (
	"math"
	"time"

	"dyno/internal/lab"
	"dyno/internal/stats"
)

// A Stretch is the runs of a series between two of its changes, or before the first or after the
// last: From is the first of Series.Runs in it, To the first after it.
type Stretch struct {
	From   int     `json:"from"`
	To     int     `json:"to"`
	Median float64 `json:"median"` // of the values
}

// Stretches are those of all runs. One in which no run is left has none.
func (s Series) Stretches() (all []Stretch) {
	from := 0
	for i := range len(s.Changes) + 1 {
		to := len(s.Runs)
		if i < len(s.Changes) {
			to = s.RunsBefore(s.Changes[i])
		}
		if to > from {
			all = append(all, Stretch{from, to, stats.Median(runValues(s.Runs[from:to]))})
			from = to
		}
	}
	return all
}

// RunsBefore is the first of the series' runs that is not before a change: their number if all are.
func (s Series) RunsBefore(c Change) int {
	for i, r := range s.Runs {
		if !r.Started.Before(c.At()) {
			return i
		}
	}
	return len(s.Runs)
}

// FindChanges are the changes of a series of values that no file has: nothing is published.
func FindChanges(m lab.Measure, runs []Run) []Change {
	for _, r := range runs {
		if !(r.Value > 0) || math.IsInf(r.Value, 0) {
			return nil // there are no logarithms
		}
	}
	s := Series{Metric: m, Runs: runs}
	all := s.findChanges()
	for i := range all {
		all[i].Published = time.Time{}
	}
	return all
}
