package labanswer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// cautionsOf are all that speak against an experiment's answer, each once.
func cautionsOf(r *lab.Record) (all []answer.Caution) {
	all = append(all, progressCautions(r)...)
	all = append(all, outcomeCautions(r)...)
	all = append(all, trialCautions(r)...)
	all = append(all, comparisonCautions(r)...)
	stored := storedCautions(r, all)
	return append(withoutTwice(r, all), stored...)
}

// openCautions say that nothing is decided, or what is not, if nothing else says why.
func openCautions(r *lab.Record, a answer.Answer) []answer.Caution {
	if len(a.Groups) == 0 || a.Has(answer.QuickRun) || a.Has(answer.FewRounds) {
		return nil
	}
	worse := func(c answer.Caution) bool { return c.Severity != answer.Note }
	if weight(a.Groups[0]) <= 1 && !slices.ContainsFunc(a.Cautions, worse) {
		return []answer.Caution{{Kind: answer.NothingDecided, Severity: answer.Note,
			Says: fmt.Sprintf("Nothing is decided: the intervals are wider than a difference of %s, from "+
				"which on it matters", format.InPercent(a.Groups[0].Margin))}}
	}
	scope := scopeOf(r, r.Verdicts, func(c lab.Comparison) bool {
		v, _, _ := verdictOf(c, r.Verdicts)
		return v == answer.Undecided && !isBelowNoise(c) && !isCorrectedAway(c)
	})
	if scope == "" {
		return nil
	}
	return []answer.Caution{{Kind: answer.Open, Severity: answer.Note, Says: "Undecided: " + scope}}
}

// sayOnce takes from the cautions the remedies that the next step says.
func sayOnce(a *answer.Answer) {
	a.SayOnce()
	i := slices.IndexFunc(a.Cautions, func(c answer.Caution) bool {
		return c.Kind == answer.Unloaded
	})
	for k, f := range a.NotLoaded {
		if i >= 0 && f.Remedy != "" && a.Next.Does(f.Remedy) {
			f.Remedy = ""
			a.Cautions[i].Reasons[k] = unloadedReason(f)
		}
	}
}

// unloadedReason is why a variant was not tested, and what can be done about it.
func unloadedReason(f answer.Finding) string {
	s := format.PlainLine(f.Variant) + ": " + format.ClipText(f.Why, 300)
	if f.Remedy != "" {
		s += " (" + format.ClipText(f.Remedy, 300) + ")"
	}
	return s
}

// uncoveredText says how many variants can be compared, and names the others; "" if all can. Why
// not, and what can be done about it, are reasons of cautions.
func uncoveredText(r *lab.Record) string {
	c := judge.CoverageOf(r)
	missing := len(c.NotTested) + len(c.Failed)
	if missing == 0 {
		return ""
	}
	s := c.String()
	if n := len(c.NotTested); n > 0 {
		s += "; " + fewNames(plainNames(c.NotTested)) + wasWere(n) + "not tested"
	}
	if len(c.Failed) > 0 {
		s += "; " + fewNames(plainNames(c.Failed)) + " failed in each trial"
	}
	if n := c.Variants - c.Comparable - missing; n > 0 {
		s += "; nothing is left to compare " + format.Plural(int64(n), "variant") + " with"
	}
	return s
}

// plainNames are names of variants as a line has them.
func plainNames(all []string) []string {
	plain := make([]string, len(all))
	for i, name := range all {
		plain[i] = format.Clip(format.PlainLine(name), longestName)
	}
	return plain
}

// longestName is how many characters of a variant's name a line of several has.
const longestName = 40

// progressCautions are about how much of the plan was carried out.
func progressCautions(r *lab.Record) (all []answer.Caution) {
	done, planned := countTrials(r)
	ran := "it stopped after " + format.Plural(int64(done), "trial")
	if done < planned {
		ran = fmt.Sprintf("%s of %s planned trials ran", format.Count(int64(done)),
			format.Count(int64(planned)))
	}
	switch {
	case judge.LeavesNothing(r):
		all = append(all, answer.Caution{Kind: answer.Incomplete, Severity: answer.Bad,
			Says: "Nothing is left to compare"})
	case r.State == lab.Interrupted || r.State == lab.Running:
		all = append(all, answer.Caution{Kind: answer.Incomplete, Severity: answer.Bad,
			Says: "Not complete: " + ran, Remedy: "go on with --resume"})
	case r.State == lab.Failed:
		all = append(all, answer.Caution{Kind: answer.Incomplete, Severity: answer.Bad,
			Says: "Not complete: something could not be stored"})
	case r.State == lab.OverBudget:
		all = append(all, answer.Caution{Kind: answer.Planned, Severity: answer.Doubt,
			Says: "The budget of time was used up: " + ran})
	case done < planned:
		all = append(all, answer.Caution{Kind: answer.Planned, Severity: answer.Doubt, Says: ran})
	}
	if r.Quick {
		all = append(all, answer.Caution{Kind: answer.QuickRun, Severity: answer.Doubt,
			Says:   "--quick: few rounds and short windows show whether the experiment works, and no more",
			Remedy: "run it without --quick"})
	}
	if n := len(r.Looks); n > 0 {
		all = append(all, answer.Caution{Kind: answer.AddedRounds, Severity: answer.Note,
			Says: fmt.Sprintf("Rounds were added after verdicts had been seen (after %s); verdicts and "+
				"intervals are corrected for %d looks", format.Plural(int64(r.Looks[n-1]), "round"), n+1)})
	}
	needsRounds := slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool {
		return !c.Control && c.Method == ""
	})
	if n := r.RoundsRun(); n > 0 && n < experiment.LeastRounds && needsRounds {
		all = append(all, answer.Caution{Kind: answer.FewRounds, Severity: answer.Doubt,
			Says: fmt.Sprintf("Too few rounds for a verdict: %d, and it takes %d", n,
				experiment.LeastRounds)})
	}
	return all
}

// countTrials counts the cells' trials that ran, each once, and those that were planned; 0 of an
// experiment that ends when its intervals are narrow. What ran besides the plan, or of a variant
// that is not loaded any more, does not count.
func countTrials(r *lab.Record) (done, planned int) {
	rounds, cells := lab.ConfirmingRound-1, []lab.CellKey(nil)
	if r.Experiment != nil {
		cells = r.LoadedCells()
		if r.Experiment.Design.Precision == 0 {
			rounds = r.Experiment.Design.Rounds
			planned = len(cells) * rounds
		}
	}
	seen := map[lab.TrialKey]bool{}
	for _, t := range r.Trials {
		if t.Round <= rounds && slices.Contains(cells, lab.CellKey{Arm: t.Arm, Level: t.Level}) {
			seen[lab.TrialKey{Arm: t.Arm, Level: t.Level, Round: t.Round}] = true
		}
	}
	return len(seen), planned
}

// outcomeCautions are what the experiment was to decide and did not, or not well.
func outcomeCautions(r *lab.Record) (all []answer.Caution) {
	if g := r.Gate; g != nil && g.Verdict != lab.Passed {
		c := answer.Caution{Kind: answer.GateMissed, Severity: answer.Doubt,
			Says: "The gate is undecided"}
		if g.Verdict == lab.Regression {
			c.Severity, c.Says = answer.Bad, "The gate found a regression"
			if r.Experiment != nil && r.Experiment.Gate != nil {
				c.Says += fmt.Sprintf(", as it allows no loss above %s",
					format.InPercent(float64(r.Experiment.Gate.Margin)))
			}
		}
		for _, m := range g.Missed {
			c.Reasons = append(c.Reasons, fmt.Sprintf("%s of %s: %s",
				placeName(m.Metric, r.ShownLevel(m.Level)), format.PlainLine(m.Variant), m.ChangeText()))
		}
		for _, item := range g.OpenItems() {
			c.Reasons = append(c.Reasons, format.PlainLine(item))
		}
		all = append(all, c)
	}
	all = append(all, objectiveCautions(r)...)
	var self []string
	for _, c := range r.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			self = append(self, fmt.Sprintf("%s of %s: %s", placeName(c.Metric, r.ShownLevel(c.Level)),
				format.PlainLine(c.Baseline), c.ChangeText()))
		}
	}
	if len(self) > 0 {
		all = append(all, answer.Caution{Kind: answer.SelfDiffers, Severity: answer.Bad, Reasons: self,
			Says: "The baseline differs from itself: this machine does not support comparisons as " +
				"fine as these"})
		all = append(all, passedCautions(r)...)
	}
	return all
}

// passedCautions say what the gate judges, if it passed although the baseline differs from itself:
// in other measures, or by less than the gate's margin.
func passedCautions(r *lab.Record) []answer.Caution {
	passed := r.Gate != nil && r.Gate.Verdict == lab.Passed
	if !passed || r.Experiment == nil || r.Experiment.Gate == nil {
		return nil // the gate of stored runs has no rule here
	}
	rule := r.Experiment.Gate
	var names []string
	for _, m := range rule.Metrics {
		names = append(names, MeasureName(string(m)))
	}
	return []answer.Caution{{Kind: answer.GatePassed,
		Severity: answer.Bad, // so that it stands behind the self-difference that it explains
		Says: fmt.Sprintf("The gate passed all the same: it judges only %s, with a margin of %s",
			strings.Join(names, ", "), format.InPercent(float64(rule.Margin)))}}
}

// trialCautions are about variants that were not tested and trials that say little.
func trialCautions(r *lab.Record) (all []answer.Caution) {
	if refused := notLoaded(r); len(refused) > 0 {
		c := answer.Caution{Kind: answer.Unloaded, Severity: answer.Doubt,
			Says: judge.CoverageOf(r).String()}
		for _, f := range refused {
			c.Reasons = append(c.Reasons, unloadedReason(f))
		}
		all = append(all, c)
	}
	failed, worth := 0, judge.WorthOf(r.Trials)
	var how []string
	var doubts Doubts
	trials, repeated := judge.CountedAttempts(r.Trials)
	for i, t := range trials {
		if t.Failure != nil {
			failed++
			how = appendOnce(how, format.ClipText(format.PlainLine(fmt.Sprintf("%s: %s: %s", t.Arm,
				t.Failure.Phase, t.Failure.Reason)), 300))
			continue
		}
		if t.Grade != lab.GradeF {
			continue
		}
		for _, why := range t.Reasons {
			if why.Grade == lab.GradeF && !isOfSpoiled(r, t, why) {
				doubts.Add(i, why)
			}
		}
	}
	of := " of " + format.Plural(int64(len(trials)), "trial") + " "
	if failed > 0 {
		all = append(all, answer.Caution{Kind: answer.FailedTrial, Severity: answer.Doubt,
			Reasons: firstOf(how), Says: format.Count(int64(failed)) + of + "failed",
			Remedy: "see why trials failed, in the table of trials", Way: answer.ReadTables})
	}
	if worth.Unreliable > 0 {
		severity := answer.Doubt
		if worth.IsUnreliable() {
			severity = answer.Bad
		}
		all = append(all, answer.Caution{Kind: answer.GradeF, Severity: severity,
			Reasons: firstOf(doubts.linesOf(worth.Unreliable)),
			Says:    worth.String(),
			Remedy:  "run it again when nothing else is at work on this machine",
			Way:     answer.RunAgain})
	}
	all = append(all, spoiledCautions(r)...)
	if repeated > 0 {
		all = append(all, answer.Caution{Kind: answer.Repeated, Severity: answer.Note,
			Says: format.Count(int64(repeated)) + of + "were repeated, and the first attempt is not used"})
	}
	return append(all, uncomparedCautions(r, trials)...)
}

// uncomparedCautions are of an experiment without a comparison, which would have them otherwise.
func uncomparedCautions(r *lab.Record, trials []lab.TrialSummary) (all []answer.Caution) {
	if slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool { return !c.Control }) {
		return nil
	}
	if !asksGenerators(r) && !judge.LeavesNothing(r) {
		all = append(all, answer.Caution{Kind: answer.NotCompared, Severity: answer.Note,
			Says: "Nothing was compared"})
	}
	var doubts Doubts
	for i, t := range trials {
		for _, why := range t.Reasons {
			if why.IsOfGenerator() && t.Grade != lab.GradeF {
				doubts.Add(i, why)
			}
		}
	}
	if said := doubts.lines(); len(said) > 0 {
		all = append(all, answer.Caution{Kind: answer.Generator, Severity: answer.Doubt,
			Reasons: firstOf(said),
			Says:    "The generator, and not only the server, decided what was measured"})
	}
	return all
}

// boundRemedy is what can be done about a generator that was at its limit.
func boundRemedy(r *lab.Record) string {
	const text = "go by CPU per request, or load below the generator's limit"
	if n := rateBelowLimit(r); n > 0 {
		return fmt.Sprintf("%s, at %s/s (levels: [{rate: %.0f}])", text, format.Count(int64(n)), n)
	}
	return text + " (levels: [{rate: ...}])"
}

// rateBelowLimit is a rate that the generator reaches: half of the lowest throughput at the levels
// at which it was the limit, in two digits. It is 0 if that is not known.
func rateBelowLimit(r *lab.Record) float64 {
	least := 0.0
	for _, c := range r.Cells {
		bound := slices.ContainsFunc(r.Verdicts, func(v lab.Comparison) bool {
			return v.ClientBound && v.Level == c.Level
		})
		if n := c.Median.Estimate; bound && c.Metric == string(experiment.Throughput) &&
			(least == 0 || n < least) {
			least = n
		}
	}
	if least < 2 {
		return 0
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(least/2))-1))
	return math.Floor(least/2/unit) * unit
}

// comparisonCautions are about comparisons, each kind once, with the measures and levels that have
// it as its scope.
func comparisonCautions(r *lab.Record) (all []answer.Caution) {
	uncorrected := func(c lab.Comparison) bool { return c.PAdjusted == 0 && c.P > 0 }
	for _, k := range []struct {
		kind, says, remedy string
		way                answer.Way
		applies            func(lab.Comparison) bool
	}{
		{answer.AtLimit,
			"The generator was at its limit, and a server may have answered more: these figures do " +
				"not count",
			boundRemedy(r), answer.ChangeAndRun,
			func(c lab.Comparison) bool { return c.ClientBound }},
		{answer.Disturbed, disturbedText(r),
			"run it when nothing else is at work", answer.ChangeAndRun,
			func(c lab.Comparison) bool { return c.Disturbed > 0 }},
		{answer.OtherLoad, "The load was not the one asked for: requests were sent late, or not all",
			"change the load in the file: more connections, or a lower rate", answer.ChangeAndRun,
			func(c lab.Comparison) bool { return c.OtherLoad > 0 }},
		{answer.MissingPair, "Rounds lack a trial of a variant",
			"see why these trials measured nothing, in the table of trials", answer.ReadTables,
			func(c lab.Comparison) bool { return c.Missing > 0 }},
		{answer.AboveNoise, "The machine's own noise is larger than the effect",
			"run it on a quieter machine, or with longer windows", answer.ChangeAndRun, isBelowNoise},
		{answer.Correction,
			"Judged alone it would differ; after the correction for all comparisons it is undecided",
			"compare fewer variants, measures or levels, or run more rounds", answer.ChangeAndRun,
			isCorrectedAway},
		{answer.Correction, "An older dyno judged each comparison by itself",
			"run it again with this dyno", answer.RunAgain, uncorrected},
	} {
		scope := scopeOf(r, r.Verdicts, k.applies)
		if scope == "" {
			continue
		}
		if k.kind == answer.Disturbed && !slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool {
			return !c.Control && !k.applies(c)
		}) {
			scope = "" // it is all of them
		}
		all = append(all, answer.Caution{Kind: k.kind, Severity: answer.Doubt, Says: k.says,
			Remedy: k.remedy, Way: k.way, Scope: scope})
	}
	return all
}

// scopeOf names the comparisons to which something applies: variants with the same measures and
// levels together. It is "" if there is none.
func scopeOf(r *lab.Record, all []lab.Comparison, applies func(lab.Comparison) bool) string {
	var variants, scopes []string
	places := map[string][]place{}
	for _, c := range all {
		if !c.Control && applies(c) {
			variants = appendOnce(variants, c.Variant)
			places[c.Variant] = append(places[c.Variant], place{c.Metric, r.ShownLevel(c.Level)})
		}
	}
	of := map[string][]string{}
	for _, v := range variants {
		where := placesText(places[v])
		scopes, of[where] = appendOnce(scopes, where), append(of[where], format.PlainLine(v))
	}
	for i, where := range scopes {
		if names := of[where]; len(names) > mostNamed {
			scopes[i] += " of " + format.Plural(int64(len(names)), "variant")
		} else {
			scopes[i] += " of " + fewNames(names)
		}
	}
	if n := len(scopes) - mostNamed; n > 0 {
		scopes = append(scopes[:mostNamed:mostNamed], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(scopes, "; ")
}

// storedCautions are the record's facts that none of the cautions before says.
func storedCautions(r *lab.Record, before []answer.Caution) (all []answer.Caution) {
	for _, f := range r.Facts {
		if !isSaid(r, f, before) {
			all = append(all, conditionOf(inRecord(r, f)))
		}
	}
	return all
}

// conditionOf is the caution of a fact about how an experiment or runs were measured.
func conditionOf(f fact.Fact) answer.Caution {
	return answer.Caution{Kind: answer.Conditions, Severity: answer.Doubt,
		Says: format.PlainLine(say.Start(f)), Remedy: say.Advice(f, setting.Key)}
}

// isSaid reports whether cautions say a fact, with their reasons.
func isSaid(r *lab.Record, f fact.Fact, before []answer.Caution) bool {
	has := func(kinds ...string) bool {
		return slices.ContainsFunc(before, func(c answer.Caution) bool {
			return slices.Contains(kinds, c.Kind)
		})
	}
	switch f.Args.(type) {
	case fact.NotCompared, fact.SelfDiffers, fact.GradeF, fact.FewRounds, fact.RoundsAdded,
		fact.ServerSpoiled:
		return true
	case fact.TrialsLost:
		return has(answer.Planned, answer.Incomplete)
	case fact.MachineBusy:
		return has(answer.GradeF)
	case fact.GeneratorChoice:
		return asksGenerators(r) // the sentence of the report is this caution
	}
	return false
}

// wasWere is the verb of so many things.
func wasWere(n int) string {
	if n == 1 {
		return " was "
	}
	return " were "
}

// mostReasons is how many reasons a caution has.
const mostReasons = 5

func firstOf(all []string) []string {
	if n := len(all) - mostReasons; n > 0 {
		return append(all[:mostReasons:mostReasons], fmt.Sprintf("and %d more", n))
	}
	return all
}

func appendOnce(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}
