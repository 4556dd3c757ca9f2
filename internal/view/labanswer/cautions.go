package labanswer

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
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
	return append(all, storedCautions(r)...)
}

// progressCautions are about how much of the plan was carried out.
func progressCautions(r *lab.Record) (all []answer.Caution) {
	done, planned := countTrials(r)
	ran := fmt.Sprintf("%s of %s planned trials ran", format.Count(int64(done)),
		format.Count(int64(planned)))
	switch {
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
			Says:   "--quick: few rounds and short windows show that it works, not what it says",
			Remedy: "run it without --quick"})
	}
	needsRounds := slices.ContainsFunc(r.Verdicts, func(c lab.Comparison) bool {
		return !c.Control && c.Method == ""
	})
	if n := r.RoundsRun(); n > 0 && n < judge.MinRounds && needsRounds {
		all = append(all, answer.Caution{Kind: answer.FewRounds, Severity: answer.Doubt,
			Says: fmt.Sprintf("Too few rounds for a verdict: %d, and it takes %d", n, judge.MinRounds)})
	}
	return all
}

// countTrials counts the cells' trials that ran, each once, and those that were planned. Of an
// experiment that ends when its intervals are narrow the plan is what ran.
func countTrials(r *lab.Record) (done, planned int) {
	seen := map[lab.TrialKey]bool{}
	for _, t := range r.Trials {
		if t.Round < lab.ConfirmingRound {
			seen[lab.TrialKey{Arm: t.Arm, Level: t.Level, Round: t.Round}] = true
		}
	}
	done, planned = len(seen), len(seen)
	if r.Experiment != nil && r.Experiment.Design.Precision == 0 {
		planned = max(done, len(r.LoadedCells())*r.Experiment.Design.Rounds)
	}
	return done, planned
}

// outcomeCautions are what the experiment was to decide and did not, or not well.
func outcomeCautions(r *lab.Record) (all []answer.Caution) {
	if g := r.Gate; g != nil && g.Verdict != lab.Passed {
		c := answer.Caution{Kind: answer.GateMissed, Severity: answer.Doubt,
			Says: "The gate is undecided"}
		if g.Verdict == lab.Regression {
			c.Severity, c.Says = answer.Bad, "The gate found a regression"
		}
		for _, m := range g.Missed {
			c.Reasons = append(c.Reasons, fmt.Sprintf("%s of %s: %s %s",
				placeName(m.Metric, m.Level), format.PlainLine(m.Variant),
				format.Change(m.Ratio, m.Low, m.High), format.ChangeInterval(m.Low, m.High)))
		}
		if g.Why != "" {
			c.Reasons = append(c.Reasons, format.PlainLine(g.Why))
		}
		all = append(all, c)
	}
	var missed []string
	for _, o := range r.Objectives {
		if o.Met < o.Trials {
			missed = append(missed, fmt.Sprintf("%s of %s at %s: met in %d of %d trials",
				format.PlainLine(o.Expr), format.PlainLine(o.Arm), format.PlainLine(o.Level), o.Met, o.Trials))
		}
	}
	if len(missed) > 0 {
		all = append(all, answer.Caution{Kind: answer.Objectives, Severity: answer.Bad,
			Says: "Objectives were missed", Reasons: missed})
	}
	var self []string
	for _, c := range r.Verdicts {
		if c.Control && c.Verdict == stats.Different {
			self = append(self, fmt.Sprintf("%s of %s: %s %s", placeName(c.Metric, c.Level),
				format.PlainLine(c.Baseline), format.Change(c.Ratio, c.Low, c.High),
				format.ChangeInterval(c.Low, c.High)))
		}
	}
	if len(self) > 0 {
		all = append(all, answer.Caution{Kind: answer.SelfDiffers, Severity: answer.Bad, Reasons: self,
			Says: "The baseline differs from itself: this machine does not support comparisons as " +
				"fine as these"})
	}
	return all
}

// trialCautions are about variants that were not loaded and trials that say little.
func trialCautions(r *lab.Record) (all []answer.Caution) {
	if refused := notLoaded(r); len(refused) > 0 {
		c := answer.Caution{Kind: answer.Unloaded, Severity: answer.Doubt,
			Says: wasWere(len(refused), "variant") + " not loaded, and not compared"}
		for _, f := range refused {
			s := format.PlainLine(f.Variant) + ": " + format.Clip(f.Why, 300)
			if f.Remedy != "" {
				s += " (" + format.Clip(f.Remedy, 300) + ")"
			}
			c.Reasons = append(c.Reasons, s)
		}
		all = append(all, c)
	}
	failed, unreliable := 0, 0
	var how []string
	kinds := map[string]int{}
	for _, t := range r.Trials {
		if t.Failure != nil {
			failed++
			how = appendOnce(how, format.Clip(format.PlainLine(fmt.Sprintf("%s: %s: %s", t.Arm,
				t.Failure.Phase, t.Failure.Reason)), 300))
			continue
		}
		if t.Grade != lab.GradeF {
			continue
		}
		unreliable++
		for _, why := range t.Reasons {
			if why.Grade == lab.GradeF {
				kinds[format.PlainLine(why.Says)]++
			}
		}
	}
	of := " of " + format.Plural(int64(len(r.Trials)), "trial") + " "
	if failed > 0 {
		all = append(all, answer.Caution{Kind: answer.FailedTrial, Severity: answer.Doubt,
			Reasons: firstOf(how), Says: format.Count(int64(failed)) + of + "failed"})
	}
	if unreliable > 0 {
		severity := answer.Doubt
		if float64(unreliable) > judge.RepeatMax*float64(len(r.Trials)) {
			severity = answer.Bad
		}
		all = append(all, answer.Caution{Kind: answer.GradeF, Severity: severity,
			Reasons: firstOf(mostFrequent(kinds)),
			Says:    format.Count(int64(unreliable)) + of + "are unreliable (grade F)"})
	}
	return all
}

// comparisonCautions are about comparisons, each kind once, with the measures and levels that have
// it as its scope.
func comparisonCautions(r *lab.Record) (all []answer.Caution) {
	uncorrected := func(c lab.Comparison) bool { return c.PAdjusted == 0 && c.P > 0 }
	for _, k := range []struct {
		kind, says, remedy string
		applies            func(lab.Comparison) bool
	}{
		{answer.AtLimit,
			"The generator was at its limit: these figures are the generator's, not the servers'",
			"compare CPU per request, or give the generator more CPUs (design: {cpus: ...})",
			func(c lab.Comparison) bool { return c.ClientBound }},
		{answer.Disturbed, "Something else on the machine held the generator up",
			"run it when nothing else is at work",
			func(c lab.Comparison) bool { return c.Disturbed > 0 }},
		{answer.OtherLoad, "The load was not the one asked for: requests were sent late, or not all", "",
			func(c lab.Comparison) bool { return c.OtherLoad > 0 }},
		{answer.MissingPair, "Rounds lack a trial of a variant", "",
			func(c lab.Comparison) bool { return c.Missing > 0 }},
		{answer.AboveNoise, "The machine's own noise is larger than the effect",
			"run it on a quieter machine, or with longer windows", isBelowNoise},
		{answer.Correction, "Judged alone it would differ; with all comparisons together it does not",
			"compare fewer variants, measures or levels, or run more rounds", isCorrectedAway},
		{answer.Correction, "An older dyno judged each comparison by itself", "", uncorrected},
	} {
		var scope []string
		var variants []string
		n := 0
		for _, c := range r.Verdicts {
			if !c.Control && k.applies(c) {
				n++
				scope = appendOnce(scope, placeName(c.Metric, c.Level))
				variants = appendOnce(variants, format.PlainLine(c.Variant))
			}
		}
		if n == 0 {
			continue
		}
		of := fewNames(variants)
		if len(variants) > mostNamed {
			of = format.Plural(int64(len(variants)), "variant")
		}
		all = append(all, answer.Caution{Kind: k.kind, Severity: answer.Doubt, Says: k.says,
			Remedy: k.remedy, Scope: fewNames(scope) + " of " + of})
	}
	return all
}

// saidOtherwise are parts of stored cautions about what the cautions above say with their reasons.
var saidOtherwise = []string{" variants can be compared: ", " differs from itself in ",
	" trials are of grade F: see their reasons", " rounds the least p is "}

// storedCautions are those of the record that nothing above says.
func storedCautions(r *lab.Record) (all []answer.Caution) {
	for _, text := range r.Cautions {
		if !slices.ContainsFunc(saidOtherwise, func(part string) bool {
			return strings.Contains(text, part)
		}) {
			all = append(all, answer.Caution{Kind: answer.Conditions, Severity: answer.Doubt,
				Says: sentenceCase(text)})
		}
	}
	return all
}

// sentenceCase is a text that begins as a sentence does, unless its first word is a name.
func sentenceCase(text string) string {
	text = format.PlainLine(text)
	for _, article := range []string{"the ", "generator ", "no ", "servers ", "with "} {
		if strings.HasPrefix(text, article) {
			return strings.ToUpper(text[:1]) + text[1:]
		}
	}
	return text
}

// wasWere is a number of things with its verb: "1 variant was", "2 variants were".
func wasWere(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return format.Plural(int64(n), thing) + " were"
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

// mostFrequent are the texts with how often each was counted, the most frequent first.
func mostFrequent(counted map[string]int) (all []string) {
	texts := make([]string, 0, len(counted))
	for text := range counted {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int {
		if counted[a] != counted[b] {
			return counted[b] - counted[a]
		}
		return strings.Compare(a, b)
	})
	for _, text := range texts {
		all = append(all, fmt.Sprintf("%s: %s", format.Plural(int64(counted[text]), "trial"), text))
	}
	return all
}
