package loadplan

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"
)

// No drift: after hours the k-th arrival is where k/rate is, on every worker.
func TestEvenIsExact(t *testing.T) {
	for _, rate := range []Rate{1, 1000, 20_000_000, 333_333, 99_999_999_000} {
		const workers = 3
		for i := range workers {
			c := newEven(constantProfile(rate), slotCycle{[]uint64{uint64(i)}, workers})
			c.begun = 3_000_000 * workers // hours into the run at most rates
			for j := range 100 {
				k := uint64(i) + (3_000_000+uint64(j))*workers
				due, ok := c.Next()
				// k·10¹²/rate, rounded down, without 128 bits: by parts.
				want := k/uint64(rate)*1e12 + mulDiv(k%uint64(rate), uint64(rate))
				if ok != (want < 1<<62) || ok && uint64(due) != want {
					t.Fatalf("rate %v, arrival %d: %d, want %d", rate.PerSecond(), k, due, want)
				}
			}
		}
	}
}

// mulDiv is rest × 10¹² / rate digit by digit, rest being less than rate.
func mulDiv(rest, rate uint64) (q uint64) {
	for range 12 {
		rest *= 10
		q = q*10 + rest/rate
		rest %= rate
	}
	return q
}

func TestSequence(t *testing.T) {
	reqs := make([]Request, 4)
	for i, w := range []int{1, 6, 2, 3} {
		reqs[i].Weight = w * 10
	}
	s := newSequence(reqs, 0, 1)
	if len(s.order) != 12 {
		t.Fatalf("%d in the sequence, want 12", len(s.order))
	}
	count := map[uint32]int{}
	last := map[uint32]int{}
	for i := range 24 {
		k := s.NextIndex()
		if before, seen := last[k]; seen && k == 1 && i-before > 3 {
			t.Errorf("request 1 comes %d apart", i-before)
		}
		last[k] = i
		count[k]++
	}
	for k, w := range map[uint32]int{0: 2, 1: 12, 2: 4, 3: 6} {
		if count[k] != w {
			t.Errorf("request %d came %d times, want %d", k, count[k], w)
		}
	}
}

func TestQuota(t *testing.T) {
	for _, rate := range []Rate{0, RatePerSecond(1000)} {
		for _, c := range []int{7, 50} {
			for n := 1; n <= 7; n++ {
				p := &Plan{Connections: c, Requested: 12345, Rate: rate}
				sum := int64(0)
				for i := range n {
					q := RequestQuota(p, i, n)
					sum += q
					mine := EvenShare(int64(c), i, n)
					if each := p.Requested / int64(c); rate == 0 && (q < each*mine || q > (each+1)*mine) {
						t.Errorf("%d of %d requests for %d of %d connections", q, p.Requested, mine, c)
					}
				}
				if sum != p.Requested {
					t.Errorf("rate %v, %d workers: %d requests in all", rate, n, sum)
				}
			}
		}
	}
}

func TestShare(t *testing.T) {
	for _, total := range []int64{0, 1, 7, 12345, 1 << 40} {
		for n := 1; n < 9; n++ {
			sum, most, least := int64(0), int64(0), total
			for i := range n {
				s := EvenShare(total, i, n)
				sum, most, least = sum+s, max(most, s), min(least, s)
			}
			if sum != total || most-least > 1 {
				t.Errorf("%d in %d parts: %d, from %d to %d", total, n, sum, least, most)
			}
		}
	}
}

// arrivalsOf is all that n workers' schedules yield, in order of time.
func arrivalsOf(p *Plan, n int) (all []int64) {
	for i := range n {
		s := p.NewSchedule(i, n)
		for due, ok := s.Next(); ok && due < int64(p.Warmup+p.Duration); due, ok = s.Next() {
			all = append(all, due)
		}
	}
	slices.Sort(all)
	return all
}

func stagesPlan(rate float64, warmup time.Duration, stages ...Stage) *Plan {
	p := DefaultPlan()
	p.Rate, p.Stages, p.Warmup = RatePerSecond(rate), stages, Seconds(warmup)
	p.Duration = Seconds(p.StagesLength())
	return &p
}

func stageOf(d time.Duration, rate float64) Stage { return Stage{Seconds(d), RatePerSecond(rate)} }

// What a profile adds up to is the area below it: by hand, for each.
func TestStagesAddUp(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name string
		plan *Plan
		Want int
	}{
		{"ramp", stagesPlan(0, 0, stageOf(10*s, 1000)), 5000},
		{"ramp and hold", stagesPlan(0, 0, stageOf(10*s, 1000), stageOf(5*s, 1000)), 10_000},
		{"step", stagesPlan(100, 0, stageOf(10*s, 100), stageOf(0, 900), stageOf(10*s, 900)), 10_000},
		{"down to nothing and up", stagesPlan(1000, 0, stageOf(2*s, 0), stageOf(3*s, 0),
			stageOf(2*s, 1000)), 2000},
		{"warm-up at the first rate", stagesPlan(500, 2*s, stageOf(2*s, 1500)), 3000},
		{"fractions", stagesPlan(0.5, 0, stageOf(4*s, 0.5), stageOf(4*s, 1.5)), 6},
	} {
		for n := 1; n <= 3; n++ {
			all := arrivalsOf(c.plan, n)
			if len(all) != c.Want {
				t.Errorf("%s, %d workers: %d arrivals, want %d", c.name, n, len(all), c.Want)
			}
			if one := arrivalsOf(c.plan, 1); !slices.Equal(all, one) {
				t.Errorf("%s: %d workers have other arrivals than one", c.name, n)
			}
		}
	}
}

// On a ramp from 0 the k-th arrival is due at √(2k·D/R), which is computed here
// with 200 bits, hours into the run.
func TestRampsAreExact(t *testing.T) {
	const d, rate = 10 * time.Hour, 50_000
	s := newEven(stagesPlan(0, 0, stageOf(d, rate)).rateProfile(), slotCycle{[]uint64{0}, 1})
	for _, k := range []uint64{0, 1, 2, 1000, 123_456_789, 899_999_999} {
		s.begun = k
		due, ok := s.Next()
		x := new(big.Float).SetPrec(200).SetUint64(2 * k)
		x.Mul(x, big.NewFloat(1e9/float64(rate)))
		x.Mul(x, new(big.Float).SetInt64(int64(d)))
		want, _ := x.Sqrt(x).Float64()
		if !ok || math.Abs(float64(due)-want) > 1 {
			t.Errorf("arrival %d: %d, want %.1f", k, due, want)
		}
	}
}

// The gaps of Poisson arrivals have the mean 1/rate and as much for a standard
// deviation, the counts of seconds a variance that is their mean, and neither
// depends on how many workers share them.
func TestPoissonHasItsMoments(t *testing.T) {
	const rate, seconds = 2000, 50
	for _, n := range []int{1, 4} {
		var counts, variance, gapVariance float64
		for seed := range uint64(20) {
			p := stagesPlan(rate, 0, stageOf(seconds*time.Second, rate))
			p.Arrival, p.Seed = Poisson, seed+1
			all := arrivalsOf(p, n)
			counts += float64(len(all)) / 20
			perSecond, last := make([]float64, seconds), int64(0)
			for _, due := range all {
				perSecond[due/1e9]++
				gap := float64(due-last)/1e9*rate - 1
				gapVariance += gap * gap / 20 / float64(len(all))
				last = due
			}
			for _, c := range perSecond {
				variance += (c - rate) * (c - rate) / 20 / seconds
			}
		}
		// Twenty seeds: four standard errors of each.
		if math.Abs(counts-rate*seconds) > 4*math.Sqrt(rate*seconds/20) {
			t.Errorf("%d workers: %.0f arrivals, want %d", n, counts, rate*seconds)
		}
		if math.Abs(gapVariance-1) > 4*math.Sqrt(8.0/(20*rate*seconds)) {
			t.Errorf("%d workers: gaps vary by %.4f of their mean, want 1", n, gapVariance)
		}
		if math.Abs(variance/rate-1) > 4*math.Sqrt(2.0/(20*seconds)) {
			t.Errorf("%d workers: seconds vary by %.3f of their mean, want 1", n, variance/rate)
		}
	}
}

// Poisson arrivals on a ramp are as many as its area, in each part of it.
func TestPoissonFollowsTheProfile(t *testing.T) {
	var first, second float64
	for seed := range uint64(20) {
		p := stagesPlan(0, 0, stageOf(10*time.Second, 4000))
		p.Arrival, p.Seed = Poisson, seed+1
		for _, due := range arrivalsOf(p, 2) {
			if due < 5e9 {
				first += 1.0 / 20
			} else {
				second += 1.0 / 20
			}
		}
	}
	if math.Abs(first-5000) > 4*math.Sqrt(5000.0/20) || math.Abs(second-15000) > 4*math.Sqrt(15000.0/20) {
		t.Errorf("%.0f and %.0f arrivals, want 5000 and 15000", first, second)
	}
}
