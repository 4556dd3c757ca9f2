package loadplan

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func partsOf(p *Plan, n int) (all []Plan) {
	all = p.Split(n)
	for i := range all { // as many threads as they like
		all[i].Threads = min(1+i%3, all[i].Connections)
	}
	return all
}

// The parts of a load have its arrivals, each once, whatever their threads.
func TestPartsAreTheWhole(t *testing.T) {
	const s = time.Second
	for name, p := range map[string]*Plan{
		"steady": stagesPlan(333.333, s, stageOf(3*s, 333.333)),
		"ramp":   stagesPlan(100, s, stageOf(3*s, 2000), stageOf(0, 10), stageOf(s, 10)),
	} {
		whole := arrivalsOf(p, 1)
		for n := 1; n <= 5; n++ {
			var all []int64
			var offered Rate
			for _, part := range partsOf(p, n) {
				all = append(all, arrivalsOf(&part, part.Threads)...)
				offered += part.Offered()
			}
			slices.Sort(all)
			if !slices.Equal(all, whole) {
				t.Errorf("%s in %d parts: %d arrivals, not the %d of the whole", name, n, len(all), len(whole))
			}
			if d := offered - p.Offered(); d < -Rate(n) || d > Rate(n) {
				t.Errorf("%s in %d parts: %v/s are offered, not %v/s", name, n, offered.PerSecond(),
					p.Offered().PerSecond())
			}
		}
	}
}

// Of weights each part has its share of every round, spread over it, and all together
// have each arrival once, whatever their threads.
func TestWeightedPartsAreTheWhole(t *testing.T) {
	const s = time.Second
	for name, p := range map[string]*Plan{
		"steady": stagesPlan(333.333, s, stageOf(3*s, 333.333)),
		"ramp":   stagesPlan(100, s, stageOf(3*s, 2000), stageOf(0, 10), stageOf(s, 10)),
	} {
		whole := arrivalsOf(p, 1)
		for _, weights := range [][]int{{2, 1, 1}, {1}, {7, 3}, {5, 5}, {1, 2, 3, 4, 5}, {999, 1, 37}} {
			var all []int64
			sum := 0
			for _, w := range weights {
				sum += w
			}
			for i, part := range p.SplitBy(weights) {
				for _, threads := range []int{1, 2, 3, 4, 7} {
					mine := arrivalsOf(&part, threads)
					if one := arrivalsOf(&part, 1); !slices.Equal(mine, one) {
						t.Errorf("%s %v: part %d has other arrivals with %d threads", name, weights, i, threads)
					}
					if threads == 3 {
						all = append(all, mine...)
					}
				}
				share := p.Offered().PerSecond() * float64(weights[i]) / float64(sum)
				if got := part.Offered().PerSecond(); math.Abs(got-share) > 0.001 {
					t.Errorf("%s %v: part %d is offered %v/s, not %v/s", name, weights, i, got, share)
				}
			}
			if slices.Sort(all); !slices.Equal(all, whole) {
				t.Errorf("%s %v: %d arrivals, not the %d of the whole", name, weights, len(all), len(whole))
			}
		}
	}
}

// 30,000 a second for 20 s, by three machines of which one makes half: each second has
// as many of each as the other seconds, and the first requests of all are the first.
func TestWeightsAreExact(t *testing.T) {
	p := DefaultPlan()
	p.Rate, p.Duration, p.Connections = RatePerSecond(30_000), Seconds(20*time.Second), 1000
	for i, part := range p.SplitBy([]int{4, 2, 2}) {
		want := []int{15_000, 7500, 7500}[i]
		seconds := make([]int, 20)
		for _, due := range arrivalsOf(&part, 1+i) {
			seconds[due/1e9]++
		}
		for at, n := range seconds {
			if n != want {
				t.Errorf("part %d: %d arrivals in second %d, not %d", i, n, at, want)
			}
		}
		if part.Connections != []int{500, 250, 250}[i] {
			t.Errorf("part %d has %d connections", i, part.Connections)
		}
	}
	p.Requested = 12_347
	sum, last := int64(0), int64(0)
	for _, part := range p.SplitBy([]int{4, 2, 2}) {
		due := arrivalsOf(&part, 1)[part.Requested-1]
		sum, last = sum+part.Requested, max(last, due)
	}
	if whole := arrivalsOf(&p, 1); sum != p.Requested || last != whole[p.Requested-1] {
		t.Errorf("%d requests, the last due after %d ns; want %d and %d", sum, last, p.Requested,
			whole[p.Requested-1])
	}
}

// Poisson streams of other weights are together one of the whole rate.
func TestWeightedPoisson(t *testing.T) {
	const rate, seconds, rounds = 1000, 20, 20
	p := stagesPlan(rate, 0, stageOf(seconds*time.Second, rate))
	p.Arrival = Poisson
	var counts [3]float64
	for seed := range uint64(rounds) {
		p.Seed = seed + 1
		for i, part := range p.SplitBy([]int{2, 1, 1}) {
			counts[i] += float64(len(arrivalsOf(&part, 2))) / rounds
		}
	}
	for i, share := range []float64{0.5, 0.25, 0.25} {
		want := share * rate * seconds
		if math.Abs(counts[i]-want) > 4*math.Sqrt(want/rounds) {
			t.Errorf("part %d: %.0f arrivals, want %.0f", i, counts[i], want)
		}
	}
}

// What cannot be cut evenly goes to those who would have least of their due.
func TestApportion(t *testing.T) {
	for _, c := range []struct {
		total   int64
		weights []int
		Want    []int
	}{
		{1500, []int{1, 1, 1}, []int{500, 500, 500}},
		{1000, []int{2, 1, 1}, []int{500, 250, 250}},
		{10, []int{1, 1, 1}, []int{4, 3, 3}},
		{100, []int{3, 3, 1}, []int{43, 43, 14}},
		{1, []int{1, 5}, []int{0, 1}},
		{0, []int{1, 5}, []int{0, 0}},
		{1 << 50, []int{MaxWeight - 1, 1}, []int{1<<50 - 1<<34, 1 << 34}},
	} {
		if got := apportionByWeight(c.total, c.weights); !slices.Equal(got, c.Want) {
			t.Errorf("%d by %v: %v, want %v", c.total, c.weights, got, c.Want)
		}
	}
}

// Parts of other weights are not of one load.
func TestJoinOfWeights(t *testing.T) {
	p := DefaultPlan()
	p.Connections = 100
	one, other := p.SplitBy([]int{2, 1}), p.SplitBy([]int{3, 1})
	if back, err := Join(one); err != nil || back.Weights != nil || back.Connections != 100 {
		t.Errorf("%+v %v", back, err)
	}
	if _, err := Join([]Plan{one[0], other[1]}); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Error(err)
	}
	for _, bad := range [][]int{{1}, {1, 0}, {1, MaxWeight}, {1, 2, 3}} {
		q := one[0]
		q.Weights = bad
		q.Target.Host, q.Requests = "h", []Request{{Weight: 1}}
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), "Weights") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// Poisson parts have one seed, and streams of their own.
func TestPoissonParts(t *testing.T) {
	const rate, seconds, n = 1000, 20, 3
	p := stagesPlan(rate, 0, stageOf(seconds*time.Second, rate))
	p.Arrival = Poisson
	var counts float64
	for range 20 {
		var all []int64
		parts := p.Split(n)
		for _, part := range parts {
			if part.Seed == 0 || part.Seed != parts[0].Seed {
				t.Fatalf("seed %d, of part 1 %d", part.Seed, parts[0].Seed)
			}
			mine := arrivalsOf(&part, 2)
			counts += float64(len(mine)) / 20
			all = append(all, mine...)
		}
		slices.Sort(all)
		if twice := len(all) - len(slices.Compact(all)); twice > 10 { // by chance one or none
			t.Fatalf("%d of %d arrivals are another's", twice, len(all))
		}
	}
	if math.Abs(counts-rate*seconds) > 4*math.Sqrt(rate*seconds/20) {
		t.Errorf("%.0f arrivals, want %d", counts, rate*seconds)
	}
}

// Joined again they are the plan that was split.
func TestJoin(t *testing.T) {
	p := DefaultPlan()
	p.Target.Host, p.Requests = "h", []Request{{Weight: 1}}
	p.Connections, p.Threads, p.CPUs, p.Requested = 50, 7, []int{1, 2, 3, 5, 7, 9, 11}, 12_345
	for _, rate := range []Rate{0, RatePerSecond(1000)} {
		p.Rate = rate
		for n := 1; n <= 7; n++ {
			all := p.Split(n)
			for _, part := range all {
				if err := part.Check(); err != nil {
					t.Errorf("part %d of %d: %v", part.Part, n, err)
				}
				if rate > 0 || n == 1 {
					continue
				}
				if each := part.Requested / int64(part.Connections); each != 12_345/50 && each != 12_345/50+1 {
					t.Errorf("part %d of %d: %d requests for %d connections", part.Part, n, part.Requested,
						part.Connections)
				}
			}
			slices.Reverse(all)
			if back, err := Join(all); err != nil || !reflect.DeepEqual(back, p) {
				t.Errorf("%d parts: %v\n%+v\nwant\n%+v", n, err, back, p)
			}
			if n == 1 {
				continue
			}
			all[0].Part = all[1].Part
			if _, err := Join(all); err == nil || !strings.Contains(err.Error(), "each once") {
				t.Errorf("a part given twice: %v", err)
			}
		}
	}
	few := p.Split(60)
	if err := few[59].Check(); err == nil || !strings.Contains(err.Error(), "Connections: 0") {
		t.Errorf("a part without connections: %v", err)
	}
	few[3].CPUs = nil
	if cpus := few[8].CPUs; !slices.Equal(cpus, []int{2}) {
		t.Errorf("part 9 of 60 has CPUs %v", cpus)
	}
}
