package say

import (
	"fmt"
	"strings"

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
		return generatorDoubted(f.Scope, a)
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

// generatorDoubted says in how many runs the generator was doubted, the most frequent reason, and
// where the others are.
func generatorDoubted(of fact.Scope, a fact.GeneratorDoubted) string {
	s := fmt.Sprintf("the generator was %s in %d of the %d runs of %s", a.Verdict, a.Runs, a.Of,
		of.Group)
	if a.Suspect > 0 {
		s += " and suspect in " + digits.Plural(int64(a.Suspect), "other")
	}
	doubted := a.Runs + a.Suspect
	switch {
	case a.Why == "":
		return s
	case doubted == 1 || a.WhyRuns == 0: // that is a fact of an older dyno
		return s + ": " + a.Why
	case a.WhyRuns == 1:
		return s + "; for example, " + a.Why + restOfReasons
	case a.WhyRuns == doubted:
		s += fmt.Sprintf("; the reason in each of these %d runs", doubted)
	default:
		s += fmt.Sprintf("; the most frequent reason (%d runs)", a.WhyRuns)
	}
	if a.OfOne {
		s += ", with the numbers of one"
	}
	return s + ": " + a.Why + restOfReasons
}

// restOfReasons says where all reasons of a run are.
const restOfReasons = "; dyno report FILE has all reasons of a run"

// metricLacking says why there is no comparison of a metric: which runs have none, and what they
// lack.
func metricLacking(at fact.Scope, a fact.MetricLacking) string {
	some := func(n int, of fact.Scope) string {
		return digits.Plural(int64(n), "run") + " of " + place(of)
	}
	runs := some(a.Runs, at) + fmt.Sprintf(" and %d of %s", a.AgainstRuns, place(a.Against))
	switch {
	case a.Runs == 0 && a.AgainstRuns == 0:
		runs = "no run of " + place(at) + " or " + place(a.Against)
	case a.Runs == 0:
		runs = some(a.AgainstRuns, a.Against) + ", but none of " + place(at) + ","
	case a.AgainstRuns == 0:
		runs = some(a.Runs, at) + ", but none of " + place(a.Against) + ","
	}
	has := "have a value"
	if a.Runs+a.AgainstRuns < 2 {
		has = "has a value"
	}
	text := "no comparison of " + a.Metric + ": " + runs + " "
	switch {
	case a.Needs > 0 && a.InRounds:
		return text + fmt.Sprintf("%s, because a %s needs %s requests in all runs together; make them "+
			"longer", has, a.Metric, count(a.Needs))
	case a.Needs > 0:
		return text + fmt.Sprintf("%s the %s requests that a %s needs; make the runs longer",
			strings.TrimSuffix(has, " a value"), count(a.Needs), a.Metric)
	case a.InRounds && a.Runs > 0 && a.AgainstRuns > 0:
		return text + has + ", but in different rounds"
	}
	return text + has
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
