package say

import (
	"fmt"

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
		return fmt.Sprintf("%s and %s are of one experiment, whose rounds are pairs; beside runs of "+
			"others they are compared as if they had been measured apart: compare them alone", a.First,
			a.Other)
	case fact.TooFewRuns:
		return fmt.Sprintf("too few runs: after Holm's correction for all that is compared, %d in "+
			"number, p is at least %.3f, so that nothing can be significant; for a verdict it takes %d "+
			"runs of each", a.Compared, a.LeastP, a.Needs)
	case fact.GeneratorDoubted:
		return fmt.Sprintf("%d of %d runs of %s are %s, the first because: %s", a.Runs, a.Of,
			f.Scope.Group, a.Verdict, a.Why)
	case fact.GroupIncomplete:
		return fmt.Sprintf("the experiment %s is not complete", f.Scope.Group)
	case fact.GroupQuick:
		return f.Scope.Group + " was a quick run: it shows that the experiment works, not what it says"
	case fact.NotInGroup:
		return fmt.Sprintf("%s is not in %s", place(f.Scope), a.Group)
	case fact.MetricLacking:
		return fmt.Sprintf("%s of %s cannot be compared: %d runs have it, and %d of %s", a.Metric,
			place(f.Scope), a.Runs, a.AgainstRuns, place(a.Against))
	}
	return ""
}

// place is where a sample of a comparison is: "B", "B fast at c16".
func place(at fact.Scope) string {
	s := at.Group
	if at.Variant != "" {
		s += " " + at.Variant
	}
	if at.Level != "" {
		s += " at " + at.Level
	}
	return s
}
