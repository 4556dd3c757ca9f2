package fleet

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// acceptFinal makes a member's final its result, if it is one of its reports and its order.
// Otherwise the agent counts as lost, and its reports as what it measured.
func (r *fleetRun) acceptFinal(m *member) {
	if !m.hasFinal() {
		return
	}
	counted, part, err := r.checkedFinal(m)
	if err == nil {
		m.counted, m.result = counted, part
	} else if m.lost == "" {
		m.markLost(r, err.Error())
	}
}

// checkedFinal returns what a member counted, completed with what the controller knows itself, and
// that as a result. The error is why it cannot be: a number or a list is larger than any machine's,
// it is no sum of the reports, or not within the order. Otherwise an agent is trusted with its
// figures (docs/security.md).
func (r *fleetRun) checkedFinal(m *member) (*loadresult.Result, *result.Result, error) {
	f, start, now := m.final, m.loadStart(r), r.clock.currentReading()
	most := r.maxAt(m.reportedAt) // its last report
	elapsed := most.elapsed + time.Duration(r.plan.Warmup)
	late := start - r.start
	x := f.Result
	if m.part.Probe == 0 {
		x.Probe = nil
	}
	switch err := x.CheckTold(); {
	case err != nil:
		return nil, nil, fmt.Errorf("its result is none: %w", err)
	case !numbersWithin(reflect.ValueOf(x).Elem(), float64(most.sum)):
		return nil, nil, errors.New("its result has a number that nobody can count up to")
	case x.Measured > 0 && (late < -int64(Lease) || late > now+int64(Lease) || x.StartLate < 0 ||
		int64(x.StartLate) > now):
		return nil, nil, errors.New("its load began at a time at which it was not told to")
	case x.Measured < 0 || x.Measured > r.longestWindow(m, elapsed) || x.Warmed < 0 ||
		x.Warmed > time.Duration(m.part.Warmup) || x.Drained < 0 || x.Drained > elapsed:
		return nil, nil, fmt.Errorf("its result is of %v, and the load was shorter", x.Measured)
	}
	failures := x.Failures
	if x.Probe != nil {
		failures = slices.Concat(failures, x.Probe.Failures)
	}
	if err := checkFailures(failures); err != nil {
		return nil, nil, fmt.Errorf("its result has %w", err)
	}
	if err := r.checkOrdered(m, x); err != nil {
		return nil, nil, err
	}
	x.Started = r.clock.instantOf(start) // not by its wall clock
	r.completePart(m, x, f.Threads)
	part, err := r.convertPart(m, x)
	if err == nil {
		err = errors.Join(part.CheckSums(), result.Check(part))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("its result does not add up to its reports: %s",
			wire.Readable(err.Error()))
	}
	return x, part, nil
}

// checkOrdered fails unless what a member says that it did is within its order.
func (r *fleetRun) checkOrdered(m *member, x *loadresult.Result) error {
	switch p := m.part; x.Ended {
	case loadresult.ByDuration:
		if x.Measured != time.Duration(p.Duration) {
			return fmt.Errorf("its result is of %v, and says that it went on for all %v", x.Measured,
				p.Duration)
		}
	case loadresult.Interrupted, loadresult.Aborted:
		if !r.stopped && m.lost == "" {
			return errors.New("its load ended early, and nobody had it end")
		}
	case loadresult.ByRequests, loadresult.Gone, loadresult.Unserved, loadresult.Unreachable:
	case loadresult.Stopped, loadresult.Faulted:
		if p.Script == nil {
			return errors.New("a script ended its load, and the plan has none")
		}
	default:
		return errors.New("its load ended in a way that there is not")
	}
	if r.plan.CountsIterations() && x.Scenario == nil {
		return errors.New("its result has no iterations")
	}
	if err := checkNames(&m.part, x); err != nil {
		return err
	}
	for _, c := range r.orderedMost(m, x) {
		if float64(c.said) > c.most {
			return fmt.Errorf("its result has %d %s, and its order was of %.0f", c.said, c.what, c.most)
		}
	}
	return nil
}

// checkNames fails if what a member counted has routes or origins that its plan has not, or
// measures without a script: whoever reads the result would take them for what was asked for.
func checkNames(p *loadplan.Plan, x *loadresult.Result) error {
	names, _ := loadresult.RouteNames(p)
	named := func(r loadresult.Route, name string) bool { return r.Name == name }
	if len(x.Routes) > 0 && !slices.EqualFunc(x.Routes, names, named) {
		return fmt.Errorf("its result has %d routes that are not the plan's %d", len(x.Routes),
			len(names))
	}
	for _, o := range x.RedirectsTo {
		if !slices.ContainsFunc(p.FollowTo, func(t loadplan.Target) bool { return t.URL == o.Origin }) {
			return errors.New("its result has redirects to an origin that is not the plan's")
		}
	}
	if x.Scenario != nil && len(x.Scenario.Measures) > 0 && p.Script == nil {
		return errors.New("its result has what a script counted, and the plan has no script")
	}
	return nil
}

// An ordered is what a member says that it did, and the most that its order was of.
type ordered struct {
	what string
	said int64
	most float64
}

func (r *fleetRun) orderedMost(m *member, x *loadresult.Result) []ordered {
	p, told := m.part, r.together.Tally(m.index)
	peak := p.Peak().PerSecond()
	if r.onLoss == Rebalance { // it may get others' shares
		peak = r.plan.Peak().PerSecond()
	}
	begun, users := told.Sent, 0 // what -n and -R count
	if s := x.Scenario; s != nil && p.CountsIterations() {
		begun, users = s.Started, s.Users
	}
	most, due, warm := math.Inf(1), math.Inf(1), math.Inf(1)
	if p.Requested > 0 {
		most = float64(p.Requested)
	}
	if p.Open() {
		due, warm = arrivalsMax(peak, x.Measured), arrivalsMax(peak, x.Warmed)
	}
	if p.Warmup == 0 {
		warm = 0
	}
	steps := len(p.Steps)
	if steps > 0 { // an iteration has as many as it likes
		warm = max(warm, countPerSecondMax*x.Warmed.Seconds())
	}
	all := []ordered{{"connections that served", int64(x.Served), float64(p.Connections)},
		{"users", int64(users), float64(p.UserCount())},
		{"requests or iterations", begun, most},
		{"requests or iterations due", begun + x.Waiting, due},
		{"requests before the window", x.Warmup, warm},
		{"origins of redirects", int64(len(x.RedirectsTo)), float64(len(p.FollowTo))}}
	if x.Probe != nil {
		sent := int64(0)
		if t := x.Probe.Total; t != nil {
			sent = t.Sent
		}
		all = append(all, ordered{"requests of the probe", sent,
			arrivalsMax(p.Probe.PerSecond(), x.Measured+x.Drained+Lease)})
	}
	return all
}

// arrivalsMax returns how many arrivals are possible in some time at a rate: ten standard
// deviations of a Poisson process above the mean.
func arrivalsMax(rate float64, d time.Duration) float64 {
	n := rate * d.Seconds()
	if rate == 0 {
		return 0
	}
	return n + 10*math.Sqrt(n) + 10
}

// longestWindow returns how long a member's window can be that began at most elapsed ago. With a
// number of requests, it ends with the last reported second, or when the schedule has the next
// request.
func (r *fleetRun) longestWindow(m *member, elapsed time.Duration) time.Duration {
	p := m.part
	if p.Duration > 0 {
		return min(elapsed, time.Duration(p.Duration))
	}
	most := min(elapsed, r.together.Tally(m.index).To+time.Second) // an empty interval is not reported
	if p.Open() {
		const gaps = 64 // of a Poisson law one in 10²⁷ is as long
		most += time.Duration(gaps / max(p.Offered().PerSecond(), 1e-3) * 1e9)
	}
	return most
}

// completePart sets what the controller knows itself of what a member counted, which used so many
// threads.
func (r *fleetRun) completePart(m *member, x *loadresult.Result, threads int) {
	host := m.hello.Host
	if x.Plan, x.Host = m.part, &host; !r.TotalThreads {
		x.Plan.Threads = min(max(threads, 1), m.part.Connections, loadplan.MaxThreads)
	}
	x.Proxy, x.Cause = wire.Readable(x.Proxy), wire.Readable(x.Cause)
	x.Notices = slices.DeleteFunc(x.Notices, func(f fact.Fact) bool { return !f.IsNotice() })
	for i := range x.Notices {
		x.Notices[i].ReplaceTexts(wire.Readable)
	}
	r.together.Complete(m.index, x)
}

// convertPart returns what a member counted as a result.
func (r *fleetRun) convertPart(m *member, x *loadresult.Result) (*result.Result, error) {
	if r.storedPlan == nil {
		p, err := result.StoredPlan(r.plan)
		if err != nil {
			return nil, err
		}
		r.storedPlan = &p
	}
	return result.OfPart(x, *r.storedPlan, loadplan.Version)
}

// loadStart returns when a member's load began according to its final, by the controller's clock.
func (m *member) loadStart(r *fleetRun) int64 {
	if m.offset == unknownOffset() {
		return r.start
	}
	return m.offset.toController(m.final.Start)
}

// numbersWithin reports whether the absolute value of every number in v is at most most. A Sum has
// room for all, and was compared with its histogram.
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
		known := []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[metric.Sum]()}
		return slices.Contains(known, v.Type()) || allIndices(v.NumField(), func(i int) bool {
			return numbersWithin(v.Field(i), most)
		})
	case reflect.Slice, reflect.Array:
		return v.Type().Elem().Kind() == reflect.Uint8 || allIndices(v.Len(), func(i int) bool {
			return numbersWithin(v.Index(i), most)
		})
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
