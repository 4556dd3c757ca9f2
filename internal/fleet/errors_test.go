package fleet

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// Answers that are errors come from all agents with their latencies, live and at the end,
// and what agents report adds up to what they measured in all.
func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var n, failed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%3 == 0 {
			failed.Add(1)
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	w.startAgent("a", 2)
	w.startAgent("b", 1)
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	p := w.newPlan(0, 0, 6)
	p.Target.Port, p.Requested = at.Port(), 3000
	c := w.newController()
	c.LooseStart = true
	live := loadresult.Interval{}
	shown := int64(0)
	r, err := w.tryRun(t.Context(), c, p, func(iv loadresult.Interval) {
		live.Add(iv)
		shown += iv.ErrorLatency.Count
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := failed.Load()
	if q := r.Requests; q.Sent != 3000 || q.Errors != wrong || q.Completed != 3000-wrong ||
		r.ErrorAnswers() != wrong || r.Status["503"] != wrong || wrong != 1000 {
		t.Errorf("%+v, %d with a latency, %v; the server failed %d", q, r.ErrorAnswers(), r.Status, wrong)
	}
	if live.Failed != wrong || shown != wrong {
		t.Errorf("shown live: %d errors, %d with a latency", live.Failed, shown)
	}
	for _, a := range r.Fleet.Agents {
		if !a.Final || a.AddsUp == nil || !*a.AddsUp || a.Requests.Errors == 0 {
			t.Errorf("%+v", a)
		}
	}
	if !r.Fleet.AddsUp {
		t.Errorf("%v", r.Generator.Reasons)
	}
}

// An agent that never says what it measured in all has its errors in its reports, and a report
// whose errors and latencies are not as many is refused.
func TestErrorsOfReports(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	for i := range int64(10) {
		h.Record((i + 1) * 1e6)
	}
	second := loadresult.Interval{To: time.Second, Sent: 12, Failed: 12, Apart: loadresult.Apart{ErrorLatency: h.ToSparse()},
		Status: map[uint16]int64{503: 10}, Failures: []loadresult.Failure{
			{Phase: loadresult.Expect, Kind: "status", Detail: "503", Count: 10},
			{Phase: loadresult.Read, Kind: "reset", Count: 2}}}
	long := plausibleMax{sum: 1 << 60, elapsed: time.Hour}
	all := newReports(t)
	for range 2 {
		if err := checkSecond(all.Tally(0), &second, long); err != nil {
			t.Errorf("10 errors with their latencies, and 2 others, cannot be: %v", err)
		}
		all.Add(0, second)
		second.Index++
	}
	p := loadplan.DefaultPlan()
	p.Duration = loadplan.Seconds(2 * time.Second)
	r := partialResult(t, all, p)
	if r.ErrorAnswers() != 20 || r.Requests.Errors != 24 || r.ErrorLatency.Max != 10_000 || r.CheckSums() != nil {
		t.Errorf("%+v, errors took %+v: %v", r.Requests, r.ErrorLatency, r.CheckSums())
	}
	second.ErrorLatency = metric.Sparse{}
	if checkSecond(all.Tally(0), &second, long) == nil {
		t.Error("10 errors without latencies are sound")
	}
}

// newReports are those of an agent.
func newReports(t *testing.T) *loadresult.Together {
	all := loadresult.NewTogether(1, nil)
	t.Cleanup(all.Close)
	return all
}

// partialResult is the result of an agent of which only the reports are known.
func partialResult(t *testing.T, all *loadresult.Together, p loadplan.Plan) *result.Result {
	t.Helper()
	x := all.Tally(0).Partial(p)
	all.Complete(0, x)
	r, err := result.From(x, loadplan.Version)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What agents report of iterations and checks is limited, and is what they did.
func TestReportedUsers(t *testing.T) {
	h := metric.NewHistogram(metric.Fine)
	h.Record(1e9)
	h.Record(2e9)
	limit := plausibleMax{sum: 1 << 60, elapsed: time.Hour, checks: 2}
	second := loadresult.Interval{To: time.Second, Iterations: 2, IterationTime: h.ToSparse(),
		Checks: []metric.Outcomes{{Passed: 4, Failed: 1}, {}}}
	for name, lie := range map[string]func(*loadresult.Interval){
		"no times":       func(iv *loadresult.Interval) { iv.IterationTime = metric.Sparse{} },
		"other buckets":  func(iv *loadresult.Interval) { iv.IterationTime = coarse(2) },
		"more times":     func(iv *loadresult.Interval) { iv.Iterations = 1 },
		"another check":  func(iv *loadresult.Interval) { iv.Checks = append(iv.Checks, metric.Outcomes{}) },
		"negative":       func(iv *loadresult.Interval) { iv.Checks = []metric.Outcomes{{Failed: -1}} },
		"more than time": func(iv *loadresult.Interval) { iv.Checks = []metric.Outcomes{{Passed: 1 << 60}} },
	} {
		iv := second
		iv.Checks = slices.Clone(second.Checks)
		lie(&iv)
		if err := checkSecond(new(loadresult.Tally), &iv, limit); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	all := newReports(t)
	if err := checkSecond(all.Tally(0), &second, limit); err != nil {
		t.Fatal(err)
	}
	all.Add(0, second)
	p := loadplan.DefaultPlan()
	p.Checks = []string{"body", "own"}
	said := []result.CheckCount{{Name: "body", Passed: 4, Failed: 1}, {Name: "own"}}
	if part := partialResult(t, all, p); !slices.Equal(part.Checks, said) {
		t.Errorf("a lost agent's checks are %+v", part.Checks)
	}
}

// coarse has n values in buckets of another kind.
func coarse(n int) metric.Sparse {
	h := metric.NewHistogram(metric.Coarse)
	for range n {
		h.Record(1e9)
	}
	return h.ToSparse()
}
