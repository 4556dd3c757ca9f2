package dyno

import (
	"errors"
	"fmt"
	"strings"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/labreport"
)

// A Comparison is what repeated runs of two things show together.
type Comparison struct {
	Differences []Difference // one for each measure
	Cautions    []string     // what speaks against it
	sentence    string
}

// A Difference is how two things compare by one measure.
type Difference struct {
	Measure   string  // "throughput", "p50", "p99" …
	Ratio     float64 // of the second to the first
	Low, High float64 // the confidence interval of Ratio, simultaneous with those of all measures
	// Verdict is "different", "negligible" (different, by less than the margin), "equivalent", or
	// "inconclusive": more runs are needed.
	Verdict string
	Better  bool // different, and the second is better
	Worse   bool // different, and the second is worse
}

// Compare compares repeated runs of one thing with those of another, as "dyno compare" does. margin
// is the share by which two things have to differ to matter, such as 0.02. One run each decides
// nothing: every Difference is inconclusive then. Loads that are not the same are an error.
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

// String is what was found: a sentence, and a line for each difference.
func (c *Comparison) String() string {
	lines := []string{c.sentence}
	for _, d := range c.Differences {
		lines = append(lines, fmt.Sprintf("%s: %+.1f %% [%+.1f, %+.1f], %s", d.Measure,
			100*(d.Ratio-1), 100*(d.Low-1), 100*(d.High-1), d.Verdict))
	}
	return strings.Join(lines, "\n")
}
