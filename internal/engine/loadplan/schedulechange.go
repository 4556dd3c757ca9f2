package loadplan

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// ChangeAt returns one schedule until an instant, in ns after the start of the load, and another
// one afterwards.
func ChangeAt(until, then Schedule, at int64) Schedule { return &changing{until, then, at} }

// A changing is one schedule until an instant, and another one afterwards.
type changing struct {
	until, then Schedule
	at          int64
}

func (s *changing) Next() (int64, bool) {
	if s.until != nil {
		if due, ok := s.until.Next(); ok && due < s.at {
			return due, true
		}
		s.until = nil
	}
	return s.then.Next()
}

// Left adds up what is left of both schedules.
func (s *changing) Left(from, till int64) (n int64) {
	if s.until != nil {
		n = s.until.Left(from, min(till, s.at))
	}
	return n + s.then.Left(from, till)
}

// ScheduleFrom is the schedule of worker i of n without the arrivals due before an instant, in ns
// after the start of the load.
func (p *Plan) ScheduleFrom(i, n int, at int64) Schedule {
	s := p.NewSchedule(i, n)
	switch s := s.(type) {
	case *even:
		s.skipUntil(at)
	case *poisson:
		stream, _ := p.streamIndex(i, n) // arrivals without memory begin anew
		s.at, s.coin = s.along.countBy(at), rand.New(rand.NewPCG(p.Seed^uint64(at), uint64(stream)))
	}
	return s
}

// skipUntil leaves out the arrivals due before an instant.
func (s *even) skipUntil(at int64) {
	j, own := s.firstFrom(at), uint64(len(s.slots))
	s.begun, s.next = j/own*s.period, int(j%own)
}

// countBy is how many arrivals are due by an instant.
func (p profile) countBy(at int64) count {
	i := 0
	for i+1 < len(p) && at >= p[i+1].begin {
		i++
	}
	s := p[i]
	into := uint64(max(min(at-s.begin, s.length), 0))
	hi, lo := bits.Mul64(2*s.from, into)
	sum := s.before.plus(lo)
	sum.hi += hi
	if s.from == s.to {
		return sum
	}
	slope := (float64(s.to) - float64(s.from)) / float64(s.length)
	change := slope * float64(into) * float64(into) // twice the integral, as counts are
	part := countFromFloat(math.Abs(change))
	if change < 0 {
		return sum.minus(part)
	}
	sum.hi += part.hi
	return sum.plus(part.lo)
}

// countFromFloat is the count nearest to f, which is not below 0.
func countFromFloat(f float64) count {
	hi := math.Floor(f / (1 << 64))
	return count{uint64(hi), uint64(f - hi*(1<<64))}
}
