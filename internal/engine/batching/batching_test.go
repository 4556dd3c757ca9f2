package batching

import (
	"math"
	"math/rand/v2"
	"testing"
)

// run has a load of so many answers in flight for a time. The server answers within what latency
// says for a linger.
func run(l *Linger, now *int64, lasts int64, inFlight float64, latency func(linger int64) float64) {
	random := rand.New(rand.NewPCG(1, 2))
	for until := *now + lasts; *now < until; {
		took := latency(l.For)
		pace := took / inFlight // ns from one answer to the next
		n := max(1, math.Round(float64(l.For)/pace))
		l.Begin(*now)
		*now += int64(n * pace)
		l.BeginTurn(*now)
		for range int(n) {
			l.RecordAnswer(int64(took*(0.5+random.Float64())), true)
		}
	}
}

// A server that is the limit makes up for the linger: it stays 2 % of the median.
func TestTwoPercentOfTheMedian(t *testing.T) {
	for _, latency := range []float64{200e3, 5e6, 20e6} {
		l := Linger{on: true}
		now := int64(0)
		run(&l, &now, 3e9, 1000, func(int64) float64 { return latency })
		for l.slices%cycle != 2 { // of the last slice it is half
			run(&l, &now, slice, 1000, func(int64) float64 { return latency })
		}
		if want := Share * latency; math.Abs(float64(l.For)/want-1) > 0.1 {
			t.Errorf("latency %v ns: the linger is %d ns, want %v", latency, l.For, want)
		}
		if l.halved != 0 {
			t.Errorf("latency %v ns: halved %d times", latency, l.halved)
		}
	}
}

// No linger is longer than Most, and none is worth it for a few answers.
func TestMostAndWorth(t *testing.T) {
	for inFlight, want := range map[float64]int64{10: 0, 1000: Most} {
		l := Linger{on: true}
		now := int64(0)
		run(&l, &now, 50*slice, inFlight, func(int64) float64 { return 1e9 / 4 })
		if l.slices%cycle == cycle-1 {
			want /= 2
		}
		if l.For != want {
			t.Errorf("%v in flight: %d, want %d", inFlight, l.For, want)
		}
	}
}

// A server that idles while answers gather answers fewer requests. The linger is halved until that
// costs less than 1 %, and comes back when it no longer does.
func TestHalvedWhereItLowersTheRate(t *testing.T) {
	l := Linger{on: true}
	now := int64(0)
	idles := func(linger int64) float64 { return 5e6 + 10*float64(linger) }
	run(&l, &now, 20e9, 1000, idles)
	if with := idles(l.For); l.halved < 2 || with > 1.05*idles(0) {
		t.Errorf("halved %d times: %d ns, which make %v of the latency", l.halved, l.For, with/idles(0))
	}
	run(&l, &now, 20e9, 1000, func(int64) float64 { return 5e6 })
	if l.halved != 0 {
		t.Errorf("still halved %d times", l.halved)
	}
}

func TestFixed(t *testing.T) {
	l := Linger{on: true}
	now := int64(0)
	l.fixed, l.For = 70e3, 70e3
	run(&l, &now, 1e9, 1000, func(int64) float64 { return 5e6 })
	if l.For != 70e3 || l.each > 35e3 || l.each < 34e3 {
		t.Errorf("%d ns, answers waited %d", l.For, l.each)
	}
}
