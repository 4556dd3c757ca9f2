package judge

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
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
	open    []fact.Fact // what the first batch left undecided
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
	unfit := unreliableFacts(g.Outcome.Missed, worthOfTrials(batch), variantScope)
	if len(unfit) > 0 {
		first = WithoutForecasts(first)
	}
	verdict, open := decideBatch(first, variantScope, false)
	if verdict == lab.Passed && len(unfit) == 0 { // reports count the second batch, too
		worth := worthOfTrials(slices.Concat(batch, SelectBatch(trials, true)))
		unfit = unreliableFacts(nil, worth, variantScope)
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
	verdict, why := decideBatch(second, variantScope, false)
	shown := regressions(second)
	lost := slices.DeleteFunc(slices.Clone(out.Missed), func(c lab.Comparison) bool {
		return containsLike(shown, c)
	})
	why = slices.Concat(worse(lost, fact.BySecondBatch, variantScope), why, spoiled)
	if verdict != lab.Regression {
		verdict, open = lab.Undecided, append(why, open...)
	} else if len(lost) > 0 {
		open = append(open, why...)
	}
	both := append(SelectBatch(trials, false), batch...)
	if unfit := unreliableFacts(shown, worthOfTrials(both), variantScope); len(unfit) > 0 {
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
	kept []lab.Comparison, open []fact.Fact) {
	facts := spoiledFacts(g.record, summariesOf(trials))
	var said []int // the facts that are in open, by place
	say := func(at int) {
		if !slices.Contains(said, at) {
			open, said = append(open, facts[at]), append(said, at)
		}
	}
	of := func(arm, level string) int {
		return slices.IndexFunc(facts, func(f fact.Fact) bool {
			return isAt(f, variantScope(arm, level))
		})
	}
	for _, c := range all {
		own, base := of(c.Variant, c.Level), of(c.Baseline, c.Level)
		switch {
		case c.Control:
			kept = append(kept, c)
		case own >= 0 && facts[own].Severity == fact.Error && c.Verdict == stats.Inconclusive:
			say(own) // more rounds decide nothing
		case base >= 0 && c.IsWorse():
			open = append(open, worse([]lab.Comparison{c}, fact.ByTrials, variantScope)...)
			say(base)
		default:
			kept = append(kept, c)
		}
	}
	return kept, open
}

// scoper is where what is compared was measured, by its name in a comparison and its level.
type scoper func(name, level string) fact.Scope

// variantScope is where an arm of an experiment was measured.
func variantScope(arm, level string) fact.Scope { return fact.Scope{Variant: arm, Level: level} }

// isAt reports whether a fact is about what was measured there.
func isAt(f fact.Fact, at fact.Scope) bool {
	return f.Scope.Group == at.Group && f.Scope.Variant == at.Variant && f.Scope.Level == at.Level
}

// worse are facts: so much seems to be worse, which something does not show.
func worse(all []lab.Comparison, by fact.Unshown, at scoper) (facts []fact.Fact) {
	for _, c := range all {
		facts = append(facts, warn(fact.Worse{Change: c.Difference(), Unshown: by},
			at(c.Variant, c.Level)))
	}
	return facts
}

// unreliableFacts are why the trials decide nothing, although bad seems to be worse in them: too
// many are unreliable. There is none if they can be relied on.
func unreliableFacts(bad []lab.Comparison, worth Worth, at scoper) []fact.Fact {
	if !worth.IsUnreliable() {
		return nil
	}
	first := warn(fact.TrialsUnreliable(worth), fact.Scope{})
	return append([]fact.Fact{first}, worse(bad, fact.ByTrials, at)...)
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

// containsLike reports whether all contains a comparison of the same two arms by the same measure.
func containsLike(all []lab.Comparison, c lab.Comparison) bool {
	return slices.ContainsFunc(all, func(d lab.Comparison) bool {
		return c.Metric == d.Metric && c.Level == d.Level && c.Variant == d.Variant &&
			c.Baseline == d.Baseline
	})
}

// decideBatch decides one batch, and lists everything that keeps it from passing. Controls that
// differ come first, because they make all else uncertain; before says that they were measured in
// experiments of before.
func decideBatch(all []lab.Comparison, at scoper, before bool) (verdict string, open []fact.Fact) {
	bad := regressions(all)
	for _, c := range all {
		if c.Control && c.Verdict == stats.Different {
			open = append(open, selfDiffers(c, at(c.Baseline, c.Level), before))
		}
	}
	differs := len(open) > 0
	if differs {
		all, open = WithoutForecasts(all), append(open, worse(bad, fact.ByMachine, at)...)
	}
	for _, c := range all {
		if !c.Control && c.Verdict == stats.Inconclusive {
			open = addOpen(open, c, at)
		}
	}
	switch {
	case !differs && len(bad) > 0:
		return lab.Regression, open
	case len(open) > 0:
		return lab.Undecided, open
	}
	return lab.Passed, nil
}

// setOutcome sets the outcome and its reasons. A gate with anything undecided does not pass.
func setOutcome(g *lab.GateOutcome, verdict string, open []fact.Fact) {
	if verdict == lab.Passed && len(open) > 0 {
		verdict = lab.Undecided
	}
	g.Decide(verdict, open)
}

// addOpen adds why a comparison is inconclusive, and what would decide it.
func addOpen(all []fact.Fact, c lab.Comparison, at scoper) []fact.Fact {
	if !c.HasInterval() {
		return addHiding(all, c, fact.MayHide{By: fact.TooFew, Count: c.Trials}, at)
	}
	a := fact.LeftOpen{Change: c.Difference(), More: c.Needed(), Apart: c.Against > 0}
	if c.More >= stats.MoreMax {
		a.More, a.Beyond = stats.MoreMax, true
	}
	return append(all, warn(a, at(c.Variant, c.Level)))
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
func (g *Gate) gateGaps(trials []*lab.Trial, all []lab.Comparison) (gaps []fact.Fact) {
	missing := notCompared(g.record)
	if !slices.ContainsFunc(all, func(c lab.Comparison) bool { return !c.Control }) {
		missing.Comparable, missing.Unpaired = 0, true
	}
	for i := range missing.NotTested {
		missing.NotTested[i].Remedy = "" // a caution has it
	}
	if missing.Unpaired || len(missing.NotTested) > 0 {
		gaps = append(gaps, warn(missing, fact.Scope{}))
	}
	gaps = append(gaps, g.unmeasuredPlaces(all)...)
	var stored []lab.Slot
	for _, t := range trials {
		stored = append(stored, t.Slot)
	}
	first := SelectBatch(trials, false)
	return slices.Concat(gaps, lostTrials(g.record, stored), hiddenDifferences(all, variantScope),
		failedCells(first, spoiledFacts(g.record, summariesOf(first))))
}

// unmeasuredPlaces are the comparisons that the gate needs and that are not among all.
func (g *Gate) unmeasuredPlaces(all []lab.Comparison) (gaps []fact.Fact) {
	for _, arm := range g.scope.arms {
		for _, level := range g.scope.levels {
			for _, m := range g.scope.judgedAt(level) {
				c := lab.Comparison{Metric: string(m), Level: level, Variant: arm.name, Baseline: arm.baseline}
				if arm.baseline != "" && !arm.control && !containsLike(all, c) {
					gaps = addHiding(gaps, c, fact.MayHide{By: fact.Unmeasured}, variantScope)
				}
			}
		}
	}
	return gaps
}

// hiddenDifferences are which comparisons without a regression may hide one, and why.
func hiddenDifferences(all []lab.Comparison, at scoper) (gaps []fact.Fact) {
	bad := regressions(all)
	for _, c := range all {
		var a fact.MayHide
		switch {
		case c.Control, containsLike(bad, c):
			continue
		case c.Missing > 0:
			a.By, a.Count = fact.ValueLacks, c.Missing
		case c.ClientBound:
			a.By = fact.AtItsLimit
		case c.Disturbed > 0:
			a.By, a.Count = fact.HeldUp, c.Disturbed
		case c.OtherLoad > 0:
			a.By, a.Count = fact.AnotherLoad, c.OtherLoad
		default:
			continue
		}
		gaps = addHiding(gaps, c, a, at)
	}
	return gaps
}

// addHiding adds why a comparison may hide a difference, to the fact that says it of another metric
// if there is one.
func addHiding(all []fact.Fact, c lab.Comparison, a fact.MayHide, at scoper) []fact.Fact {
	where := at(c.Variant, c.Level)
	a.Against, a.Metrics = c.Against, []string{c.Metric}
	for i, f := range all {
		other, is := f.Args.(fact.MayHide)
		if is && isAt(f, where) && other.By == a.By && other.Count == a.Count &&
			other.Against == a.Against {
			a.Metrics = append(other.Metrics, c.Metric)
			all[i].Args = a
			return all
		}
	}
	return append(all, warn(a, where))
}

// failedCells count the trials of each cell that have grade F not only because of the machine, but
// for cells that a server spoiled as a whole.
func failedCells(trials []*lab.Trial, spoiled []fact.Fact) (gaps []fact.Fact) {
	cells := map[lab.CellKey][]*lab.Trial{}
	var order []lab.CellKey
	for _, t := range trials {
		at := lab.CellKey{Arm: t.Arm, Level: t.Level}
		if cells[at] == nil {
			order = append(order, at)
		}
		cells[at] = append(cells[at], t)
	}
	for _, c := range order {
		at := variantScope(c.Arm, c.Level)
		if !slices.ContainsFunc(spoiled, func(f fact.Fact) bool {
			return f.Severity == fact.Error && isAt(f, at)
		}) {
			gaps = append(gaps, lastingF(cells[c], at)...)
		}
	}
	return gaps
}

// lastingF is how many of the trials have grade F not only because of the machine, with the first
// one's reason; none if none has.
func lastingF(trials []*lab.Trial, at fact.Scope) []fact.Fact {
	a := fact.GradeF{Of: len(trials), Lasting: true}
	for _, t := range trials {
		if t.Grade != lab.GradeF || t.SpoiledByMachine() {
			continue
		}
		if a.Trials++; a.Trials == 1 {
			a.Why = t.FirstReason(func(r lab.Reason) bool { return r.Grade == lab.GradeF && !r.Passing })
		}
	}
	if a.Trials == 0 {
		return nil
	}
	return []fact.Fact{warn(a, at)}
}
