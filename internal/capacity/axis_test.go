package capacity

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/stream"
)

// closedPlan is a plan without a rate; its answers may be streams.
func closedPlan(streams bool) loadplan.Plan {
	p := plan()
	p.Connections, p.Arrival = 0, ""
	if streams {
		p.Stream.Spec = stream.Spec{Format: stream.SSE}
		p.Drain = loadplan.StreamDrain
	}
	return p
}

// A closed loop of N users on a server with c workers takes N·S/c, and of a stream the first event
// comes S − F before its end. So the most users that meet a limit are known.
func TestFindsTheMostUsers(t *testing.T) {
	for _, c := range []struct {
		name, objective string
		queue           queue
		streams         bool
		truth           int
	}{
		{"requests", "p99<100.5ms", queue{service: constant(10 * time.Millisecond), workers: 8}, false, 80},
		{"streams", "first_event.p99<300ms", queue{service: constant(2 * time.Second), workers: 40, first: 100 * time.Millisecond},
			true, 43},
		{"one", "p99<15ms", queue{service: constant(10 * time.Millisecond)}, false, 1},
		{"a few", "p99<35ms", queue{service: constant(10 * time.Millisecond)}, false, 3},
		{"many", "p99<2001ms", queue{service: constant(time.Millisecond)}, false, 2000},
	} {
		for _, axis := range []Axis{Connections, Users} {
			t.Run(c.name+" "+string(axis), func(t *testing.T) {
				s := find(t, &c.queue, closedPlan(c.streams), Settings{Axis: axis, Within: 1.0001}, c.objective)
				if s.End != Found || *s.Count != (Count{c.truth, c.truth, c.truth + 1}) || s.Certified != nil || s.Closed != nil {
					t.Errorf("%s, %+v, want %d: %s", s.End, s.Count, c.truth, s.Reason)
				}
				s = find(t, &c.queue, closedPlan(c.streams), Settings{Axis: axis}, c.objective)
				certified, low, high := s.Bracket()
				if s.End != Found || certified != low || int(low) > c.truth || int(high) <= c.truth ||
					high/low > 1.05 && high > low+1 {
					t.Errorf("%s, %v from %v to %v, truth %d: %s", s.End, certified, low, high, c.truth, s.Reason)
				}
				last := s.Probes[len(s.Probes)-1]
				if of, level := last.Level(); of != axis || level != certified || last.Purpose != Confirm || last.Rate != 0 {
					t.Errorf("the last probe is %+v", last)
				}
				if b := last.Judged[0]; b.High == nil || b.Seconds == 0 {
					t.Errorf("%s has no bounds: %+v", c.objective, b)
				}
			})
		}
	}
}

// Users who share connections, as many on each as may be in flight, are searched by whole connections:
// what is reported is how many there were.
func TestUsersOfWholeConnections(t *testing.T) {
	for depth, want := range map[int]Count{10: {80, 80, 90}, 7: {77, 77, 84}, 3: {78, 78, 81}, 1: {80, 80, 81}, 100: {High: 100}} {
		p := closedPlan(false)
		p.Pipeline = depth
		q := &queue{service: constant(10 * time.Millisecond), workers: 8}
		s := find(t, q, p, Settings{Axis: Users, Within: 1.0001}, "p99<100.5ms")
		if *s.Count != want {
			t.Errorf("%d in flight: %+v, want %+v: %s", depth, *s.Count, want, s.Reason)
		}
		for _, probe := range s.Probes {
			if probe.Users%depth != 0 {
				t.Errorf("%d in flight: a probe of %d users", depth, probe.Users)
			}
		}
	}
}

// Each end of a search for a number.
func TestEndsOfNumbers(t *testing.T) {
	fast := constant(10 * time.Millisecond)
	for name, c := range map[string]struct {
		queue  queue
		slo    string
		end    End
		found  Count
		reason string
	}{
		"none":          {queue{service: fast}, "p99<5ms", Missed, Count{High: 1}, "the objectives are missed with 1 user and above"},
		"found":         {queue{service: fast}, "p99<200.1ms", Found, Count{20, 20, 21}, "the objectives are met with 20 users, and not with 21 users"},
		"the generator": {queue{service: fast, generate: busyFrom(16)}, "p99<1s", ClientBound, Count{15, 15, 16}, "with 16 users the generator is the limit"},
		"files":         {queue{service: fast, most: 12}, "p99<1s", ClientBound, Count{12, 12, 13}, "with 13 users the generator is the limit, and the server's limit is not known: no more files"},
		"files, then held up": {queue{service: fast, most: 15, generate: heldFrom(12)}, "p99<1s", ClientBound, Count{11, 11, 12},
			"with 12 users the generator was held up"},
	} {
		t.Run(name, func(t *testing.T) {
			s := find(t, &c.queue, closedPlan(false), Settings{Axis: Users}, c.slo)
			if s.End != c.end || *s.Count != c.found || !strings.HasPrefix(s.Reason, c.reason) {
				t.Errorf("%s, %+v: %s", s.End, s.Count, s.Reason)
			}
			b, err := json.Marshal(s)
			again, _, known, bad := Decode(b)
			if err != nil || bad != nil || !known || *again.Count != c.found || again.Axis != Users ||
				strings.Contains(string(b), "_per_s\":0") && strings.Contains(string(b), "rate_per_s") {
				t.Errorf("%v, %v: %s", err, bad, b)
			}
		})
	}
}

// busyFrom is a generator that is at its limit from so many connections on.
func busyFrom(n int) func(*loadresult.Result, float64) {
	return func(r *loadresult.Result, _ float64) {
		if r.Plan.Connections >= n {
			r.Busy = 0.99
		}
	}
}

// heldFrom is a generator that gets no CPU from so many connections on.
func heldFrom(n int) func(*loadresult.Result, float64) {
	return func(r *loadresult.Result, _ float64) {
		if r.Plan.Connections >= n {
			r.Unscheduled, r.CPUWait = 0.5, time.Millisecond
		}
	}
}

// Streams are measured when the first of them have ended, for as long as several take, and until there
// are enough for bounds.
func TestProbesOfStreams(t *testing.T) {
	var plans []loadplan.Plan
	q := &queue{service: constant(20 * time.Second), workers: 1000, first: time.Second,
		seen: func(p loadplan.Plan) { plans = append(plans, p) }}
	p := closedPlan(true)
	p.Threads = 8
	s := find(t, q, p, Settings{Axis: Connections, Start: 4}, "first_event.p50<900ms")
	if s.End == "" || len(plans) < 2 {
		t.Fatalf("%s: %s", s.End, s.Reason)
	}
	// Probes changed these; the command that repeats the search is made of the plan.
	if got := s.Plan; got.Threads != 8 || got.Warmup != loadplan.Seconds(DefaultWarmup(DefaultProbe)) {
		t.Errorf("the plan has %d threads and a warm-up of %v", got.Threads, got.Warmup)
	}
	for _, p := range plans[1:] {
		if time.Duration(p.Warmup) < 19*time.Second || time.Duration(p.Duration) < 59*time.Second {
			t.Errorf("%d connections: %v after %v", p.Connections, p.Duration, p.Warmup)
		}
	}
}

// Users of a session share the connections that the plan has, or have one each.
func TestPlansOfUsers(t *testing.T) {
	p := closedPlan(false)
	p.Threads = 8
	if got := Users.planAt(p, 3); got.Connections != 3 || got.Users != 0 || got.Threads != 3 {
		t.Errorf("requests: %d connections, %d users, %d threads", got.Connections, got.Users, got.Threads)
	}
	p.Scenario, p.Steps = struct{ scenario.Maker }{}, []string{"a", "b"}
	if got := Users.planAt(p, 70); got.Connections != 70 || got.Users != 70 {
		t.Errorf("a session: %d connections, %d users", got.Connections, got.Users)
	}
	p.Connections = 20
	if got := Users.planAt(p, 70); got.Connections != 20 || got.Users != 70 {
		t.Errorf("on 20: %d connections, %d users", got.Connections, got.Users)
	}
	p.HTTP, p.Streams, p.Connections = "2", 10, 0
	if got := Users.planAt(p, 71); got.Connections != 8 {
		t.Errorf("of 10 streams each: %d connections", got.Connections)
	}
	p.Users = 5
	if got := Connections.planAt(p, 7); got.Connections != 7 || got.Users != 5 {
		t.Errorf("connections: %d, %d users", got.Connections, got.Users)
	}
}
