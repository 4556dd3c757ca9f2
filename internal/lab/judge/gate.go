package judge

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/say"
	"dyno/internal/stats"
)

// significance is the probability of a false regression, over all comparisons of a gate.
const significance = 0.05

// A Gate decides whether the trials of an experiment show a regression. A regression counts only
// if a second batch of trials, of the arms that it is about, shows it too: what the first batch
// alone shows was picked out for being large. A gate passes only if all that it asks for was
// measured: a variant that does not start has no trial that is worse.
type Gate struct {
	Outcome lab.GateOutcome
	record  *lab.Record
	scope   scope
	open    []string // what the first batch left undecided
}

// NewGate returns the gate of a record's experiment, which must have one. The gate has measures, a
// margin and a baseline of its own. variants are those that are loaded.
func NewGate(record *lab.Record, variants []experiment.Variant) *Gate {
	g := &Gate{record: record, scope: scopeOf(record)}
	rule := record.Experiment.Gate
	g.scope.metrics, g.scope.margin = rule.Metrics, float64(rule.Margin)
	g.scope.setLevels(record.Experiment.Levels)
	g.scope.keepGated(rule.Metrics)
	g.scope.contrasts = nil // a gate is about variants
	for i, arm := range g.scope.arms {
		if arm.control {
			continue
		}
		g.scope.arms[i].baseline = ""
		at := slices.IndexFunc(variants, func(v experiment.Variant) bool { return v.Name == arm.name })
		if at < 0 {
			continue
		}
		b, found := experiment.Baseline(rule.Baseline, variants[at], variants)
		if found && b.Name != arm.name {
			g.scope.arms[i].baseline = b.Name
		}
	}
	return g
}

// keepGated leaves only the metrics of a gate at each level.
func (q *scope) keepGated(metrics []experiment.Metric) {
	for level, all := range q.at {
		q.at[level] = slices.DeleteFunc(all, func(m experiment.Metric) bool {
			return !slices.Contains(metrics, m)
		})
	}
}

// JudgeFirst computes the outcome from the first batch of the trials.
func (g *Gate) JudgeFirst(trials []*lab.Trial) {
	batch := SelectBatch(trials, false)
	compared := judgeScope(g.scope, batch)
	first, spoiled := g.withoutSpoiled(compared, batch)
	g.Outcome.Missed = regressions(first)
	unfit := unreliableReasons(g.Outcome.Missed, worthOfTrials(batch))
	if len(unfit) > 0 {
		first = WithoutForecasts(first)
	}
	verdict, open := decideBatch(first)
	if verdict == lab.Passed && len(unfit) == 0 { // reports count the second batch, too
		unfit = unreliableReasons(nil, worthOfTrials(slices.Concat(batch, SelectBatch(trials, true))))
	}
	if len(unfit) > 0 {
		verdict, open = lab.Undecided, append(unfit, open...)
	}
	g.open = append(append(open, spoiled...), g.gateGaps(trials, compared)...)
	setOutcome(&g.Outcome, verdict, g.open)
}

// JudgeSecond computes the outcome with the second batch, after JudgeFirst found a regression. What
// the first batch left undecided stays so.
func (g *Gate) JudgeSecond(trials []*lab.Trial) {
	out, open := &g.Outcome, g.open
	batch := SelectBatch(trials, true)
	second, spoiled := g.withoutSpoiled(judgeSelected(g.scope, batch, func(c lab.Comparison) bool {
		return containsLike(out.Missed, c)
	}), batch)
	verdict, why := decideBatch(second)
	why = append(why, spoiled...)
	shown := regressions(second)
	if verdict != lab.Regression {
		verdict = lab.Undecided
		again := "a second batch of trials did not show the regression again"
		open = append([]string{withReason(again, why)}, open...)
	} else if lost := missingPlaces(out.Missed, shown); len(lost) > 0 {
		again := "not shown again by a second batch of trials: " + strings.Join(lost, ", ")
		open = append(open, withReason(again, why))
	}
	both := append(SelectBatch(trials, false), batch...)
	if unfit := unreliableReasons(shown, worthOfTrials(both)); len(unfit) > 0 {
		verdict, open = lab.Undecided, append(unfit, open...)
	}
	out.Confirmed = verdict == lab.Regression
	setOutcome(out, verdict, open)
	out.Missed = slices.DeleteFunc(judgeScope(g.scope, trials), func(c lab.Comparison) bool {
		return !containsLike(shown, c) // what is left was shown by both batches
	})
}

// withoutSpoiled are the comparisons without those that are undecided of a variant whose server
// spoiled its trials, and without those that seem to show a regression against such a baseline;
// open is what is said of these.
func (g *Gate) withoutSpoiled(all []lab.Comparison, trials []*lab.Trial) (
	kept []lab.Comparison, open []string) {
	facts := spoiledFacts(g.record, summariesOf(trials))
	said := map[int]bool{} // the facts that are in open, by place
	for _, c := range all {
		own := slices.IndexFunc(facts, func(f fact.Fact) bool {
			return f.Scope.Variant == c.Variant && f.Scope.Level == c.Level && f.Severity == fact.Error
		})
		if own >= 0 && !c.Control && c.Verdict == stats.Inconclusive { // more rounds decide nothing
			if !said[own] {
				open, said[own] = append(open, say.Sentence(facts[own])), true
			}
			continue
		}
		at := slices.IndexFunc(facts, func(f fact.Fact) bool {
			return f.Scope.Variant == c.Baseline && f.Scope.Level == c.Level
		})
		if at < 0 || c.Control || !c.IsWorse() {
			kept = append(kept, c)
			continue
		}
		of := facts[at].Args.(fact.ServerSpoiled)
		open = append(open, fmt.Sprintf("%s, which these trials cannot show: the server of %q spoiled "+
			"%d of %d (%s)", c.Worsening(), c.Baseline, of.Trials, of.Of, of.Why))
	}
	return kept, open
}

// unreliableReasons are why the trials decide nothing, although bad seems to be worse in them: too
// many are unreliable. There is none if they can be relied on.
func unreliableReasons(bad []lab.Comparison, worth Worth) (why []string) {
	if !worth.IsUnreliable() {
		return nil
	}
	why = []string{worth.String()}
	for _, c := range bad {
		why = append(why, c.Worsening()+", which these trials cannot show")
	}
	return why
}

// WithoutForecasts are the comparisons without the number of rounds that would decide them: of
// trials that cannot be relied on, more decide nothing.
func WithoutForecasts(all []lab.Comparison) []lab.Comparison {
	all = slices.Clone(all)
	for i := range all {
		all[i].More = 0
	}
	return all
}

// withReason is what, followed by why in brackets if that is known.
func withReason(what string, why []string) string {
	if len(why) == 0 {
		return what
	}
	return what + " (" + strings.Join(why, "; ") + ")"
}

// missingPlaces are the places of all that are not among others.
func missingPlaces(all, others []lab.Comparison) (lost []string) {
	for _, c := range all {
		if !containsLike(others, c) {
			lost = append(lost, c.Place())
		}
	}
	return lost
}

// containsLike reports whether all contains a comparison of the same two arms by the same measure.
func containsLike(all []lab.Comparison, c lab.Comparison) bool {
	return slices.ContainsFunc(all, func(d lab.Comparison) bool {
		return c.Metric == d.Metric && c.Level == d.Level && c.Variant == d.Variant &&
			c.Baseline == d.Baseline
	})
}

// decideBatch decides one batch, and lists everything that keeps it from passing. Controls that
// differ come first, because they make all else uncertain.
func decideBatch(all []lab.Comparison) (verdict string, open []string) {
	bad := regressions(all)
	var controls []string
	for _, c := range all {
		if c.Control && c.Verdict == stats.Different {
			controls = append(controls, c.Place())
		}
	}
	if len(controls) > 0 {
		all = WithoutForecasts(all)
	}
	for _, c := range all {
		switch {
		case c.Control, containsLike(bad, c):
		case c.Verdict == stats.Inconclusive:
			open = append(open, c.Place()+": "+undecidedReason(c))
		}
	}
	switch {
	case len(controls) > 0:
		differs := ": it differs from itself"
		if len(controls) > 1 {
			differs = ": each differs from itself"
		}
		why := []string{strings.Join(controls, ", ") + differs +
			"; the machine does not support the comparison now"}
		for _, c := range bad {
			why = append(why, c.Worsening()+", which this machine cannot show")
		}
		return lab.Undecided, append(why, open...)
	case len(bad) > 0:
		return lab.Regression, open
	case len(open) > 0:
		return lab.Undecided, open
	}
	return lab.Passed, nil
}

// setOutcome sets the outcome and its reasons. A gate with anything undecided does not pass.
func setOutcome(g *lab.GateOutcome, verdict string, open []string) {
	if verdict == lab.Passed && len(open) > 0 {
		verdict = lab.Undecided
	}
	g.Decide(verdict, open)
}

// undecidedReason explains why a comparison is inconclusive, and what would decide it.
func undecidedReason(c lab.Comparison) string {
	number, more := fmt.Sprintf("%d pairs", c.Trials), "rounds"
	if c.Against > 0 {
		number, more = fmt.Sprintf("%d and %d runs", c.Against, c.Trials), "runs of each"
	}
	if !c.HasInterval() {
		return number + " are too few for a 95 % interval"
	}
	why := c.ChangeText() + ", which leaves it open"
	switch {
	case c.More >= stats.MoreMax:
		why += fmt.Sprintf("; not even %d %s more would decide", stats.MoreMax, more)
	case c.More > 0:
		why += "; " + c.Forecast()
	}
	return why
}

// regressions are the comparisons that show a regression.
func regressions(all []lab.Comparison) (bad []lab.Comparison) {
	for _, c := range all {
		if !c.Control && c.IsWorse() {
			bad = append(bad, c)
		}
	}
	return bad
}

// gateGaps are the reasons why trials do not prove that there is no regression, or no other than
// those found.
func (g *Gate) gateGaps(trials []*lab.Trial, all []lab.Comparison) (gaps []string) {
	gaps = append(g.unloadedArms(), g.unmeasuredPlaces(all)...)
	if !slices.ContainsFunc(all, func(c lab.Comparison) bool { return !c.Control }) {
		gaps = append(gaps, "nothing was compared")
	}
	var stored []lab.Slot
	for _, t := range trials {
		stored = append(stored, t.Slot)
	}
	if lacks := lackingTrials(g.record, stored); len(lacks) > 0 {
		gaps = append(gaps, "trials are lacking: "+say.Cells(countByCell(lacks)))
	}
	first := SelectBatch(trials, false)
	said := spoiledFacts(g.record, summariesOf(first)) // by withoutSpoiled
	return append(append(gaps, hiddenDifferences(all)...), failedCells(first, said)...)
}

// unloadedArms are the arms that were not tested, each with the reason.
func (g *Gate) unloadedArms() (gaps []string) {
	for _, a := range g.record.Arms {
		switch {
		case a.LeftOut: // by --quick, which gates only the others
		case len(a.Missing) > 0:
			gaps = append(gaps, fmt.Sprintf("%q is not available here", a.Name))
		case a.Unfit != "" && !a.Control:
			gaps = append(gaps, fmt.Sprintf("%q was not tested: %s", a.Name, JoinLines(a.Unfit)))
		}
	}
	return gaps
}

// unmeasuredPlaces are the comparisons that the gate needs and that are not among all.
func (g *Gate) unmeasuredPlaces(all []lab.Comparison) (gaps []string) {
	for _, arm := range g.scope.arms {
		for _, level := range g.scope.levels {
			for _, m := range g.scope.judgedAt(level) {
				c := lab.Comparison{Metric: string(m), Level: level, Variant: arm.name, Baseline: arm.baseline}
				if arm.baseline != "" && !arm.control && !containsLike(all, c) {
					gaps = append(gaps, c.Place()+" was never measured")
				}
			}
		}
	}
	return gaps
}

// hiddenDifferences explains which comparisons without a regression may hide one.
func hiddenDifferences(all []lab.Comparison) (gaps []string) {
	say := func(format string, args ...any) { gaps = append(gaps, fmt.Sprintf(format, args...)) }
	bad := regressions(all)
	for _, c := range all {
		switch {
		case c.Control, containsLike(bad, c):
		case c.Missing > 0:
			say("%s: %d rounds lack it", c.Place(), c.Missing)
		case c.ClientBound:
			say("%s: the generator was at its limit, which may hide a difference", c.Place())
		case c.Disturbed > 0:
			say("%s: in %d pairs the generator was held up, which may hide a difference", c.Place(),
				c.Disturbed)
		case c.OtherLoad > 0:
			say("%s: in %d pairs the load was not the one asked for", c.Place(), c.OtherLoad)
		}
	}
	return gaps
}

// failedCells names one trial of each cell that has grade F not only because of the machine, but
// for cells that a server spoiled as a whole.
func failedCells(trials []*lab.Trial, spoiled []fact.Fact) (gaps []string) {
	var failed []lab.CellKey
	for _, f := range spoiled {
		if f.Severity == fact.Error {
			failed = append(failed, lab.CellKey{Arm: f.Scope.Variant, Level: f.Scope.Level})
		}
	}
	for _, t := range trials {
		if t.Grade != lab.GradeF || t.SpoiledByMachine() {
			continue
		}
		if c := (lab.CellKey{Arm: t.Arm, Level: t.Level}); !slices.Contains(failed, c) {
			failed = append(failed, c)
			gaps = append(gaps, fmt.Sprintf("trial %s is of grade F: %s", t.ID,
				t.FirstReason(func(why lab.Reason) bool { return why.Grade == lab.GradeF })))
		}
	}
	return gaps
}
