package labanswer

import (
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
)

// needsQuiet reports whether cautions say that the experiment has to be run again on a machine that
// does nothing else: more rounds of the same would not help.
func needsQuiet(cautions []answer.Caution) bool {
	return slices.ContainsFunc(cautions, func(c answer.Caution) bool {
		return c.Kind == answer.SelfDiffers || c.Kind == answer.Disturbed || c.IsManyUnreliable()
	})
}

// Verdicts are the comparisons of an experiment. If it has to be run again on a quiet machine, none
// has a forecast.
func Verdicts(r *lab.Record) []lab.Comparison {
	if needsQuiet(cautionsOf(r)) {
		return judge.WithoutForecasts(r.Verdicts)
	}
	return r.Verdicts
}

// withhold marks an answer that must not be relied on: its sentence says why, and nothing
// else; each verdict is marked. An answer that found nothing has none to take back.
func withhold(r *lab.Record, a *answer.Answer) {
	if len(a.Groups) == 0 || weight(a.Groups[0]) < 2 || judge.LeavesNothing(r) {
		return
	}
	at := slices.IndexFunc(a.Cautions, func(c answer.Caution) bool {
		return c.Kind == answer.SelfDiffers || c.IsManyUnreliable()
	})
	if at < 0 {
		return
	}
	c := a.Cautions[at]
	why := c.Says
	if c.Kind == answer.SelfDiffers {
		why = "the baseline differs from itself"
	}
	a.Unreliable, a.Withheld = "Do not rely on this, because "+why, c.Kind
	a.Sentence = a.Unreliable // a figure that stands beside this is quoted without it
	for _, g := range a.Groups {
		for i, f := range g.Findings {
			if f.IsDecided() || f.Verdict == answer.Same {
				g.Findings[i].Unreliable = answer.ButUnreliable
			}
		}
	}
}
