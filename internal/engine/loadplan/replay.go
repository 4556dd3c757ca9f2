package loadplan

import (
	"math"
	"sort"
	"time"
)

// A replay is the schedule of requests that each have an intended start time of their own: those
// of one worker. A plan's are all of one: several threads would change their order whenever one of
// them is late.
type replay struct {
	requests []Request
	own      []uint32 // which of them, ascending
	next     int      // of own
}

func (s *replay) Next() (int64, bool) {
	if s.next == len(s.own) {
		return 0, false
	}
	s.next++
	return int64(s.requests[s.own[s.next-1]].At), true
}

// Left is the difference of two positions among this worker's requests.
func (s *replay) Left(from, till int64) int64 {
	return int64(max(s.firstFrom(till)-max(s.firstFrom(from), s.next), 0))
}

// firstFrom is the position of the first of own that is due at the instant or later.
func (s *replay) firstFrom(at int64) int {
	return sort.Search(len(s.own), func(i int) bool { return int64(s.requests[s.own[i]].At) >= at })
}

// SetReplay makes the plan a replay if its requests have times, and reports whether they do. Then
// each is sent once.
func (p *Plan) SetReplay() bool {
	if n := len(p.Requests); n > 0 {
		p.Replay = p.Requests[n-1].At
	}
	return p.Replay > 0
}

// replayed are the requests of a replay that worker i of n sends: its share of the arrivals.
func (p *Plan) replayed(i, n int) (own []uint32) {
	t, all := p.workerSlots(i, n), uint64(len(p.Requests))
	for begun := uint64(0); begun < all; begun += t.period {
		for _, slot := range t.slots {
			if begun+slot < all {
				own = append(own, uint32(begun+slot))
			}
		}
	}
	return own
}

// checkReplay is Check of a replay.
func (p *Plan) checkReplay(flaw finder) {
	last := Seconds(0)
	for i := range p.Requests {
		at := p.Requests[i].At
		if at < last || time.Duration(at) > MaxTime {
			flaw(true, "Requests", "request %d is due at %v, which is before the one above it, "+
				"or later than %v", i+1, at, MaxTime)
			break
		}
		last = at
	}
	if p.Replay == 0 {
		flaw(last > 0, "Requests", "has times (at_s), which only dyno run replays")
		return
	}
	flaw(p.Rate > 0 || len(p.Stages) > 0, "Rate", "the requests file says when each request is "+
		"due (at_s)").Mend = "leave out {Rate} and {Stages}"
	flaw(p.Arrival == Poisson, "Arrival", "the requests file says when each request is due (at_s)")
	flaw(p.Warmup > 0, "Warmup", "a replay (at_s) begins with its first request, and measures all")
	flaw(p.Requested > int64(len(p.Requests)), "Requested",
		"%d are more than the %d that are replayed", p.Requested, len(p.Requests))
	flaw(p.Scenario != nil, "Requests", "has times (at_s), which users, rows of data, "+
		"checks and redirects that are followed exclude").Mend = "give values by {Variables}"
	flaw(p.Replay != last, "Requests", "the last request is due at %v, and not at %v", last,
		p.Replay)
}

// replayedBy is how many requests of a replay are due before an instant.
func (p *Plan) replayedBy(at time.Duration) int {
	n := len(p.Requests)
	if p.Requested > 0 {
		n = int(min(p.Requested, int64(n)))
	}
	return sort.Search(n, func(i int) bool { return time.Duration(p.Requests[i].At) >= at })
}

// replayRate is the mean rate of a replay.
func (p *Plan) replayRate() Rate {
	return Rate(math.Round(float64(p.Asks()) / time.Duration(p.Replay).Seconds() * 1000))
}

// replayPeak is the most requests of a replay that are due within a second.
func (p *Plan) replayPeak() Rate {
	most, from := 0, 0
	for i := range p.Requests {
		for p.Requests[i].At-p.Requests[from].At >= Seconds(time.Second) {
			from++
		}
		most = max(most, i+1-from)
	}
	return max(RatePerSecond(float64(most)), p.replayRate())
}
