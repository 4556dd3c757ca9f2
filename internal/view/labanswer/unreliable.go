package labanswer

import (
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
)

// needsQuiet reports whether cautions say that the experiment has to be run again on a machine that
// does nothing else: more rounds of the same would not help.
func needsQuiet(cautions []answer.Caution) bool {
	return slices.ContainsFunc(cautions, func(c answer.Caution) bool {
		return c.Kind == answer.SelfDiffers || c.Kind == answer.Disturbed || c.IsManyUnreliable()
	})
}

// FindingOf is the verdict of a comparison by itself. all are those that it was judged among.
func FindingOf(c lab.Comparison, all []lab.Comparison) (f answer.Finding) {
	switch {
	case c.Control && c.Verdict == stats.Different:
		f.Verdict = answer.SelfDiffering
	case c.Control:
		f.Verdict = answer.Noise
	default:
		f.Verdict, f.Because, f.Why = verdictOf(c, all)
	}
	return f
}

// Findings are what the answer of an experiment says of each of its comparisons, in their order. A
// baseline against itself is noise, or differs from itself.
func Findings(r *lab.Record) []answer.Finding {
	all := make([]answer.Finding, len(r.Verdicts))
	for i, c := range r.Verdicts {
		all[i] = FindingOf(c, r.Verdicts)
	}
	for _, g := range Of(r).Groups {
		for _, f := range g.Findings {
			all[f.Comparison] = f
		}
	}
	return all
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
