package store

import (
	"math"

	"dyno/internal/fact"
	"dyno/internal/stats"
)

const (
	// unprovenP is how clearly the newest runs have to differ from those before them to be spoken of.
	// Five runs and five others can reach it, four and four cannot. Of many runs more cuts are tried,
	// so unprovenTried is shared among them (Bonferroni).
	unprovenP, unprovenTried = 0.01, 0.05
	// unprovenLongest is how many runs are looked at, the newest.
	unprovenLongest = 40
	// unprovenMore is up to how many runs more it is said how many would show a change.
	unprovenMore = 10
)

// Unproven is what the newest runs look like if they differ from those before, and are too few for
// a change point; nil if they do not, or if there is a change point. Nothing is published of it.
func (s *Series) Unproven() *fact.Fact {
	runs := s.Runs
	if n := len(s.Changes); n > 0 {
		runs = runs[s.RunsBefore(s.Changes[n-1]):]
	}
	runs = runs[max(len(runs)-unprovenLongest, 0):]
	if isAnyOver(runs) {
		return nil
	}
	cuts := float64(len(runs) - 2*changeLeast + 1)
	at, best := 0, stats.Judgement{P: min(unprovenP, unprovenTried/max(cuts, 1))}
	for i := changeLeast; i <= len(runs)-changeLeast; i++ {
		j, err := stats.JudgeUnpaired(runValues(runs[i:]), runValues(runs[:i]),
			stats.Margin{Practical: changeMargin})
		if err == nil && j.Verdict == stats.Different && (j.P < best.P || at == 0 && j.P == best.P) {
			at, best = i, j
		}
	}
	if at == 0 || len(s.changesWithin(runs)) > 0 { // which could not be kept
		return nil
	}
	return &fact.Fact{Severity: fact.Note, Args: fact.UnprovenChange{Metric: s.Metric.Name,
		Unit: s.Metric.Unit, Before: at, After: len(runs) - at,
		MedianBefore: stats.Median(runValues(runs[:at])), MedianAfter: stats.Median(runValues(runs[at:])),
		Ratio: best.Ratio.Estimate, Low: best.Ratio.Low, High: best.Ratio.High,
		More: s.runsMissing(runs, at)}}
}

// runsMissing is after how many runs more, if they are as those from at on, there would be a change
// point; 0 if that is not in reach.
func (s *Series) runsMissing(runs []Run, at int) int {
	logs := make([]float64, len(runs), len(runs)+unprovenMore)
	for i, r := range runs {
		logs[i] = math.Log(r.Value)
	}
	for more := 1; more <= unprovenMore; more++ {
		logs = append(logs, logs[at+(more-1)%(len(runs)-at)])
		if len(stats.Divide(logs, changeLeast, changeAlpha)) > 0 {
			return more
		}
	}
	return 0
}
