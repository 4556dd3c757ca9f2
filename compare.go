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

// A Difference is how two servers differ by one measure. Compare calls their runs before and after.
type Difference struct {
	// Measure is what was compared:
	//
	//	"throughput"                       requests completed a second
	//	"p50", "p99"                       latency
	//	"iterations"                       of a Scenario: completed a second
	//	"iteration_p50", "iteration_p99"   of a Scenario: Iterations.Time
	//	"checks"                           of a Scenario: the share of responses that it accepted
	//	"cpu"                              CPU time of the server for each request; only Results of
	//	                                   the command can have it
	//
	// A run with fewer than 368 completed requests has no p99: the 95 % interval of a p99 needs as
	// many. Likewise a run with fewer iterations has no iteration_p99, and one that completed no
	// request has none of throughput, p50 and p99. The other runs are compared, and one of
	// Cautions says so. If no run has a measure, Differences lacks it.
	Measure string

	// Ratio is after divided by before: 1.03 is 3 % more, and 0.97 is 3 % less. It is the
	// Hodges-Lehmann estimate: the median of the ratios of each run of after to each run of before.
	Ratio float64
	// Low and High are the ends of Ratio's confidence interval. With as many runs as Compare asks
	// for, the intervals of all measures hold at once with 95 % confidence. With fewer, Low and
	// High are the lowest and the highest ratio of single runs, and the confidence is less.
	Low, High float64

	// Finding follows from the interval, from Low to High, and the margin. A margin of 0.02 reaches
	// from a ratio of 1/1.02 to one of 1.02. With too few runs it is always "inconclusive".
	//
	//	"different"      the interval leaves out 1, and Ratio is not within the margin
	//	"negligible"     the interval leaves out 1, and Ratio is within the margin
	//	"equivalent"     the interval has 1 in it, and is within the margin
	//	"inconclusive"   the interval has 1 in it, and reaches beyond the margin: more runs, or
	//	                 longer ones, are needed
	//
	// With "different", Low or High may still be within the margin: there is a difference, and how
	// large it is, is not known that well.
	Finding string
	Better  bool // Finding is "different", and after is better
	Worse   bool // Finding is "different", and after is worse
}

// Compare compares repeated runs of one server with those of another, as "dyno compare" does. These
// can be a server before a change, and after it. margin is the share by which they must differ to
// matter: 0.02 is 2 %. It must be at least 0, and less than 1.
//
// Make five runs of each or more, and with a Scenario six. Fewer leave every Finding
// "inconclusive". Make them in turns (before, after, after, before …), so that a change on the
// machine touches both.
//
// The loads should be the same but for the host and port of their URLs. If they also differ in
// something else, such as Rate, one of Cautions names it.
//
// The error says that before or after is empty, that a Result is nil or no run made it, that one
// run is there twice, or that margin is out of range.
func Compare(before, after []*Result, margin float64) (*Comparison, error) {
	if len(before) == 0 || len(after) == 0 {
		return nil, errors.New("comparing needs a Result before and one after")
	}
	if !(margin >= 0 && margin < 1) {
		return nil, fmt.Errorf("a margin of %v is not from 0 to 1", margin)
	}
	groups := make([]judge.Group, 2)
	for i, all := range [][]*Result{before, after} {
		var rs []*result.Result
		for _, r := range all {
			if r == nil || r.of == nil {
				return nil, errors.New("a Result is nil, or no run made it")
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

// String returns what was found, but not Cautions. The first line is a sentence, in which before is
// called A and after B. Two lines say what A and B are. Then there is a line for each of
// Differences.
func (c *Comparison) String() string {
	lines := slices.Clone(c.lines)
	for _, d := range c.Differences {
		lines = append(lines, fmt.Sprintf("%s: %+.1f %% [%+.1f, %+.1f], %s", d.Measure,
			100*(d.Ratio-1), 100*(d.Low-1), 100*(d.High-1), d.Finding))
	}
	return strings.Join(lines, "\n")
}
