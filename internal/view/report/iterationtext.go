package report

import (
	"cmp"
	"fmt"
	"slices"

	"dyno/internal/result"
	"dyno/internal/view/document"
	"dyno/internal/view/format"
)

// iterationsText is what users did, and what became of what they began.
func iterationsText(i *result.Iterations) string {
	s := fmt.Sprintf("%s begun by %s: %s completed, %s failed, %s unfinished",
		format.Count(i.Started), format.Plural(int64(i.Users), "user"), format.Count(i.Completed),
		format.Count(i.Failed), format.Count(i.Unfinished))
	if i.StartedAfter != nil && *i.StartedAfter > 0 {
		s += fmt.Sprintf("; %s of them begun after the window", format.Count(*i.StartedAfter))
	}
	if i.Waiting != nil && *i.Waiting > 0 {
		s += fmt.Sprintf("; %s more due and NEVER BEGUN", format.Count(*i.Waiting))
	}
	return s
}

// checksText is how many checks passed.
func checksText(s *result.Scenario) string {
	share, made := s.Passed("")
	if !made {
		return "none was made"
	}
	var passed, failed int64
	for _, c := range s.Checks {
		passed, failed = passed+c.Passed, failed+c.Failed
	}
	return fmt.Sprintf("%s of %s passed (%s)", format.Count(passed), format.Count(passed+failed),
		format.FinePercent(share))
}

// scenarioRows are the lines of a report about iterations and checks, as far as there are any.
func scenarioRows(r *result.Result) (all []document.Row) {
	if r.Iterations != nil {
		all = append(all, document.Row{Name: "iterations", Text: iterationsText(r.Iterations)})
		if l := r.Iterations.Logins; l != nil {
			all = append(all, document.Row{Name: "logins", Text: format.Count(l.First) + " first, " +
				format.Count(l.Later) + " later; " + format.Plural(r.Iterations.Again, "answer") + " refused"})
		}
	}
	if len(r.Checks) > 0 {
		all = append(all, document.Row{Name: "checks", Text: checksText(&r.Scenario)})
	}
	return all
}

// ByFailures are the places of checks, of those that failed most often first.
func ByFailures(all []result.CheckCount) []int {
	places := make([]int, len(all))
	for i := range all {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Compare(all[b].Failed, all[a].Failed)
	})
	return places
}

// CheckTable has a row for each check, ByFailures.
func CheckTable(r *result.Result) format.Table {
	if len(r.Checks) == 0 {
		return nil
	}
	t := format.Table{{"check", "failed", "passed", "share passed"}}
	for _, i := range ByFailures(r.Checks) {
		c, share := r.Checks[i], format.TooFew
		if made := c.Passed + c.Failed; made > 0 {
			share = format.FinePercent(float64(c.Passed) / float64(made))
		}
		t = append(t, []string{format.Clip(format.PlainLine(c.Name), longestCheck),
			format.Count(c.Failed), format.Count(c.Passed), share})
	}
	return t
}

// MetricTable has a row for each counter and each histogram of a script.
func MetricTable(r *result.Result) format.Table {
	if len(r.Metrics) == 0 {
		return nil
	}
	t := format.Table{{"metric", "value", "count", "mean", "p50", "p99", "max"}}
	for _, m := range r.Metrics {
		row := []string{format.Clip(format.PlainLine(m.Name), longestCheck), "", "", "", "", "", ""}
		switch v := m.Values; {
		case m.Value != nil:
			row[1] = MetricText(*m.Value)
		case v == nil:
			row[2] = "0"
		default:
			row[2] = format.Count(v.Count)
			for i, x := range []float64{v.Mean, v.P50, v.P99, v.Max} {
				row[3+i] = MetricText(x)
			}
		}
		t = append(t, row)
	}
	return t
}

// MetricText is a value whose meaning only the script knows: six digits, or all of a whole number.
func MetricText(x float64) string { return format.SignificantDigits(x, 6) }

// longestCheck is how many characters of a check's name are shown.
const longestCheck = 60

// quietScenario is what the one line of a run says of its users.
func quietScenario(r *result.Result) (all []string) {
	if d := r.IterationTime(); d != nil {
		all = append(all, "iteration p50 "+percentileText(d, "p50"),
			"p99 "+percentileText(d, "p99"))
	}
	var failed int64
	for _, c := range r.Checks {
		failed += c.Failed
	}
	if len(r.Checks) > 0 {
		all = append(all, format.Plural(failed, "failed check"))
	}
	return all
}
