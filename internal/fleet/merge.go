package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// joinResults makes one result of what all agents measured.
func (r *fleetRun) joinResults() (*result.Result, error) {
	f := &result.Fleet{Run: r.id, OnAgentLoss: r.onLoss}
	begun := 0 // agents whose start is known
	var counted []*loadresult.Result
	var all []*result.Result
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, m := range r.members {
		r.acceptFinal(m)
		a, err := r.memberResult(m)
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
		counted, all = append(counted, m.counted), append(all, m.result)
		f.Agents = append(f.Agents, a)
	}
	markAbandoned(counted, all, f.Agents)
	sum, err := r.together.Join(counted)
	if err != nil {
		return nil, err
	}
	plan := *r.storedPlan
	plan.Threads, plan.Seed = sum.Plan.Threads, sum.Plan.Seed
	plan.Users = sum.Plan.Users
	whole, err := result.FromParts(sum, all, plan, loadplan.Version)
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
	if r.endedByLoss { // the others were stopped because of it
		whole.Ended = string(loadresult.Lost)
	}
	whole.SetFleet(f)
	return whole, nil
}

// markAbandoned counts agents as lost that ran out of connections while others went on. If that
// happened to all agents, it is what was measured.
func markAbandoned(counted []*loadresult.Result, all []*result.Result, agents []result.Agent) {
	without := func(r *loadresult.Result) bool {
		return slices.Contains([]loadresult.Ending{loadresult.Gone, loadresult.Unserved,
			loadresult.Unreachable}, r.Ended)
	}
	onward := func(r *loadresult.Result) bool { return !without(r) && r.Ended != loadresult.Lost }
	if !slices.ContainsFunc(counted, onward) {
		return
	}
	for i, r := range counted {
		if without(r) {
			agents[i].Lost = fmt.Sprintf("no connection of it was opened, or answered (%s)", r.Cause)
			agents[i].LostAfter = &all[i].Window.MeasuredS
			r.Ended, all[i].Ended, r.Cause, all[i].Cause = loadresult.Lost, string(loadresult.Lost), "", ""
		}
	}
}

// memberResult returns how an agent fared. Without a final that could be, its reports are all that
// is known of what it counted.
func (r *fleetRun) memberResult(m *member) (a result.Agent, err error) {
	told := r.together.Tally(m.index)
	a = result.Agent{Name: m.name, Host: m.hello.Host, Weight: m.hello.Weight,
		Connections: m.part.Connections, ClockOff: math.Round(m.wallAhead.Seconds()*1e3) / 1e3,
		Reports: told.Count, Repeated: m.repeated, Lost: m.lost}
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
	if m.result == nil {
		m.counted = told.Partial(m.part)
		m.counted.Started = r.clock.instantOf(r.start)
		r.completePart(m, m.counted, partThreads(m.part, m.hello.Threads))
		if m.result, err = r.convertPart(m, m.counted); err != nil {
			return a, err
		}
	} else {
		if m.lost != "" { // its own reason is not the run's
			m.counted.Ended, m.result.Ended = loadresult.Lost, string(loadresult.Lost)
		}
		if m.counted.Measured > 0 {
			late := float64(m.loadStart(r)-r.start+int64(m.counted.StartLate)) / 1e3
			a.Late = &late
		}
		agree := true // checkedFinal has compared them
		a.Final, a.AddsUp = true, &agree
	}
	a.Requests, a.Covered = m.result.Requests, m.result.Window.MeasuredS
	a.Threads = m.result.Generator.Threads
	return a, nil
}
