// Package labanswer makes the answer of an experiment: what was found, what speaks against it, and
// what to do next. Of a comparison it says one verdict (answer.Verdict); a difference that
// the generator's limit, the machine's noise or too few rounds may explain is undecided.
//
//	labanswer.go   findings: a verdict for each comparison, by effect
//	cautions.go    what speaks against them, each once; disturbed.go: what held the generator up
//	reasons.go     the reasons of several trials, those of one kind together
//	sentence.go    the finding in a sentence; measures.go has the words for each measure
//	conditions.go  what it holds for; load.go: the load
//	objectives.go  objectives that were missed or undecided
//	spoiled.go     trials that a server spoiled
//	worst.go       which finding comes first
//	next.go        one concrete step
//	comparison.go  all of it for stored results, which were not measured in rounds;
//	               groupnames.go: what they are called; vscommand.go: the dyno vs that
//	               measures them in rounds
//	factors.go     findings of settings
//	standing.go    the line of each server or variant: its verdict, the measures that decide it
//	               with their intervals, and what is undecided
//	unreliable.go  what the machine took back
package labanswer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// Of is the answer of an experiment.
func Of(r *lab.Record) answer.Answer {
	a := answer.Answer{Cautions: cautionsOf(r), NotLoaded: notLoaded(r)}
	a.Groups = loadLast(groupsOf(r, !needsQuiet(a.Cautions)), func(g answer.Group) bool {
		return isOpenLevel(r, g.Level)
	})
	a.Cautions = append(a.Cautions, openCautions(r, a)...)
	a.Judge("Nothing speaks against these trials")
	a.Sentence = sentenceOf(r, a)
	if len(a.Groups) > 0 {
		a.Uncovered = uncoveredText(r)
	}
	a.Load, a.Conditions = loadOf(r), conditionsOf(r, a.Groups)
	a.Next = nextStep(r, a)
	sayOnce(&a)
	withhold(r, &a)
	withholdSpoiled(r, &a)
	return a
}

// groupsOf are the findings by measure and level: first those in which something is decided, in the
// order in which the experiment's file names measures and levels. That by which a
// single variant is clearly worst for users comes before. forecasts has undecided findings
// say how many rounds more would decide them.
func groupsOf(r *lab.Record, forecasts bool) (all []answer.Group) {
	for i, c := range r.Verdicts {
		if c.Control {
			continue
		}
		at := slices.IndexFunc(all, func(g answer.Group) bool {
			return g.Metric == c.Metric && g.Level == c.Level
		})
		if at < 0 {
			at = len(all)
			all = append(all, newGroup(r, c))
		}
		all[at].Findings = append(all[at].Findings, findingOf(r, i, forecasts))
	}
	for i, g := range all {
		labelRows(g.Findings)
		labelFactors(r, g.Findings)
		all[i].Notes = slices.Concat(overNotes(r, g), curveNotes(r, g), aliasNotes(r, g),
			pooledNotes(r, g))
		slices.SortStableFunc(g.Findings, func(x, y answer.Finding) int {
			better := float64(r.Verdicts[x.Comparison].Better)
			return cmp.Compare(better*y.Ratio, better*x.Ratio)
		})
	}
	slices.SortStableFunc(all, func(x, y answer.Group) int {
		return cmp.Or(cmp.Compare(weight(y), weight(x)),
			cmp.Compare(metricPlace(r, x.Metric), metricPlace(r, y.Metric)))
	})
	return worstGroup(r, all)
}

// isOfLoad reports whether a measure is what an open load asks for.
func isOfLoad(metric string) bool { return metric == "throughput" || metric == "iterations" }

// loadLast puts what the load fixes behind all else: where an open load was reached, throughput is
// the same by its making, which is no finding.
func loadLast(groups []answer.Group, isOpen func(answer.Group) bool) []answer.Group {
	fixed := func(g answer.Group) bool {
		return isOfLoad(g.Metric) && isOpen(g) &&
			!slices.ContainsFunc(g.Findings, func(f answer.Finding) bool {
				return f.IsDecided() || f.Size() > math.Log1p(g.Margin)
			})
	}
	slices.SortStableFunc(groups, func(x, y answer.Group) int {
		return map[bool]int{true: 1}[fixed(x)] - map[bool]int{true: 1}[fixed(y)]
	})
	return groups
}

// isOpenLevel reports whether the load of a level is open.
func isOpenLevel(r *lab.Record, level string) bool {
	is := func(l experiment.Level) bool { return l.Name == level && l.IsOpen() }
	return r.Experiment != nil && slices.ContainsFunc(r.Experiment.Levels, is)
}

// weight is how much a group says: 3 if it decides something, 2 if something is the same, 1 if it
// has an interval that is not the generator's.
func weight(g answer.Group) (most int) {
	for _, f := range g.Findings {
		switch {
		case f.IsDecided():
			most = max(most, 3)
		case f.Verdict == answer.Same:
			most = max(most, 2)
		case f.Interval != "" && f.Verdict != answer.NotValid:
			most = max(most, 1)
		}
	}
	return most
}

// metricPlace is where the experiment's file names a measure.
func metricPlace(r *lab.Record, metric string) int {
	if r.Experiment != nil {
		for i, m := range r.Experiment.Design.Metrics {
			if string(m) == metric {
				return i
			}
		}
	}
	return len(lab.Measures)
}

func newGroup(r *lab.Record, c lab.Comparison) answer.Group {
	g := answer.Group{Metric: c.Metric, Level: c.Level,
		Name: placeName(c.Metric, r.ShownLevel(c.Level)), Change: "in pairs",
		Margin: c.Margin, Better: "less is better", Rule: "shaded: below " +
			format.InPercent(c.Margin) + ", which does not matter; open dot: no sure verdict"}
	of := "within rounds"
	if c.Against > 0 {
		of = "of two runs"
	}
	g.Rule += "; a dot is the middle of the ratios " + of + ", not the ratio of the medians"
	if c.Better > 0 {
		g.Better = "more is better"
	}
	var against, noise []string
	for _, o := range r.Verdicts {
		if o.Metric != c.Metric || o.Level != c.Level {
			continue
		}
		name := format.PlainLine(o.Baseline)
		if v := medianOf(r, o.Baseline, c.Metric, c.Level); v != "" {
			name += ", " + v
		}
		if !slices.Contains(against, name) {
			against = append(against, name)
		}
		if share, known := noiseOf(o); known {
			noise = append(noise, ownNoise(o, share))
		}
	}
	if g.Noise = strings.Join(noise, "; "); len(against) <= mostBaselines {
		g.Against = strings.Join(against, "; ")
	}
	return g
}

// ownNoise says how far the baseline of a comparison may differ from itself, in both directions: of
// a factor of 1.49 they are −33 and +49 %, and a verdict goes by the factor.
func ownNoise(c lab.Comparison, share float64) string {
	return fmt.Sprintf("%s may differ from itself by %s", format.PlainLine(c.Baseline),
		format.BothWays(share))
}

// mostBaselines is how many baselines the title of a group names. Its rows name theirs.
const mostBaselines = 2

// noiseOf is by which share a control says that the baseline differs from itself.
func noiseOf(c lab.Comparison) (share float64, known bool) {
	if !c.Control || !c.HasInterval() {
		return 0, false
	}
	low, high := c.Low, c.High
	if c.Alone.Level > 0 { // the floor is what this measure alone shows
		low, high = c.Alone.Low, c.Alone.High
	}
	return max(high, 1/low) - 1, low > 0
}

// medianOf is the median of a cell in its unit; "" if there is none.
func medianOf(r *lab.Record, arm, metric, level string) string {
	for _, c := range r.Cells {
		if c.Arm == arm && c.Metric == metric && c.Level == level {
			return format.Known(c.Over, valueText(metric, c.Unit, c.Median.Estimate))
		}
	}
	return ""
}

// fromTo are two medians, with their unit once if it is the same: "22.4 → 14.6 µs"; "" if one is
// not known.
func fromTo(from, to string) string {
	unit := func(s string) string { return s[strings.LastIndexAny(s, "0123456789")+1:] }
	if from == "" || to == "" {
		return ""
	}
	if unit(from) == unit(to) {
		from = strings.TrimSuffix(from, unit(from))
	}
	return from + " → " + to
}

// findingOf is what a comparison says, in one verdict.
func findingOf(r *lab.Record, i int, forecasts bool) answer.Finding {
	c := r.Verdicts[i]
	if !forecasts {
		c.More = 0
	}
	f := answer.Finding{Variant: c.Variant, Baseline: c.Baseline, Comparison: i, Ratio: c.Ratio,
		Value: medianOf(r, c.Variant, c.Metric, c.Level)}
	f.Medians = fromTo(medianOf(r, c.Baseline, c.Metric, c.Level), f.Value)
	f.Effect, f.Interval = c.Change()
	f.Verdict, f.Because, f.Why = verdictOf(c, r.Verdicts)
	f.Interaction = c.With != ""
	if f.Verdict == answer.Undecided {
		f.More = c.Needed()
	}
	return f
}

// boundWhy is why there is no verdict where the generator was at its limit.
const boundWhy = "the generator was the limit"

// verdictOf is the one verdict of a comparison, and why, with the kind of that reason as
// Finding.Because has it: why it is undecided, within what it is the same, or by how little it may
// be better or worse. Where the generator was at its limit a comparison shows that limit and not
// the server's, so the verdict is withheld. all are the comparisons that it was judged among.
func verdictOf(c lab.Comparison, all []lab.Comparison) (v answer.Verdict, because, why string) {
	switch {
	case c.ClientBound:
		return answer.NotValid, answer.AtLimit, boundWhy
	case !c.HasInterval():
		return answer.Undecided, answer.FewRounds, "too few " + c.Repetition() + "s for an interval"
	case c.Bound != "" && c.Verdict == stats.Inconclusive:
		return answer.Undecided, "", openBound(c)
	case c.Verdict == stats.Different && c.IsWorse():
		return answer.Worse, "", maybeLess(c)
	case c.Verdict == stats.Different:
		return answer.Better, "", maybeLess(c)
	case c.Verdict == stats.Equivalent, c.Verdict == stats.Negligible && isWithinMargin(c):
		return answer.Same, "", "within " + format.InPercent(c.Margin)
	case c.Verdict == stats.Negligible:
		return answer.Undecided, "", fmt.Sprintf("it differs, by about %s; whether by %s is open",
			format.Change(c.Ratio, c.Low, c.High), format.InPercent(c.Margin))
	case isBelowNoise(c):
		return answer.Undecided, answer.AboveNoise, ownNoise(c, c.Floor)
	case isCorrectedAway(c):
		return answer.Undecided, answer.Correction, "not significant after the correction for " +
			familySize(c, all)
	case c.Forecast() != "":
		return answer.Undecided, answer.Forecast, c.Forecast()
	}
	return answer.Undecided, "", tooWide
}

// overNotes say of which arms a median is only known to be higher.
func overNotes(r *lab.Record, g answer.Group) []string {
	var arms []string
	for _, c := range r.Cells {
		if c.Over && c.Metric == g.Metric && c.Level == g.Level {
			arms = append(arms, format.PlainLine(c.Arm))
		}
	}
	if len(arms) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s is only known to be higher: it is that of a request that "+
		"had no answer", MeasureName(g.Metric), fewNames(arms))}
}

// openBound is why a comparison is undecided of which values are only known to be higher.
func openBound(c lab.Comparison) string {
	const so = "requests of %s had no answer, and its value is only known to be higher"
	switch c.Bound {
	case lab.AtMost:
		return fmt.Sprintf(so, format.PlainLine(c.Baseline))
	case lab.NoBound:
		return "requests of both had no answer, and their values are only known to be higher"
	}
	return fmt.Sprintf(so, format.PlainLine(c.Variant))
}

// tooWide is why a comparison is undecided where nothing else can be said.
const tooWide = "the interval is too wide"

// maybeLess says that a difference may be smaller than one that matters; "" if the whole interval
// lies beyond the margin.
func maybeLess(c lab.Comparison) string {
	if c.Low >= 1+c.Margin || c.High <= 1/(1+c.Margin) {
		return ""
	}
	return "maybe by less than " + format.InPercent(c.Margin)
}

// isWithinMargin reports whether the whole interval is below the margin.
func isWithinMargin(c lab.Comparison) bool {
	return c.Low > 1/(1+c.Margin) && c.High < 1+c.Margin
}

// isBelowNoise reports whether a difference was found that is no larger than the machine's noise.
func isBelowNoise(c lab.Comparison) bool {
	apart := c.Low > 1 || c.High < 1
	return c.Verdict == stats.Inconclusive && c.HasInterval() && c.Floor > c.Margin && apart
}

// familySize is how many comparisons are corrected together with c, as "3 comparisons".
func familySize(c lab.Comparison, all []lab.Comparison) string {
	n := 0
	for _, o := range all {
		if o.Family() == c.Family() {
			n++
		}
	}
	return format.Plural(int64(n), "comparison")
}

// isCorrectedAway reports whether the comparison would differ if it were the only one.
func isCorrectedAway(c lab.Comparison) bool {
	alone := lab.Holds(c.Alone) && (c.Alone.Low > 1 || c.Alone.High < 1)
	return c.Verdict == stats.Inconclusive && alone && c.Low <= 1 && c.High >= 1 &&
		max(c.Ratio, 1/c.Ratio) >= 1+max(c.Margin, c.Floor)
}

// notLoaded are the variants that were refused or are missing, with what can be done about it.
// Those that --quick leaves out were not asked for.
func notLoaded(r *lab.Record) (all []answer.Finding) {
	for _, a := range r.Arms {
		f := answer.Finding{Variant: a.Name, Baseline: a.Baseline, Verdict: answer.Refused,
			Comparison: -1}
		switch {
		case a.Control || a.LeftOut:
			continue
		case len(a.Missing) > 0:
			f.Why = format.PlainLine(strings.Join(a.Missing, "; "))
			f.Remedy = "install what is missing, then run it again"
		case a.Unfit != "":
			f.Why, f.Remedy = format.PlainLine(a.Unfit), format.PlainLine(a.Remedy)
		default:
			continue
		}
		all = append(all, f)
	}
	return all
}
