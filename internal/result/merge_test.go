package result

import (
	"bytes"
	"encoding/json"
	"math"
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
	"dyno/internal/result/durations"
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

func merged(t *testing.T, all ...*Result) *Result {
	t.Helper()
	m, err := Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Of one result all that it has comes through, and nothing else: a field that is
// new and forgotten shows here.
func TestMergeOfOne(t *testing.T) {
	for name, run := range map[string]*loadresult.Result{"closed": closedRun(), "open": openRun(),
		"protocols": protocolRun(),
		"users":     scenarioRun(false), "open users": scenarioRun(true),
		"unreachable": {Plan: loadplan.DefaultPlan(), Ended: loadresult.Unreachable, Cause: "refused"}} {
		r := written(t, from(t, run))
		m := merged(t, r)
		if r.Plan.CPUs == nil {
			m.Plan.CPUs = nil
		}
		a, b := reflect.ValueOf(*m), reflect.ValueOf(*r)
		for i := range a.NumField() {
			if !a.Type().Field(i).IsExported() {
				continue
			}
			if x, y := a.Field(i).Interface(), b.Field(i).Interface(); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: %s:\n%+v, was\n%+v", name, a.Type().Field(i).Name, x, y)
			}
		}
	}
}

// parts are n runs, and the one that would have counted all that they did.
func parts(t *testing.T, n int) (all []*Result, whole *Result) {
	plan := openRun().Plan
	plan.Connections, plan.Threads, plan.CPUs = 3*n, n, []int{0, 1, 2, 3}
	one := openRun()
	one.Plan, one.Routes, one.Intervals = plan, nil, nil
	one.Total, one.Lag = metric.NewCounters(), metric.NewHistogram(metric.Fine)
	one.Totals.SentAfter, one.Totals.CompletedAfter, one.Totals.Unfinished = 0, 0, 0
	one.Waiting = 0
	coin := rand.New(rand.NewPCG(1, 2))
	for _, p := range plan.Split(n) {
		r := openRun()
		r.Plan, r.Total = p, metric.NewCounters()
		r.Lag = histogram(metric.Fine, time.Duration(p.Part+1)*time.Microsecond)
		for range 1000 + 100*p.Part {
			v := int64(coin.ExpFloat64() * 1e6)
			r.Total.Latency.Record(v)
			r.Total.Service.Record(v / 2)
		}
		r.Total.ErrorLatency.Record(int64(p.Part+1) * 1e6)
		n := r.Total.Latency.Count
		r.Total.Completed, r.Total.Sent, r.Total.Failed = n, n+3, 2
		r.Total.Status[200] = n
		r.Total.Received, r.Total.Written = 10*n, 5*n
		r.Started = r.Started.Add(time.Duration(p.Part) * time.Millisecond)
		one.Total.Merge(r.Total)
		one.Lag.Merge(r.Lag)
		one.Totals.SentAfter += r.SentAfter
		one.Totals.CompletedAfter += r.CompletedAfter
		one.Totals.Unfinished += r.Unfinished
		one.Waiting += r.Waiting
		all = append(all, written(t, from(t, r)))
	}
	return all, written(t, from(t, one))
}

// The parts' histograms are together, to the byte, the one of a single generator,
// and so are all percentiles.
func TestMergeIsTheWhole(t *testing.T) {
	all, whole := parts(t, 3)
	slices.Reverse(all) // the order is not the parts'
	m, second := merged(t, all...), int64(600)
	for name, d := range map[string][2]*Distribution{"latency": {m.Latency, whole.Latency},
		"service": {m.Service, whole.Service}} {
		got, want := *d[0], *d[1]
		if diff := got.Mean - want.Mean; diff < -0.001 || diff > 0.001 { // means are kept to the ns
			t.Errorf("%s: mean %v, want %v", name, got.Mean, want.Mean)
		}
		got.Mean = want.Mean
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
	if !reflect.DeepEqual(m.Plan, whole.Plan) {
		t.Errorf("plan %+v\nwant %+v", m.Plan, whole.Plan)
	}
	for _, test := range []struct{ what, got, want any }{
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
		{"errors", m.Errors, []Error{{"read", "reset", "1.2.3.4:443", "reset", 27, 0, ""},
			{"expect", "status", "1.2.3.4:443", "404", 3, 0, ""}}},
		{"connects", m.Phases.Connect.Count, int64(6)},
		{"second", m.Series[0], Point{T: 1, Sent: 1800, Completed: 1800, Mean: 0.009, Max: 7,
			InFlight: 6, Received: 9000, Written: 7200, Status: map[string]int64{"200": 1797, "404": 3},
			Heat: metric.Heat{{5, 1650}, {6, 150}}, ByPart: []*int64{&second, &second, &second}}},
		{"part's second", all[1].Series[0].Status, map[string]int64{"200": 599, "404": 1}},
		{"route", m.Routes[0], Route{Name: "a", Completed: 2997, Errors: 6, Mean: 1e6, Max: 1e6}},
		{"CPU", m.Generator.CPUPercent, 75.0},
		{"threads", m.Generator.Threads, 3},
		{"ring", m.Generator.Ring, "epoll"},
		{"lag", *m.Generator.SendLagP99, 3.0},
		{"window", m.Window, all[2].Window},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, test.got, test.want)
		}
	}
	// CPU/request: 0.5 s each, of 801, 901 and 1001 answers in the window.
	if got := m.Generator.CPUPerRequest; got < 554.5 || got > 555.5 {
		t.Errorf("%v µs of CPU/request, want 1.5 s / 2703", got)
	}
}

// Reasons name the part that they are of, and what only one of several did is no
// end of the whole.
func TestMergeJudges(t *testing.T) {
	all, _ := parts(t, 3)
	all[1].Generator.BusyPercent = 96
	all[1].Ended, all[1].Cause = "gone", "connect 1.2.3.4:443: refused"
	all[2].Window.Started = all[2].Window.Started.Add(time.Second)
	m := merged(t, all...)
	text := strings.Join(m.Generator.Reasons, "\n")
	for _, want := range []string{"part 2 of 3: the generator was busy 96 %",
		"part 2 of 3: the load ended after 2 s", "requests due were never sent"} {
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
		all[i].Ended, all[i].Cause = "gone", "refused"
	}
	if m := merged(t, all...); m.Ended != "gone" || m.Cause != "refused" ||
		strings.Contains(m.Generator.Reasons[0], "part") {
		t.Errorf("%s %s %q", m.Ended, m.Cause, m.Generator.Reasons)
	}
}

// Since when all failed is said of the whole, if nearly all of the whole did.
func TestMergeErrorsSince(t *testing.T) {
	all, _ := parts(t, 2)
	for _, r := range all {
		r.Errors = []Error{{Phase: string(loadresult.Expect), Kind: "status", Detail: "401", Count: 1}}
		r.Series = []Point{{T: 1, Completed: 100, Status: map[string]int64{"200": 100}},
			{T: 2, Completed: 90, Errors: 10, Status: map[string]int64{"200": 90, "401": 10}},
			{T: 3, Errors: 100, Status: map[string]int64{"401": 100}}}
	}
	want := fact.ErrorsSince{SinceS: 1.9, Status: 401, Percent: 100}
	if _, got, found := fact.Find[fact.ErrorsSince](merged(t, all...).Facts); !found || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, r := range all { // whose answers were 200 and failed a check
		r.Series[2].Status = map[string]int64{"200": 100}
	}
	want.Status = 0
	if _, got, found := fact.Find[fact.ErrorsSince](merged(t, all...).Facts); !found || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	all[0].Series[2] = Point{T: 3, Completed: 100}
	if f, _, found := fact.Find[fact.ErrorsSince](merged(t, all...).Facts); found {
		t.Errorf("of one of two: %+v", f)
	}
}

func TestMergeRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func([]*Result) []*Result
		want  string
	}{
		"none":    {func([]*Result) []*Result { return nil }, "no part"},
		"missing": {func(all []*Result) []*Result { return all[:2] }, "part 1 of 3 is not one of these 2"},
		"lost": {func(all []*Result) []*Result { all[2].Requests.Completed--; return all },
			"part 3 does not add up"},
		"broken": {func(all []*Result) []*Result { all[0].Latency.HDR = "x"; return all },
			"the latency histogram"},
		"another's": {func(all []*Result) []*Result { all[0].Latency.HDR = all[1].Latency.HDR; return all },
			"it has 1100 values, not the 1000"},
	} {
		all, _ := parts(t, 3)
		if _, err := Merge(test.spoil(all)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of connections and threads the whole says what the parts told, and draws no conclusion from
// those that did not.
func TestMergeUntold(t *testing.T) {
	var all []*Result
	run := closedRun()
	for i, p := range run.Plan.Split(2) {
		r := closedRun()
		r.Plan, r.CompletedAfter = p, 0
		part := written(t, from(t, r))
		part.Generator.CPUPerRequest = 7
		if i == 1 {
			part.Connections, part.Generator.CPUPerRequest = Connections{}, 0
		}
		all = append(all, part)
	}
	m := merged(t, all...)
	if m.Generator.Little != nil || m.Generator.CPUPerRequest != 7 ||
		m.Connections.Asked != all[0].Connections.Asked || m.Requests.Completed != 2000 {
		t.Errorf("%+v %+v", m.Generator, m.Connections)
	}
}

// Each interval says what each part completed in it, unless that is too much to keep; of a part
// that went silent nothing, and not that it was 0.
func TestMergeByPart(t *testing.T) {
	all, _ := parts(t, 3)
	whole := merged(t, all...)
	all[1].Series = all[1].Series[:1]
	m := merged(t, all...)
	for i, p := range m.Series {
		sum := int64(0)
		for k, n := range p.ByPart {
			if silent := k == 1 && i > 0; (n == nil) != silent {
				t.Errorf("interval %d, part %d: known: %v", i, k+1, n != nil)
			} else if !silent {
				sum += *n
			}
		}
		if len(p.ByPart) != 3 || sum != p.Completed {
			t.Errorf("interval %d: %d parts with %d, want 3 with %d", i, len(p.ByPart), sum, p.Completed)
		}
	}
	if len(m.Series) < 2 || len(m.Series) != len(whole.Series) {
		t.Errorf("%d intervals show too little", len(m.Series))
	}
	long := &Result{Series: make([]Point, byPartMost/2+1)}
	for many, want := range map[*Result]int{long: 0, {Series: long.Series[1:]}: 2} {
		m := &Result{}
		if m.mergeSeries([]*Result{many, many}); len(m.Series[0].ByPart) != want {
			t.Errorf("%d intervals of 2 parts: %d counts in each, want %d", len(many.Series), len(m.Series[0].ByPart), want)
		}
	}
}

// Sums of latencies may be more than an int64 holds: means of parts and of all stay what they are.
func TestMergeOfLargeSums(t *testing.T) {
	h := histogram(metric.Fine, 100*time.Second, 350*time.Second)
	for range 26 {
		h.MergeSparse(h.ToSparse())
	}
	part := durations.New(h)
	all, err := durations.Merge([]*Distribution{part, part})
	if err != nil {
		t.Fatal(err)
	}
	if part.Mean != 225e6 || all.Mean != part.Mean || all.Count != 2*part.Count ||
		math.Abs(all.Stdev/125e6-1) > 0.01 {
		t.Errorf("mean %v of a part and %v ± %v of all", part.Mean, all.Mean, all.Stdev)
	}
}

// Parts that have more values together than an int64 holds are refused, not added up wrongly.
func TestMergeOfTooManyValues(t *testing.T) {
	h := histogram(metric.Fine, time.Millisecond)
	for range 62 {
		h.MergeSparse(h.ToSparse())
	}
	half := durations.New(h)
	if all, err := durations.Merge([]*Distribution{half}); err != nil || all.Count != 1<<62 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := durations.Merge([]*Distribution{half, half}); err != durations.ErrTooMany {
		t.Errorf("%v, want %v", err, durations.ErrTooMany)
	}
}
