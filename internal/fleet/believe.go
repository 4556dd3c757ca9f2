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
	countMost = 10 * load.MaxRate
	bytesMost = 1 << 40
)

// waysMost is how many ways to fail are told apart of an agent, besides those that are not: one
// of each phase. textMost is how long the words of one may be, in bytes. detailMost and detailsMost
// are how many bytes of details an agent says of one and of all: as JSON each may become six, and a
// message has wire.Largest.
const (
	waysMost    = 1 << 10
	textMost    = 4 << 10
	detailMost  = 2 << 10
	detailsMost = 128 << 10
)

// fewer are failures as an agent tells them.
func fewer(all []load.Failure) []load.Failure {
	all = slices.Clone(load.Fewer(all, waysMost))
	for i := range all {
		d := all[i].Detail
		all[i].Detail = strings.ToValidUTF8(d[:min(len(d), detailMost, detailsMost/len(all))], "")
	}
	return all
}

// A most is how much can have been counted: in all that an agent says, and of it until now. Sums
// of that are far below 2⁶³, whatever all agents say.
type most struct {
	sum     int64         // of one agent
	elapsed time.Duration // since the window's start, and what a clock may be wrong by
}

// most is what can be now, and mostAt what could be at an instant of our clock.
func (r *running) most() most { return r.mostAt(r.clock.now()) }

func (r *running) mostAt(now int64) most {
	window := now - r.start - int64(r.plan.Warmup)
	return most{math.MaxInt64 / 4 / int64(max(len(r.members), 1)),
		time.Duration(window + window/goesApart + int64(Lease))}
}

// sound is why what an agent says of a second cannot be, after what it has said before; nil if it
// can: each completed exchange has its latency, and each answer that was an error, which is one of
// those that failed.
func (t *ticks) sound(iv *load.Interval, m most) error {
	no := errors.New
	switch wrong := countOf(iv.Failures, load.Expect); {
	case iv.Index < t.next || iv.Index > int(max(m.elapsed, 0)/time.Second):
		return fmt.Errorf("it is of second %d, and comes after %d others and %v", iv.Index, t.taken,
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
	if err := t.countable(iv, m); err != nil {
		return err
	}
	s := &t.sum
	if done := s.Completed + s.Failed + iv.Completed + iv.Failed; done > s.Sent+iv.Sent {
		return fmt.Errorf("%d requests came to an end, and %d were sent", done, s.Sent+iv.Sent)
	}
	return told(iv)
}

// countable is why the counts of a second are too large, or too small, to be added.
func (t *ticks) countable(iv *load.Interval, m most) error {
	seconds := int64((iv.To-iv.From)/time.Second) + 2
	s := &t.sum
	for _, c := range []struct {
		what   string
		n, sum int64
		each   int64 // in a second
	}{
		{"sent", iv.Sent, s.Sent, countMost}, {"completed", iv.Completed, s.Completed, countMost},
		{"failed", iv.Failed, s.Failed, countMost}, {"in flight", iv.InFlight, s.InFlight, countMost},
		{"bytes received", iv.Received, s.Received, bytesMost},
		{"bytes sent", iv.Written, s.Written, bytesMost},
	} {
		if most := min(m.sum-c.sum, c.each*min(seconds, m.sum/bytesMost)); c.n < 0 || c.n > most {
			return fmt.Errorf("%d %s in %v", c.n, c.what, iv.To-iv.From)
		}
	}
	return nil
}

// told is why the answers and failures of a second cannot be, of which there are several.
func told(iv *load.Interval) error {
	answers := int64(0)
	for code, n := range iv.Status {
		if code >= metric.Statuses || n < 0 || n > iv.Completed+iv.Failed-answers {
			return fmt.Errorf("%d answers with status %d", n, code)
		}
		answers += n
	}
	if len(iv.Failures) > waysMost+len(load.Phases) {
		return fmt.Errorf("%d ways to fail", len(iv.Failures))
	}
	for _, f := range iv.Failures {
		if !slices.Contains(load.Phases, f.Phase) {
			return fmt.Errorf("a failure in the phase %q", wire.Readable(string(f.Phase)))
		}
		words := len(f.Phase) + len(f.Kind) + len(f.Address) + len(f.Detail)
		if f.Count < 0 || f.Count > countMost || words > textMost {
			return fmt.Errorf("%d failures, of which it says %d bytes", f.Count, words)
		}
	}
	return nil
}

// countOf is how often something failed in that phase; below 0 if nobody can count that.
func countOf(all []load.Failure, phase load.Phase) (n int64) {
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

// match is why seconds of a final are not those that were reported, which come in the same order.
func (t *ticks) match(series []result.Point) error {
	for i := range series {
		iv, err := t.second(t.matched)
		if err != nil {
			return err
		}
		if iv == nil {
			return fmt.Errorf("its result has more than the %d seconds that it has reported", t.taken)
		}
		if !bytes.Equal(wire.Encode(series[i]), wire.Encode(result.PointOf(*iv))) {
			return fmt.Errorf("second %d of its result is not what it has reported of it", t.matched)
		}
		t.matched++
	}
	return nil
}

// missing is how many seconds that were reported no part of the final has had yet.
func (t *ticks) missing() int64 { return t.taken - t.matched }

// trust makes a member's final its own result, unless it cannot be: then the agent counts as lost,
// and what it has reported as what it measured.
func (r *running) trust(m *member) {
	if !m.over() {
		return
	}
	part, err := r.believed(m)
	if err == nil {
		m.own = part
	} else if m.lost == "" {
		m.gone(r, err.Error())
	}
}

// distrust gives up an agent of which something cannot be. Nothing more that it says is heard.
func (m *member) distrust(r *running, why string) {
	m.distrusted, m.data, m.final = true, nil, nil
	m.unheard()
	if m.lost == "" {
		m.lose(r, why)
	}
}

// unheard no longer listens to an agent.
func (m *member) unheard() {
	if m.sub != nil {
		m.sub.Unsubscribe()
	}
}

// believed is a member's result, if it can be, with what it need not tell: its plan, and its
// seconds, which are those that it has reported. The error is why it is not believed.
func (r *running) believed(m *member) (*result.Result, error) {
	part, err := m.measured(r)
	if err != nil {
		return nil, err
	}
	f := m.final
	most := r.mostAt(m.reported) // which was its last word
	elapsed := float64(most.elapsed+time.Duration(r.plan.Warmup)) / 1e9
	switch w := part.Window; {
	case !within(reflect.ValueOf(f).Elem(), float64(most.sum)):
		return nil, errors.New("its result has a number that nobody can count up to")
	case w.MeasuredS < 0 || w.MeasuredS > m.longest(elapsed) || w.DrainedS < 0 || w.DrainedS > elapsed:
		return nil, fmt.Errorf("its result is of %v s, and the load was shorter", w.MeasuredS)
	case slices.ContainsFunc([]float64{w.OutageS, w.UnavailableS, w.WarmupS},
		func(s float64) bool { return s < 0 || s > elapsed }):
		return nil, errors.New("its result has a time that is less than none or longer than the whole")
	case over(part.Rate.Sent, part.Requests.Sent, w) || over(part.Rate.Answers(),
		part.Requests.Completed+part.Requests.Errors, w):
		return nil, errors.New("its result has rates of more than it has requests")
	case len(part.Errors) > waysMost+len(load.Phases):
		return nil, fmt.Errorf("its result has %d ways to fail", len(part.Errors))
	case !m.ticks.addUpTo(part):
		return nil, errors.New("its result does not add up to its reports")
	}
	if err := errors.Join(result.Check(part), part.Mergeable()); err != nil {
		return nil, fmt.Errorf("its result does not add up: %s", wire.Readable(err.Error()))
	}
	return part, r.possible(m, part, elapsed)
}

// measured is what a member's final says, with all that is not its to say.
func (m *member) measured(r *running) (*result.Result, error) {
	part, start := m.final.Result, m.begun(r)
	if late, now := start-r.start, r.clock.now()-r.start; part.Window.MeasuredS > 0 &&
		(late < -int64(Lease) || late > now+int64(Lease) || m.final.Late < 0 || m.final.Late > now) {
		return nil, errors.New("its load began at a time at which it was not told to")
	}
	seconds, err := m.ticks.seconds()
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
	if part.Plan, err = r.stored(m, part.Generator.Threads); err != nil {
		return nil, err
	}
	part.Window.Started = r.clock.at(start).UTC() // and not what its wall clock showed
	if m.part.Probe == 0 {
		part.Probe = nil
	}
	return part, nil
}

// begun is when a member's load began, by our clock, as it says itself.
func (m *member) begun(r *running) int64 {
	if m.offset == unknown() {
		return r.start
	}
	return m.offset.ours(m.final.Start)
}

// stored is a member's part of the plan as results keep it, with the threads that it had.
func (r *running) stored(m *member, threads int) (load.Plan, error) {
	if r.kept == nil {
		out, err := result.From(&load.Result{Plan: r.plan}, load.Version)
		if err != nil {
			return load.Plan{}, err
		}
		r.kept = &out.Plan
	}
	p := *r.kept
	p.Part, p.Parts, p.Weights, p.Before = m.part.Part, m.part.Parts, m.part.Weights, m.part.Before
	p.Connections, p.Requested, p.Probe = m.part.Connections, m.part.Requested, m.part.Probe
	p.Threads, p.CPUs, p.Seed = m.part.Threads, m.part.CPUs, m.part.Seed
	if !r.Total {
		p.Threads = min(max(threads, 1), load.MaxThreads)
	}
	return p, nil
}

// over reports whether a rate is of more than so many in a window, but for its last digits.
func over(rate float64, n int64, w result.Window) bool {
	return rate < 0 || rate*w.MeasuredS > float64(n)*1.001+1
}

// within reports whether no number in v is farther from 0 than most.
func within(v reflect.Value, most float64) bool {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		n := float64(v.Int())
		return n >= -most && n <= most
	case reflect.Uint64:
		return float64(v.Uint()) <= most
	case reflect.Float64:
		return v.Float() >= -most && v.Float() <= most
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || within(v.Elem(), most)
	case reflect.Struct:
		return v.Type() == reflect.TypeFor[time.Time]() || all(v.NumField(), func(i int) bool {
			return within(v.Field(i), most)
		})
	case reflect.Slice, reflect.Array:
		return all(v.Len(), func(i int) bool { return within(v.Index(i), most) })
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if !within(i.Value(), most) {
				return false
			}
		}
	}
	return true
}

// all reports whether f holds for each below n.
func all(n int, f func(int) bool) bool {
	for i := range n {
		if !f(i) {
			return false
		}
	}
	return true
}
