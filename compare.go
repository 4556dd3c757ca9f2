package dyno

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/labreport"
)

// A Comparison is what Compare found.
type Comparison struct {
	Differences []Difference // one for each measure
	Cautions    []string     // reasons to doubt it, the worst first; often none
	lines       []string     // what was found, in words
}

// A Difference is how before and after, as Compare calls them, compare by one measure.
type Difference struct {
	// Measure is "throughput" (requests completed a second), "p50" or "p99" (latency). Of a Scenario
	// there are also "iterations" (completed a second), "iteration_p50", "iteration_p99" (their time)
	// and "checks" (the share of answers that it accepted). Results of the command can have "cpu",
	// the server's CPU time per request. A run with fewer than 368 requests has no p99, and one with
	// fewer iterations no iteration_p99.
	Measure string

	// Ratio is by which factor after exceeds before: 1.03 is 3 % more. It is the Hodges-Lehmann
	// estimate: the median of the ratios of each run of after to each run of before. Low and High are
	// the ends of its interval: with 95 % confidence, those of all measures hold together.
	Ratio, Low, High float64

	// Finding is one of these:
	//
	//	"different"      there is a difference, and Ratio is beyond the margin
	//	"negligible"     there is a difference, and Ratio is within the margin
	//	"equivalent"     none was shown, and all of the interval is within the margin
	//	"inconclusive"   none of these can be said: more runs, or longer ones, are needed
	//
	// A margin of 0.02 reaches from a ratio of 1/1.02 to one of 1.02.
	Finding string
	Better  bool // Finding is "different", and after is better
	Worse   bool // Finding is "different", and after is worse
}

// Compare compares repeated runs of one thing with those of another, such as two servers, as "dyno
// compare" does. margin is the share by which the two have to differ to matter: 0.02 is 2 %. It is
// at least 0 and less than 1.
//
// Five runs of each are the least that can show a difference, and with a Scenario six; fewer leave
// every Finding inconclusive. Run both in turns (before, after, after, before …), so that what
// changes on the machine meanwhile touches both.
//
// The loads should be the same but for the host and port of their URLs. If another field differs,
// such as the path or Rate, Compare compares all the same, and one of Cautions names what differs.
//
// It is an error if before or after is empty, if a Result is nil or not of a load, if one run is
// there twice, or if margin is out of range.
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
	found, err := labreport.UnpairedAnswer(u)
	if err != nil {
		return nil, err
	}
	c := &Comparison{lines: append([]string{found.Sentence}, found.Conditions...)}
	for _, caution := range found.Cautions {
		c.Cautions = append(c.Cautions, caution.Text())
	}
	for _, v := range u.Verdicts {
		if v.Control {
			continue
		}
		differs := string(v.Verdict) == "different"
		more := (v.Ratio-1)*float64(v.Better) > 0
		c.Differences = append(c.Differences, Difference{Measure: v.Metric, Ratio: v.Ratio,
			Low: v.Low, High: v.High, Finding: string(v.Verdict), Better: differs && more,
			Worse: differs && !more})
	}
	return c, nil
}

// String is what was found, without Cautions: a sentence, in which A is before and B is after, a
// line for each of these, and a line for each of Differences.
func (c *Comparison) String() string {
	lines := slices.Clone(c.lines)
	for _, d := range c.Differences {
		lines = append(lines, fmt.Sprintf("%s: %+.1f %% [%+.1f, %+.1f], %s", d.Measure,
			100*(d.Ratio-1), 100*(d.Low-1), 100*(d.High-1), d.Finding))
	}
	return strings.Join(lines, "\n")
}
