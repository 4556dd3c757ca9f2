package loadplan

import (
	"math"
	"math/bits"
	"time"
)

// A Stage is a part of an open workload in which the rate changes linearly from what it was to
// Rate. A stage without a length is a step.
type Stage struct {
	Duration Seconds `json:"duration_s"`
	Rate     Rate    `json:"rate"`
}

// A profile is a rate over time, as its integral: the number of arrivals due by an instant. Only
// the inverse is used. Numbers are exact where the rate is constant, and within a nanosecond where
// it is not, however long the load lasts: each instant is computed from the beginning.
type profile []stage

type stage struct {
	from, to uint64 // rate, in thousandths a second
	begin    int64  // ns after the start of the load
	length   int64
	before   count // arrivals due before it
}

// A count is a number of arrivals, in small parts: a rate of a thousandth a second for a nanosecond
// is two parts, so that the mean of two rates is a whole number.
type count struct{ hi, lo uint64 }

const perArrival = 2e12

func (c count) plus(n uint64) count {
	lo, carry := bits.Add64(c.lo, n, 0)
	return count{c.hi + carry, lo}
}

func (c count) minus(d count) count {
	lo, borrow := bits.Sub64(c.lo, d.lo, 0)
	return count{c.hi - d.hi - borrow, lo}
}

func (c count) less(d count) bool { return c.hi < d.hi || c.hi == d.hi && c.lo < d.lo }

func (c count) toFloat() float64 { return float64(c.hi)*(1<<64) + float64(c.lo) }

// forever is the length of a stage that ends only with the run.
const forever = int64(1) << 62

// constantProfile is the profile of one rate.
func constantProfile(r Rate) profile {
	return profile{{from: uint64(r), to: uint64(r), length: forever}}
}

// rateProfile is the plan's rate over time. The warm-up has the first rate.
func (p *Plan) rateProfile() profile {
	if len(p.Stages) == 0 {
		return constantProfile(p.Rate)
	}
	rate := uint64(p.Rate)
	all := profile{{from: rate, to: rate, length: int64(p.Warmup)}}
	for _, s := range p.Stages {
		last := all[len(all)-1]
		next := stage{from: last.to, to: uint64(s.Rate), begin: last.begin + last.length,
			length: int64(s.Duration), before: last.before}
		hi, lo := bits.Mul64(last.from+last.to, uint64(last.length))
		next.before.hi += hi
		next.before = next.before.plus(lo)
		if next.length == 0 { // a step has no arrivals
			next.from = next.to
		}
		all = append(all, next)
	}
	return all
}

// A cursor finds the instants of ascending counts.
type cursor struct {
	profile
	stage int
}

// instantOf is when the profile reaches c; ok is false if it never does.
func (w *cursor) instantOf(c count) (int64, bool) {
	for w.stage+1 < len(w.profile) && !c.less(w.profile[w.stage+1].before) {
		w.stage++
	}
	s := &w.profile[w.stage]
	into, ok := s.reaches(c.minus(s.before))
	return s.begin + into, ok && into <= s.length
}

// reaches is how long after its beginning the stage has had c arrivals.
func (s *stage) reaches(c count) (ns int64, ok bool) {
	if s.from != s.to {
		return s.rampReaches(c)
	}
	if c.hi >= 2*s.from { // beyond any clock
		return 0, false
	}
	t, _ := bits.Div64(c.hi, c.lo, 2*s.from)
	return int64(t), t < uint64(forever)
}

// rampReaches is reaches for a rate f that changes by a each nanosecond: the root of f·t + a·t²/2 =
// c, in the form without cancellation.
func (s *stage) rampReaches(c count) (ns int64, ok bool) {
	f, all := 2*float64(s.from), c.toFloat()
	a := 2 * (float64(s.to) - float64(s.from)) / float64(s.length)
	root := math.Sqrt(max(f*f+2*a*all, 0))
	if f+root == 0 {
		return 0, all == 0
	}
	t := math.Round(2 * all / (f + root))
	return int64(t), t <= float64(s.length)
}

// Offered is the mean rate of arrivals in the window, of a part its own; 0 for a closed workload.
func (p *Plan) Offered() Rate {
	if p.Replay > 0 {
		return Rate(math.Round(float64(p.replayRate()) / p.shareDivisor()))
	}
	var all, length float64
	from := p.Rate
	for _, s := range p.Stages {
		all += float64(from+s.Rate) / 2 * float64(s.Duration)
		length += float64(s.Duration)
		from = s.Rate
	}
	if length == 0 {
		all, length = float64(p.Rate), 1
	}
	return Rate(math.Round(all / length / p.shareDivisor()))
}

// Peak is the highest rate of arrivals of the load, of a part its own; 0 for a closed workload.
func (p *Plan) Peak() Rate {
	top := p.Rate
	for _, s := range p.Stages {
		top = max(top, s.Rate)
	}
	if p.Replay > 0 {
		top = p.replayPeak()
	}
	return Rate(math.Ceil(float64(top) / p.shareDivisor()))
}

// OfferedBetween is the mean rate of the whole load's arrivals between two instants of the window;
// 0 for a closed workload, and after the window.
func (p *Plan) OfferedBetween(from, to time.Duration) Rate {
	if end := time.Duration(p.Duration); end > 0 {
		to = min(to, end)
	}
	if to <= from {
		return 0
	}
	return Rate(math.Round((p.dueBy(to) - p.dueBy(from)) / float64(to-from)))
}

// dueBy is how many arrivals are due from the window's start to an instant of it, in parts: a rate
// of a thousandth a second for a nanosecond is one.
func (p *Plan) dueBy(at time.Duration) (n float64) {
	if p.Replay > 0 {
		return float64(p.replayedBy(at)) * 1e12
	}
	if len(p.Stages) == 0 {
		return float64(p.Rate) * float64(at)
	}
	rate := float64(p.Rate)
	for _, s := range p.Stages {
		into := min(at, time.Duration(s.Duration))
		if s.Duration > 0 {
			reached := rate + (float64(s.Rate)-rate)*float64(into)/float64(s.Duration)
			n += (rate + reached) / 2 * float64(into)
		}
		at, rate = at-into, float64(s.Rate)
	}
	return n
}

// StagesLength is how long the stages of the rate last or, without any, those of the users.
func (p *Plan) StagesLength() (d time.Duration) {
	for _, s := range p.Stages {
		d += time.Duration(s.Duration)
	}
	if len(p.Stages) == 0 {
		for _, s := range p.UserStages {
			d += time.Duration(s.Duration)
		}
	}
	return d
}
