package dyno

import (
	"errors"
	"fmt"
	"strings"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/labreport"
)

// A Comparison is what Compare found.
type Comparison struct {
	Differences []Difference // one for each measure
	Cautions    []string     // reasons to doubt it; often none
	sentence    string
}

// A Difference is how before and after, as Compare calls them, compare by one measure.
type Difference struct {
	Measure string  // "throughput", "p50", "p99" …
	Ratio   float64 // after divided by before: 1.03 is 3 % more
	// Low and High are the ends of the confidence interval of Ratio. The intervals are simultaneous:
	// they hold for all measures at once.
	Low, High float64
	// Verdict is "different", "negligible", "equivalent" or "inconclusive". A negligible difference
	// is real, but less than the margin. An inconclusive one needs more runs.
	Verdict string
	Better  bool // Verdict is "different", and after is better
	Worse   bool // Verdict is "different", and after is worse
}

// Compare compares repeated runs of one thing with those of another, as "dyno compare" does. margin
// is the share by which the two have to differ to matter: 0.02 is 2 %. It is at least 0 and less
// than 1. One run of each decides nothing: every Difference is inconclusive then.
//
// It is an error if before or after is empty, if a Result is nil or not of a load, or if the loads
// are not the same.
func Compare(before, after []*Result, margin float64) (*Comparison, error) {
	if len(before) == 0 || len(after) == 0 {
		return nil, errors.New("comparing needs a result of each of both")
	}
	if !(margin >= 0 && margin < 1) {
		return nil, fmt.Errorf("a margin of %v is not from 0 to 1", margin)
	}
	groups := make([]judge.Group, 2)
	for i, all := range [][]*Result{before, after} {
		var rs []*result.Result
		for _, r := range all {
			if r == nil || r.of == nil {
				return nil, errors.New("a Result is not of a load")
			}
			rs = append(rs, r.of)
		}
		groups[i] = judge.GroupResults([]string{"before", "after"}[i], rs)
	}
	u, err := judge.CompareGroups(groups, nil, margin)
	if err != nil {
		return nil, err
	}
	answer, err := labreport.UnpairedAnswer(u)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Cautions: u.Cautions, sentence: answer.Sentence}
	for _, v := range u.Verdicts {
		if v.Control {
			continue
		}
		differs := string(v.Verdict) == "different"
		more := (v.Ratio-1)*float64(v.Better) > 0
		c.Differences = append(c.Differences, Difference{Measure: v.Metric, Ratio: v.Ratio,
			Low: v.Low, High: v.High, Verdict: string(v.Verdict), Better: differs && more,
			Worse: differs && !more})
	}
	return c, nil
}

// String is what was found: a sentence, and then a line for each of Differences.
func (c *Comparison) String() string {
	lines := []string{c.sentence}
	for _, d := range c.Differences {
		lines = append(lines, fmt.Sprintf("%s: %+.1f %% [%+.1f, %+.1f], %s", d.Measure,
			100*(d.Ratio-1), 100*(d.Low-1), 100*(d.High-1), d.Verdict))
	}
	return strings.Join(lines, "\n")
}
