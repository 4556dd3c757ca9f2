package lab

import (
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/fact"
	"dyno/internal/say"
	"dyno/internal/stats"
)

// A Comparison compares the trials of two arms at one level by one measure. It is a row of the
// verdict table. Other programs rely on its keys.
type Comparison struct {
	Metric   string        `json:"metric"`
	Level    string        `json:"level"`
	Baseline string        `json:"baseline"`
	Variant  string        `json:"variant"`
	Ratio    float64       `json:"ratio"` // of the variant to the baseline
	Low      float64       `json:"low"`   // of the 95 % interval, simultaneous with all others
	High     float64       `json:"high"`
	Verdict  stats.Verdict `json:"verdict"`
	Trials   int           `json:"trials"`                    // pairs of them, or runs of the variant
	Against  int           `json:"baseline_trials,omitempty"` // runs of the baseline; 0: pairs

	Confidence float64 `json:"confidence"` // of the interval; below 0.95 for few trials
	PValues
	Margin float64 `json:"margin"`          // share that a difference has to reach to matter
	Floor  float64 `json:"floor,omitempty"` // by which the A/A arms differ
	Better int     `json:"better"`          // 1: more is; -1: less is
	More   int     `json:"more_rounds,omitempty"`

	Alone stats.Interval `json:"alone"` // of this comparison, were it the only one

	Effect

	Control     bool `json:"control,omitempty"`      // the A/A arm
	ClientBound bool `json:"client_bound,omitempty"` // limited by the generator, not by the server
	Disturbed   int  `json:"disturbed,omitempty"`    // pairs, or runs, with a held-up generator
	OtherLoad   int  `json:"other_load,omitempty"`   // likewise: the load was not the requested one
	GradeF      int  `json:"grade_f,omitempty"`      // pairs with a trial of grade F
	Missing     int  `json:"missing,omitempty"`      // rounds in which an arm measured nothing

	Basis
}

// A Basis is what the values are of which a ratio is.
type Basis struct {
	Bound Bound `json:"bound,omitempty"` // "": the ratio is what was measured

	// Pooled is of how many requests, of the arm that has fewer, a percentile is: one trial has too
	// few, so it is that of all trials together. 0: each trial has a value.
	Pooled int64 `json:"pooled_requests,omitempty"`
}

// A Bound says what is known of a ratio.
type Bound = digits.Bound

// The bounds.
const (
	AtLeast = digits.AtLeast
	AtMost  = digits.AtMost
	NoBound = digits.NoBound
)

// BoundOf is the bound of the ratio of a value to another; each may only be known to be higher.
func BoundOf(over, against bool) Bound { return digits.BoundOf(over, against) }

// An Effect is set where settings of a factor are compared: design.Contrast has the details.
type Effect struct {
	Factor  string `json:"factor,omitempty"`
	With    string `json:"with,omitempty"`    // the other factor of an interaction
	Aliases string `json:"aliases,omitempty"` // interactions that a screening takes for this one
	Method  Method `json:"method,omitempty"`  // "": by sign flips of rounds, or Holm's correction
}

// PValues are the probabilities, from 0 to 1, that equal arms would differ at least as much as
// observed: for this comparison alone, and corrected for all comparisons made together.
type PValues struct {
	P         float64 `json:"p"`          // of this comparison alone
	PAdjusted float64 `json:"p_adjusted"` // corrected for all: the verdict's
	Q         float64 `json:"q"`          // Benjamini-Hochberg, over all that is compared
	PHolm     float64 `json:"p_holm"`     // Holm, likewise
}

// A Method is how comparisons were judged, where that is not the usual way.
type Method string

// ByLenth: a screening of few rounds, in which the spread of all effects is the measure of noise.
const ByLenth Method = "lenth"

// A Family is the comparisons that are corrected together, because they answer one question.
type Family string

// The families. Controls only test whether the machine is fit, so they must not make differences
// among the others harder to find.
const (
	OfControls     Family = "controls"
	OfVariants     Family = "variants"
	OfSettings     Family = "settings"     // of factors
	OfInteractions Family = "interactions" // of two factors
)

// Families are all of them, in their order in the verdict table.
var Families = []Family{OfControls, OfVariants, OfSettings, OfInteractions}

// Family is the one that c belongs to.
func (c Comparison) Family() Family {
	switch {
	case c.Control:
		return OfControls
	case c.With != "":
		return OfInteractions
	case c.Factor != "":
		return OfSettings
	}
	return OfVariants
}

// IsWorse reports whether the verdict says that the variant is worse.
func (c Comparison) IsWorse() bool {
	return c.Verdict == stats.Different && (c.Ratio-1)*float64(c.Better) < 0
}

// Place names what is compared, and at which level.
func (c Comparison) Place() string {
	return say.MetricsAt(fact.Scope{Variant: c.Variant, Level: c.Level}, c.Metric)
}

// Forecast says how much more would decide a comparison, if its estimate and the noise stay what
// they are; "" if that is not known or not in reach.
func (c Comparison) Forecast() string {
	if c.Needed() == 0 {
		return ""
	}
	return say.Forecast(c.Needed(), c.Against > 0)
}

// Needed is about how many rounds, or runs of each, would decide a comparison; 0 if that is not
// known or not in reach.
func (c Comparison) Needed() int {
	if c.More <= 0 || c.More >= stats.MoreMax {
		return 0
	}
	return twoDigits(c.More)
}

// twoDigits is n rounded up to two digits: an estimate has no more.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// Repetition is what a comparison has several of: rounds, or runs that were measured apart.
func (c Comparison) Repetition() string {
	if c.Against > 0 {
		return "run"
	}
	return "round"
}

// HasInterval reports whether the interval holds with 95 %: there were rounds enough for one.
func (c Comparison) HasInterval() bool { return holds(c.Confidence) }

// A Rank orders the arms at a level by one measure, best first. Arms that share a letter do not
// differ significantly.
type Rank struct {
	Level  string   `json:"level"`
	Metric string   `json:"metric"`
	Arms   []string `json:"arms"`
	Groups []string `json:"groups"` // letters of each arm
}

// The outcomes of a gate.
const (
	Passed     = "passed"
	Regression = "regression"
	Undecided  = "inconclusive"
)

// ConfirmingRound is the number of the first round of a second batch. It is larger than any number
// of rounds that a file may ask for.
const ConfirmingRound = 1001

// worsenings are what a gate found to be worse, each with its ratio.
func (g *GateOutcome) worsenings() (all []string) {
	for _, c := range g.Missed {
		all = append(all, c.Worsening())
	}
	return all
}

// DescribeWorse lists everything that a gate found to be worse, with the ratios.
func (g *GateOutcome) DescribeWorse() string { return strings.Join(g.worsenings(), "; ") }

// Explain says in one line what a gate decided: that it passed, what is worse, or what is open.
func (g *GateOutcome) Explain() string { return strings.Join(g.Items(), "; ") }

// Decide sets the outcome, and what is open beside it.
func (g *GateOutcome) Decide(verdict string, open []fact.Fact) {
	g.Verdict, g.Facts, g.Open = verdict, open, nil
	for _, f := range open {
		g.Open = append(g.Open, say.Sentence(f))
	}
	g.Why = strings.Join(g.OpenItems(), "; ")
}

// OpenItems are what is open, introduced where there is a regression besides.
func (g *GateOutcome) OpenItems() []string {
	open := slices.Clone(g.Open)
	if len(open) == 0 && g.Why != "" { // of an older dyno
		return []string{g.Why}
	}
	if len(open) > 0 && g.Verdict == Regression {
		open[0] = "besides: " + open[0]
	}
	return open
}

// Items are what Explain says, item by item; the first begins with the outcome.
func (g *GateOutcome) Items() []string {
	open := g.OpenItems()
	lead := "inconclusive: "
	switch {
	case g.Verdict == Passed && len(open) == 0:
		return []string{Passed}
	case g.Verdict == Passed:
		lead = Passed + ": "
	case g.Verdict == Regression:
		lead, open = "a regression: ", append(g.worsenings(), open...)
	}
	if len(open) == 0 {
		return []string{lead}
	}
	open[0] = lead + open[0]
	return open
}

// Difference is by how much the variant differs.
func (c Comparison) Difference() fact.Change {
	return fact.Change{Metric: c.Metric, Ratio: c.Ratio, Low: c.Low, High: c.High,
		Bound: string(c.Bound), Alone: !c.HasInterval()}
}

// Change is the difference, and its interval: "−35 %" and "[−45, −15]". The interval is "" if there
// are too few rounds for one.
func (c Comparison) Change() (change, interval string) { return say.Change(c.Difference()) }

// ChangeText is a Change in one text: "−35 % [−45, −15]".
func (c Comparison) ChangeText() string { return say.ChangeText(c.Difference()) }

// Worsening says that the variant is worse, and by how much: "p99 of b: worse: +30 % [+20, +40]".
func (c Comparison) Worsening() string {
	return say.Sentence(fact.Fact{Scope: fact.Scope{Variant: c.Variant, Level: c.Level},
		Args: fact.Worse{Change: c.Difference()}})
}

// A Shift is the ratio of the latency of an arm to its baseline's, from the fastest requests to the
// slowest. A better median and a worse p99 are two points of it. No single number shows both.
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
	// Ratio is that of the variant to the baseline, with the 95 % interval of this quantile alone.
	// Band is the interval that holds for all quantiles of the shift together, by sign flips of
	// rounds.
	Ratio  stats.Interval `json:"ratio"`
	Band   stats.Interval `json:"band"`
	Trials int            `json:"trials"` // pairs of them
	Bound  Bound          `json:"bound,omitempty"`
}

// IsShown reports whether the quantile differs significantly, with all quantiles of the shift taken
// together.
func (p ShiftPoint) IsShown() bool {
	return Holds(p.Band) && (p.Band.Low > 1 || p.Band.High < 1) && p.Bound.Shows(p.Ratio.Estimate)
}

// Confidence is the confidence of every interval.
const Confidence = 0.95

// Holds reports whether an interval has that confidence: there were trials enough for one.
func Holds(i stats.Interval) bool { return holds(i.Level) }

func holds(level float64) bool { return level >= Confidence-1e-9 }
