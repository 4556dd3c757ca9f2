package screen

import (
	"fmt"

	"dyno/internal/engine/metric"
	"dyno/internal/view/format"
	"dyno/internal/view/report"
)

// scenarioRows are what users did so far and which checks failed; none without a scenario that has
// these.
func (s *Screen) scenarioRows() (all []row) {
	if s.plan.CountsIterations() {
		all = append(all, s.iterationRow())
	}
	if len(s.plan.Checks) > 0 {
		all = append(all, s.checkRow())
	}
	return all
}

// iterationRow has the iterations of the last second and of all.
func (s *Screen) iterationRow() row {
	text := "none over yet"
	if n := len(s.minute); n > 0 && s.errors.Iterations+s.errors.IterationsFailed > 0 {
		iv := s.minute[n-1]
		text = report.PerSecondText(iv, format.Digits3, iv.Passed()) + "/s"
		if all := s.passages.ToSparse(); all.Count > 0 {
			text += fmt.Sprintf("; p50 %s, p99 %s of all %s", format.Micros(float64(all.Quantile(0.5))/1e3),
				format.Micros(float64(all.Quantile(0.99))/1e3), format.Count(all.Count))
		}
		text += fmt.Sprintf(", %s failed", format.Count(s.errors.IterationsFailed))
	}
	c := format.Color("")
	if s.errors.IterationsFailed > 0 {
		c = format.Yellow
	}
	return row{fmt.Sprintf(factLine, "iterations", text), c}
}

// checkRow has how many checks passed, and the check that failed most often.
func (s *Screen) checkRow() row {
	var sum, worst metric.Outcomes
	name := ""
	for i, n := range s.errors.Checks[:min(len(s.errors.Checks), len(s.plan.Checks))] {
		sum.Passed, sum.Failed = sum.Passed+n.Passed, sum.Failed+n.Failed
		if n.Failed > worst.Failed {
			worst, name = n, s.plan.Checks[i]
		}
	}
	text, c := "none made yet", format.Color("")
	if made := sum.Passed + sum.Failed; made > 0 {
		text = format.Count(made) + " made, all passed"
		if sum.Failed > 0 {
			c = format.Red
			text = fmt.Sprintf("%s made, %s failed, of them %s × %s", format.Count(made),
				format.Count(sum.Failed), format.Count(worst.Failed), format.PlainLine(name))
		}
	}
	return row{fmt.Sprintf(factLine, "checks", text), c}
}
