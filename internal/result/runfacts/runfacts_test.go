package runfacts

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
)

func TestErrorsSince(t *testing.T) {
	type second struct {
		right, wrong int64
		status       uint16 // of the wrong ones
	}
	for _, c := range []struct {
		what    string
		seconds []second
		want    *fact.ErrorsSince
	}{
		{"a token that expired", []second{{100, 0, 0}, {90, 10, 401}, {0, 100, 401}, {0, 100, 401}},
			&fact.ErrorsSince{SinceS: 1.9, Status: 401, Percent: 100}},
		{"between two seconds", []second{{100, 0, 0}, {0, 100, 401}}, &fact.ErrorsSince{SinceS: 1, Status: 401, Percent: 100}},
		{"and some that were not answered", []second{{100, 0, 0}, {0, 100, 401}, {0, 198, 401}, {0, 2, 0}},
			&fact.ErrorsSince{SinceS: 1, Status: 401, Percent: 100 * 298. / 300}},
		{"no answers", []second{{100, 1, 0}, {50, 50, 0}, {1, 100, 0}}, &fact.ErrorsSince{SinceS: 1.5, Percent: 100 * 100. / 101}},
		{"in the last second", []second{{100, 0, 0}, {100, 0, 0}, {8, 92, 401}}, &fact.ErrorsSince{SinceS: 2, Status: 401, Percent: 92}},
		{"in the last second, and behind it", []second{{100, 0, 0}, {8, 90, 401}, {0, 2, 401}},
			&fact.ErrorsSince{SinceS: 1, Status: 401, Percent: 92}},
		{"late in the last second", []second{{200, 0, 0}, {200, 0, 0}, {180, 20, 401}}, &fact.ErrorsSince{SinceS: 2, Status: 401, Percent: 10}},
		{"in the last second, and one before", []second{{1000, 1, 503}, {60, 40, 401}}, nil},
		{"a few in the last second", []second{{1000, 0, 0}, {960, 40, 401}}, nil},
		{"from the start", []second{{0, 100, 401}, {0, 100, 401}}, nil},
		{"they end again", []second{{100, 0, 0}, {50, 50, 503}, {0, 100, 503}, {100, 0, 0}}, nil},
		{"half of all", []second{{100, 0, 0}, {50, 50, 503}, {50, 50, 503}}, nil},
		{"few", []second{{100, 0, 0}, {1, 9, 401}}, nil},
		{"none", []second{{100, 0, 0}, {100, 0, 0}}, nil},
	} {
		r := &loadresult.Result{}
		for i, s := range c.seconds {
			iv := loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
				Status: map[uint16]int64{200: s.right}}
			iv.Completed, iv.Failed = s.right, s.wrong
			if s.status > 0 {
				iv.Status[s.status] = s.wrong
				r.Failures = append(r.Failures, loadresult.Failure{Phase: loadresult.Expect, Kind: "status",
					Detail: strconv.Itoa(int(s.status)), Count: s.wrong})
			}
			r.Intervals = append(r.Intervals, iv)
		}
		switch f := ErrorsSince(r); {
		case (f == nil) != (c.want == nil):
			t.Errorf("%s: %+v", c.what, f)
		case f != nil && f.Args != *c.want:
			t.Errorf("%s: %+v, want %+v", c.what, f.Args, *c.want)
		}
	}
}

// follower is a scenario that follows redirects, or not.
type follower struct {
	scenario.Maker
	follows bool
}

func (f follower) Follows() bool { return f.follows }

// Redirects are told unless they were what the plan wanted to see, or to follow. A 304 leads nowhere.
func TestRedirectsOnly(t *testing.T) {
	for what, c := range map[string]struct {
		status []int
		plan   loadplan.Plan
		want   []int
	}{
		"only":         {[]int{301, 308}, loadplan.Plan{}, []int{301, 308}},
		"not modified": {[]int{304}, loadplan.Plan{}, nil},
		"a choice":     {[]int{300}, loadplan.Plan{}, nil},
		"one of them":  {[]int{301, 304}, loadplan.Plan{}, nil},
		"some":         {[]int{200, 301}, loadplan.Plan{}, nil},
		"no answers":   {nil, loadplan.Plan{}, nil},
		"expected":     {[]int{302}, loadplan.Plan{Expect: []loadplan.Statuses{{From: 302, To: 302}}}, nil},
		"asserted":     {[]int{302}, loadplan.Plan{Checks: []string{"a.hurl line 2: status 302"}}, nil},
		"followed":     {[]int{302}, loadplan.Plan{Scenario: follower{follows: true}}, nil},
		"a scenario":   {[]int{302}, loadplan.Plan{Scenario: follower{}}, []int{302}},
	} {
		r := &loadresult.Result{Plan: c.plan, Total: metric.NewCounters()}
		for _, code := range c.status {
			r.Total.Status[code] = 7
		}
		f := RedirectsOnly(r)
		if (f == nil) != (c.want == nil) || f != nil && !reflect.DeepEqual(f.Args.(fact.RedirectsOnly).Status, c.want) {
			t.Errorf("%s: %+v", what, f)
		}
	}
}

// To follow redirects is advised to those who can: a probe refuses it.
func TestFollowIsAdvised(t *testing.T) {
	for _, c := range []struct {
		plan loadplan.Plan
		want int
	}{{loadplan.Plan{}, 1}, {loadplan.Plan{Probe: 10}, 0}, {loadplan.Plan{Pipeline: 2}, 0}} {
		r := &loadresult.Result{Plan: c.plan, Total: metric.NewCounters()}
		r.Total.Status[301] = 7
		if f := RedirectsOnly(r); f == nil || len(f.Remedies) != c.want {
			t.Errorf("%+v: %+v", c.plan, f)
		}
	}
}

// Redirects to another origin are told where redirects are followed, with the setting that has them
// followed there, unless the plan refuses it.
func TestRedirectsAway(t *testing.T) {
	failures := []loadresult.Failure{{Phase: loadresult.Check, Kind: scenario.RedirectsStay, Count: 3},
		{Phase: loadresult.Check, Kind: "status", Count: 9}, {Phase: loadresult.Check, Kind: scenario.RedirectsStay, Count: 4}}
	for _, c := range []struct {
		plan     loadplan.Plan
		count    int64
		remedies int
	}{{loadplan.Plan{Follow: 2}, 7, 1}, {loadplan.Plan{Follow: 2, Parts: 1}, 7, 0}, {loadplan.Plan{}, 0, 0}, {loadplan.Plan{Follow: 2, Parts: 2}, 7, 0},
		{loadplan.Plan{Follow: 2, HTTP: "3"}, 7, 0}} {
		r := &loadresult.Result{Plan: c.plan}
		r.Failures = failures
		f := RedirectsAway(r)
		if f == nil {
			if c.count > 0 {
				t.Errorf("%+v: nothing", c.plan)
			}
		} else if f.Args != (fact.RedirectsAway{Count: c.count}) || len(f.Remedies) != c.remedies {
			t.Errorf("%+v: %+v", c.plan, f)
		}
	}
	r := &loadresult.Result{Plan: loadplan.Plan{Follow: 2}, Total: &metric.Counters{}}
	r.Failures = failures
	none := RedirectsAway(r)
	r.Total.Completed = 1
	if some := RedirectsAway(r); none.Severity != fact.Error || some.Severity != fact.Warning {
		t.Errorf("%+v, and with a right answer %+v", none, some)
	}
}

// What several generators counted of one load is found in all of it, and a proxy in what each knows.
func TestOfParts(t *testing.T) {
	plan := loadplan.Plan{Connections: 2, Threads: 2, Target: loadplan.Target{Host: "h"}}
	part := func(unfinished, cut int64, codes ...int) *loadresult.Result {
		r := &loadresult.Result{Total: metric.NewCounters(), Ended: loadresult.ByDuration,
			Generators: loadresult.Generators{Host: &loadresult.Host{}}}
		if unfinished > 0 {
			r.Failures = []loadresult.Failure{{Phase: loadresult.Timeout, Kind: "answer", Count: unfinished,
				Unfinished: &fact.AnswerUnfinished{Status: 200, Body: 2}}}
		}
		if cut > 0 {
			r.Cut = &fact.AnswerUnfinished{Count: cut, AtEnd: true, Header: 9}
		}
		for _, code := range codes {
			r.Total.Status[code] = 7
		}
		return r
	}
	args := func(parts ...*loadresult.Result) (all []fact.Args) {
		for i, p := range plan.Split(len(parts)) {
			parts[i].Plan = p
		}
		whole, err := loadresult.Join(parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Of(whole) {
			all = append(all, f.Args)
		}
		return all
	}
	unfinished := fact.AnswerUnfinished{Count: 7, Status: 200, Body: 2}
	redirects := fact.RedirectsOnly{Status: []int{301, 302}}
	behind := part(0, 0)
	behind.Ended, behind.Proxy = loadresult.Unreachable, "HTTP_PROXY"
	for what, c := range map[string]struct {
		parts []*loadresult.Result
		want  []fact.Args
	}{
		"of both":                        {[]*loadresult.Result{part(3, 0, 302), part(4, 0, 301, 302)}, []fact.Args{unfinished, redirects}},
		"timeouts and what the end cut":  {[]*loadresult.Result{part(0, 5, 200), part(3, 0), part(0, 5), part(4, 0)}, []fact.Args{unfinished}},
		"what the end cut":               {[]*loadresult.Result{part(0, 3, 200), part(0, 2)}, []fact.Args{fact.AnswerUnfinished{Count: 5, AtEnd: true, Header: 9}}},
		"one of two had other answers":   {[]*loadresult.Result{part(7, 0, 200), part(0, 0, 301)}, []fact.Args{unfinished}},
		"one cannot reach it by a proxy": {[]*loadresult.Result{part(0, 0, 200), behind}, []fact.Args{fact.ProxyUnused{Variable: "HTTP_PROXY"}}},
	} {
		if got := args(c.parts...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

// The 40 ms of delayed acknowledgements are recognised by the medians, and no other gap is taken for
// them.
func TestDelayedAck(t *testing.T) {
	const ms = int64(1e6)
	for what, c := range map[string]struct {
		first, last int64
		answers     int
		change      func(*loadresult.Result)
		found       bool
	}{
		"one step":         {ms / 8, 44 * ms, 100, nil, true},
		"two steps":        {ms, 85 * ms, 100, nil, true},
		"the server waits": {44 * ms, 44 * ms, 100, nil, false},
		"30 ms":            {ms, 31 * ms, 100, nil, false},
		"50 ms":            {ms, 51 * ms, 100, nil, false},
		"few":              {ms / 8, 44 * ms, 10, nil, false},
		"large":            {ms / 8, 44 * ms, 100, func(r *loadresult.Result) { r.Total.Bodies = 100 << 20 }, false},
		"without TCP":      {ms / 8, 44 * ms, 100, func(r *loadresult.Result) { r.Plan.HTTP = "3" }, false},
		"a Unix socket":    {ms / 8, 44 * ms, 100, func(r *loadresult.Result) { r.Plan.Target.Unix = "/a" }, false},
		"streams":          {ms / 8, 44 * ms, 100, func(r *loadresult.Result) { r.Total.Stream = metric.NewStreams() }, false},
		"sent later than due": {ms / 8, 44 * ms, 100, func(r *loadresult.Result) {
			r.Total.Service.Merge(r.Total.Latency)
			for range 200 {
				r.Total.Latency.Record(500 * ms)
			}
		}, true},
	} {
		r := &loadresult.Result{Total: metric.NewCounters(), Totals: loadresult.NewTotals()}
		for range c.answers {
			r.FirstByte.Record(c.first)
			r.Total.Latency.Record(c.last)
		}
		r.Total.Latency.Record(900 * ms) // medians do not hear of it
		if c.change != nil {
			c.change(r)
		}
		f := DelayedAck(r)
		if (f != nil) != c.found {
			t.Errorf("%s: %+v", what, f)
		}
	}
}

// Iterations that a short drain cut are told, and not if the rate was not reached.
func TestIterationsCut(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*loadresult.Result)
		found  bool
	}{
		"cut":               {func(*loadresult.Result) {}, true},
		"few":               {func(r *loadresult.Result) { r.Scenario.Unfinished = 1 }, false},
		"not begun in time": {func(r *loadresult.Result) { r.Scenario.StartedAfter = 3 }, false},
		"never begun":       {func(r *loadresult.Result) { r.Waiting = 3 }, false},
		"interrupted":       {func(r *loadresult.Result) { r.Ended = loadresult.Interrupted }, false},
		"closed":            {func(r *loadresult.Result) { r.Plan.Rate = 0 }, false},
	} {
		r := &loadresult.Result{Total: metric.NewCounters(), Ended: loadresult.ByDuration, Drained: 2 * time.Second,
			Plan: loadplan.Plan{Steps: []string{"a", "b"}, Rate: loadplan.RatePerSecond(20)}}
		r.Scenario = &loadresult.ScenarioTotals{Started: 100, Unfinished: 22}
		r.Total.IterationTime = metric.NewHistogram(metric.Fine)
		r.Total.IterationTime.Record(3e9)
		c.change(r)
		f := IterationsCut(r)
		if (f != nil) != c.found {
			t.Fatalf("%s: %+v", what, f)
		}
		if c.found {
			a := f.Args.(fact.IterationsCut)
			if a.Unfinished != 22 || a.Started != 100 || a.DrainUS != 2e6 || a.TimeUS < 2.9e6 || a.TimeUS > 3.1e6 {
				t.Errorf("%+v", a)
			}
		}
	}
}
