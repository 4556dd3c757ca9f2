package loadresult

import (
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/scenario"
)

// ScenarioTotals are what users did. An iteration belongs to the window if it was due in it, and so
// does a step, with its checks.
type ScenarioTotals struct {
	Users  int
	Warmup int64 // iterations begun before the window

	Started    int64 // iterations of the window that were begun
	Completed  int64 `json:"-"` // of them
	Failed     int64 `json:"-"` // of them: a step failed, or the scenario said so
	Unfinished int64 // of them: not over at the end of the run

	// Again is how many answers to steps of the window were no errors, because the scenario sent
	// something else and then the step again.
	Again int64 `json:"again,omitempty"`
	// Logins and LaterLogins are how many steps of the window were logins that succeeded: the first
	// of a user, and others.
	Logins      int64 `json:"logins,omitempty"`
	LaterLogins int64 `json:"later_logins,omitempty"`

	StartedAfter   int64 // of Started: due in the window and begun after it
	CompletedAfter int64 // iterations that were counted and completed after the window
	StepsAfter     int64 // steps due after the window, of iterations of the window
	FailedAfter    int64 // of those, that failed or were answered with an error

	Time       *metric.Histogram `json:"-"` // Fine; ns from due to the end, of completed iterations
	FailedTime *metric.Histogram // likewise, of those that failed
	Checks     []CheckTotals     `json:"-"` // as the plan names them

	// TookMost is how many ns of the window the scenario itself took of the thread of which it took
	// most; estimated.
	TookMost int64

	Measures []metric.Named // that the scenario's own code counts, in the order of their names
}

// CheckTotals are the outcomes of one check of a scenario.
type CheckTotals struct {
	Name           string
	Passed, Failed int64
}

// NewScenarioTotals returns totals of nothing, with a count for each check of that name.
func NewScenarioTotals(checks []string) *ScenarioTotals {
	t := &ScenarioTotals{Time: metric.NewHistogram(metric.Fine),
		FailedTime: metric.NewHistogram(metric.Fine)}
	for _, name := range checks {
		t.Checks = append(t.Checks, CheckTotals{Name: name})
	}
	return t
}

// setIntervals sets what the intervals of a generator have of its users: see Tally.
func (t *ScenarioTotals) setIntervals(p *loadplan.Plan, sum *Tally) {
	t.Completed, t.Failed = sum.Iterations, sum.IterationsFailed
	t.Time, t.Checks = sum.IterationTime.Histogram(metric.Fine), nil
	for i, name := range p.Checks {
		c := CheckTotals{Name: name}
		if i < len(sum.Checks) {
			c.Passed, c.Failed = sum.Checks[i].Passed, sum.Checks[i].Failed
		}
		t.Checks = append(t.Checks, c)
	}
}

// addScenario adds what another worker's users did; nil if there is no scenario.
func (t *Totals) addScenario(from *ScenarioTotals) {
	if from == nil {
		return
	}
	if t.Scenario == nil {
		t.Scenario = NewScenarioTotals(nil)
		for _, c := range from.Checks {
			t.Scenario.Checks = append(t.Scenario.Checks, CheckTotals{Name: c.Name})
		}
	}
	to := t.Scenario
	to.Users += from.Users
	to.Warmup += from.Warmup
	to.Started += from.Started
	to.Completed += from.Completed
	to.Failed += from.Failed
	to.Unfinished += from.Unfinished
	to.Again += from.Again
	to.Logins += from.Logins
	to.LaterLogins += from.LaterLogins
	to.StartedAfter += from.StartedAfter
	to.CompletedAfter += from.CompletedAfter
	to.StepsAfter += from.StepsAfter
	to.FailedAfter += from.FailedAfter
	to.Time.Merge(from.Time)
	to.FailedTime.Merge(from.FailedTime)
	for i, c := range from.Checks {
		to.Checks[i].Passed += c.Passed
		to.Checks[i].Failed += c.Failed
	}
	to.TookMost = max(to.TookMost, from.TookMost)
	to.Measures = metric.AddNamed(to.Measures, from.Measures)
}

// CountStart counts an iteration of the window that begins, maybe after the window's end.
func (t *ScenarioTotals) CountStart(after bool) {
	t.Started++
	if after {
		t.StartedAfter++
	}
}

// CountEnd counts an iteration of the window that took so many ns, and may have ended after it.
func (t *ScenarioTotals) CountEnd(took int64, after, failed bool) {
	if failed {
		t.Failed++
		t.FailedTime.Record(took)
		return
	}
	t.Completed++
	if after {
		t.CompletedAfter++
	}
	t.Time.Record(took)
}

// CountChecks counts the outcomes of the checks of a step of the window, also as those of the
// interval, now, and whether the step is sent again or was a login.
func (t *ScenarioTotals) CountChecks(r *scenario.Response, now []metric.Outcomes) {
	if r.Again {
		t.Again++
	}
	switch r.Login {
	case scenario.FirstLogin:
		t.Logins++
	case scenario.LaterLogin:
		t.LaterLogins++
	}
	for _, c := range r.Checks() {
		if c.OK {
			t.Checks[c.Check].Passed++
			now[c.Check].Passed++
		} else {
			t.Checks[c.Check].Failed++
			now[c.Check].Failed++
		}
	}
}

// PrepareCounters has an interval's counters count what a plan has: iterations, checks, events of
// streams.
func PrepareCounters(p *loadplan.Plan, c *metric.Counters) {
	if p.Stream.IsSet() {
		c.CountStreams()
	}
	if p.Scenario != nil {
		c.CountScenario(p.CountsIterations(), len(p.Checks))
	}
}
