package labanswer

import (
	"fmt"

	"dyno/internal/lab"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// objectiveCautions are the objectives that were missed, and those that a trial left undecided.
func objectiveCautions(r *lab.Record) (all []answer.Caution) {
	var missed, open []string
	for _, o := range r.Objectives {
		of := fmt.Sprintf("%s of %s%s", format.PlainLine(o.Expr), format.PlainLine(o.Arm),
			AtLevel(r, o.Level))
		switch {
		case o.IsMissed():
			missed = append(missed, fmt.Sprintf("%s: met in %d of %d trials", of, o.Met, o.Trials))
		case o.Open != nil: // that the machine spoiled trials is a caution of its own
			open = append(open, of+": "+WhyUndecided(o))
		}
	}
	if len(open) > 0 {
		all = append(all, answer.Caution{Kind: answer.Objectives, Severity: answer.Doubt,
			Says: "Objectives are neither met nor missed", Reasons: open})
	}
	if len(missed) > 0 {
		all = append(all, answer.Caution{Kind: answer.Objectives, Severity: answer.Bad,
			Says: "Objectives were missed", Reasons: missed,
			Remedy: "see which trials missed an objective, in the table of trials",
			Way:    answer.ReadTables})
	}
	return all
}

// WhyUndecided is why an objective is neither met nor missed.
func WhyUndecided(o lab.ObjectiveCount) string {
	if o.Open == nil {
		return "the machine spoiled too many of the trials (grade F)"
	}
	return "in a trial " + report.WhyUndecided(*o.Open)
}
