package labreport

import (
	"fmt"

	"dyno/internal/lab"
	"dyno/internal/setting"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/labanswer"
)

// ExperimentWords is what the report of an experiment says in sentences, for a page that
// draws what it says in tables. Names in them are as the experiment has them.
type ExperimentWords struct {
	Title   string `json:"title"`
	Scope   string `json:"scope"`   // how much was done
	Command string `json:"command"` // that does it again

	Unavailable []string `json:"unavailable,omitempty"` // variants not tested, or that failed
	Correction  []string `json:"correction,omitempty"`  // above the verdicts
	Verdicts    []string `json:"verdicts"`              // one for each of Record.Verdicts
	Gate        []string `json:"gate,omitempty"`
	Trials      string   `json:"trials"`             // of which grades they are
	Fairness    []string `json:"fairness,omitempty"` // before its table
	Given       []string `json:"given,omitempty"`    // before what the servers were given
	Published   []string `json:"published,omitempty"`
	Profiles    []string `json:"profiles,omitempty"` // one for each of Record.Profiles
	Levels      []string `json:"levels"`             // one for each level: its load in words
	Methods     []string `json:"methods"`
	Formulas    []string `json:"formulas"` // with their sources
}

// ExperimentWordsOf are the sentences about an experiment.
func ExperimentWordsOf(r *lab.Record) ExperimentWords {
	w := ExperimentWords{Title: titleText(r), Scope: shortScope(r), Command: experimentCommand(r),
		Unavailable: unavailablePart(r).Text, Gate: gatePart(r).Text,
		Trials: gradePart(r).Text[0], Fairness: fairnessPart(r).Text, Given: givenPart(r).Text,
		Published: publishedPart(r).Text, Methods: methodPart(r).Text, Formulas: formulas}
	w.Correction = correctionText(r.Verdicts)
	for i, f := range labanswer.Findings(r) {
		c := r.Verdicts[i]
		c.Level = r.ShownLevel(c.Level)
		w.Verdicts = append(w.Verdicts, comparisonSentence(c, f))
	}
	for _, p := range r.Profiles {
		w.Profiles = append(w.Profiles, profileOrigin(p))
	}
	if r.Experiment != nil {
		for _, l := range r.Experiment.Levels {
			w.Levels = append(w.Levels, labanswer.LevelText(l, r.Experiment.Workload))
		}
	}
	return w
}

// comparisonSentence is a comparison in words, also one of the baseline with itself.
func comparisonSentence(c lab.Comparison, f answer.Finding) string {
	if !c.Control {
		return variantSentence(c, f)
	}
	of := c.Metric
	if c.Level != "" {
		of += " at " + c.Level
	}
	if !c.HasInterval() {
		return fmt.Sprintf("%s: %s measured twice (A/A) in %s; that is too few for a noise floor", of,
			c.Baseline, trialsOf(c))
	}
	own := c // the floor is what this measure alone shows
	if c.Alone.Level > 0 {
		own.Low, own.High = c.Alone.Low, c.Alone.High
	}
	floor := max(own.High, 1/own.Low) - 1
	s := fmt.Sprintf("%s: noise floor %s: %s measured twice (A/A) has %s times its own %s", of,
		format.BothWays(floor), c.Baseline, comparisonRatio(own), comparisonInterval(own))
	if c.Verdict == stats.Different {
		s += "; it differs from itself"
	}
	return s
}

// experimentCommand does the experiment again, with its order of trials.
func experimentCommand(r *lab.Record) string {
	name := r.File
	if name == "" {
		name = r.Name
	}
	s := fmt.Sprintf("dyno lab run %s --seed %d", setting.ShellQuote(name), r.Seed)
	if r.Quick {
		s += " --quick"
	}
	return s
}

// formulas are what the figures of an experiment are computed by. y(v, b) is a measure of
// variant v in round b.
var formulas = []string{
	"Ratio of two variants: exp of the Hodges-Lehmann estimate of d(b) = ln(y(variant, b) / " +
		"y(baseline, b)), which is the median of all (d(i) + d(j)) / 2 with i ≤ j. Hollander, " +
		"Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., 3.2.",
	"p (corrected): T = |Σ d(b)| / √Σ d(b)² of each comparison. Turn the signs of whole rounds, in " +
		"all comparisons at once: p is the share of all such flips whose greatest T, among the " +
		"comparisons not claimed already, reaches the one observed. Its least is 2/2^rounds. Westfall, " +
		"Young, Resampling-Based Multiple Testing (1993), algorithm 2.8 (step-down maxT).",
	"Interval of a ratio: those ratios that the same flips do not reject at 0.05, all comparisons " +
		"together (what each alone would have, the thick bars of the page: the k-th Walsh average " +
		"from either end, by Wilcoxon's signed-rank statistic). Westfall and Young; " +
		"Hartigan, J. American Statistical Association 64 (1969); Hollander, Wolfe, Chicken, 3.3.",
	"Equivalence: that interval within the margin, so stricter than two one-sided tests at 5 %, " +
		"which hold for one comparison. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15 (1987).",
	"Noise floor: the farther end of the 95 % interval of the baseline against itself (A/A), as a " +
		"factor. A ratio is beyond it if it is above the factor, or below its inverse.",
	"Interval of a median: order statistics by the binomial distribution. Hollander, Wolfe, " +
		"Chicken, 3.6.",
	"Letters: two variants share one if and only if the trials do not tell them apart. Piepho, " +
		"J. Computational and Graphical Statistics 13 (2004).",
	"Band of a latency spectrum: the histograms of a cell's trials, drawn with replacement " +
		"1,000 times, added up and read at each percentile; the 2.5 % and 97.5 % quantiles of " +
		"these. A trial is a block: requests of one are not independent. Efron, Tibshirani, An " +
		"Introduction to the Bootstrap, 8.6 and 13.3. Below 8 trials there is no band.",
	"Shift function: the ratio, with its interval as above, of each percentile of a round's " +
		"two trials. Doksum, Annals of Statistics 2 (1974).",
	"Share of a function in a profile: Wilson, JASA 22 (1927); difference of two: Newcombe, " +
		"Statistics in Medicine 17 (1998), method 10.",
	"Exclusions: none. Of a trial that the machine spoiled and that was repeated, the better " +
		"graded attempt counts, whatever its figures; both are stored.",
}
