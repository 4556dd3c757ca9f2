package loadplan

import (
	"math"
	"slices"
	"testing"
	"time"
)

// drawn is what schedules yield until the plan's end.
func drawn(p *Plan, all ...Schedule) (instants []int64) {
	for _, s := range all {
		for due, ok := s.Next(); ok && due < int64(p.Warmup+p.Duration); due, ok = s.Next() {
			instants = append(instants, due)
		}
	}
	slices.Sort(instants)
	return instants
}

// When a part ends, the others have its arrivals from an instant on, each once, and of
// those before it the ended one had its own.
func TestSharesChange(t *testing.T) {
	const s = time.Second
	for name, p := range map[string]*Plan{
		"steady": stagesPlan(333.333, s, stageOf(3*s, 333.333)),
		"ramp":   stagesPlan(100, s, stageOf(3*s, 2000), stageOf(0, 10), stageOf(2*s, 0), stageOf(s, 10)),
	} {
		whole := arrivalsOf(p, 1)
		for _, at := range []int64{0, 1, 999_999_999, 1_300_000_000, 2_500_000_123, 1 << 40} {
			before, after := p.SplitBy([]int{2, 3, 1}), p.SplitBy([]int{2, 1})
			var all []int64
			for i, part := range before {
				n := 1 + i
				for w := range n {
					old := part.NewSchedule(w, n)
					if i == 1 { // it ends
						all = append(all, slices.DeleteFunc(drawn(p, old), func(due int64) bool { return due >= at })...)
						continue
					}
					then := after[i/2].ScheduleFrom(w, n, at)
					all = append(all, drawn(p, &changing{old, then, at})...)
				}
			}
			if slices.Sort(all); !slices.Equal(all, whole) {
				t.Errorf("%s from %d ns on: %d arrivals, not the %d of the whole", name, at, len(all), len(whole))
			}
		}
	}
}

// Poisson arrivals are as many as before after a change, whoever makes them.
func TestPoissonSharesChange(t *testing.T) {
	const rounds = 40
	p := stagesPlan(500, 0, stageOf(10*time.Second, 1500))
	p.Arrival = Poisson
	var first, second float64
	for seed := range uint64(rounds) {
		p.Seed = seed + 1
		for i, part := range p.SplitBy([]int{2, 1, 1})[:2] {
			after := p.SplitBy([]int{2, 1})[i]
			for _, due := range drawn(p, &changing{part.NewSchedule(0, 1), after.ScheduleFrom(0, 1, 6e9), 6e9}) {
				if due < 6e9 {
					first += 1.0 / rounds
				} else {
					second += 1.0 / rounds
				}
			}
		}
	}
	// 500 + 100 t a second: 4,800 in 6 s, of which three quarters, and 5,200 in the rest.
	if math.Abs(first-3600) > 4*math.Sqrt(3600.0/rounds) || math.Abs(second-5200) > 4*math.Sqrt(5200.0/rounds) {
		t.Errorf("%.0f and %.0f arrivals, want 3600 and 5200", first, second)
	}
}

// What a profile adds up to by an instant is what is due by then.
func TestReached(t *testing.T) {
	const s = time.Second
	p := stagesPlan(100, s, stageOf(3*s, 2000), stageOf(0, 10), stageOf(2*s, 0), stageOf(s, 10)).rateProfile()
	for at := int64(0); at < 7e9; at += 123_456_789 {
		got := p.countBy(at).toFloat() / perArrival
		sum, step := 0.0, 1e5
		for x := 0.0; x < float64(at); x += step {
			i := 0
			for i+1 < len(p) && int64(x) >= p[i+1].begin {
				i++
			}
			rate := float64(p[i].from)
			if p[i].length > 0 {
				rate += (float64(p[i].to) - rate) * (x - float64(p[i].begin)) / float64(p[i].length)
			}
			sum += rate / 1000 * min(step, float64(at)-x) / 1e9
		}
		if math.Abs(got-sum) > 0.5 {
			t.Errorf("by %d ns: %.2f, want %.2f", at, got, sum)
		}
	}
	if c := countFromFloat(1.5 * (1 << 64)); c.hi != 1 || c.lo != 1<<63 {
		t.Error(c)
	}
}
