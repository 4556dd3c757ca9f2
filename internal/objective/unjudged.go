package objective

import (
	"slices"

	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/say"
)

// NoteUnjudged adds to r, whose objectives were judged and none of them missed, that many of its
// requests failed and that no objective counts these.
func NoteUnjudged(r *result.Result) {
	share := r.FailedShare()
	if len(r.Objectives) == 0 || share < result.FailingShare ||
		slices.ContainsFunc(r.Objectives, func(out result.Outcome) bool {
			o, err := Parse(out.Expr)
			return err != nil || out.IsMissed() || o.whose == "errors" || o.whose == "checks"
		}) {
		return
	}
	f := fact.Fact{Severity: fact.Error, Args: fact.ErrorsUnjudged{Percent: 100 * share},
		Remedies: []fact.Remedy{{Setting: "slo", Value: "errors<1%"}}}
	r.Facts = slices.Insert(r.Facts, 0, f)
	r.Warnings = slices.Insert(r.Warnings, 0, say.Text(f, r.Voice()))
}
