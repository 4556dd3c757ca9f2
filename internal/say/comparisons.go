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
		return fmt.Sprintf("%s and %s are of one experiment, which measured them in pairs; beside "+
			"other runs the pairs are not used: compare %s and %s alone", a.First, a.Other, a.First,
			a.Other)
	case fact.TooFewRuns:
		return fmt.Sprintf("there are too few runs for a verdict: p is at least %.3f after Holm's "+
			"correction for %s; it takes %d runs of each", a.LeastP,
			digits.Plural(int64(a.Compared), "comparison"), a.Needs)
	case fact.GeneratorDoubted:
		return fmt.Sprintf("%d of %d runs of %s are %s; the reason of the first: %s", a.Runs, a.Of,
			f.Scope.Group, a.Verdict, a.Why)
	case fact.GroupIncomplete:
		return fmt.Sprintf("the experiment %s is not complete", f.Scope.Group)
	case fact.GroupQuick:
		return f.Scope.Group + " was a quick run: it tests the experiment, and its numbers prove nothing"
	case fact.NotInGroup:
		return fmt.Sprintf("%s is not in %s", place(f.Scope), a.Group)
	case fact.MetricLacking:
		of, against := place(f.Scope), place(a.Against)
		return fmt.Sprintf("%s of %s cannot be compared: %s of %s %s it, and %d of %s", a.Metric, of,
			digits.Plural(int64(a.Runs), "run"), of, have(a.Runs), a.AgainstRuns, against)
	}
	return ""
}

// have is the verb of n things.
func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
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
