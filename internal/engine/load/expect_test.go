package load

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

var unavailable = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nhello")

// answers has a server answer with each of the statuses in turn, the i-th after i+1 ms.
func answers(statuses ...int) *ring.Sim {
	n := 0
	return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		i := n % len(statuses)
		n++
		p.Reply(int64(i+1)*ms, fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", statuses[i]))
	}}
}

// Without Expect a status of 400 or more is an error; with it, every status that it does not
// have. Errors have latencies of their own, and are told apart by their status.
func TestExpect(t *testing.T) {
	const each = 10
	statuses := []int{200, 204, 301, 404, 500, 503}
	for name, test := range map[string]struct {
		expect []loadplan.Statuses
		right  []int
	}{
		"none":         {nil, []int{200, 204, 301}},
		"any":          {[]loadplan.Statuses{loadplan.AnyStatus()}, statuses},
		"404":          {[]loadplan.Statuses{{From: 404, To: 404}}, []int{404}},
		"2xx,404":      {[]loadplan.Statuses{{From: 200, To: 299}, {From: 404, To: 404}}, []int{200, 204, 404}},
		"5xx,301":      {[]loadplan.Statuses{{From: 500, To: 599}, {From: 301, To: 301}}, []int{301, 500, 503}},
		"what is not":  {[]loadplan.Statuses{{From: 418, To: 418}}, nil},
		"one is wrong": {[]loadplan.Statuses{{From: 200, To: 299}, {From: 301, To: 301}, {From: 500, To: 599}}, []int{200, 204, 301, 500, 503}},
	} {
		t.Run(name, func(t *testing.T) {
			p := simPlan(func(p *loadplan.Plan) {
				p.Requested, p.Expect = each*int64(len(statuses)), test.expect
			})
			r := simulate(t, p, answers(statuses...))
			right, wrong := int64(0), map[string]int64{}
			var least, most int64 // ms, of the errors
			for i, status := range statuses {
				if slices.Contains(test.right, status) {
					right += each
					continue
				}
				wrong[fmt.Sprint(status)] = each
				if least == 0 {
					least = int64(i + 1)
				}
				most = int64(i + 1)
			}
			x, e := r.Total, r.Total.ErrorLatency
			if x.Completed != right || x.Failed != x.Sent-right || e.Count != x.Failed {
				t.Errorf("%d completed, %d failed, %d with a latency; %d are right", x.Completed, x.Failed,
					e.Count, right)
			}
			if e.Count > 0 && (e.Min != least*ms || e.Max != most*ms) {
				t.Errorf("errors took %d to %d ns, want %d to %d ms", e.Min, e.Max, least, most)
			}
			found := map[string]int64{}
			for _, f := range r.Failures {
				if f.Phase != loadresult.Expect || f.Kind != "status" {
					t.Errorf("%+v", f)
				}
				found[f.Detail] += f.Count
			}
			if !maps.Equal(found, wrong) {
				t.Errorf("failures %v, want %v", found, wrong)
			}
		})
	}
}

// A request's own statuses are in place of the plan's, and of none of the other requests.
func TestOwnStatuses(t *testing.T) {
	const each = 10
	for name, expect := range map[string][]loadplan.Statuses{"none": nil, "2xx": {{From: 200, To: 299}}} {
		p := simPlan(func(p *loadplan.Plan) {
			p.Requested, p.Expect = 4*each, expect
			first := p.Requests[0]
			p.Requests = nil
			for path, own := range []*loadplan.OwnExpectations{nil, {Status: []loadplan.Statuses{{From: 404, To: 404}}},
				{Status: []loadplan.Statuses{{From: 200, To: 299}, {From: 404, To: 404}}}, {}} {
				r := first
				r.Path, r.Name, r.Expect, r.Weight = fmt.Sprint("/", path), fmt.Sprint(path), own, 1
				p.Requests = append(p.Requests, r)
			}
		})
		n := 0
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) { // half of the answers to each are 404
			status := 200
			if n/4%2 > 0 {
				status = 404
			}
			n++
			p.Reply(ms, fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status))
		}})
		var failed []int64
		for _, route := range r.Routes {
			failed = append(failed, route.Failed)
		}
		if !slices.Equal(failed, []int64{each / 2, each / 2, 0, each / 2}) {
			t.Errorf("%s: failed are %v", name, failed)
		}
		for _, f := range r.Failures {
			if want := map[string]int64{"404": each, "200": each / 2}[f.Detail]; f.Count != want {
				t.Errorf("%s: %+v, want %d", name, f, want)
			}
		}
	}
}

// An answer that is an error to a request of the warm-up is one that the warm-up lost.
func TestErrorsInTheWarmup(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Warmup, p.Duration = loadplan.Seconds(1*s), loadplan.Seconds(1*s) })
	r := simulate(t, p, answers(503, 200)) // after 1 ms and after 2 ms
	if r.Warmup < 600 || r.WarmupLost*2 < r.Warmup-1 || r.WarmupLost*2 > r.Warmup+1 {
		t.Errorf("%d of %d lost", r.WarmupLost, r.Warmup)
	}
}

// What is answered in the drain is in no rate, errors neither: what was sent there, and what was in
// flight on the one connection when the window ended.
func TestErrorsAfterTheWindow(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Rate, p.Duration = loadplan.RatePerSecond(1000), loadplan.Seconds(100*ms)
	})
	r := simulate(t, p, answers(500, 500, 500, 200)) // 2.5 ms a request
	if r.SentAfter == 0 || r.ErrorsAfter+r.CompletedAfter != r.SentAfter+1 || r.ErrorsAfter < 2*r.CompletedAfter {
		t.Errorf("%d sent after the window, %d answered after it rightly, %d with errors", r.SentAfter,
			r.CompletedAfter, r.ErrorsAfter)
	}
}

// The latencies of errors add up: of workers to a second, and of generators to one.
func TestErrorLatenciesAddUp(t *testing.T) {
	var parts []loadresult.Interval
	r := &run{result: &loadresult.Result{}, failures: failure.Counts{},
		viewer: loadresult.NewViewer(2, func(iv loadresult.Interval) { parts = append(parts, iv) })}
	all := metric.NewHistogram(metric.Fine)
	for part := range int64(2) {
		of := &workerReport{Counters: metric.NewCounters()}
		for worker := range int64(3) {
			one := metric.NewCounters()
			for i := range int64(100) {
				took := (part + 1) * (worker + 1) * (i + 1) * us
				one.ErrorLatency.Record(took)
				all.Record(took)
				one.Failed++
			}
			of.Merge(one)
			if one.Reset(); one.ErrorLatency.Count != 0 {
				t.Fatal("Reset left errors")
			}
		}
		of.To = s
		r.publishInterval(of)
	}
	r.viewer.Close()
	sum := loadresult.Sum(parts)
	if want := all.ToSparse(); !reflect.DeepEqual(sum.ErrorLatency, want) || sum.Failed != 600 {
		t.Errorf("the sum has %d: %+v, want %+v", sum.Failed, sum.ErrorLatency, want)
	}
}
