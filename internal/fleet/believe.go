package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// What an agent says is added to what others say, so it is looked at before. It may be wrong by
// as much as a machine could do; it cannot be anything, and what it says at the end is what it has
// said before.

// What no agent does in a second, however large its machine: so many of anything, and so many
// bytes.
const (
	countPerSecondMax = 10 * load.MaxRate
	bytesPerSecondMax = 1 << 40
)

// failureKindsMax is how many ways to fail are told apart of an agent, besides those that are not: one
// of each phase. textMost is how long the words of one may be, in bytes. detailMost and detailsMost
// are how many bytes of details an agent says of one and of all: as JSON each may become six, and a
// message has wire.Largest.
const (
	failureKindsMax   = 1 << 10
	failureTextMax    = 4 << 10
	failureDetailMax  = 2 << 10
	failureDetailsMax = 128 << 10
)

// fewerFailures are failures as an agent tells them.
func fewerFailures(all []load.Failure) []load.Failure {
	all = slices.Clone(load.Fewer(all, failureKindsMax))
	for i := range all {
		d := all[i].Detail
		all[i].Detail = strings.ToValidUTF8(d[:min(len(d), failureDetailMax, failureDetailsMax/len(all))], "")
	}
	return all
}

// A plausibleMax is how much can have been counted: in all that an agent says, and of it until now. Sums
// of that are far below 2⁶³, whatever all agents say.
type plausibleMax struct {
	sum     int64         // of one agent
	elapsed time.Duration // since the window's start, and what a clock may be wrong by
}

// currentMax is what can be now, and mostAt what could be at an instant of our clock.
func (r *fleetRun) currentMax() plausibleMax { return r.maxAt(r.clock.currentReading()) }

func (r *fleetRun) maxAt(now int64) plausibleMax {
	window := now - r.start - int64(r.plan.Warmup)
	return plausibleMax{math.MaxInt64 / 4 / int64(max(len(r.members), 1)),
		time.Duration(window + window/driftRatio + int64(Lease))}
}

// checkSecond is why what an agent says of a second cannot be, after what it has said before; nil if it
// can: each completed exchange has its latency, and each answer that was an error, which is one of
// those that failed.
func (t *reportedSeconds) checkSecond(iv *load.Interval, m plausibleMax) error {
	no := errors.New
	switch wrong := countFailures(iv.Failures, load.Expect); {
	case iv.Index < t.nextIndex || iv.Index > int(max(m.elapsed, 0)/time.Second):
		return fmt.Errorf("it is of second %d, and comes after %d others and %v", iv.Index, t.received,
			max(m.elapsed, 0).Round(time.Second))
	case iv.From < 0 || iv.From > iv.To || iv.To > m.elapsed:
		return no("it is of a time that has not come")
	case iv.Latency.Count != iv.Completed || iv.ErrorLatency.Count != wrong || wrong > iv.Failed ||
		iv.Service.Count != 0 && iv.Service.Count != iv.Completed:
		return fmt.Errorf("%d completed, %d failed, and there are %d and %d latencies", iv.Completed,
			iv.Failed, iv.Latency.Count, iv.ErrorLatency.Count)
	case !iv.Latency.Finely() || !iv.Service.Finely() || !iv.ErrorLatency.Finely():
		return no("its histograms are of another kind")
	case iv.Busy < 0 || iv.Busy > 1 || iv.LagMax < 0 || iv.LagMax > m.elapsed:
		return no("it was busy for less than no time, or for more than there was")
	}
	if err := t.checkCounts(iv, m); err != nil {
		return err
	}
	s := &t.sum
	if done := s.Completed + s.Failed + iv.Completed + iv.Failed; done > s.Sent+iv.Sent {
		return fmt.Errorf("%d requests came to an end, and %d were sent", done, s.Sent+iv.Sent)
	}
	return checkFailures(iv)
}

// checkCounts is why the counts of a second are too large, or too small, to be added.
func (t *reportedSeconds) checkCounts(iv *load.Interval, m plausibleMax) error {
	seconds := int64((iv.To-iv.From)/time.Second) + 2
	s := &t.sum
	for _, c := range []struct {
		what   string
		n, sum int64
		each   int64 // in a second
	}{
		{"sent", iv.Sent, s.Sent, countPerSecondMax}, {"completed", iv.Completed, s.Completed, countPerSecondMax},
		{"failed", iv.Failed, s.Failed, countPerSecondMax}, {"in flight", iv.InFlight, s.InFlight, countPerSecondMax},
		{"bytes received", iv.Received, s.Received, bytesPerSecondMax},
		{"bytes sent", iv.Written, s.Written, bytesPerSecondMax},
	} {
		if most := min(m.sum-c.sum, c.each*min(seconds, m.sum/bytesPerSecondMax)); c.n < 0 || c.n > most {
			return fmt.Errorf("%d %s in %v", c.n, c.what, iv.To-iv.From)
		}
	}
	return nil
}

// checkFailures is why the answers and failures of a second cannot be, of which there are several.
func checkFailures(iv *load.Interval) error {
	answers := int64(0)
	for code, n := range iv.Status {
		if code >= metric.Statuses || n < 0 || n > iv.Completed+iv.Failed-answers {
			return fmt.Errorf("%d answers with status %d", n, code)
		}
		answers += n
	}
	if len(iv.Failures) > failureKindsMax+len(load.Phases) {
		return fmt.Errorf("%d ways to fail", len(iv.Failures))
	}
	for _, f := range iv.Failures {
		if !slices.Contains(load.Phases, f.Phase) {
			return fmt.Errorf("a failure in the phase %q", wire.Readable(string(f.Phase)))
		}
		words := len(f.Phase) + len(f.Kind) + len(f.Address) + len(f.Detail)
		if f.Count < 0 || f.Count > countPerSecondMax || words > failureTextMax {
			return fmt.Errorf("%d failures, of which it says %d bytes", f.Count, words)
		}
	}
	return nil
}

// countFailures is how often something failed in that phase; below 0 if nobody can count that.
func countFailures(all []load.Failure, phase load.Phase) (n int64) {
	for _, f := range all {
		if f.Phase != phase {
			continue
		}
		if f.Count < 0 || f.Count > math.MaxInt64-n {
			return -1
		}
		n += f.Count
	}
	return n
}

// matchSeries is why seconds of a final are not those that were reported, which come in the same order.
func (t *reportedSeconds) matchSeries(series []result.Point) error {
	for i := range series {
		iv, err := t.secondAt(t.matched)
		if err != nil {
			return err
		}
		if iv == nil {
			return fmt.Errorf("its result has more than the %d seconds that it has reported", t.received)
		}
		if !bytes.Equal(wire.Encode(series[i]), wire.Encode(result.PointOf(*iv))) {
			return fmt.Errorf("second %d of its result is not what it has reported of it", t.matched)
		}
		t.matched++
	}
	return nil
}

// unmatchedSeconds is how many seconds that were reported no part of the final has had yet.
func (t *reportedSeconds) unmatchedSeconds() int64 { return t.received - t.matched }

// acceptFinal makes a member's final its own result, unless it cannot be: then the agent counts as lost,
// and what it has reported as what it measured.
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

// distrustMember gives up an agent of which something cannot be. Nothing more that it says is heard.
func (m *member) distrustMember(r *fleetRun, why string) {
	m.distrusted, m.finalData, m.final = true, nil, nil
	m.unsubscribe()
	if m.lost == "" {
		m.giveUp(r, why)
	}
}

// unsubscribe no longer listens to an agent.
func (m *member) unsubscribe() {
	if m.sub != nil {
		m.sub.Unsubscribe()
	}
}

// checkedFinal is a member's result, if it can be, with what it need not tell: its plan, and its
// seconds, which are those that it has reported. The error is why it is not believed.
func (r *fleetRun) checkedFinal(m *member) (*result.Result, error) {
	part, err := m.completeFinal(r)
	if err != nil {
		return nil, err
	}
	f := m.final
	most := r.maxAt(m.reportedAt) // which was its last word
	elapsed := float64(most.elapsed+time.Duration(r.plan.Warmup)) / 1e9
	switch w := part.Window; {
	case !numbersWithin(reflect.ValueOf(f).Elem(), float64(most.sum)):
		return nil, errors.New("its result has a number that nobody can count up to")
	case w.MeasuredS < 0 || w.MeasuredS > m.longestWindow(elapsed) || w.DrainedS < 0 || w.DrainedS > elapsed:
		return nil, fmt.Errorf("its result is of %v s, and the load was shorter", w.MeasuredS)
	case slices.ContainsFunc([]float64{w.OutageS, w.UnavailableS, w.WarmupS},
		func(s float64) bool { return s < 0 || s > elapsed }):
		return nil, errors.New("its result has a time that is less than none or longer than the whole")
	case rateExceeds(part.Rate.Sent, part.Requests.Sent, w) || rateExceeds(part.Rate.Answers(),
		part.Requests.Completed+part.Requests.Errors, w):
		return nil, errors.New("its result has rates of more than it has requests")
	case len(part.Errors) > failureKindsMax+len(load.Phases):
		return nil, fmt.Errorf("its result has %d ways to fail", len(part.Errors))
	case !m.reported.matchesTotals(part):
		return nil, errors.New("its result does not add up to its reports")
	}
	if err := errors.Join(result.Check(part), part.Mergeable()); err != nil {
		return nil, fmt.Errorf("its result does not add up: %s", wire.Readable(err.Error()))
	}
	return part, r.checkPlausible(m, part, elapsed)
}

// completeFinal is what a member's final says, with all that is not its to say.
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
	part.Format, part.Dyno, part.Host = result.Format, load.Version, m.hello.Host
	if part.Model = result.ClosedLoop; r.plan.Open() {
		part.Model = result.OpenLoop
	}
	if part.Plan, err = r.storedPlan(m, part.Generator.Threads); err != nil {
		return nil, err
	}
	part.Window.Started = r.clock.instantOf(start).UTC() // and not what its wall clock showed
	if m.part.Probe == 0 {
		part.Probe = nil
	}
	return part, nil
}

// loadStart is when a member's load began, by our clock, as it says itself.
func (m *member) loadStart(r *fleetRun) int64 {
	if m.offset == unknownOffset() {
		return r.start
	}
	return m.offset.toController(m.final.Start)
}

// storedPlan is a member's part of the plan as results keep it, with the threads that it had.
func (r *fleetRun) storedPlan(m *member, threads int) (load.Plan, error) {
	if r.storedWhole == nil {
		out, err := result.From(&load.Result{Plan: r.plan}, load.Version)
		if err != nil {
			return load.Plan{}, err
		}
		r.storedWhole = &out.Plan
	}
	p := *r.storedWhole
	p.Part, p.Parts, p.Weights, p.Before = m.part.Part, m.part.Parts, m.part.Weights, m.part.Before
	p.Connections, p.Requested, p.Probe = m.part.Connections, m.part.Requested, m.part.Probe
	p.Threads, p.CPUs, p.Seed = m.part.Threads, m.part.CPUs, m.part.Seed
	if !r.TotalThreads {
		p.Threads = min(max(threads, 1), load.MaxThreads)
	}
	return p, nil
}

// rateExceeds reports whether a rate is of more than so many in a window, but for its last digits.
func rateExceeds(rate float64, n int64, w result.Window) bool {
	return rate < 0 || rate*w.MeasuredS > float64(n)*1.001+1
}

// numbersWithin reports whether no number in v is farther from 0 than most.
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

// allIndices reports whether f holds for each below n.
func allIndices(n int, f func(int) bool) bool {
	for i := range n {
		if !f(i) {
			return false
		}
	}
	return true
}
