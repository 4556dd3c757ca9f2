package load

import (
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// This file is what a scenario is to the plan and to the result. What its users do while there is
// load is in users.go and steps.go.

// checkScenario is Check of what users do.
func (p *Plan) checkScenario(flaw func(bool, string, string, ...any)) {
	if p.Scenario == nil {
		flaw(len(p.Steps)+len(p.Checks)+p.Users > 0, "scenario",
			"the plan has steps, checks or users, and no scenario that says what users do")
		return
	}
	flaw(len(p.Steps) == 0, "scenario", "has no step")
	flaw(p.Users < 0 || p.Users > MaxUsers, "--users", "%d is not within 1 to %d", p.Users, MaxUsers)
	threads := min(p.Threads, p.Connections)
	flaw(p.Users > 0 && p.Users < threads, "--users", "%d cannot be shared by %d threads; "+
		"lower --threads", p.Users, threads)
	flaw(p.Users == 0 && p.Parts > 1, "--users", "there are too few for part %d of %d",
		p.Part+1, p.Parts)
	flaw(p.UsersBefore < 0, "users before", "%d is below 0", p.UsersBefore)
	flaw(p.Probe > 0, "--probe", "sends the same request again and again, and a scenario does not")
}

// want is what the plan wants of each response.
func (p *Plan) want() proto.Want {
	if p.Scenario == nil {
		return proto.Want{}
	}
	return p.Scenario.Want()
}

// stepRoutes are the steps, as newRoutes takes them.
func (p *Plan) stepRoutes() []Request {
	all := make([]Request, len(p.Steps))
	for i := range all {
		all[i].Name = p.Steps[i]
	}
	return all
}

// isRandom reports whether the plan needs a seed.
func (p *Plan) isRandom() bool {
	return p.Arrival == Poisson || p.Probe > 0 || p.Scenario != nil
}

// CountsIterations reports whether results tell iterations from requests. With a scenario of one
// step, which has no checks, an iteration is a request.
func (p *Plan) CountsIterations() bool { return len(p.Steps) > 1 || len(p.Checks) > 0 }

// UserCount is how many users a plan with a scenario has.
func (p *Plan) UserCount() int {
	if p.Users > 0 {
		return p.Users
	}
	return p.Connections * max(p.Pipeline, p.Streams)
}

// scenarioShare is what of the scenario is worker i's of n. Users are shared out as iterations are,
// so that with as many iterations as users each user has one.
func (p *Plan) scenarioShare(i, n int) scenario.Share {
	users := int64(p.UserCount())
	s := scenario.Share{FirstUser: p.UsersBefore, FirstIteration: p.Before}
	for k := range i {
		s.FirstUser += p.quotaOf(users, k, n)
		s.FirstIteration += requestQuota(p, k, n)
	}
	s.Users, s.Iterations = p.quotaOf(users, i, n), requestQuota(p, i, n)
	return s
}

// ScenarioTotals are what users did. An iteration belongs to the window if it was due in it; of it
// are its steps and their checks.
type ScenarioTotals struct {
	Users  int
	Warmup int64 // iterations begun before the window

	Started    int64 // iterations of the window that were begun
	Completed  int64 // of them
	Failed     int64 // of them: a step failed, or the scenario said so
	Unfinished int64 // of them: not over at the end of the run

	StartedAfter   int64 // of Started: due in the window and begun after it
	CompletedAfter int64 // of those, completed

	Time       *metric.Histogram // Fine; ns from due to the end, of completed iterations
	FailedTime *metric.Histogram // likewise, of those that failed
	Checks     []CheckTotals     // as the plan names them

	Took     int64 // ns in the window that the scenario itself took, of all threads; estimated
	TookMost int64 // of the thread in which that was longest
}

// CheckTotals are the outcomes of one check of a scenario.
type CheckTotals struct {
	Name           string
	Passed, Failed int64
}

func newScenarioTotals(checks []string) *ScenarioTotals {
	t := &ScenarioTotals{Time: metric.NewHistogram(metric.Fine),
		FailedTime: metric.NewHistogram(metric.Fine)}
	for _, name := range checks {
		t.Checks = append(t.Checks, CheckTotals{Name: name})
	}
	return t
}

// addScenario adds what another worker's users did; nil if there is no scenario.
func (t *Totals) addScenario(from *ScenarioTotals) {
	if from == nil {
		return
	}
	if t.Scenario == nil {
		t.Scenario = newScenarioTotals(nil)
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
	to.StartedAfter += from.StartedAfter
	to.CompletedAfter += from.CompletedAfter
	to.Time.Merge(from.Time)
	to.FailedTime.Merge(from.FailedTime)
	for i, c := range from.Checks {
		to.Checks[i].Passed += c.Passed
		to.Checks[i].Failed += c.Failed
	}
	to.Took += from.Took
	to.TookMost = max(to.TookMost, from.TookMost)
}

// countStart counts an iteration of the window that begins, maybe after the window's end.
func (t *ScenarioTotals) countStart(after bool) {
	t.Started++
	if after {
		t.StartedAfter++
	}
}

// countEnd counts an iteration of the window that took so many ns, and may have begun after it.
func (t *ScenarioTotals) countEnd(took int64, after, failed bool) {
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

// countChecks counts the outcomes of the checks of a step of the window.
func (t *ScenarioTotals) countChecks(r *scenario.Response) {
	for _, c := range r.Checks() {
		if c.OK {
			t.Checks[c.Check].Passed++
		} else {
			t.Checks[c.Check].Failed++
		}
	}
}
