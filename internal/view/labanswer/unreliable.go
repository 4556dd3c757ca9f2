package labanswer

import (
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
)

// needsQuiet reports whether the experiment has to be run again on a machine that does nothing
// else: more rounds of the same would not help.
func needsQuiet(a answer.Answer) bool {
	return a.Has(answer.SelfDiffers) || a.Has(answer.Disturbed) || areUnreliable(a)
}

// areUnreliable reports whether so many trials are unreliable that more of them would not help.
func areUnreliable(a answer.Answer) bool {
	return slices.ContainsFunc(a.Cautions, isManyUnreliable)
}

func isManyUnreliable(c answer.Caution) bool {
	return c.Kind == answer.GradeF && c.Severity == answer.Bad
}

// dropForecasts takes from undecided findings how many rounds more would decide them, where the
// next step is another.
func dropForecasts(groups []answer.Group) {
	for _, g := range groups {
		for i := range g.Findings {
			f := &g.Findings[i]
			f.More = 0
			if strings.Contains(f.Why, " more would decide") {
				f.Why = tooWide
			}
		}
	}
}

// unreliableOf is why what an experiment found must not be relied on, and "" if it may be, or if it
// found nothing.
func unreliableOf(r *lab.Record, a answer.Answer) string {
	if len(a.Groups) == 0 || weight(a.Groups[0]) < 2 || judge.LeavesNothing(r) {
		return ""
	}
	for _, c := range a.Cautions {
		switch {
		case c.Kind == answer.SelfDiffers:
			return "Do not rely on this, because the baseline differs from itself"
		case isManyUnreliable(c):
			return "Do not rely on this, because " + c.Says
		}
	}
	return ""
}

// butUnreliable follows a verdict that must not be relied on.
const butUnreliable = "but unreliable"

// warn has an answer that must not be relied on say so, in its sentence and of each verdict.
func warn(a *answer.Answer) {
	if a.Unreliable == "" {
		return
	}
	a.Sentence = a.Unreliable + ": " + a.Sentence
	for _, g := range a.Groups {
		for i := range g.Findings {
			f := &g.Findings[i]
			switch {
			case !f.IsDecided() && f.Verdict != answer.Same:
			case f.Why == "":
				f.Why = butUnreliable
			default:
				f.Why += ", " + butUnreliable
			}
		}
	}
}

// unwarned is the reason of a finding without what warn added.
func unwarned(why string) string {
	return strings.TrimSuffix(strings.TrimSuffix(why, butUnreliable), ", ")
}
