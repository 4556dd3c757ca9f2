package fleet

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// acceptFinal makes a member's final its result, if it can be true. Otherwise the agent counts as
// lost, and its reports as what it measured.
func (r *fleetRun) acceptFinal(m *member) {
	if !m.hasFinal() {
		return
	}
	part, err := r.checkedFinal(m)
	if err == nil {
		m.result = part
	} else if m.lost == "" {
		m.markLost(r, err.Error())
	}
}

// checkedFinal returns a member's result, completed with what the controller knows itself: the
// plan, and the seconds as they were reported. The error is why the result cannot be true.
func (r *fleetRun) checkedFinal(m *member) (*result.Result, error) {
	part, err := m.completeFinal(r)
	if err != nil {
		return nil, err
	}
	f := m.final
	most := r.maxAt(m.reportedAt) // its last report
	elapsed := float64(most.elapsed+time.Duration(r.plan.Warmup)) / 1e9
	switch w := part.Window; {
	case !numbersWithin(reflect.ValueOf(f).Elem(), float64(most.sum)):
		return nil, errors.New("its result has a number that nobody can count up to")
	case w.MeasuredS < 0 || w.MeasuredS > m.longestWindow(elapsed) || w.DrainedS < 0 ||
		w.DrainedS > elapsed:
		return nil, fmt.Errorf("its result is of %v s, and the load was shorter", w.MeasuredS)
	case slices.ContainsFunc([]float64{w.OutageS, w.UnavailableS, w.UnavailableLongestS, w.WarmupS},
		func(s float64) bool { return s < 0 || s > elapsed }):
		return nil, errors.New("its result has a time that is less than none or longer than the whole")
	case rateExceeds(part.Rate.Sent, part.Requests.Sent, w) ||
		rateExceeds(part.Rate.AnswersPerSecond(), part.Requests.Completed+part.Requests.Errors+
			part.Requests.WarmupInWindow, w):
		return nil, errors.New("its result has rates of more than it has requests")
	case slices.ContainsFunc(part.Facts, isOfPart):
		return nil, errors.New("its result has a fact of a part, and it is one load")
	case len(part.Errors) > failureKindsMax+len(loadresult.Phases):
		return nil, fmt.Errorf("its result has %d ways to fail", len(part.Errors))
	case !m.reported.matchesTotals(&r.plan, part):
		return nil, errors.New("its result does not add up to its reports")
	}
	if err := errors.Join(result.Check(part), part.Mergeable()); err != nil {
		return nil, fmt.Errorf("its result does not add up: %s", wire.Readable(err.Error()))
	}
	return part, r.checkPlausible(m, part, elapsed)
}

// isOfPart reports whether a fact is of parts of a load, or of a trial.
func isOfPart(f fact.Fact) bool {
	return len(f.Scope.Parts) > 0 || f.Scope.OfParts != 0 || f.Scope.Trial != 0
}

// completeFinal returns the result in a member's final, with the fields that the controller knows
// itself filled in.
func (m *member) completeFinal(r *fleetRun) (*result.Result, error) {
	part, start := m.final.Result, m.loadStart(r)
	if late, now := start-r.start, r.clock.currentReading()-r.start; part.Window.MeasuredS > 0 &&
		(late < -int64(Lease) || late > now+int64(Lease) || m.final.Late < 0 || m.final.Late > now) {
		return nil, errors.New("its load began at a time at which it was not told to")
	}
	seconds, err := m.reported.allSeconds()
	if err != nil {
		return nil, err
	}
	part.Series = []result.Point{}
	for _, iv := range seconds {
		part.Series = append(part.Series, result.PointOf(iv))
	}
	part.Format, part.Dyno, part.Host = result.Format, loadplan.Version, m.hello.Host
	if part.Model = result.ClosedLoop; r.plan.Open() {
		part.Model = result.OpenLoop
	}
	if part.Plan, err = r.storedPlan(m, part.Generator.Threads); err != nil {
		return nil, err
	}
	part.Window.Started = r.clock.instantOf(start).UTC() // not by its wall clock
	part.Window.Rates = result.RatesEnded
	if m.part.Probe == 0 {
		part.Probe = nil
	}
	return part, nil
}

// loadStart returns when a member's load began according to its final, by the controller's clock.
func (m *member) loadStart(r *fleetRun) int64 {
	if m.offset == unknownOffset() {
		return r.start
	}
	return m.offset.toController(m.final.Start)
}

// storedPlan returns a member's part of the plan as results store it, with the threads that it
// used.
func (r *fleetRun) storedPlan(m *member, threads int) (loadplan.Plan, error) {
	if r.storedWhole == nil {
		out, err := result.From(&loadresult.Result{Plan: r.plan}, loadplan.Version)
		if err != nil {
			return loadplan.Plan{}, err
		}
		r.storedWhole = &out.Plan
	}
	p := *r.storedWhole
	p.Scenario = nil // which no stored plan has
	p.Part, p.Parts, p.Weights, p.Before = m.part.Part, m.part.Parts, m.part.Weights, m.part.Before
	p.Connections, p.Requested, p.Probe = m.part.Connections, m.part.Requested, m.part.Probe
	p.Threads, p.CPUs = m.part.Threads, m.part.CPUs
	p.Seed, p.Values = m.part.Seed, m.part.Values
	p.Users, p.UsersBefore = m.part.Users, m.part.UsersBefore
	if !r.TotalThreads {
		p.Threads = min(max(threads, 1), loadplan.MaxThreads)
	}
	return p, nil
}

// rateExceeds reports whether a rate in a window means more than n events, apart from rounding.
func rateExceeds(rate float64, n int64, w result.Window) bool {
	return rate < 0 || rate*w.MeasuredS > float64(n)*1.001+1
}

// numbersWithin reports whether the absolute value of every number in v is at most most.
func numbersWithin(v reflect.Value, most float64) bool {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		n := float64(v.Int())
		return n >= -most && n <= most
	case reflect.Uint64:
		return float64(v.Uint()) <= most
	case reflect.Float64:
		return v.Float() >= -most && v.Float() <= most
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || numbersWithin(v.Elem(), most)
	case reflect.Struct:
		return v.Type() == reflect.TypeFor[time.Time]() || allIndices(v.NumField(), func(i int) bool {
			return numbersWithin(v.Field(i), most)
		})
	case reflect.Slice, reflect.Array:
		return allIndices(v.Len(), func(i int) bool { return numbersWithin(v.Index(i), most) })
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if !numbersWithin(i.Value(), most) {
				return false
			}
		}
	}
	return true
}

// allIndices reports whether f holds for each index below n.
func allIndices(n int, f func(int) bool) bool {
	for i := range n {
		if !f(i) {
			return false
		}
	}
	return true
}
