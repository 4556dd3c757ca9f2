package say

import (
	"fmt"

	"dyno/internal/digits"
	"dyno/internal/fact"
)

// comparisonSentence is Sentence for what a comparison of runs shows; "" of another kind.
func comparisonSentence(f fact.Fact) string {
	switch a := f.Args.(type) {
	case fact.RunsInSequence:
		return fmt.Sprintf("every run of %s began before the first of %s: whatever changed on the "+
			"machine meanwhile looks like a difference; run them in turns (dyno lab run does)", a.First,
			a.Then)
	case fact.PairsIgnored:
		return fmt.Sprintf("%s and %s come from one experiment, which measured them in pairs; a "+
			"comparison with other runs does not use the pairs: compare %s and %s alone", a.First, a.Other,
			a.First, a.Other)
	case fact.TooFewRuns:
		return fmt.Sprintf("there are too few runs for a verdict: p is at least %.3f after Holm's "+
			"correction for %s; a verdict takes %d runs of each", a.LeastP,
			digits.Plural(int64(a.Compared), "comparison"), a.Needs)
	case fact.GeneratorDoubted:
		return fmt.Sprintf("the generator was %s in %d of the %d runs of %s; the first run's reason: %s",
			a.Verdict, a.Runs, a.Of, f.Scope.Group, a.Why)
	case fact.GroupIncomplete:
		return fmt.Sprintf("the experiment of %s is not complete", f.Scope.Group)
	case fact.GroupQuick:
		return f.Scope.Group + " was a quick run: it tests the experiment, and its numbers prove nothing"
	case fact.NotInGroup:
		return fmt.Sprintf("%s has no counterpart in %s", place(f.Scope), a.Group)
	case fact.MetricLacking:
		return metricLacking(f.Scope, a)
	}
	return ""
}

// metricLacking says how many runs of two samples have a metric, and how many it takes.
func metricLacking(at fact.Scope, a fact.MetricLacking) string {
	takes := "at least 1 run of each"
	if a.InRounds {
		takes = "a run of each in the same round"
	}
	text := fmt.Sprintf("a comparison of %s takes %s: %s of %s and %d of %s have a value", a.Metric,
		takes, digits.Plural(int64(a.Runs), "run"), place(at), a.AgainstRuns, place(a.Against))
	switch {
	case a.Needs > 0 && a.InRounds:
		text += fmt.Sprintf(", because a %s needs %s requests in all runs together; make them longer",
			a.Metric, count(a.Needs))
	case a.Needs > 0:
		text += fmt.Sprintf(", because a %s needs %s requests in a run; make the runs longer", a.Metric,
			count(a.Needs))
	case a.InRounds && a.Runs > 0 && a.AgainstRuns > 0:
		text += ", but in different rounds"
	}
	return text
}

// place is where a sample of a comparison is: B, "fast" of B at level "c16".
func place(at fact.Scope) string {
	s := at.Group
	if at.Variant != "" {
		s = fmt.Sprintf("%q of %s", at.Variant, s)
	}
	if at.Level != "" {
		s += fmt.Sprintf(" at level %q", at.Level)
	}
	return s
}
