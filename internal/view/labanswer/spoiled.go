package labanswer

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
	"dyno/internal/setting"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
)

// spoiledFacts are judge.SpoiledFacts, as the record has them.
func spoiledFacts(r *lab.Record) (all []fact.Fact) {
	for _, f := range r.Facts {
		if f.Kind() == (fact.ServerSpoiled{}).Kind() {
			all = append(all, f)
		}
	}
	return all
}

// spoiledFact is the fact that a variant spoiled trials of its own, at any level; nil if it did
// not. One that starves connections comes first.
func spoiledFact(r *lab.Record, variant string) (found *fact.Fact) {
	all := spoiledFacts(r)
	for i, f := range all {
		if f.Scope.Variant == variant && (found == nil || isStarved(f) && !isStarved(*found)) {
			found = &all[i]
		}
	}
	return found
}

// isStarved reports whether a server left connections without an answer.
func isStarved(f fact.Fact) bool {
	a, is := f.Args.(fact.ServerSpoiled)
	return is && a.Starved > 0
}

// spoiledText is the sentence of the fact, with its level where there are several.
func spoiledText(r *lab.Record, f fact.Fact) string {
	if r.HasSeveralLevels() {
		return "at " + levelAndSentence(f)
	}
	return format.PlainLine(say.Sentence(f))
}

// spoiledStart is spoiledText as a text begins with it.
func spoiledStart(r *lab.Record, f fact.Fact) string {
	if r.HasSeveralLevels() {
		return "At " + levelAndSentence(f)
	}
	return format.PlainLine(say.Start(f))
}

func levelAndSentence(f fact.Fact) string {
	return format.PlainLine(f.Scope.Level) + ", " + format.PlainLine(say.Sentence(f))
}

// spoiledCautions say whose trials the server spoiled. That connections got no answer is a finding;
// anything else makes the figures useless.
func spoiledCautions(r *lab.Record) (all []answer.Caution) {
	for _, f := range spoiledFacts(r) {
		c := answer.Caution{Kind: answer.Spoiled, Severity: answer.Bad,
			Says: spoiledStart(r, f), Remedy: say.Advice(f, setting.Key), Variant: f.Scope.Variant,
			Level: f.Scope.Level}
		if f.Severity == fact.Warning {
			c.Severity = answer.Doubt
		}
		if c.Remedy == "" {
			c.Remedy = "see why the server spoiled its trials, in the table of trials"
			c.Way = answer.ReadTables
		}
		all = append(all, c)
	}
	return all
}

// isUseless reports whether a caution says that a server spoiled its own trials, so that their
// figures show nothing: no quieter machine changes that.
func isUseless(c answer.Caution) bool {
	return c.Kind == answer.Spoiled && c.Severity == answer.Bad
}

// isOfSpoiled reports whether a trial's reason is said by a fact about its variant.
func isOfSpoiled(r *lab.Record, t lab.TrialSummary, why lab.Reason) bool {
	return why.Server && slices.ContainsFunc(spoiledFacts(r), func(f fact.Fact) bool {
		return f.Scope.Variant == t.Arm && f.Scope.Level == t.Level
	})
}

// withholdSpoiled marks the findings of variants, and against baselines, that spoiled their trials;
// the sentence begins with that.
func withholdSpoiled(r *lab.Record, a *answer.Answer) {
	for _, f := range slices.Backward(spoiledFacts(r)) {
		for g, group := range a.Groups {
			for i, one := range group.Findings {
				of := one.Variant == f.Scope.Variant || one.Baseline == f.Scope.Variant
				if of && (group.Level == "" || group.Level == f.Scope.Level) &&
					(one.IsDecided() || one.Verdict == answer.Same) {
					a.Groups[g].Findings[i].Unreliable = answer.ButUnreliable
				}
			}
		}
		if a.Unreliable != "" {
			continue
		}
		a.Sentence = spoiledStart(r, f)
		for i, c := range a.Cautions { // the last of these facts is in the sentence
			a.Cautions[i].Said = c.Kind == answer.Spoiled && c.Variant == f.Scope.Variant &&
				c.Level == f.Scope.Level
		}
		if isBaseline(r, f.Scope.Variant) { // nothing is left that could be relied on
			a.Unreliable, a.Withheld = "Do not rely on this, because "+spoiledText(r, f), answer.Spoiled
			a.Sentence = a.Unreliable
		}
	}
}

// isBaseline reports whether others are compared with a variant.
func isBaseline(r *lab.Record, variant string) bool {
	return slices.ContainsFunc(r.Arms, func(a lab.Arm) bool {
		return a.Baseline == variant && !a.Control
	})
}
