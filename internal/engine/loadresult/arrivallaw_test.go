package loadresult

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
)

// exactAD is A² of values that should be uniform, by its definition.
func exactAD(u []float64) float64 {
	slices.Sort(u)
	n, sum := float64(len(u)), 0.0
	for i := range u {
		sum += (2*float64(i) + 1) * (math.Log(u[i]) + math.Log1p(-u[len(u)-1-i]))
	}
	return -n - sum/n
}

const ms = int64(1e6)

// follow keeps the law of a plan's arrivals that leave late by what delay says.
func follow(p *loadplan.Plan, delay func(i int) int64) *Law {
	law := newLaw()
	pace, schedule := NewPacing(p, &law, 1), p.NewSchedule(0, 1)
	for i := 0; ; i++ {
		due, ok := schedule.Next()
		if !ok || due >= int64(p.Duration) {
			return &law
		}
		pace.RecordSpan(due, due+delay(i))
	}
}

func openPlan(rate float64, arrival string) *loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Rate, p.Arrival, p.Duration = loadplan.RatePerSecond(rate), arrival, loadplan.Seconds(10*time.Second)
	return &p
}

// At all rates the Poisson law is found where it is, and not where it is not: not
// where sends are bunched at ticks of 5 ms, nor where they are evenly spaced.
func TestPoissonLaw(t *testing.T) {
	none := func(int) int64 { return 0 }
	for _, rate := range []float64{100, 3000, 100_000} {
		p := openPlan(rate, loadplan.Poisson)
		var held int
		for seed := range uint64(20) {
			p.Seed = seed + 1
			a2, n := follow(p, none).AndersonDarling()
			if n < 900 {
				t.Fatalf("%v/s: %d spans", rate, n)
			}
			if a2 < 2.49 { // 5 %
				held++
			}
		}
		if held < 15 {
			t.Errorf("%v/s: the law held in %d of 20", rate, held)
		}
		late := rand.New(rand.NewPCG(1, 2))
		if a2, n := follow(p, func(int) int64 { return late.Int64N(20e3) }).AndersonDarling(); a2 > 6 {
			t.Errorf("%v/s, up to 20 µs late: A² %v of %d", rate, a2, n)
		}
	}
	p := openPlan(3000, loadplan.Even)
	law := newLaw()
	pace, schedule := NewPacing(openPlan(3000, loadplan.Poisson), &law, 1), p.NewSchedule(0, 1)
	for range 30_000 {
		due, _ := schedule.Next()
		pace.RecordSpan(due, due)
	}
	if a2, n := law.AndersonDarling(); a2 < 0.02*float64(n) {
		t.Errorf("even arrivals: A² %v of %d", a2, n)
	}
	p = openPlan(3000, loadplan.Poisson)
	p.Seed = 7
	law, schedule = newLaw(), p.NewSchedule(0, 1)
	pace = NewPacing(p, &law, 1)
	const tick = 5 * ms
	for range 30_000 {
		due, _ := schedule.Next()
		pace.RecordSpan(due, (due+tick-1)/tick*tick)
	}
	if a2, n := law.AndersonDarling(); a2 < 0.02*float64(n) {
		t.Errorf("in ticks: A² %v of %d", a2, n)
	}
}

// The probabilities are right far off the mean too, where their terms are too large for
// numbers: a stall makes a long span and not a short one.
func TestErlang(t *testing.T) {
	for _, test := range []struct {
		k       int64
		x, want float64
	}{
		{1, 1, 1 - 1/math.E}, {2, 1, 1 - 2/math.E}, {1, 0, 0}, {500, -3, 0}, {500, 250, 0},
		{500, 500, 0.5059}, {500, 700, 1}, {500, 800, 1}, {500, 1e6, 1}, {1, 1e9, 1},
	} {
		if got := erlangCDF(test.k, test.x); !(math.Abs(got-test.want) < 1e-3) {
			t.Errorf("%d arrivals in %v gaps: %v, want %v", test.k, test.x, got, test.want)
		}
	}
}

// The statistic is, from counts in bins, what it is by its definition.
func TestAndersonDarling(t *testing.T) {
	coin := rand.New(rand.NewPCG(3, 4))
	for _, bend := range []float64{1, 1.05, 1.5} {
		var u []float64
		var law Law
		for range 5000 {
			v := math.Pow(coin.Float64(), bend)
			u = append(u, v)
			law.Bins[int(v*lawBins)]++
			law.Spans++
		}
		want := exactAD(u)
		if got, n := law.AndersonDarling(); math.Abs(got-want) > 0.05*want+0.05 || n != 5000 {
			t.Errorf("bent by %v: A² %v of %d, want %v", bend, got, n, want)
		}
	}
}

// A constant law is off by the change of the delay, and by nothing when all are as late.
func TestEvenLaw(t *testing.T) {
	for _, test := range []struct {
		rate  float64
		delay func(i int) int64
		off   int64 // millionths, at p90
	}{
		{100, func(int) int64 { return 3 * ms }, 0},
		{100, func(i int) int64 { return int64(i%2) * ms }, 100_000},
		{1000, func(i int) int64 { return int64(i%2) * ms / 5 }, 200_000},
		{100_000, func(i int) int64 { return int64(i/100%2) * ms / 5 }, 200_000},
	} {
		off := follow(openPlan(test.rate, loadplan.Even), test.delay).Off
		if got := off.View().Quantile(0.9); off.Count < 900 || math.Abs(float64(got-test.off)) > 0.02*float64(test.off) {
			t.Errorf("%v/s: off by %d millionths of %d, want %d", test.rate, got, off.Count, test.off)
		}
	}
	p := openPlan(0, "")
	p.Rate = 0
	law := newLaw()
	if pace := NewPacing(p, &law, 1); pace.law != nil {
		t.Error("a law in a closed loop")
	}
}
