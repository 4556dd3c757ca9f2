package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// mergeResults merges what all agents measured into one result.
func (r *fleetRun) mergeResults() (*result.Result, error) {
	f := &result.Fleet{Run: r.id, OnAgentLoss: r.onLoss}
	begun := 0 // agents whose start is known
	var all []*result.Result
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, m := range r.members {
		r.acceptFinal(m)
		part, a, err := r.memberResult(m)
		if err != nil {
			return nil, err
		}
		if a.Late != nil {
			at := r.start + int64(*a.Late*1e3)
			first, last = min(first, at), max(last, at)
			begun++
		}
		f.OffsetBound = max(f.OffsetBound, a.OffsetBound)
		f.DriftBound = max(f.DriftBound, float64(m.drift.bound)/1e3)
		f.Covered += a.Covered
		all = append(all, part)
		f.Agents = append(f.Agents, a)
	}
	markAbandoned(all, f.Agents)
	whole, err := result.Merge(all)
	if err != nil {
		return nil, err
	}
	if begun > 1 || begun == len(r.members) {
		spread := float64(last-first) / 1e3
		f.StartSpread = &spread
	}
	planned := whole.Window.MeasuredS
	if d := time.Duration(r.plan.Duration); d > 0 && r.plan.Requested == 0 {
		planned = d.Seconds()
	}
	f.Planned = planned * float64(len(r.members))
	f.Rebalanced = r.rebalances
	whole.Plan.Addresses = r.plan.Addresses
	whole.SetIntervalPercentiles(r.seconds)
	if r.endedByLoss { // the others were stopped because of it
		whole.Ended = string(loadresult.Lost)
	}
	whole.SetFleet(f)
	return whole, nil
}

// markAbandoned counts agents as lost that ran out of connections while others went on. If that
// happened to all agents, it is what was measured.
func markAbandoned(all []*result.Result, agents []result.Agent) {
	without := func(r *result.Result) bool {
		return slices.Contains([]loadresult.Ending{loadresult.Gone, loadresult.Unserved,
			loadresult.Unreachable}, loadresult.Ending(r.Ended))
	}
	onward := func(r *result.Result) bool { return !without(r) && r.Ended != string(loadresult.Lost) }
	if !slices.ContainsFunc(all, onward) {
		return
	}
	for i, r := range all {
		if without(r) {
			agents[i].Lost = fmt.Sprintf("no connection of it was opened, or answered (%s)", r.Cause)
			agents[i].LostAfter = &r.Window.MeasuredS
			r.Ended, r.Cause = string(loadresult.Lost), ""
		}
	}
}

// memberResult returns a member's result, and how the agent fared.
func (r *fleetRun) memberResult(m *member) (*result.Result, result.Agent, error) {
	a := result.Agent{Name: m.name, Host: m.hello.Host, Weight: m.hello.Weight,
		Connections: m.part.Connections, ClockOff: math.Round(m.wallAhead.Seconds()*1e3) / 1e3,
		Reports: m.reported.received, Repeated: m.repeated, Lost: m.lost}
	if m.lost != "" {
		after := m.lostAt.Seconds()
		a.LostAfter = &after
	}
	if m.offset != unknownOffset() {
		a.OffsetBound = float64(m.offset.bound) / 1e3
	}
	if m.drift.known {
		gone := float64(m.drift.moved) / 1e3
		a.Drift = &gone
	}
	if part := m.result; part != nil {
		if m.lost != "" { // its own reason is not the run's
			part.Ended = string(loadresult.Lost)
		}
		if part.Window.MeasuredS > 0 {
			late := float64(m.loadStart(r)-r.start+m.final.Late) / 1e3
			a.Late = &late
		}
		agree := true // checkedFinal has compared them
		a.Final, a.AddsUp, a.Requests, a.Covered = true, &agree, part.Requests, part.Window.MeasuredS
		a.Threads = part.Generator.Threads
		return part, a, nil
	}
	part, err := m.reported.partialResult(m.part)
	if err != nil { // its reports cannot be read either
		part, err = new(reportedSeconds).partialResult(m.part)
	}
	if err != nil {
		return nil, a, err
	}
	part.Window.Started = r.clock.instantOf(r.start).UTC()
	if part.Plan, err = r.storedPlan(m, partThreads(m.part, m.hello.Threads)); err != nil {
		return nil, a, err
	}
	a.Requests, a.Covered, a.Threads = part.Requests, part.Window.MeasuredS, part.Generator.Threads
	return part, a, nil
}

// partialResult returns a result made of the reports of an agent that sent no final. It knows
// nothing of requests in flight, connections and threads.
func (t *reportedSeconds) partialResult(p loadplan.Plan) (*result.Result, error) {
	total := metric.NewCounters()
	s := t.sum
	total.Sent, total.Completed, total.Failed = s.Sent, s.Completed, s.Failed
	total.Received, total.Written = s.Received, s.Written
	for code, n := range s.Status {
		if int(code) < metric.Statuses {
			total.Status[code] = n
		}
	}
	total.Latency.MergeSparse(t.latency)
	total.Service.MergeSparse(t.service)
	total.ErrorLatency.MergeSparse(t.errors)
	measured := s.To
	if d := time.Duration(p.Duration); d > 0 {
		measured = min(measured, d)
	}
	seconds, err := t.allSeconds()
	if err != nil {
		return nil, err
	}
	r := &loadresult.Result{Plan: p, Ended: loadresult.Lost, Total: total, Measured: measured,
		Warmed: time.Duration(p.Warmup), Intervals: seconds}
	r.Unfinished, r.Failures = max(s.Sent-s.Completed-s.Failed, 0), s.Failures
	if !p.CountsIterations() && len(p.Checks) > 0 { // of iterations it does not know those unfinished
		r.Scenario = loadresult.NewScenarioTotals(p.Checks)
		for i, n := range s.Checks {
			r.Scenario.Checks[i].Passed, r.Scenario.Checks[i].Failed = n.Passed, n.Failed
		}
	}
	part, err := result.From(r, loadplan.Version)
	if err == nil {
		part.Connections = result.Connections{}
	}
	return part, err
}
