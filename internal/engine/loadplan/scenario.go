package loadplan

import (
	"math"
	"slices"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// checkScenario is Check of what users do.
func (p *Plan) checkScenario(flaw finder) {
	p.checkFollowTo(flaw)
	if p.Scenario == nil {
		flaw(len(p.Steps)+len(p.Checks)+p.Users > 0, "Scenario",
			"the plan has steps, checks or users, and no scenario that says what users do")
		return
	}
	flaw(len(p.Steps)+len(p.Requests) == 0, "Scenario", "has no step")
	flaw(p.Users < 0 || p.Users > MaxUsers, "Users", "%d is not within 1 to %d", p.Users, MaxUsers)
	threads := min(p.Threads, p.Connections)
	users := p.UserCount()
	flaw(p.HasUsers() && users > 0 && users < threads, "Users",
		"%d cannot be shared by %d threads", users, threads).Mend = "lower {Threads}"
	flaw((p.Ramps() && users == 0 || p.Users == 0 && !p.Ramps()) && p.Parts > 1, "Users",
		"there are too few for part %d of %d", p.Part+1, p.Parts)
	timed := func(r Request) bool { return r.Timeout > 0 }
	flaw(p.Pipeline > 1 && slices.ContainsFunc(p.Requests, timed), "Pipeline", "a request with a "+
		"timeout of its own ends its connection and with it those behind it").Mend =
		"leave one of the two out, or use {HTTP} 2"
	flaw(p.Follow > 0 && len(p.Hurl) > 0, "Follow", "a Hurl file says itself which redirects are "+
		"followed: give its requests the option location: true")
	flaw(p.Follow > 0 && p.Script != nil, "Follow", "a script sees each response, also a redirect, "+
		"and makes each request; dyno follows none for it")
	flaw(p.Follow > 0 && p.Pipeline > 1, "Pipeline", "what follows a redirect has the rest of its "+
		"request's timeout, which ends its connection and with it the requests behind it").Mend =
		"leave one of the two out, or use {HTTP} 2"
	flaw(p.UsersBefore < 0, "UsersBefore", "%d is below 0", p.UsersBefore)
	flaw(p.Probe > 0, "Probe", "sends the same request again and again").Mend =
		"leave it out where requests have {{holes}}, data, users or checks, or redirects are followed"
}

// Want is what the plan wants of each response.
func (p *Plan) Want() (w proto.Want) {
	if p.Scenario != nil {
		w = p.Scenario.Want()
	}
	if p.KeepsWhole() {
		w.AllFields, w.Body = true, max(w.Body, SampledBody)
	}
	if p.Stream.IsSet() { // its events are read wherever in the body they are
		w.Body = math.MaxInt64
		w.Fields = append(slices.Clone(w.Fields), streamFields...)
	}
	return w
}

// streamFields are the fields of an answer that say how its body is read.
var streamFields = []string{"content-type", "content-encoding"}

// StepCount is how many steps there are: an iteration that has none is one of the Requests.
func (p *Plan) StepCount() int {
	if len(p.Steps) == 0 {
		return len(p.Requests)
	}
	return len(p.Steps)
}

// StepName is the name of step i, or of request i where those are the steps.
func (p *Plan) StepName(i int) string {
	if len(p.Steps) == 0 {
		return p.Requests[i].Name
	}
	return p.Steps[i]
}

// LeastChecks is how many of Checks a result has at least: all but the scenario's own, which are
// the last. A script has none of its own, whatever it calls those that it makes.
func (p *Plan) LeastChecks() int {
	if p.Script != nil {
		return len(p.Checks)
	}
	return len(p.Checks) - scenario.OwnChecks(p.Checks)
}

// IsOfRedirects reports whether check i is one that the scenario has because it follows redirects.
func (p *Plan) IsOfRedirects(i int) bool {
	return i >= p.LeastChecks() && scenario.IsOfRedirects(p.Checks[i])
}

// ShowsCheck reports whether people are shown check i, if it failed so often: dyno's own are shown
// where they failed. Those of redirects are counted as redirects.
func (p *Plan) ShowsCheck(i int, failed int64) bool {
	return i < p.LeastChecks() || failed > 0 && !p.IsOfRedirects(i)
}

// MayIdle reports whether connections of a closed load may be idle: users think between steps, or
// are fewer than the requests that can be in flight.
func (p *Plan) MayIdle() bool { return len(p.Steps) > 0 || p.HasUsers() }

// HasUsers reports whether the plan says how many users there are.
func (p *Plan) HasUsers() bool { return p.Users > 0 || p.Ramps() }

// FitThreads lowers Threads to the number of users, if the plan says how many there are.
func (p *Plan) FitThreads() {
	if p.HasUsers() {
		p.Threads = max(min(p.Threads, p.UserCount()), 1)
	}
}

// HasHoles reports whether a request has a hole, so that it needs a scenario.
func (p *Plan) HasHoles() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool { return len(r.Holes) > 0 })
}

// HasTemplates reports whether a request was written with {{.
func (p *Plan) HasTemplates() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool { return r.Template != nil })
}

// IsRandom reports whether the plan needs a Seed: something in it is drawn at random. A Scenario
// can say that it draws nothing.
func (p *Plan) IsRandom() bool {
	m, says := p.Scenario.(interface{ IsRandom() bool })
	return p.Arrival == Poisson || p.Probe > 0 || p.Scenario != nil && (!says || m.IsRandom())
}

// CountsIterations reports whether results tell iterations from requests. An iteration is a request
// if there are no Steps, and if there is one step, which has no checks.
func (p *Plan) CountsIterations() bool {
	return len(p.Steps) > 1 || len(p.Steps) == 1 && len(p.Checks) > 0
}

// UserCount is how many users a plan with a scenario has: of a ramp the most, of a part its own.
func (p *Plan) UserCount() int {
	switch {
	case p.Ramps() && p.isSoundPart():
		return int(p.arrivalsAmong(int64(p.mostUsers())))
	case p.Ramps():
		return p.mostUsers()
	case p.Users > 0:
		return p.Users
	}
	return p.Connections * p.Depth()
}

// ScenarioShare is what of the scenario is worker i's of n. Users are shared out as iterations are,
// so that with as many iterations as users each user has one.
func (p *Plan) ScenarioShare(i, n int) scenario.Share {
	users := int64(p.UserCount())
	s := scenario.Share{FirstUser: p.UsersBefore, FirstIteration: p.Before, Warmup: p.Warmup > 0}
	of := func(worker int) int64 {
		if p.Ramps() {
			own := p.workerSlots(worker, n)
			return own.below(int64(p.mostUsers()))
		}
		return p.quotaOf(users, worker, n)
	}
	for k := range i {
		s.FirstUser += of(k)
		s.FirstIteration += RequestQuota(p, k, n)
	}
	s.Users, s.Iterations = of(i), RequestQuota(p, i, n)
	return s
}
