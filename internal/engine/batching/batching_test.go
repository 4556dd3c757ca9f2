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
		l.Begin()
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
// does not show any more, and comes back when the server no longer idles. The latency varies by 1 %.
func TestHalvedWhereItLowersTheRate(t *testing.T) {
	l := Linger{on: true}
	now, random := int64(0), rand.New(rand.NewPCG(3, 4))
	noise := func(latency float64) float64 { return latency * (1 + 0.01*random.NormFloat64()) }
	lost := func(linger int64) float64 { return 10 * float64(linger) / 5e6 }
	run(&l, &now, 60e9, 1000, func(linger int64) float64 { return noise(5e6 * (1 + lost(linger))) })
	if l.halved < 3 || lost(l.For) > 0.03 {
		t.Errorf("halved %d times: %d ns, which cost %v of the rate", l.halved, l.For, lost(l.For))
	}
	run(&l, &now, 120e9, 1000, func(int64) float64 { return noise(5e6) })
	if l.halved > 1 {
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
