package loadresult

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"dyno/internal/engine/metric"
)

// ReportedKinds is how many kinds of failures a process reports to another; detailMax is how many
// bytes of each detail, and detailsMax how many of all.
const (
	ReportedKinds = 1 << 10
	detailMax     = 2 << 10
	detailsMax    = 128 << 10
)

// Told is r for the process that ordered the load, which has the plan and was told the intervals.
func (r *Result) Told() *Result {
	t := *r
	t.Total, t.Intervals, t.Lost = nil, nil, slices.Clone(r.Lost)
	for i := range t.Lost { // without a window, all was long before it
		t.Lost[i].Since = max(t.Lost[i].Since, -r.Warmed)
	}
	if t.Ended == Unreachable {
		t.Proxy = t.Plan.Target.ProxyVariable(os.Getenv)
	}
	return &t
}

// Reported returns failures within the limits of what a process reports to another.
func Reported(all []Failure) []Failure {
	all = slices.Clone(Fewer(all, ReportedKinds))
	for i := range all {
		d := all[i].Detail
		all[i].Detail = strings.ToValidUTF8(d[:min(len(d), detailMax, detailsMax/len(all))], "")
	}
	return all
}

// Limits of lists, and of the bytes of a name, in what a process tells another. The names of routes
// are the plan's, which whoever has the plan compares.
const (
	listMost  = 256
	termsMost = 256
	nameMost  = 1 << 10
)

// errHistogram is the fault of a histogram that has other buckets than it should, or is missing.
var errHistogram = errors.New("a histogram is of another kind")

// CheckTold fails if r, which comes from another machine, cannot be added to others, or if its
// lists are longer than any generator's.
func (r *Result) CheckTold() error {
	if r.Total != nil {
		return errors.New("it has what its reports tell")
	}
	return r.checkLists(true)
}

// names are those in r that a generator makes up: a report shows them.
func (r *Result) names() []string {
	all := append(slices.Collect(maps.Keys(r.Protocols)), r.Ring, r.Proxy, string(r.Ended))
	for t := range r.Terms {
		all = append(all, t.Version+t.Cipher+t.Group)
	}
	for _, a := range r.Lost {
		all = append(all, a.Address+a.Why)
	}
	for _, a := range r.Addresses {
		all = append(all, a.Address)
	}
	for _, k := range slices.Concat(r.Retries, r.NotRetried) {
		all = append(all, k.Method+k.Why)
	}
	if r.Scenario != nil {
		for _, m := range r.Scenario.Measures {
			all = append(all, m.Name)
		}
	}
	return all
}

func (r *Result) checkLists(probe bool) error {
	coarse := []*metric.Histogram{r.FirstByte, r.Connect, r.FullTLS, r.ResumedTLS, r.Law.Off}
	fine := []*metric.Histogram{r.Lag}
	long := max(len(r.Notices), len(r.Samples), len(r.Lost), len(r.Protocols), len(r.Retries),
		len(r.NotRetried), len(r.Addresses)) > listMost || len(r.Unanswered) > WaitsMost ||
		len(r.Terms) > termsMost ||
		len(r.Routes) > RoutesMax
	for _, x := range r.Routes {
		for _, h := range x.times() {
			coarse = append(coarse, *h)
		}
		long = long || len(x.Unanswered) > WaitsMost
	}
	if s := r.Scenario; s != nil {
		fine = append(fine, s.FailedTime)
		long = long || len(s.Measures) > listMost
		for _, m := range s.Measures {
			fine = append(fine, m.Histogram)
		}
	}
	if t := r.Total; t != nil {
		if t.Latency == nil || t.Service == nil || t.ErrorLatency == nil {
			return errHistogram
		}
		fine = append(fine, t.Latency, t.Service, t.ErrorLatency, t.IterationTime)
	}
	other := func(digits int) func(*metric.Histogram) bool {
		return func(h *metric.Histogram) bool { return h != nil && h.Digits() != digits }
	}
	rain := checkRain(r.Rain)
	switch {
	case long:
		return errors.New("a list of it is longer than any generator's")
	case slices.ContainsFunc(r.names(), func(s string) bool { return len(s) > nameMost }):
		return errors.New("a name of it is longer than any generator's")
	case slices.ContainsFunc(coarse, other(metric.Coarse)) ||
		slices.ContainsFunc(fine, other(metric.Fine)):
		return errHistogram
	case rain != nil:
		return rain
	case r.Probe != nil && (!probe || r.Probe.Total == nil):
		return errors.New("its probe is none")
	case r.Probe != nil:
		return r.Probe.checkLists(false)
	}
	return nil
}
