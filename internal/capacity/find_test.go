package capacity

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/objective"
	"dyno/internal/result"
	"dyno/internal/say"
)

func plan() loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Arrival, p.Connections = "server", loadplan.Poisson, 1000
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET"}, Weight: 1}}
	return p
}

func objectives(t *testing.T, exprs ...string) (all []objective.Objective) {
	t.Helper()
	for _, e := range exprs {
		o, err := objective.Parse(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

func find(t *testing.T, q *queue, p loadplan.Plan, s Settings, exprs ...string) *Search {
	t.Helper()
	p.Warmup = DefaultWarmup(s.withDefaults().Probe)
	found, err := Find(t.Context(), q.run, p, objectives(t, exprs...), s, func(Probe) {})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// waitBelow is the probability that a customer of M/D/1, of which rate·service
// arrive in a service, waits at most t. Source: Crommelin, "Delay probability
// formulae", Post Office Electrical Engineers' Journal 26 (1934); for one server
// Erlang's of 1909.
func waitBelow(t, rate, service float64) float64 {
	sum := 0.0
	for k := 0; float64(k)*service <= t; k++ {
		x := rate * (float64(k)*service - t)
		factorial, _ := math.Lgamma(float64(k + 1))
		sum += math.Pow(x, float64(k)) * math.Exp(-x-factorial)
	}
	return (1 - rate*service) * sum
}

// capacityMD1 is the rate at which the q-quantile of the time in the system is
// limit.
func capacityMD1(q, limit, service float64) float64 {
	low, high := 0.0, 0.9999/service
	for range 100 {
		if middle := (low + high) / 2; waitBelow(limit-service, middle, service) > q {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// The queue that is searched is M/D/1: its waiting times are distributed as the
// closed form says.
func TestQueueIsErlangs(t *testing.T) {
	p := plan()
	p.Rate, p.Duration, p.Connections = loadplan.RatePerSecond(780), loadplan.Seconds(400*time.Second), 1<<20
	q := &queue{service: constant(time.Millisecond), seed: 1}
	r, err := q.run(t.Context(), p, func(loadresult.Interval) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ quantile, us float64 }{
		{0.5, r.Latency.P50}, {0.9, r.Latency.P90}, {0.99, r.Latency.P99},
	} {
		if got := waitBelow(c.us/1e6-0.001, 780, 0.001); math.Abs(got-c.quantile) > 0.004 {
			t.Errorf("p%v is %v µs, which Erlang has at p%.2f", 100*c.quantile, c.us, 100*got)
		}
	}
}

// The service takes 1 ms and the 99th percentile is to be below 10 ms: the truth is
// known. Certified is never more than 5 % above it, nor more than 10 % below.
func TestFindsTheCapacityOfMD1(t *testing.T) {
	truth := capacityMD1(0.99, 0.010, 0.001)
	var ratios []float64
	for seed := range uint64(5) {
		q := &queue{service: constant(time.Millisecond), seed: seed}
		s := find(t, q, plan(), Settings{}, "p99<10ms")
		if s.End != Found {
			t.Fatalf("seed %d: %s: %s", seed, s.End, s.Reason)
		}
		ratio := *s.Certified / truth
		ratios = append(ratios, math.Round(1000*ratio)/1000)
		if ratio < 0.9 || ratio > 1.05 {
			t.Errorf("seed %d: %v/s certified, truth %.1f", seed, *s.Certified, truth)
		}
		if *s.Low != *s.Certified || *s.High <= *s.Low {
			t.Errorf("seed %d: bracket %v to %v, certified %v", seed, *s.Low, *s.High, *s.Certified)
		}
		last := s.Probes[len(s.Probes)-1]
		if last.Purpose != Confirm || last.Outcome != Passed || last.Rate != *s.Certified ||
			last.Measured < 30 {
			t.Errorf("seed %d: the last probe is %+v", seed, last)
		}
	}
	slices.Sort(ratios)
	t.Logf("truth %.1f/s; certified/truth %v", truth, ratios)
}

// M/M/1: the time in the system is exponential with rate μ−λ, so that its p95 is
// ln 20/(μ−λ).
func TestFindsTheCapacityOfMM1(t *testing.T) {
	truth := 1000 - math.Log(20)/0.010
	for seed := range uint64(1) {
		q := &queue{service: exponential(time.Millisecond), seed: seed}
		s := find(t, q, plan(), Settings{}, "p95<=10ms", "errors<=0")
		if s.End != Found || *s.Certified < 0.85*truth || *s.Certified > 1.05*truth {
			t.Errorf("seed %d: %s %v, truth %.1f", seed, s.End, *s.Certified, truth)
		}
	}
}

// Even arrivals do not queue at all until the server is full.
func TestFindsTheCapacityOfDD1(t *testing.T) {
	p := plan()
	p.Arrival, p.Connections = loadplan.Even, 50
	s := find(t, &queue{service: constant(time.Millisecond)}, p, Settings{}, "p99<10ms")
	if s.End != Found || *s.Low > 1000 || *s.Low < 1000/1.06 || *s.High < 1000 {
		t.Errorf("%s: %v to %v: %s", s.End, *s.Low, *s.High, s.Reason)
	}
	first := s.Probes[0].Rate
	if math.Abs(*s.Closed-1000) > 30 || math.Abs(first-0.2*(*s.Closed)) > 0.1 || s.Probes[1].Rate != 2*first {
		t.Errorf("closed loop %v, then %v and %v", *s.Closed, s.Probes[0].Rate, s.Probes[1].Rate)
	}
}

// A probe far above what the server can do is given up as soon as that is clear.
func TestAbortsWhenABacklogGrows(t *testing.T) {
	p := plan()
	p.Connections, p.Rate = 10, loadplan.RatePerSecond(1800)
	s := find(t, &queue{service: constant(time.Millisecond)}, p, Settings{}, "p99<10ms")
	first := s.Probes[0]
	if first.Rate != 1800 || first.Outcome != Failed || first.Measured > 3 ||
		!strings.HasSuffix(first.Why, "a second behind: all 10 connections were busy") {
		t.Errorf("%+v", first)
	}
	if s.Closed != nil || s.End != Found {
		t.Errorf("a closed loop of %v for a rate that was given; %s", s.Closed, s.End)
	}
}

// What a plan's scenario does not send does not wait: requests that were refused for a value, and
// the further steps of iterations. Nor do those steps make up for iterations that wait.
func TestBacklogOfScenarios(t *testing.T) {
	refused := []loadresult.Failure{{Phase: loadresult.Check, Kind: loadresult.Refused, Count: 5},
		{Phase: loadresult.Check, Kind: "status", Count: 20}}
	steps := []string{"login", "buy"}
	for name, c := range map[string]struct {
		steps []string
		each  loadresult.Interval
		want  bool
	}{
		"in time":                   {nil, loadresult.Interval{Sent: 100}, false},
		"one in twenty refused":     {nil, loadresult.Interval{Sent: 95, Failures: refused}, false},
		"one in twenty waits":       {nil, loadresult.Interval{Sent: 90, Failures: refused}, true},
		"iterations in time":        {steps, loadresult.Interval{Sent: 195, Iterations: 90, IterationsFailed: 10}, false},
		"half of the iterations":    {steps, loadresult.Interval{Sent: 100, Iterations: 50}, true},
		"iterations without a step": {steps, loadresult.Interval{IterationsFailed: 100}, false},
		"nearly all iterations":     {steps, loadresult.Interval{Sent: 195, Iterations: 99}, false},
		"a tenth of the iterations": {steps, loadresult.Interval{Sent: 400, Iterations: 90}, true},
	} {
		b := backlog{plan: loadplan.Plan{Rate: loadplan.RatePerSecond(100), Steps: c.steps, Users: 20,
			Duration: loadplan.Seconds(time.Minute)}}
		grown := false
		for i := range 60 {
			c.each.From, c.each.To = time.Duration(i)*time.Second, time.Duration(i+1)*time.Second
			grown = b.grown(c.each) || grown
		}
		if grown != c.want {
			t.Errorf("%s: given up %v, want %v", name, grown, c.want)
		}
	}
}

// A last second that is reported late is judged by the requests that were due within the probe.
func TestBacklogOfALateSecond(t *testing.T) {
	b := backlog{plan: loadplan.Plan{Rate: loadplan.RatePerSecond(100),
		Duration: loadplan.Seconds(300 * time.Millisecond)}}
	if b.grown(loadresult.Interval{To: 3 * time.Second, Sent: 30}) {
		t.Error("arrivals that were never due are said to wait")
	}
}

// Below one request a second more than a second of arrivals is less than one request. What is on its
// way, or just due, is no backlog; three that wait are.
func TestBacklogOfALowRate(t *testing.T) {
	for _, rate := range []float64{0.03, 0.25, 0.5, 0.9} {
		p := loadplan.Plan{Rate: loadplan.RatePerSecond(rate), Duration: loadplan.Seconds(10 * time.Minute)}
		steady, stuck, grown := backlog{plan: p}, backlog{plan: p}, false
		for i := range 600 {
			iv := loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second}
			grown = stuck.grown(iv) || grown
			iv.Sent = int64(rate*float64(i)) - int64(rate*float64(i-1)) // a second late
			if steady.grown(iv) {
				t.Fatalf("%v/s: given up after %d s", rate, i+1)
			}
		}
		if !grown {
			t.Errorf("%v/s: not given up though nothing was sent", rate)
		}
	}
}

// What the objectives are missed by at every rate is said, and what is not.
func TestEnds(t *testing.T) {
	slow := constant(20 * time.Millisecond)
	fast := constant(time.Millisecond)
	bound := func(from float64) func(*loadresult.Result, float64) {
		return func(r *loadresult.Result, rate float64) {
			if rate >= from {
				r.Busy = 0.99
			}
		}
	}
	held := func(r *loadresult.Result, _ float64) { r.Unscheduled, r.CPUWait = 0.5, time.Millisecond }
	for name, c := range map[string]struct {
		queue     queue
		end       End
		certified bool
		reason    string
	}{
		"found":                {queue{service: fast}, Found, true, "and not at"},
		"too slow":             {queue{service: slow}, Missed, false, "missed at"},
		"one in ten fails":     {queue{service: fast, failing: 0.1}, Missed, false, "missed at"},
		"the generator's":      {queue{service: fast, generate: bound(500)}, ClientBound, true, "was busy 99 %"},
		"the server's below":   {queue{service: fast, generate: bound(900)}, Found, true, "and not at"},
		"the generator's only": {queue{service: fast, generate: bound(0.0001)}, ClientBound, false, "at every rate"},
		"held up":              {queue{service: fast, generate: held}, ClientBound, false, "the generator was held up at every rate"},
		"gone at once":         {queue{service: fast, breaks: 0.0001}, Inconclusive, false, "could not be reached any more"},
		"gone later":           {queue{service: fast, breaks: 600}, Inconclusive, false, "/s the server could not"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			p.Connections = 50
			s := find(t, &c.queue, p, Settings{}, "p99<10ms")
			if s.End != c.end || (s.Certified != nil) != c.certified || !strings.Contains(s.Reason, c.reason) {
				t.Errorf("%s, certified %v: %s", s.End, s.Certified, s.Reason)
			}
			if strings.HasPrefix(name, "gone") && s.High != nil {
				t.Errorf("%v/s counts as missed, and nothing was measured there", *s.High)
			}
			if c.end == ClientBound && c.certified && (*s.Certified >= 500 || *s.High < 500) {
				t.Errorf("certified %v of what is measurable below 500", *s.Certified)
			}
		})
	}
}

// A probe in which the generator was stopped says nothing of its rate, and is repeated.
func TestStoppedProbes(t *testing.T) {
	for name, stopped := range map[string]int{"never": 0, "once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			left := stopped
			p := plan()
			p.Connections = 50
			s := find(t, &queue{service: constant(time.Millisecond), generate: func(r *loadresult.Result, rate float64) {
				if rate > 500 && left > 0 {
					left--
					r.AddStandstill(int64(time.Second), int64(time.Second))
					r.Delayed = r.Total.Sent / 4
				}
			}}, p, Settings{}, "p99<10ms")
			repeated := 0
			for _, probe := range s.Probes {
				if strings.Contains(probe.Why, "the generator stood still") {
					if repeated++; probe.Outcome != Undecided {
						t.Errorf("%s at %v/s: %s", probe.Outcome, probe.Rate, probe.Why)
					}
				}
			}
			if s.End != Found || s.Certified == nil || *s.Certified < 500 || repeated != stopped {
				t.Errorf("%s, certified %v, %d probes of a stopped generator: %s", s.End, s.Certified, repeated, s.Reason)
			}
		})
	}
}

// The same delay is the server's when all connections are busy, and ours when some
// are free.
func TestLateSendsAreSomeonesFault(t *testing.T) {
	for _, c := range []struct {
		lag  float64
		want Outcome
	}{{0, Failed}, {60_000, Failed}, {190_000, OurLimit}} {
		late, waiting, after := 200_000.0, int64(5), int64(20)
		r := &result.Result{Ended: string(loadresult.ByDuration),
			Requests:  result.Requests{Sent: 995, Waiting: &waiting, SentAfter: &after, LateMax: &late},
			Generator: result.Generator{SendLagMax: &c.lag, Verdict: result.OK}}
		var p prober
		if got, why := p.overallOutcome(t.Context(), r, false); got != c.want || !strings.Contains(say.Because(why), "2.5 %") {
			t.Errorf("lag %v: %s, %+v", c.lag, got, why)
		}
	}
}

// If nothing was answered, that is why a rate is missed, and not that all connections were busy.
func TestNothingAnsweredIsWhy(t *testing.T) {
	late, waiting, after, lag := 200_000.0, int64(50), int64(0), 0.0
	r := &result.Result{Ended: string(loadresult.ByDuration), Cause: "connection reset by peer",
		Requests:  result.Requests{Sent: 50, Errors: 50, Waiting: &waiting, SentAfter: &after, LateMax: &late},
		Generator: result.Generator{SendLagMax: &lag, Verdict: result.OK}}
	r.Errors = []result.Error{{Phase: "read", Kind: "reset", Detail: "connection reset by peer", Count: 50}}
	var p prober
	if got, why := p.overallOutcome(t.Context(), r, false); got != Failed ||
		say.Because(why) != "nothing was answered: connection reset by peer" {
		t.Errorf("%s, %+v", got, why)
	}
	r.Cause = "" // the load went on to its end, though nothing listens
	r.Errors[0] = result.Error{Phase: "connect", Kind: "refused", Address: "127.0.0.1:1", Detail: "connection refused", Count: 50}
	const want = "nothing was answered: connect 127.0.0.1:1: connection refused"
	if _, why := p.overallOutcome(t.Context(), r, false); say.Because(why) != want {
		t.Errorf("%+v, want %s", why, want)
	}
}

// A generator that was late and had time to spare was held up, whatever its verdict.
func TestWhatKeptTheGenerator(t *testing.T) {
	for name, c := range map[string]struct {
		g      result.Generator
		heldUp bool
	}{
		"late and idle": {result.Generator{Verdict: result.Suspect, BusyPercent: 5,
			Doubts: []result.Doubt{{Kind: result.HeldUp, Verdict: result.Suspect}}}, true},
		"late and busy": {result.Generator{Verdict: result.Suspect, BusyPercent: 85,
			Doubts: []result.Doubt{{Kind: result.Limit, Verdict: result.Suspect}}}, false},
		"held up, and at its limit": {result.Generator{Verdict: result.ClientBound, BusyPercent: 99,
			Doubts: []result.Doubt{{Kind: result.HeldUp, Verdict: result.ClientBound}}}, false},
		"of an earlier version": {result.Generator{Verdict: result.ClientBound, BusyPercent: 3}, true},
	} {
		s := &search{prober: prober{last: &result.Result{Generator: c.g}}}
		if s.noteMissed(1000, OurLimit, nil); s.heldUp != c.heldUp {
			t.Errorf("%s: the generator was held up: %v", name, s.heldUp)
		}
	}
}

func TestUnreachableFromTheStart(t *testing.T) {
	p := plan()
	p.Rate = loadplan.RatePerSecond(10)
	if s := find(t, &queue{breaks: 1}, p, Settings{}, "p99<1s"); s.End != Unreachable {
		t.Errorf("%s: %s", s.End, s.Reason)
	}
	nothing := func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		return result.From(&loadresult.Result{Plan: p, Ended: loadresult.Unreachable, Cause: "connect: refused"}, "test")
	}
	s, err := Find(t.Context(), nothing, plan(), objectives(t, "p99<1s"), Settings{}, func(Probe) {})
	if err != nil || s.End != Unreachable || !strings.Contains(s.Reason, "refused") || len(s.Probes) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A server that needs longer for an answer than the first run takes is slow, and not gone. One that
// has said nothing after the time that a request has is.
func TestSlowFromTheStart(t *testing.T) {
	p := plan()
	p.Connections = 1
	var ran []time.Duration
	q := &queue{service: constant(4 * time.Second), seen: func(p loadplan.Plan) {
		if !p.Open() {
			ran = append(ran, time.Duration(p.Duration))
		}
	}}
	s := find(t, q, p, Settings{Probe: 5 * time.Second}, "p99<1m")
	if s.End == Unreachable || s.Closed == nil || *s.Closed <= 0 || !slices.Equal(ran, []time.Duration{time.Second, 10 * time.Second}) {
		t.Errorf("%s: %s; ran for %v", s.End, s.Reason, ran)
	}
	q.service = constant(time.Minute)
	s = find(t, q, p, Settings{Probe: 5 * time.Second}, "p99<1m")
	if s.End != Unreachable || s.Reason != "nothing was answered within 10 s, and nothing failed" {
		t.Errorf("%s: %s", s.End, s.Reason)
	}
}

// Where every answer fails a check the search says which.
func TestEveryCheckFails(t *testing.T) {
	run := func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		total := metric.NewCounters()
		total.Sent, total.Failed, total.Status[200] = 7, 7, 7
		for range 7 {
			total.ErrorLatency.Record(1e6)
		}
		return result.From(&loadresult.Result{Plan: p, Ended: loadresult.ByDuration, Total: total, Measured: time.Second,
			Totals: loadresult.Totals{Failures: []loadresult.Failure{
				{Phase: loadresult.Check, Kind: "contains:ok", Address: "a", Detail: "it did not pass", Count: 7}}}}, "test")
	}
	s, err := Find(t.Context(), run, plan(), objectives(t, "p99<1s"), Settings{}, func(Probe) {})
	if err != nil || s.End != Missed || s.Reason != `every answer was an error: check "contains:ok" (7)` {
		t.Errorf("%+v, %v", s, err)
	}
}

// Where every connection is reset that is why no rate is met, of each probe and of the search.
func TestEveryConnectionIsReset(t *testing.T) {
	const want = "nothing was answered: connection reset by peer"
	run := func(_ context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		l := &loadresult.Result{Plan: p, Total: metric.NewCounters(), Ended: loadresult.ByDuration}
		n := int64(p.Rate.PerSecond())
		for i := range int(time.Duration(p.Duration) / time.Second) {
			l.Total.Sent, l.Total.Failed, l.Measured = l.Total.Sent+n, l.Total.Failed+n, l.Measured+time.Second
			each(loadresult.Interval{Index: i, From: time.Duration(i) * time.Second,
				To: time.Duration(i+1) * time.Second, Sent: n, Failed: n})
		}
		l.Failures = []loadresult.Failure{{Phase: loadresult.Read, Kind: "reset", Address: "a",
			Detail: "connection reset by peer", Count: l.Total.Failed}}
		return result.From(l, "test")
	}
	p := plan()
	p.Rate = loadplan.RatePerSecond(1000)
	probes := 0
	s, err := Find(t.Context(), run, p, objectives(t, "p99<1s"), Settings{Probe: 2 * time.Second}, func(p Probe) {
		if probes++; p.Outcome != Failed || p.Why != want {
			t.Errorf("%v/s: %s, %s", p.Rate, p.Outcome, p.Why)
		}
	})
	if err != nil || s.End != Missed || !strings.HasSuffix(s.Reason, " and above; "+want) || probes < 2 {
		t.Errorf("%+v, %v; %d probes", s, err, probes)
	}
}

// wrongAnswers is a runner whose answers fail a check, but for those of rates up to right. Its
// generator is at its limit.
func wrongAnswers(right float64, seconds *[]int) result.Runner {
	return func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		l := &loadresult.Result{Plan: p, Total: metric.NewCounters(), Ended: loadresult.ByDuration}
		l.Busy = 0.99
		n, kind := int64(math.Ceil(p.Rate.PerSecond())), loadresult.Failure{Phase: loadresult.Check, Kind: "contains:ok",
			Address: "a", Detail: "it did not pass"}
		length := int(time.Duration(p.Duration) / time.Second)
		for i := range length {
			if ctx.Err() != nil {
				l.Ended = loadresult.Interrupted
				break
			}
			l.Measured += time.Second
			iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second, Sent: n}
			l.Total.Sent += n
			l.Total.Status[200] += n
			for range n {
				if p.Rate.PerSecond() > right {
					l.Total.ErrorLatency.Record(1e6)
				} else {
					l.Total.Latency.Record(1e6)
				}
			}
			if p.Rate.PerSecond() > right {
				iv.Failed, l.Total.Failed, kind.Count = n, l.Total.Failed+n, kind.Count+n
			} else {
				iv.Completed, l.Total.Completed = n, l.Total.Completed+n
				h := metric.NewHistogram(metric.Fine)
				for range n {
					h.Record(1e6)
				}
				iv.Latency = h.ToSparse()
				l.Busy = 0.1
			}
			each(iv)
		}
		if kind.Count > 0 {
			l.Failures = []loadresult.Failure{kind}
		}
		*seconds = append(*seconds, int(l.Measured/time.Second))
		return result.From(l, "test")
	}
}

// A probe without a right answer ends after 3 s, and so does the search when the lowest rate that it
// would try has none either. That is no limit of the generator.
func TestEveryAnswerIsWrong(t *testing.T) {
	p := plan()
	p.Rate = loadplan.RatePerSecond(1000)
	var seconds []int
	s, err := Find(t.Context(), wrongAnswers(0, &seconds), p, objectives(t, "p99<1s"), Settings{}, func(Probe) {})
	if err != nil || s.End != Missed || !strings.Contains(s.Reason, `every answer was an error: check "contains:ok"`) ||
		!slices.Equal(seconds, []int{3, 3}) || s.Probes[0].Outcome != Failed || s.Probes[1].Rate > 1000.0/30 {
		t.Errorf("%+v, %v; probes of %v s", s, err, seconds)
	}
	// The lowest rate is one that people can read: 156.3, not 156.25. It is tried once.
	for _, start := range []float64{5000, 50_000} {
		seconds, p.Rate = nil, loadplan.RatePerSecond(start)
		s, err = Find(t.Context(), wrongAnswers(0, &seconds), p, objectives(t, "p99<1s"), Settings{}, func(q Probe) {
			if len(seconds) > 4 {
				t.Fatalf("from %v/s on it tries %v/s again and again", start, q.Rate)
			}
		})
		if err != nil || s.End != Missed {
			t.Errorf("from %v/s on: %+v, %v", start, s, err)
		}
	}
	seconds, p.Rate = nil, loadplan.RatePerSecond(1000)
	s, err = Find(t.Context(), wrongAnswers(400, &seconds), p, objectives(t, "p99<1s"), Settings{}, func(Probe) {})
	if err != nil || s.End != Found || s.Certified == nil || *s.Certified > 400 || *s.Certified < 300 {
		t.Errorf("%+v, %v; probes of %v s", s, err, seconds)
	}
}

// Interrupted, a search has what it found until then.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := &queue{service: constant(time.Millisecond)}
	s, err := Find(ctx, q.run, plan(), objectives(t, "p99<10ms"), Settings{}, func(p Probe) {
		if p.Outcome == Failed {
			cancel()
		}
	})
	if err != nil || s.End != Interrupted || s.Low == nil || s.High == nil || s.Certified != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	ended, _ := s.Facts[0].Args.(fact.SearchEnded)
	if ended.How != fact.EndInterrupted || ended.Low != *s.Low || ended.High != *s.High || *s.Low >= *s.High || ended.Open {
		t.Errorf("%+v, and %v to %v", ended, *s.Low, *s.High)
	}
	for outcome, open := range map[Outcome]bool{Failed: false, OurLimit: true, Undecided: true} {
		s := search{prober: prober{last: new(result.Result)}, found: new(Search), low: 100}
		s.noteMissed(200, outcome, nil)
		s.endAt(Interrupted, fact.EndInterrupted, nil)
		if ended, _ := s.found.Facts[0].Args.(fact.SearchEnded); ended.Open != open {
			t.Errorf("a level that is %v: %+v", outcome, ended)
		}
	}
}

// Too few requests are measured longer, not guessed about; and when that is not
// enough, it is said.
func TestFewRequests(t *testing.T) {
	p := plan()
	p.Rate = loadplan.RatePerSecond(10)
	q := &queue{service: constant(20 * time.Millisecond)}
	s := find(t, q, p, Settings{}, "p99<200ms")
	if first := s.Probes[0]; first.Outcome != Passed || first.Measured < 29 || first.Measured > 40 {
		t.Errorf("%+v", first)
	}
	s = find(t, q, p, Settings{Probe: time.Second}, "p99.99<200ms")
	if s.End != Inconclusive || !strings.Contains(s.Probes[0].Why, "too few to decide p99.99<200ms") {
		t.Errorf("%s: %+v", s.End, s.Probes[0])
	}
}

// What is undecided is extended, then repeated until a majority; no two probes
// have the same arrivals.
func TestUndecidedIsRepeated(t *testing.T) {
	p := plan()
	p.Seed = 7
	seeds := map[uint64]bool{}
	q := &queue{service: constant(time.Millisecond), seen: func(p loadplan.Plan) {
		if p.Open() {
			if seeds[p.Seed] {
				t.Errorf("seed %d again", p.Seed)
			}
			seeds[p.Seed] = true
		}
	}}
	p.Rate = roundRate(capacityMD1(0.99, 0.010, 0.001)) // at the limit nothing is clear
	s := find(t, q, p, Settings{}, "p99<10ms")
	var purposes []Purpose
	for _, probe := range s.Probes {
		if probe.Rate == p.Rate.PerSecond() && probe.Purpose != Confirm {
			purposes = append(purposes, probe.Purpose)
			if long := probe.Measured; long != map[Purpose]float64{Trial: 10, Longer: 20, Again: 20}[probe.Purpose] {
				t.Errorf("%s takes %v s", probe.Purpose, long)
			}
		}
	}
	if len(purposes) < 4 || len(purposes) > 5 || purposes[0] != Trial || purposes[1] != Longer || purposes[3] != Again {
		t.Errorf("probed at the limit: %v", purposes)
	}
}

// What a search says of its plan is enough to make it again.
func TestSearchSaysHowLongItProbed(t *testing.T) {
	p := plan()
	p.Warmup = loadplan.Seconds(3 * time.Second)
	q := &queue{service: constant(time.Millisecond)}
	s, err := Find(t.Context(), q.run, p, objectives(t, "p99<10ms"), Settings{Probe: 12 * time.Second}, func(Probe) {})
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Plan; time.Duration(p.Duration) != 12*time.Second || time.Duration(p.Warmup) != 3*time.Second || p.Rate != 0 {
		t.Errorf("measured for %v after %v at %v", p.Duration, p.Warmup, p.Rate)
	}
}

// A confirmation that fails steps down. Interrupted then, a search knows no level that is met.
func TestConfirmationStepsDown(t *testing.T) {
	confirming := false
	ctx, cancel := context.WithCancel(t.Context())
	p := plan()
	q := &queue{service: constant(time.Millisecond)}
	q.seen = func(p loadplan.Plan) { confirming = time.Duration(p.Duration) == 30*time.Second }
	q.slow = func(t float64, _ int) float64 { // the longer run finds what the shorter did not
		if confirming && t > 25 && t < 25.3 {
			return 0.3 * max(1e-9, 25.3-t)
		}
		return 0
	}
	s := find(t, q, p, Settings{}, "p99<10ms")
	confirms := 0
	for _, probe := range s.Probes {
		if probe.Purpose == Confirm {
			confirms++
		}
	}
	if confirms < 2 || s.End == Found && *s.High/(*s.Low) > 1.06 {
		t.Errorf("%d confirmations; %s: %s", confirms, s.End, s.Reason)
	}
	var first loadplan.Rate // that was to be confirmed
	q.seen = func(p loadplan.Plan) {
		if confirming = time.Duration(p.Duration) == 30*time.Second; confirming && first == 0 {
			first = p.Rate
		} else if confirming && p.Rate < first {
			cancel()
		}
	}
	s, err := Find(ctx, q.run, p, objectives(t, "p99<10ms"), Settings{}, func(Probe) {})
	if err != nil || s.End != Interrupted || s.Low != nil || s.High == nil {
		t.Errorf("%s: %s, low %v, %v", s.End, s.Reason, s.Low, err)
	}
}

// Every value is a number that JSON has, also where there is no bound.
func TestSearchIsJSON(t *testing.T) {
	p := plan()
	p.Requests[0].Header = []proto.Field{{Name: "Authorization", Value: "hidden"}}
	s := find(t, &queue{service: constant(20 * time.Millisecond)}, p, Settings{Probe: time.Second},
		"p99.99<1s", "mean<1s", "service.p99<1s")
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hidden") {
		t.Error("a secret is in the search")
	}
	var back Search
	if err := json.Unmarshal(b, &back); err != nil || back.Format != Format || len(back.Probes) != len(s.Probes) {
		t.Errorf("%v, %d probes", err, len(back.Probes))
	}
}

// Where the rate counts iterations, a search begins below the iterations that a closed workload
// reached, however many requests each has.
func TestBeginsWithIterations(t *testing.T) {
	p := plan()
	p.Steps = []string{"a", "b", "c", "d"}
	var rates []float64
	run := func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		if p.Rate.PerSecond() > 0 {
			rates = append(rates, p.Rate.PerSecond())
		}
		r := &result.Result{Plan: p}
		r.Status = map[string]int64{"200": 400}
		r.Requests.Sent, r.Requests.Completed, r.Rate.Sent, r.Rate.Completed = 400, 400, 400, 400
		r.Latency = &result.Distribution{Count: 400}
		r.Iterations = &result.Iterations{Started: 100, Completed: 100, Rate: result.IterationRate{Started: 100, Completed: 100}}
		r.Window.MeasuredS, r.Generator.Verdict = 1, result.ClientBound
		return r, nil
	}
	s, err := Find(t.Context(), run, p, objectives(t, "errors<1%"), Settings{Probe: time.Second}, func(Probe) {})
	if err != nil || s.Closed == nil || *s.Closed != 100 || len(rates) == 0 || rates[0] > 100 || s.Probes[0].Completed != 100 {
		t.Errorf("%v: closed %v, rates %v, probes %+v", err, s.Closed, rates, s.Probes)
	}
	if s.Counts() != "iterations" {
		t.Errorf("rates are of %s", s.Counts())
	}
}

// A probe goes on where right answers may take longer than wrong ones: a fifth was refused at once,
// and nothing else was answered yet.
func TestRightAnswersMayTakeLonger(t *testing.T) {
	var few, all wrongness
	for second := 1; second <= 5; second++ {
		iv := loadresult.Interval{Sent: 100, Failed: 20, To: time.Duration(second) * time.Second}
		if few.isAll(iv) {
			t.Errorf("after %d s with a fifth of the answers wrong, the probe ends", second)
		}
		iv.Failed = 99
		if ended := all.isAll(iv); ended != (second >= 3) {
			t.Errorf("after %d s without a right answer: ends %v", second, ended)
		}
	}
}
