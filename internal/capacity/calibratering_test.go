package capacity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
	"dyno/internal/result"
)

// shared is a result.Runner on a machine whose rings take so much CPU time per request, in µs, at a
// number of connections, and of whose tries others disturb the first so many. Rings that cost
// nothing are refused.
func shared(cost map[int]map[string]float64, busy int) result.Runner {
	tried := map[string]int{}
	return func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
		took := cost[p.Connections][p.Ring]
		if took == 0 && p.Ring != "auto" {
			return nil, fmt.Errorf("opening it: %w", ring.ErrRefused)
		}
		r, err := lawful(Law{Gamma: 100}, 0, nil)(ctx, p, each)
		if err != nil {
			return nil, err
		}
		r.Generator.Ring = strings.Replace(p.Ring, "auto", "epoll", 1)
		r.Generator.CPUPerRequest = took
		if what := fmt.Sprint(p.Ring, p.Connections); p.Ring != "auto" {
			if tried[what]++; tried[what] <= busy {
				r.Generator.CPUPerRequest *= 0.75 // answers gather
				r.Generator.Unscheduled, r.Generator.CPUWait = 40, 100
				r.Rate.Completed /= 2
			}
		}
		return r, nil
	}
}

// plain is a plan that auto chooses for.
func plain(connections, threads int) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Connections, p.Threads = "server", connections, threads
	return p
}

func TestCalibratesEachRing(t *testing.T) {
	if !slices.Contains(ring.Kinds, uring) {
		t.Skip("this platform has no rings to choose from")
	}
	for name, test := range map[string]struct {
		cost  map[int]map[string]float64
		order string // at 100 connections
		busy  int
		rings int
		want  map[int]string // that auto is
	}{
		"epoll is faster but with many": {
			map[int]map[string]float64{10: {epoll: 3, uring: 3.5}, 100: {epoll: 3.5, uring: 3.67},
				1000: {epoll: 6.09, uring: 4.86}},
			"epoll uring uring epoll", 1, 7, map[int]string{10: epoll, 100: epoll, 1000: uring},
		},
		"on a busy machine": {
			map[int]map[string]float64{10: {epoll: 3, uring: 3.5}, 100: {epoll: 3, uring: 3.5},
				1000: {epoll: 3, uring: 3.5}},
			"epoll uring uring epoll", 2, 7, map[int]string{10: uring, 100: uring, 1000: uring},
		},
		"hardly": {
			map[int]map[string]float64{10: {epoll: 3, uring: 3.05}, 100: {epoll: 3, uring: 3.05},
				1000: {epoll: 3, uring: 3}},
			"epoll uring uring epoll", 0, 7, map[int]string{10: uring, 100: uring, 1000: uring},
		},
		"io_uring is refused": {
			map[int]map[string]float64{10: {epoll: 3}, 100: {epoll: 3}, 1000: {epoll: 3}},
			"epoll uring epoll", 1, 4, map[int]string{10: epoll, 100: epoll, 1000: epoll},
		},
	} {
		var order []string
		run := shared(test.cost, test.busy)
		c, err := Calibrate(t.Context(), func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (
			*result.Result, error) {
			if p.Connections == 100 && !p.Open() {
				order = append(order, p.Ring)
			}
			if p.Open() && p.Ring == auto && test.want[100] == epoll && test.rings == 7 {
				t.Errorf("%s: an open loop leaves its ring to auto", name)
			}
			return run(ctx, p, each)
		}, plain(50, 1), func(string) {})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := strings.Join(order, " "); got != test.order || len(c.Rings) != test.rings {
			t.Errorf("%s: %s, %+v", name, got, c.Rings)
		}
		for _, l := range c.Rings[1:] {
			busy := test.busy == 2
			if c.Disturbed(l.Connections) != busy || !busy && l.CPU != test.cost[l.Connections][l.Ring] {
				t.Errorf("%s: not the better of two tries: %+v", name, l)
			}
		}
		for _, l := range c.Closed {
			if test.busy < 2 && l.Rate < 99*float64(l.Connections) {
				t.Errorf("%s: the ceiling is not the best try's: %+v", name, l)
			}
		}
		for n, want := range test.want {
			if got := c.Auto(n); got != want {
				t.Errorf("%s: auto is %q with %d connections, want %q", name, got, n, want)
			}
		}
	}
}

func TestRefusesEveryRing(t *testing.T) {
	if !slices.Contains(ring.Kinds, uring) {
		t.Skip("this platform has no rings to choose from")
	}
	c, err := Calibrate(t.Context(), shared(nil, 0), plain(50, 1), func(string) {})
	if err == nil {
		t.Errorf("%+v", c)
	}
}

func TestRing(t *testing.T) {
	level := func(n int, e, u float64) []Ceiling {
		return []Ceiling{{Connections: n, Ring: epoll, CPU: e}, {Connections: n, Ring: uring, CPU: u}}
	}
	c := &Calibration{Threads: 2, Closed: []Ceiling{{Connections: 1}, {Connections: 10}, {Connections: 100},
		{Connections: 1000}}, Rings: slices.Concat(level(10, 4, 4), level(100, 5, 4), level(1000, 4, 5))}
	old := &Calibration{Threads: 2, Closed: c.Closed}
	for _, test := range []struct {
		what                 string
		c                    *Calibration
		connections, threads int
		change               func(*loadplan.Plan)
		want                 string
	}{
		{"nothing is known", nil, 1000, 2, nil, auto},
		{"an older calibration", old, 1000, 2, nil, auto},
		{"nothing at all", &Calibration{}, 1000, 2, nil, auto},
		{"as measured", c, 1000, 2, nil, epoll},
		{"as measured, io_uring", c, 100, 2, nil, auto},
		{"as measured, alike", c, 10, 2, nil, auto},
		{"nearer to 1,000", c, 317, 2, nil, epoll},
		{"nearer to 100", c, 315, 2, nil, auto},
		{"three times as many", c, 3000, 2, nil, epoll},
		{"four times as many", c, 4000, 2, nil, auto},
		{"as many a thread", c, 500, 1, nil, epoll},
		{"too many a thread", c, 3000, 1, nil, auto},
		{"fewer a thread", c, 1000, 20, nil, auto},
		{"more threads than connections", c, 1000, 2000, nil, auto},
		{"it was said", c, 1000, 2, func(p *loadplan.Plan) { p.Ring = uring }, uring},
		{"HTTP/3", c, 1000, 2, func(p *loadplan.Plan) { p.HTTP = "3" }, auto},
		{"a connection for each", c, 1000, 2, func(p *loadplan.Plan) { p.Reconnect = 1 }, auto},
		{"pipelined", c, 1000, 2, func(p *loadplan.Plan) { p.Pipeline = 16 }, auto},
		{"streams", c, 1000, 2, func(p *loadplan.Plan) { p.Streams = 10 }, auto},
	} {
		p := plain(test.connections, test.threads)
		if test.change != nil {
			test.change(&p)
		}
		if got := test.c.Ring(p); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
