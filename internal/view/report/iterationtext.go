package report

import (
	"fmt"
	"slices"

	"dyno/internal/result"
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
		format.Percentage(share, 4))
}

// scenarioFacts are the lines of a report about users; none without a scenario.
func scenarioFacts(r *result.Result) (all []Fact) {
	if r.Iterations != nil {
		all = append(all, Fact{"iterations", iterationsText(r.Iterations)})
	}
	if len(r.Checks) > 0 {
		all = append(all, Fact{"checks", checksText(&r.Scenario)})
	}
	return all
}

// checkTable has a row for each check, those that failed most often first.
func checkTable(r *result.Result) format.Table {
	if len(r.Checks) == 0 {
		return nil
	}
	all := slices.Clone(r.Checks)
	slices.SortStableFunc(all, func(a, b result.CheckCount) int {
		switch {
		case a.Failed > b.Failed:
			return -1
		case a.Failed < b.Failed:
			return 1
		}
		return 0
	})
	t := format.Table{{"check", "failed", "passed", "share passed"}}
	for _, c := range all {
		share := format.TooFew
		if made := c.Passed + c.Failed; made > 0 {
			share = format.Percentage(float64(c.Passed)/float64(made), 4)
		}
		name := format.Clip(format.PlainLine(c.Name), longestCheck)
		t = append(t, []string{name, format.Count(c.Failed), format.Count(c.Passed),
			share})
	}
	return t
}

// longestCheck is how many characters of a check's name are shown.
const longestCheck = 60

// iterationTimes are the times of iterations; nil where there are none.
func iterationTimes(r *result.Result) (completed, failed *result.Distribution) {
	if r.Iterations == nil {
		return nil, nil
	}
	return r.Iterations.Time, r.Iterations.FailedTime
}

// quietScenario is what the one line of a run says of its users.
func quietScenario(r *result.Result) (all []string) {
	if d, _ := iterationTimes(r); d != nil {
		all = append(all, "iteration p50 "+format.Micros(d.P50), "p99 "+format.Micros(d.P99))
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
