package result

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// written is r as it comes out of JSON.
func written(t *testing.T, r *Result) *Result {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	back := new(Result)
	if err := json.Unmarshal(b.Bytes(), back); err != nil {
		t.Fatal(err)
	}
	return back
}

// joined is what runs counted together, each of a part of one plan.
func joined(t *testing.T, runs ...*loadresult.Result) *loadresult.Result {
	t.Helper()
	sum := loadresult.NewTogether(len(runs), nil)
	for i, r := range runs {
		for _, iv := range r.Intervals {
			sum.Add(i, iv)
		}
	}
	sum.Close()
	m, err := sum.Join(runs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// together is the result of runs together.
func together(t *testing.T, runs ...*loadresult.Result) *Result {
	t.Helper()
	return written(t, from(t, joined(t, runs...)))
}

// halves are a run twice, as the two parts of a plan.
func halves(run func() *loadresult.Result) (all []*loadresult.Result) {
	for _, p := range run().Plan.Split(2) {
		r := *run()
		r.Plan = p
		all = append(all, &r)
	}
	return all
}

// parts are n runs, and the one that would have counted all that they did.
func parts(n int) (all []*loadresult.Result, whole *loadresult.Result) {
	plan := openRun().Plan
	plan.Connections, plan.Threads, plan.CPUs = 3*n, n, []int{0, 1, 2, 3}
	whole = openRun()
	whole.Plan, whole.Total, whole.Lag = plan, metric.NewCounters(), metric.NewHistogram(metric.Fine)
	whole.Routes = []loadresult.Route{{Name: "a", Latency: metric.NewHistogram(metric.Coarse)}, {Name: "b"}}
	whole.SentAfter, whole.CompletedAfter, whole.Unfinished, whole.Waiting = 0, 0, 0, 0
	seconds := []*metric.Histogram{metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)}
	coin := rand.New(rand.NewPCG(1, 2))
	for _, p := range plan.Split(n) {
		r := openRun()
		r.Plan, r.Total = p, metric.NewCounters()
		r.Lag = histogram(metric.Fine, time.Duration(p.Part+1)*time.Microsecond)
		r.Routes = []loadresult.Route{{Name: "a", Latency: metric.NewHistogram(metric.Coarse)}, {Name: "b"}}
		for i := range r.Intervals {
			h := metric.NewHistogram(metric.Fine)
			for range 500 + 50*p.Part {
				v := int64(coin.ExpFloat64() * 1e6 * float64(p.Part+1))
				h.Record(v)
				r.Total.Service.Record(v / 2)
				r.Routes[0].Latency.Record(v)
				r.Routes[0].Completed++
			}
			iv := &r.Intervals[i]
			iv.Completed, iv.Sent, iv.Latency = h.Count, h.Count+1, h.ToSparse()
			iv.Measure()
			seconds[i].Merge(h)
			r.Total.Latency.Merge(h)
		}
		r.Total.ErrorLatency.Record(int64(p.Part+1) * 1e6)
		n := r.Total.Latency.Count
		r.Total.Completed, r.Total.Sent, r.Total.Failed = n, n+3, 2
		r.Total.Status[200] = n
		r.Total.Received, r.Total.Written = 10*n, 5*n
		r.Started = r.Started.Add(time.Duration(p.Part) * time.Millisecond)
		whole.Total.Merge(r.Total)
		whole.Lag.Merge(r.Lag)
		loadresult.AddRoutes(whole.Routes[:1], r.Routes[:1])
		whole.SentAfter += r.SentAfter
		whole.CompletedAfter += r.CompletedAfter
		whole.Unfinished += r.Unfinished
		whole.Waiting += r.Waiting
		all = append(all, r)
	}
	for i, h := range seconds {
		whole.Intervals[i].Latency, whole.Intervals[i].Completed = h.ToSparse(), h.Count
		whole.Intervals[i].Measure()
	}
	return all, whole
}

// A load of three generators has the percentiles that one would have: of the whole, of each second, of
// each route and of the send lag.
func TestTogetherIsTheWhole(t *testing.T) {
	all, run := parts(3)
	m, whole := together(t, all...), written(t, from(t, run))
	second := func(i int) *int64 { return &all[i].Intervals[0].Completed }
	for _, test := range []struct{ what, got, want any }{
		{"latency", m.Latency, whole.Latency}, {"service", m.Service, whole.Service},
		{"plan", m.Plan, whole.Plan},
		{"model", m.Model, whole.Model},
		{"status", m.Status, whole.Status},
		{"bytes", m.Bytes, whole.Bytes},
		{"rate", m.Rate, whole.Rate},
		{"sent", m.Requests.Sent, int64(3*1003 + 300)},
		{"requests", [3]int64{m.Requests.Completed, m.Requests.Errors, m.Requests.Unfinished},
			[3]int64{whole.Requests.Completed, whole.Requests.Errors, whole.Requests.Unfinished}},
		{"warm-up", m.Requests.Warmup, 3 * whole.Requests.Warmup},
		{"warm-up lost", m.Requests.WarmupLost, 3 * whole.Requests.WarmupLost},
		{"late", *m.Requests.Late, int64(12)},
		{"waiting", *m.Requests.Waiting, int64(18)},
		{"latest", *m.Requests.LateMax, 5000.0},
		{"opened", m.Connections.Opened, int64(9)},
		{"asked", m.Connections.Asked, 9},
		{"errors", m.Errors, []Error{{"read", "reset", "1.2.3.4:443", "reset", 27, 0, nil, ""},
			{"expect", "status", "1.2.3.4:443", "404", 3, 0, nil, ""}}},
		{"connects", m.Phases.Connect.Count, int64(6)},
		{"look-ups", m.Phases.DNS.Count, int64(3)},
		{"by part", m.Series[0].ByPart, []*int64{second(0), second(1), second(2)}},
		{"statuses of a second", m.Series[0].Status, map[string]int64{"200": 1797, "404": 3}},
		{"route", m.Routes[0].P50, whole.Routes[0].P50},
		{"p99 of a route", m.Routes[0].P99, whole.Routes[0].P99},
		{"longest of a route", m.Routes[0].Max, whole.Routes[0].Max},
		{"CPU", m.Generator.CPUPercent, 75.0},
		{"threads", m.Generator.Threads, 3},
		{"ring", m.Generator.Ring, "epoll"},
		{"lag", [2]any{*m.Generator.SendLagP50, *m.Generator.SendLagP99}, [2]any{2.0, 3.0}},
		{"window", m.Window, whole.Window},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.what, test.got, test.want)
		}
	}
	for i, p := range m.Series {
		if w := whole.Series[i]; p.P50 != w.P50 || p.P99 != w.P99 || p.Max != w.Max || p.Mean != w.Mean || p.P50 == 0 || p.P99 <= p.P50 ||
			!slices.Equal(p.Heat, w.Heat) {
			t.Errorf("second %d: %+v\nwant %+v", i, p, w)
		}
	}
	// CPU/request: 0.5 s each, of 801, 901 and 1001 answers in the window.
	if got := m.Generator.CPUPerRequest; got < 554.5 || got > 555.5 {
		t.Errorf("%v µs of CPU/request, want 1.5 s / 2703", got)
	}
	if m.Routes[0].P99 == 0 || m.Routes[0].P50 == 0 {
		t.Errorf("the route has no percentiles: %+v", m.Routes[0])
	}
}

// Reasons name the part that they are of, and what only one of several did is no
// end of the whole.
func TestTogetherJudges(t *testing.T) {
	all, _ := parts(3)
	all[1].Busy = 0.96
	all[1].Ended, all[1].Cause = loadresult.Gone, "connect 1.2.3.4:443: refused"
	all[2].Started = all[2].Started.Add(time.Second)
	m := together(t, all...)
	text := strings.Join(m.Generator.Reasons, "\n")
	for _, want := range []string{"generator 2 (of 3) was busy 96 %",
		"on generator 2 (of 3): the load ended after 2 s", "requests due were never sent"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("not once %q:\n%s", want, text)
		}
	}
	if m.Generator.Verdict != ClientBound || m.Ended != "duration" || m.Cause != "" {
		t.Errorf("%s, %s %s", m.Generator.Verdict, m.Ended, m.Cause)
	}
	apart := func(w string) bool { return strings.Contains(w, "the generators began 1 s apart") }
	if !slices.ContainsFunc(m.Warnings, apart) {
		t.Errorf("warnings %q", m.Warnings)
	}
	for i := range all {
		all[i].Ended, all[i].Cause = loadresult.Gone, "refused"
	}
	if m := together(t, all...); m.Ended != "gone" || m.Cause != "refused" ||
		strings.Contains(m.Generator.Reasons[0], "part") {
		t.Errorf("%s %s %q", m.Ended, m.Cause, m.Generator.Reasons)
	}
}

// What a generator says before it is judged, the whole says once.
func TestTogetherNotices(t *testing.T) {
	all, _ := parts(2)
	lost := func(of int) fact.Fact { return fact.Noticed(fact.ThreadsLost{Threads: 1, Of: of}) }
	all[0].Notices, all[1].Notices = []fact.Fact{lost(2), lost(3)}, []fact.Fact{lost(3), lost(4)}
	m := together(t, all...)
	if want := []string{say.Sentence(lost(2)), say.Sentence(lost(3)), say.Sentence(lost(4))}; !slices.Equal(m.Warnings[:3], want) {
		t.Errorf("%q", m.Warnings)
	}
	if got := m.WarningFacts(); len(got) != len(m.Warnings) || got[2].Args != lost(4).Args {
		t.Errorf("%+v say %q", got, m.Warnings)
	}
}

// Since when all failed is said of the whole, if nearly all of the whole did.
func TestTogetherErrorsSince(t *testing.T) {
	all, _ := parts(2)
	second := func(i int, right, wrong int64, status uint16) loadresult.Interval {
		iv := loadresult.Interval{Index: i, To: time.Duration(i+1) * time.Second, Completed: right, Failed: wrong,
			Status: map[uint16]int64{200: right}}
		iv.Status[status] += wrong
		return iv
	}
	fill := func(status uint16) {
		for _, r := range all {
			r.Failures[0] = loadresult.Failure{Phase: loadresult.Expect, Kind: "status", Detail: "401", Count: 1}
			r.Intervals = []loadresult.Interval{second(0, 100, 0, 200), second(1, 90, 10, status), second(2, 0, 100, status)}
		}
	}
	find := func() (fact.ErrorsSince, bool) {
		_, got, found := fact.Find[fact.ErrorsSince](together(t, all...).Facts)
		return got, found
	}
	fill(401)
	want := fact.ErrorsSince{SinceS: 1.9, Status: 401, Percent: 100}
	if got, found := find(); !found || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	fill(200) // whose answers failed a check
	want.Status = 0
	if got, found := find(); !found || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	all[0].Intervals[2] = second(2, 100, 0, 200)
	if got, found := find(); found {
		t.Errorf("of one of two: %+v", got)
	}
}

// A part that does not add up is named.
func TestPartsThatDoNotAddUp(t *testing.T) {
	all, _ := parts(3)
	all[2].Total.Completed--
	if _, err := From(joined(t, all...), "v"); err == nil || !strings.Contains(err.Error(), "part 3 does not add up") {
		t.Error(err)
	}
}

// Of connections, threads and iterations the whole says what the generators told, and draws no
// conclusion from one of which only the intervals are known.
func TestTogetherUntold(t *testing.T) {
	run := func() *loadresult.Result {
		r := scenarioRun(false)
		r.CompletedAfter = 0
		return r
	}
	all := halves(run)
	all[1].Intervals = []loadresult.Interval{{To: time.Second, Sent: 12, Completed: 10, Failed: 1}}
	sum := loadresult.NewTogether(2, nil)
	sum.Add(1, all[1].Intervals[0])
	sum.Close()
	all[1] = sum.Tally(1).Partial(all[1].Plan)
	whole, err := sum.Join(all)
	if err != nil {
		t.Fatal(err)
	}
	lost, told := whole.Parts[1], whole.Parts[0]
	lost.Total.Latency = histogram(metric.Fine, slices.Repeat([]time.Duration{time.Millisecond}, 10)...)
	m := from(t, whole)
	one := from(t, told)
	if m.Generator.Little != nil || m.Generator.CPUPerRequest != one.Generator.CPUPerRequest ||
		m.Connections.Asked != 1 || m.Requests.Completed != one.Requests.Completed+10 || m.Requests.Unfinished != one.Requests.Unfinished+1 {
		t.Errorf("%+v %+v %+v", m.Generator, m.Connections, m.Requests)
	}
	if m.Iterations.Started != 505 || !slices.ContainsFunc(m.Warnings, func(s string) bool {
		return strings.HasPrefix(s, "1 of 2 generators did not report")
	}) {
		t.Errorf("%+v, warnings %q", m.Iterations, m.Warnings)
	}
}

// Where users starve in one part, its requests without an answer count as its own bounds.
func TestUnansweredOfParts(t *testing.T) {
	plan := loadplan.DefaultPlan()
	plan.Connections, plan.Threads = 2, 2
	all := halves(closedRun)
	for i, r := range all {
		r.Unfinished, r.Drained = 1, time.Duration(i+1)*time.Second
		r.Routes = []loadresult.Route{{Name: "a", Completed: 9, Latency: histogram(metric.Coarse, time.Millisecond),
			Unanswered: loadresult.Unanswered{{Requests: 1}}}, {Name: "b"}}
	}
	m := together(t, all...)
	if o := m.Latency.Over; o == nil || o.Count != 2 || len(o.Bounds) != 2 || o.Bounds[1].US != 2e6 {
		t.Errorf("%+v", o)
	}
	if o := m.Routes[0].Over; o == nil || o.Count != 2 || o.US != 1e6 || m.Routes[0].Max != 2e6 {
		t.Errorf("%+v", m.Routes[0])
	}
}
