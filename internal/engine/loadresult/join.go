package loadresult

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
)

// Join is the result of generators that loaded at once, in the order of their parts of one plan
// (see loadplan.Plan.Split), and of their intervals together. Counts and distributions add up. The
// window begins with the first part's and is as long as the longest.
func Join(parts []*Result, together []Interval) (*Result, error) {
	plans := make([]loadplan.Plan, len(parts))
	for i, r := range parts {
		plans[i] = r.Plan
	}
	plan, err := loadplan.Join(plans)
	if err != nil {
		return nil, fmt.Errorf("adding up the parts of a load: %w", err)
	}
	if len(parts) == 1 {
		whole := *parts[0]
		whole.Plan, whole.Intervals = plan, together
		return &whole, nil
	}
	first := slices.MinFunc(whoseWindowBegan(parts), compareBegin)
	last := slices.MaxFunc(parts, compareEnd)
	m := &Result{Plan: plan, Generators: Generators{Host: parts[0].Host, Parts: parts},
		Intervals: together,
		Started:   first.Started, Warmed: first.Warmed, Ended: last.Ended, Cause: last.Cause,
		Total: metric.NewCounters(), Totals: NewTotals()}
	for i, r := range m.WholeParts() { // there is no outage while one part has a connection
		if i == 0 || r.Outage < m.Outage {
			m.Outage = r.Outage
		}
	}
	for _, r := range parts {
		m.addPart(r)
	}
	return m, nil
}

// addPart adds what a part counted.
func (m *Result) addPart(r *Result) {
	m.Total.Merge(r.Total)
	m.AddTotals(&r.Totals)
	m.Failures = mergeFailures(m.Failures, r.Failures)
	m.Probe = cmp.Or(m.Probe, r.Probe) // only one part has it
	m.addRoutes(r.Routes)
	m.Samples = append(m.Samples, r.Samples...)
	m.StartLate = max(m.StartLate, r.StartLate)
	m.Measured, m.Drained = max(m.Measured, r.Measured), max(m.Drained, r.Drained)
	m.CPU += r.CPU
	m.Busy, m.GCPauseMax = max(m.Busy, r.Busy), max(m.GCPauseMax, r.GCPauseMax)
	m.Unscheduled, m.CPUWait = max(m.Unscheduled, r.Unscheduled), max(m.CPUWait, r.CPUWait)
	m.GoroutineWait = max(m.GoroutineWait, r.GoroutineWait)
	m.StopMax, m.Ports = max(m.StopMax, r.StopMax), max(m.Ports, r.Ports)
	if rings := strings.Split(m.Ring, "+"); r.Ring != "" && !slices.Contains(rings, r.Ring) {
		m.Ring = strings.TrimPrefix(m.Ring+"+"+r.Ring, "+")
	}
	for _, n := range r.Notices {
		known := func(f fact.Fact) bool { return reflect.DeepEqual(f, n) }
		if !slices.ContainsFunc(m.Notices, known) {
			m.Notices = append(m.Notices, n)
		}
	}
}

// addRoutes adds the counts of a part's routes to those of the same names.
func (m *Result) addRoutes(from []Route) {
	for i, x := range from {
		at := i // in nearly all cases
		if at >= len(m.Routes) || m.Routes[at].Name != x.Name {
			at = slices.IndexFunc(m.Routes, func(r Route) bool { return r.Name == x.Name })
		}
		if at < 0 {
			at = len(m.Routes)
			m.Routes = append(m.Routes, newRoute(x.Name, x.First != nil))
		}
		AddRoutes(m.Routes[at:at+1], []Route{x})
	}
}

// compareEnd orders parts by why they ended. While one goes on, the load does; the ends of the
// others are among the reasons of its verdict.
func compareEnd(a, b *Result) int {
	order := []Ending{Lost, Unreachable, Gone, Unserved, ByRequests, Stopped, ByDuration, Aborted,
		Interrupted, Faulted}
	return cmp.Compare(slices.Index(order, a.Ended), slices.Index(order, b.Ended))
}

// whoseWindowBegan are the parts whose window began, which decide when the load began; all parts if
// none did.
func whoseWindowBegan(all []*Result) []*Result {
	some := slices.DeleteFunc(slices.Clone(all), func(r *Result) bool { return r.Measured == 0 })
	if len(some) == 0 {
		return all
	}
	return some
}

// compareBegin compares when windows began.
func compareBegin(a, b *Result) int {
	return a.Started.Add(a.Warmed).Compare(b.Started.Add(b.Warmed))
}

// BeganApart is how far apart the windows of r's parts began.
func (r *Result) BeganApart() time.Duration {
	if len(r.Parts) == 0 {
		return 0
	}
	all := whoseWindowBegan(r.Parts)
	first, last := slices.MinFunc(all, compareBegin), slices.MaxFunc(all, compareBegin)
	return last.Started.Add(last.Warmed).Sub(first.Started.Add(first.Warmed))
}

// Each are the generators that made the load: r's parts, or r itself.
func (r *Result) Each() []*Result {
	if len(r.Parts) == 0 {
		return []*Result{r}
	}
	return r.Parts
}

// WholeParts are the generators of which more is known than their intervals.
func (r *Result) WholeParts() []*Result {
	return slices.DeleteFunc(slices.Clone(r.Each()), func(p *Result) bool { return p.Partial })
}
