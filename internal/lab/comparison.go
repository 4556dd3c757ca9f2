package lab

import (
	"fmt"
	"strings"

	"dyno/internal/stats"
)

// A Comparison is what the trials of two arms at one level say of one measure.
// It is a row of the verdict table, whose keys others rely on.
type Comparison struct {
	Metric   string        `json:"metric"`
	Level    string        `json:"level"`
	Baseline string        `json:"baseline"`
	Variant  string        `json:"variant"`
	Ratio    float64       `json:"ratio"` // of the variant to the baseline
	Low      float64       `json:"low"`   // of its 95 % interval, which holds with all others
	High     float64       `json:"high"`
	Verdict  stats.Verdict `json:"verdict"`
	Trials   int           `json:"trials"`                    // pairs of them, or runs of the variant
	Against  int           `json:"baseline_trials,omitempty"` // runs of the baseline; 0: pairs

	Confidence float64 `json:"confidence"` // that the interval really has: less than 0.95 of few
	PValues
	Margin float64 `json:"margin"`          // share that a difference has to reach to matter
	Floor  float64 `json:"floor,omitempty"` // by which the baseline may differ from itself
	Better int     `json:"better"`          // 1: more is; -1: less is
	More   int     `json:"more_rounds,omitempty"`

	Alone stats.Interval `json:"alone"` // of this comparison, were it the only one

	Control     bool `json:"control,omitempty"`      // the A/A arm
	ClientBound bool `json:"client_bound,omitempty"` // by the generator's limit: not the server's
	Disturbed   int  `json:"disturbed,omitempty"`    // pairs, or runs, in which it was held up
	OtherLoad   int  `json:"other_load,omitempty"`   // likewise: the load was not the one asked for
	GradeF      int  `json:"grade_f,omitempty"`      // pairs that rest on a trial of grade F
	Missing     int  `json:"missing,omitempty"`      // rounds in which an arm measured nothing
}

// PValues are the probabilities that a comparison of equals would look as it does, or more so:
// its own, and those corrected for all that is compared beside it. Each is from 0 to 1.
type PValues struct {
	P         float64 `json:"p"`          // of this comparison alone
	PAdjusted float64 `json:"p_adjusted"` // corrected for all: the verdict's
	Q         float64 `json:"q"`          // Benjamini-Hochberg, over all that is compared
	PHolm     float64 `json:"p_holm"`     // Holm, likewise
}

// IsWorse reports whether the variant is, as far as the verdict says.
func (c Comparison) IsWorse() bool {
	return c.Verdict == stats.Different && (c.Ratio-1)*float64(c.Better) < 0
}

// Place is what is compared, and where.
func (c Comparison) Place() string {
	s := c.Metric + " of " + c.Variant
	if c.Level != "" {
		s += " at " + c.Level
	}
	return s
}

// A Rank is the arms at a level by one measure, best first. Arms that share a
// letter are not told apart by the trials.
type Rank struct {
	Level  string   `json:"level"`
	Metric string   `json:"metric"`
	Arms   []string `json:"arms"`
	Groups []string `json:"groups"` // letters, of each
}

// The outcomes of a gate.
const (
	Passed     = "passed"
	Regression = "regression"
	Undecided  = "inconclusive"
)

// ConfirmingRound is the number of the first round of a second batch: above all that
// a file may ask for.
const ConfirmingRound = 1001

// DescribeWorse names all that a gate found to be worse, with the ratios.
func (g *GateOutcome) DescribeWorse() string {
	var all []string
	for _, c := range g.Missed {
		all = append(all, c.Worsening())
	}
	return strings.Join(all, "; ")
}

// Explain is why a gate did not pass, in a line: all that is worse, and all that is undecided.
func (g *GateOutcome) Explain() string {
	switch {
	case g.Verdict != Regression:
		return "inconclusive: " + g.Why
	case g.Why != "":
		return "a regression: " + g.DescribeWorse() + "; " + g.Why
	}
	return "a regression: " + g.DescribeWorse()
}

// Worsening is by how much it is.
func (c Comparison) Worsening() string {
	return fmt.Sprintf("%s: worse by a factor of %.3f [%.3f, %.3f]", c.Place(), c.Ratio, c.Low, c.High)
}

// A Shift is by which factor the latency of an arm exceeds its baseline's, from its fastest
// requests to its slowest: a median that is better and a p99 that is worse are two rows of it,
// and no single number shows both.
type Shift struct {
	Level    string       `json:"level"`
	Baseline string       `json:"baseline"`
	Variant  string       `json:"variant"`
	Control  bool         `json:"control,omitempty"`
	Points   []ShiftPoint `json:"points"`
}

// A ShiftPoint is one quantile of a Shift.
type ShiftPoint struct {
	Quantile float64 `json:"quantile"` // 0 to 1
	// Ratio is the variant's to the baseline's, with the 95 % interval of this quantile alone;
	// Band is that of all quantiles of the shift together, by sign flips of rounds.
	Ratio  stats.Interval `json:"ratio"`
	Band   stats.Interval `json:"band"`
	Trials int            `json:"trials"` // pairs of them
}

// IsShown reports whether the quantile differs, all quantiles of the shift taken together.
func (p ShiftPoint) IsShown() bool {
	enough := p.Band.Level >= Confidence-1e-9
	return enough && (p.Band.Low > 1 || p.Band.High < 1)
}

// Confidence is that of every interval.
const Confidence = 0.95
