package loadplan

import (
	"strings"
	"testing"
	"time"
)

// replayPlan is a replay of requests that are due at these milliseconds.
func replayPlan(at ...int) Plan {
	p := DefaultPlan()
	p.Target.Host, p.Duration = "localhost", 0
	for _, ms := range at {
		r := Request{Weight: 1, At: Seconds(time.Duration(ms) * time.Millisecond)}
		r.Method, r.Path = "GET", "/"
		p.Requests = append(p.Requests, r)
	}
	p.Connections, p.Threads = 1, 1
	p.Requested = int64(len(at))
	p.SetReplay()
	return p
}

// Workers and parts together send each request once, at its time, and each of them in order.
func TestReplayIsShared(t *testing.T) {
	p := replayPlan(0, 0, 5, 7, 7, 7, 20, 31, 31, 40)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, weights := range [][]int{{1}, {1, 1}, {2, 1}, {3, 2, 1}} {
		for workers := 1; workers <= 4; workers++ {
			sent := map[uint32]int64{}
			parts := []Plan{p}
			if len(weights) > 1 {
				parts = p.SplitBy(weights)
			}
			for _, part := range parts {
				quota := int64(0)
				for i := range workers {
					schedule := part.NewSchedule(i, workers)
					sequence, _ := part.NewSequences(i, workers)
					own, last := int64(0), int64(-1)
					for due, ok := schedule.Next(); ok; due, ok = schedule.Next() {
						k := sequence.NextIndex()
						if _, twice := sent[k]; twice || due < last || due != int64(p.Requests[k].At) {
							t.Fatalf("weights %v, worker %d of %d: request %d is due at %d after %d", weights, i, workers, k, due, last)
						}
						sent[k], last = due, due
						own++
					}
					if q := RequestQuota(&part, i, workers); q != own {
						t.Errorf("weights %v: worker %d of %d has %d requests and a quota of %d", weights, i, workers, own, q)
					}
					quota += own
				}
				if quota != part.Requested {
					t.Errorf("weights %v: the part has %d requests, and should have %d", weights, quota, part.Requested)
				}
			}
			if len(sent) != len(p.Requests) {
				t.Errorf("weights %v, %d workers: %d requests are sent", weights, workers, len(sent))
			}
		}
	}
}

func TestReplayLeft(t *testing.T) {
	p := replayPlan(0, 1, 2, 3, 10)
	for _, test := range []struct{ next, from, till, want int64 }{
		{0, 0, 100, 5}, {0, 0, 0, 0}, {0, 1, 3, 2}, {3, 0, 100, 2}, {5, 0, 100, 0}, {1, 2, 11, 3}, {0, 4, 10, 0},
	} {
		s := p.NewSchedule(0, 1)
		for range test.next {
			s.Next()
		}
		if got := s.Left(test.from*1e6, test.till*1e6); got != test.want {
			t.Errorf("after %d, from %d till %d: %d left, want %d", test.next, test.from, test.till, got, test.want)
		}
	}
}

func TestReplayRates(t *testing.T) {
	p := replayPlan(0, 100, 200, 900, 1500, 2000)
	if got := p.Offered(); got != RatePerSecond(3) {
		t.Errorf("offered %v, want 3", got)
	}
	if got := p.Peak(); got != RatePerSecond(4) {
		t.Errorf("peak %v, want 4", got)
	}
	if got := p.OfferedBetween(time.Second, 2*time.Second); got != RatePerSecond(1) {
		t.Errorf("offered in the second second: %v, want 1", got)
	}
	if !p.Open() {
		t.Error("a replay is an open workload")
	}
}

func TestReplayIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"Rate: the requests file says":     func(p *Plan) { p.Rate = 1000 },
		"Warmup: a replay":                 func(p *Plan) { p.Warmup = 1e9 },
		"Requested: 4 are more than the 3": func(p *Plan) { p.Requested = 4 },
		"Requests: request 3 is due":       func(p *Plan) { p.Requests[1].At = 10e9 },
		"Requests: has times (at_s)":       func(p *Plan) { p.Replay = 0 },
		"Arrival: the requests file says":  func(p *Plan) { p.Arrival = Poisson },
		"Requests: the last request is":    func(p *Plan) { p.Replay = 1 },
	} {
		p := replayPlan(0, 1000, 2000)
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
