// Package batching decides for how long a worker lets answers gather (--linger), by the latency and
// by what longer and shorter times do to the rate. What a user may set is in
// engine/loadplan/linger.go.
package batching

import (
	"math"

	"dyno/internal/engine/loadplan"
)

// A Linger is the time for which a closed workload lets answers gather before it looks at them, so
// that it handles many at once and sends as many. Without it the server would have to wake the
// generator for each answer, and would receive requests one by one. Both cost the server CPU.
// Behind a network card neither happens: the card gathers packets for some ten microseconds before
// it interrupts.
//
// Answers that come evenly wait half of it. So 2 % of the median latency adds about 1 % to it. If
// the server is what limits the rate, it adds nothing to the whole latency, which is the requests
// in flight divided by the rate: a part of the queue is then at the client. If the server is not,
// the linger lowers the rate. Therefore some slices of time have half the linger. If the rate is
// higher in them, that is the linger from then on. Later slices try half of it again, and twice
// as much.
//
// The zero Linger lets nothing gather.
type Linger struct {
	For int64 // ns, from the beginning of a turn; 0: few answers come in that time

	each    int64 // ns, for which an answer of this turn has waited on average
	on      bool
	fixed   int64 // ns, as the setting says; 0: it depends on the latency
	turn    int64 // when this turn began
	gathers bool  // answers do, until the next turn
	typical int64 // ns, about the median of the latest round trips
	ended   int64 // round trips in this slice
	since   int64 // when the slice began
	slices  int   // that have ended
	halved  int   // how often the linger is halved because it lowered the rate
	longer  bool  // what is tried is twice the linger, not half of it
	full    float64
	pairs   sample
}

// Share is the linger's share of the median latency.
const Share = 0.02

const (
	// Most is the longest linger, in ns, that follows from the latency.
	Most = int64(500e3)

	slice      = int64(10e6) // ns
	worth      = 1           // answers in a linger; for fewer it does not pay
	cycle      = 8           // slices, of which the last one has another linger
	certain    = 4           // standard errors
	noticeable = 0.002       // of the rate
	halvedMost = 8

	// Pairs of slices whose rates are compared: at least, and at most if they show nothing.
	judgedLeast, judgedMost = 16, 64
)

// New is the linger of a closed workload: none with --spin or if answers are streams of events,
// whose times are measured. By default answers gather if they come in frames or records, where the
// server gains most. With HTTP/1.1 in clear and 100 connections a turn of io_uring has ten answers
// as it is.
func New(p *loadplan.Plan, framed bool) (l Linger) {
	d, _ := p.LingerFor() // a load with a wrong one does not begin
	l.on = !p.Open() && !p.Spin && !p.Stream.IsSet() && (d > 0 || framed && p.Linger == "")
	if l.on {
		l.fixed, l.For = int64(d), int64(d)
	}
	return l
}

// Enough is how many answers end the wait: as many as come in that time on average, if so many
// requests are in flight, each on a connection of its own. A server that has answered those may be
// idle. Deep connections, and those of a linger that is fixed, wait to the end: it is 0.
func (l *Linger) Enough(inFlight int, deep bool) int {
	if deep || l.fixed != 0 {
		return 0
	}
	return 1 + int(Share*float64(inFlight))
}

// Begin notes that answers gather until the next turn.
func (l *Linger) Begin() { l.gathers = true }

// BeginTurn computes for how long the answers have waited that are now looked at.
func (l *Linger) BeginTurn(now int64) {
	if l.each = 0; l.gathers {
		l.each, l.gathers = min(now-l.turn, l.For)/2, false
	}
	if l.turn-l.since >= slice { // whose last answers were recorded since
		l.endSlice(l.turn)
	}
	l.turn = now
}

// RecordAnswer takes a round trip of that many ns into account. It returns for how long the answer
// waited, if it is counted. The median follows from steps of a constant share: they balance where
// as many round trips are longer as are shorter.
func (l *Linger) RecordAnswer(took int64, counted bool) (waited int64) {
	l.ended++
	step := l.typical>>8 + 1
	if took < l.typical {
		step = -step
	}
	if l.typical += step; l.typical == 1 {
		l.typical = took // the first
	}
	if counted {
		waited = l.each
	}
	return waited
}

// endSlice computes the linger of the next slice.
func (l *Linger) endSlice(now int64) {
	rate := float64(l.ended) / float64(now-l.since)
	l.ended, l.since = 0, now
	if !l.on || l.fixed != 0 {
		return
	}
	switch l.slices++; l.slices % cycle {
	case cycle - 1:
		l.full = rate
	case 0:
		if l.full > 0 {
			l.judge(rate/l.full - 1)
		}
	}
	shorter := l.halved
	switch {
	case l.slices%cycle != cycle-1:
	case l.longer:
		shorter--
	default:
		shorter++
	}
	l.For = min(int64(float64(l.typical)*Share), Most) >> shorter
	if rate*float64(l.For) < worth {
		l.For = 0
	}
}

// judge halves the linger if the rate is higher with half of it, and doubles it if the rate is not
// lower with twice as much. These are tried in turns, once the linger was halved. gain is by how
// much the rate was higher in one slice with the other linger.
func (l *Linger) judge(gain float64) {
	if l.longer {
		gain = -gain // with the shorter linger
	}
	l.pairs.add(gain)
	if l.pairs.n < judgedLeast {
		return
	}
	mean, err := l.pairs.mean()
	higher := mean > max(certain*err, noticeable)
	switch {
	case !higher && l.pairs.n < judgedMost:
		return
	case higher && !l.longer:
		l.halved = min(l.halved+1, halvedMost)
	case !higher && l.longer:
		l.halved--
	}
	l.pairs, l.longer = sample{}, l.halved > 0 && !l.longer
}

// A sample adds up values.
type sample struct {
	n            float64
	sum, squares float64
}

func (s *sample) add(v float64) {
	s.n++
	s.sum += v
	s.squares += v * v
}

// mean is the mean of the values, and its standard error.
func (s *sample) mean() (mean, err float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(max(s.squares/s.n-mean*mean, 0) / (s.n - 1))
}
