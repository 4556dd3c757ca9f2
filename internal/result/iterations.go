package result

import (
	"fmt"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result/durations"
	"dyno/internal/result/scripted"
	"dyno/internal/result/unanswered"
	"dyno/internal/say"
)

// A Scenario is what users did, and which responses were right. Its keys are the result's own.
type Scenario struct {
	Iterations *Iterations       `json:"iterations,omitempty"` // see loadplan.Plan.CountsIterations
	Checks     []CheckCount      `json:"checks,omitempty"`     // in the plan's order
	Metrics    []scripted.Metric `json:"metrics,omitempty"`    // that a script counted itself
}

// Iterations are the passages of users through a scenario that were due in the window. Started is
// Completed + Failed + Unfinished. What was due, what waited and the offered rate are counted in
// iterations, not in requests, because iterations are what the schedule starts.
type Iterations struct {
	Users      int    `json:"users"`
	Started    int64  `json:"started"`
	Completed  int64  `json:"completed"`
	Failed     int64  `json:"failed"`            // a step or a check failed, or the scenario said so
	Unfinished int64  `json:"unfinished"`        // not over at the end of the drain
	Warmup     int64  `json:"warmup,omitempty"`  // begun before the window
	Due        *int64 `json:"due,omitempty"`     // open: in the window, Started + Waiting
	Waiting    *int64 `json:"waiting,omitempty"` // open: of Due, never begun

	// Again is how many answers to steps were no errors, although the scenario refused them: it sent
	// something else, a login say, and then the step again.
	Again int64 `json:"again,omitempty"`
	// Logins are the steps that were logins and succeeded; nil: none did, and Again is 0.
	Logins *Logins `json:"logins,omitempty"`

	StartedAfter *int64 `json:"started_after,omitempty"` // open: due in the window and begun after it

	Waited []durations.Bound `json:"waited,omitempty"` // of Waiting, as in Requests

	Rate       IterationRate `json:"rate"`
	Time       *Distribution `json:"time,omitempty"`        // from due to the end, of Completed
	FailedTime *Distribution `json:"failed_time,omitempty"` // likewise, of Failed
}

// Logins are the first success of each user's logins, and each further one.
type Logins struct {
	First int64 `json:"first"`
	Later int64 `json:"later"`
}

// An IterationRate is in iterations per second of the window. Started counts those that were due
// and begun in it, Completed those that completed in it, also of those due in the warm-up.
type IterationRate struct {
	Offered   *float64 `json:"offered,omitempty"` // open: the requested rate
	Started   float64  `json:"started"`
	Completed float64  `json:"completed"`
}

// A CheckCount is how often a check passed and failed: responses to requests, or to steps of
// iterations, of the window.
type CheckCount struct {
	Name   string `json:"name"`
	Passed int64  `json:"passed"`
	Failed int64  `json:"failed"`
}

// setScenario sets what users did.
func (r *Result) setScenario(from *loadresult.Result) {
	t := from.Scenario
	if t == nil {
		return
	}
	for k, c := range t.Checks {
		if from.Plan.ShowsCheck(k, c.Failed) {
			r.Checks = append(r.Checks, CheckCount{c.Name, c.Passed, c.Failed})
		}
	}
	r.Metrics = scripted.From(t.Measures)
	if !from.Plan.CountsIterations() {
		return
	}
	r.Requests.StepsAfter, r.Requests.FailedAfter = t.StepsAfter, t.FailedAfter
	early := int64(0)
	for _, g := range from.Each() {
		if g.Scenario != nil && g.Total != nil {
			early += g.Total.EarlyIterations
		}
	}
	i := &Iterations{Users: t.Users, Started: t.Started, Completed: t.Completed, Failed: t.Failed,
		Unfinished: t.Unfinished, Warmup: t.Warmup, Again: t.Again,
		Rate: IterationRate{Started: perSecond(t.Started-t.StartedAfter, from.Measured),
			Completed: perSecond(t.Completed+early-t.CompletedAfter, from.Measured)}}
	if t.Logins+t.LaterLogins+t.Again > 0 {
		i.Logins = &Logins{t.Logins, t.LaterLogins}
	}
	if from.Plan.Open() {
		offered, waiting := from.Plan.Offered().PerSecond(), from.Waiting
		due, after := t.Started+waiting, t.StartedAfter
		i.Rate.Offered, i.Due, i.Waiting, i.StartedAfter = &offered, &due, &waiting, &after
		i.Waited = unanswered.Waited(from.Waited)
	}
	if t.Time != nil && t.Time.Count > 0 {
		i.Time = durations.New(t.Time)
	}
	if t.FailedTime != nil && t.FailedTime.Count > 0 {
		i.FailedTime = durations.New(t.FailedTime)
	}
	r.Iterations = i
}

// Passed is the share, from 0 to 1, in which the check of that name passed, or with "" all checks
// together. ok is false if none was made.
func (s *Scenario) Passed(name string) (share float64, ok bool) {
	var passed, all int64
	for _, c := range s.Checks {
		if name == "" || c.Name == name {
			passed, all = passed+c.Passed, all+c.Passed+c.Failed
		}
	}
	return float64(passed) / float64(max(all, 1)), all > 0
}

// InTime is the share, 0 to 1, of what was due in the window that was sent in it, as
// Requests.InTime; with a scenario of iterations, that were begun in it.
func (r *Result) InTime() (share float64, ok bool) {
	i := r.Iterations
	if i == nil {
		return r.Requests.InTime()
	}
	if i.Due == nil || i.StartedAfter == nil {
		return 0, false
	}
	return float64(i.Started-*i.StartedAfter) / float64(max(*i.Due, 1)), *i.Due > 0
}

// Offered is the rate that was asked of an open workload, in what -R counts: requests, or
// iterations. It is nil of a closed one.
func (r *Result) Offered() *float64 {
	if r.Iterations != nil {
		return r.Iterations.Rate.Offered
	}
	return r.Rate.Offered
}

// Backlog is how much of what was due in an open workload was never sent, or only after the window,
// and how much of it was sent in all.
func (r *Result) Backlog() (waiting, after, sent int64) {
	if i := r.Iterations; i != nil {
		return orZero(i.Waiting), orZero(i.StartedAfter), i.Started
	}
	if r.Plan.CountsIterations() { // of a lost agent
		return 0, 0, r.Requests.Sent
	}
	q := r.Requests
	return orZero(q.Waiting), orZero(q.SentAfter), q.Sent
}

// Counted returns words for what -n and -R count: requests, which are sent, or iterations, which
// are begun. why says why no more of them could be.
func (r *Result) Counted() (what, begun, why string) {
	what, begun = "requests", "sent"
	if r.Plan.CountsIterations() {
		what, begun = "iterations", "begun"
	}
	return what, begun, say.Shortage(r.Shortage())
}

// Shortage is what there was too little of, if an open workload did not reach its rate.
func (r *Result) Shortage() fact.Shortage {
	s := fact.Shortage{Of: fact.OfConnections, Connections: r.Plan.Connections}
	if r.Plan.CountsIterations() || r.Plan.HasUsers() {
		if s.Of, s.Users = fact.OfEither, r.userCount(); r.Plan.HasUsers() && s.Users < r.inFlight() {
			s.Of = fact.OfUsers
		}
	}
	if r.WasGone() {
		s.Of, s.OutageUS = fact.OfServer, r.Window.OutageS*1e6
	}
	return s
}

// WasGone reports whether most of what was due in an open workload and not sent in the window was
// not sent because no connection could be opened. More connections then help nothing.
func (r *Result) WasGone() bool {
	waiting, after, sent := r.Backlog()
	return r.Window.OutageS > 0 &&
		2*r.Window.OutageS*float64(sent+waiting) >= r.Window.MeasuredS*float64(waiting+after)
}

// userCount is how many users there were.
func (r *Result) userCount() int {
	if r.Iterations != nil {
		return r.Iterations.Users
	}
	return r.Plan.UserCount()
}

// checkScenario finds numbers of iterations and checks that cannot be.
func checkScenario(r *Result) (all []error) {
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	all = append(all, scripted.Check(r.Metrics))
	expected := r.Plan.CountsIterations()
	n, most := len(r.Checks), len(r.Plan.Checks)
	wrong(n > 0 && (n < r.Plan.LeastChecks() || n > most), "there are %d checks, and the plan has %d",
		n, most)
	i := r.Iterations
	if i == nil {
		wrong(expected && n > 0, "there are checks and no iterations")
		return all
	}
	wrong(!expected, "there are iterations, and the plan has no scenario of several steps or checks")
	wrong(r.Requests.Due != nil || r.Requests.Waiting != nil || r.Rate.Offered != nil,
		"requests have what iterations have: due, waiting and offered")
	wrong(slices.Min([]int64{int64(i.Users), i.Started, i.Completed, i.Failed, i.Unfinished, i.Warmup,
		i.Again, orZero(i.Waiting), orZero(i.StartedAfter)}) < 0, "iterations: a count is below 0")
	wrong(i.Again > r.Requests.Completed, "iterations.again is %d, and %d requests completed", i.Again,
		r.Requests.Completed)
	if l := i.Logins; l != nil {
		wrong(l.First < 0 || l.Later < 0 || l.First > r.Requests.Completed-l.Later, "iterations.logins "+
			"are %d and %d, and %d requests completed", l.First, l.Later, r.Requests.Completed)
	}
	err := durations.CheckBounds(i.Waited, orZero(i.Waiting))
	wrong(err != nil, "iterations.waited: %v", err)
	wrong(orZero(i.StartedAfter) > i.Started, "iterations: %d began after the window, of %d",
		orZero(i.StartedAfter), i.Started)
	wrong(i.Due != nil && *i.Due != i.Started+orZero(i.Waiting), "iterations.due is %d, and %d "+
		"were begun and %d not", orZero(i.Due), i.Started, orZero(i.Waiting))
	rates := []float64{i.Rate.Started, i.Rate.Completed}
	if i.Rate.Offered != nil {
		rates = append(rates, *i.Rate.Offered)
	}
	wrong(slices.Min(rates) < 0 || slices.Max(rates) > r.mostRate(), "iterations.rate is not within "+
		"0 and %.6g a second", r.mostRate())
	for name, d := range map[string]*Distribution{"time": i.Time, "failed_time": i.FailedTime} {
		if d != nil {
			all = append(all, d.Check("iterations."+name))
		}
	}
	return append(all, i.checkSums())
}

// checkSums checks that the outcomes of iterations add up to their number, and that each that is
// over has its time.
func (i *Iterations) checkSums() error {
	if i == nil {
		return nil
	}
	if i.Completed+i.Failed+i.Unfinished != i.Started || i.Time.Counted() != i.Completed ||
		i.FailedTime.Counted() != i.Failed {
		return fmt.Errorf("%d iterations are not %d completed, %d failed and %d unfinished, or have "+
			"not so many times", i.Started, i.Completed, i.Failed, i.Unfinished)
	}
	return nil
}

// iterations are r's iterations; new ones, which are not r's, if there are none.
func (r *Result) iterations() *Iterations {
	if r.Iterations == nil {
		return new(Iterations)
	}
	return r.Iterations
}

// IterationTime is the time of the iterations that completed; nil if there were none.
func (r *Result) IterationTime() *Distribution { return r.iterations().Time }

// FailedIterationTime is the time of the iterations that failed; nil if there were none.
func (r *Result) FailedIterationTime() *Distribution { return r.iterations().FailedTime }
