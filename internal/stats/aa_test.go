package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Whole experiments are simulated and judged as the laboratory does it, to count how often it
// would say what is not so.

// A machine is what disturbs trials, apart from what is measured; all on the log scale.
type machine struct {
	name  string
	noise float64 // standard deviation of a trial
	alike float64 // correlation of a trial's noise with that of the one before
	walk  float64 // standard deviation of a step of a random walk, each trial
	trend float64 // linear drift from the first trial to the last
	slow  float64 // share of trials that are 10 to 40 % slow
}

var machines = []machine{
	{"quiet", 0.01, 0, 0, 0, 0},
	{"ordinary", 0.02, 0, 0, 0, 0},
	{"noisy", 0.05, 0, 0, 0, 0},
	{"alike", 0.03, 0.6, 0, 0, 0},
	{"walking", 0.01, 0, 0.01, 0, 0},
	{"drifting", 0.02, 0, 0, 0.3, 0},
	{"outliers", 0.02, 0, 0, 0, 0.05},
	{"quiet with outliers", 0.01, 0, 0, 0, 0.05},
	{"drifting with outliers", 0.02, 0.3, 0, -0.2, 0.05},
	{"everything", 0.05, 0.6, 0.01, 0.2, 0.05},
}

// times returns by what factor each of n trials in a row takes longer, as a logarithm.
func (m machine) times(random *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	noise, walk := m.noise*random.NormFloat64(), 0.0
	for i := range x {
		x[i] = noise + walk + m.trend*float64(i)/float64(n)
		if random.Float64() < m.slow {
			x[i] += math.Log(1.1 + 0.3*random.Float64())
		}
		fresh := math.Sqrt(1 - m.alike*m.alike)
		noise = m.alike*noise + fresh*m.noise*random.NormFloat64()
		walk += m.walk * random.NormFloat64()
	}
	return x
}

// The cells of an experiment.
const (
	baseline = iota
	control  // the baseline again
	variant
	another
	cells
)

// order is that of the trials: the cells, all rounds of them.
type order func(random *rand.Rand, rounds int) []int

// interleaved shuffles the cells of each round.
func interleaved(random *rand.Rand, rounds int) (all []int) {
	for range rounds {
		all = append(all, random.Perm(cells)...)
	}
	return all
}

// sequential does all trials of a cell before the next.
func sequential(_ *rand.Rand, rounds int) (all []int) {
	for cell := range cells {
		for range rounds {
			all = append(all, cell)
		}
	}
	return all
}

// An experiment is the latencies of all cells, by cell and round; the variant's are the effect
// times what they would be.
type experiment [cells][]float64

func (m machine) run(random *rand.Rand, o order, rounds int, effect float64) (e experiment) {
	plan := o(random, rounds)
	for i, x := range m.times(random, len(plan)) {
		y := 1000 * math.Exp(x)
		if plan[i] == variant {
			y *= effect
		}
		e[plan[i]] = append(e[plan[i]], y)
	}
	return e
}

// judged is what the laboratory makes of an experiment.
type judged struct {
	lab     Judgement // with the margin that it takes: 2 %, or what the A/A arm says
	exact   Judgement // with no margin: any difference that is shown
	control Judgement // of the A/A arm itself
}

func (e experiment) judge(t *testing.T) judged {
	t.Helper()
	logs := func(cell int) []float64 {
		x, err := LogRatios(e[cell], e[baseline])
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	floor, err := NoiseFloor(logs(control))
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(cell int, m Margin) Judgement {
		j, err := Judge(logs(cell), m)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	return judged{
		lab:     verdict(variant, Margin{Practical: 0.02, Floor: floor}),
		exact:   verdict(variant, Margin{}),
		control: verdict(control, Margin{Practical: 0.02}),
	}
}

// A tally counts what became of experiments.
type tally struct {
	n, shown, control, held int
	lab                     map[Verdict]int
}

func (c *tally) add(j judged, effect float64) {
	c.n++
	if c.lab == nil {
		c.lab = map[Verdict]int{}
	}
	c.lab[j.lab.Verdict]++
	if j.exact.Verdict == Different {
		c.shown++
	}
	if j.control.Verdict == Different {
		c.control++
	}
	if j.lab.Ratio.Low <= effect && effect <= j.lab.Ratio.High {
		c.held++
	}
}

func (c *tally) share(count int) float64 { return float64(count) / float64(c.n) }

func (c *tally) String() string {
	return fmt.Sprintf("%5d experiments: different %5.2f %% (with no margin %5.2f %%, A/A arm "+
		"%5.2f %%), negligible %5.2f %%, equivalent %5.2f %%, interval holds %5.2f %%", c.n,
		100*c.share(c.lab[Different]), 100*c.share(c.shown), 100*c.share(c.control),
		100*c.share(c.lab[Negligible]), 100*c.share(c.lab[Equivalent]), 100*c.share(c.held))
}

// atMost is how many of n may happen by chance if each does with the probability p: more has
// a probability below 1 in 10,000.
func atMost(n int, p float64) int {
	k := 0
	for incompleteBeta(float64(k+1), float64(n-k), p) > 1e-4 { // P(more than k)
		k++
	}
	return k
}

var roundsTried = []int{6, 8, 10, 20}

// experiments is how many are simulated in all.
func experiments() int {
	if testing.Short() {
		return 2000
	}
	return 10_000
}

// The same variant twice must not be called different more often than the level allows: not
// in all, not on any machine, not with any number of rounds.
func TestFalseDifferent(t *testing.T) {
	var all tally
	byRounds := map[int]*tally{}
	for i, m := range machines {
		random := rand.New(rand.NewPCG(2, uint64(i)))
		var here tally
		for k := range experiments() / len(machines) {
			rounds := roundsTried[k%len(roundsTried)]
			if byRounds[rounds] == nil {
				byRounds[rounds] = &tally{}
			}
			j := m.run(random, interleaved, rounds, 1).judge(t)
			for _, c := range []*tally{&here, byRounds[rounds], &all} {
				c.add(j, 1)
			}
		}
		checkFalse(t, m.name, here)
	}
	for _, rounds := range roundsTried {
		checkFalse(t, fmt.Sprint(rounds, " rounds"), *byRounds[rounds])
	}
	t.Logf("%-22s %v", "all", &all)
	for _, count := range []int{all.lab[Different], all.shown, all.control} {
		if all.share(count) > 0.05 {
			t.Errorf("%d of %d are called different", count, all.n)
		}
	}
}

func checkFalse(t *testing.T, name string, c tally) {
	t.Helper()
	t.Logf("%-22s %v", name, &c)
	for _, count := range []int{c.lab[Different], c.shown, c.control, c.n - c.held} {
		if count > atMost(c.n, 0.05) {
			t.Errorf("%s: %d of %d, at most %d: %v", name, count, c.n, atMost(c.n, 0.05), &c)
		}
	}
}

// That is the order's merit, not the machines': with one variant after the other those that
// drift fool the same judgement most of the time.
func TestSequentialOrderIsFooled(t *testing.T) {
	for i, m := range machines {
		random := rand.New(rand.NewPCG(3, uint64(i)))
		var c tally
		for k := range experiments() / 50 {
			c.add(m.run(random, sequential, roundsTried[k%len(roundsTried)], 1).judge(t), 1)
		}
		t.Logf("%-22s %v", m.name, &c)
		if m.trend != 0 && m.noise < 0.05 && c.share(c.shown) < 0.5 {
			t.Errorf("%s: only %d of %d are fooled by drift", m.name, c.shown, c.n)
		}
	}
}

// A true difference of 10 % must be found within 10 rounds at 2 % of noise, and the interval
// hold the truth on every machine.
func TestTrueDifference(t *testing.T) {
	var all tally
	for i, m := range machines {
		random := rand.New(rand.NewPCG(4, uint64(i)))
		for _, effect := range []float64{0.97, 1.03, 1.10} {
			var c tally
			for range experiments() / 50 {
				j := m.run(random, interleaved, 10, effect).judge(t)
				c.add(j, effect)
				all.add(j, effect)
			}
			t.Logf("%-22s × %.2f %v", m.name, effect, &c)
			if m.name == "ordinary" && effect == 1.10 && c.share(c.lab[Different]) < 0.9 {
				t.Errorf("%s × %v: %v", m.name, effect, &c)
			}
			if n := c.lab[Equivalent]; n > atMost(c.n, 0.05) {
				t.Errorf("%s × %v: equivalent %d times", m.name, effect, n)
			}
			if missed := c.n - c.held; missed > atMost(c.n, 0.05) {
				t.Errorf("%s × %v: the interval misses it %d times", m.name, effect, missed)
			}
		}
	}
	if all.share(all.held) < 0.94 {
		t.Errorf("coverage %v", all.share(all.held))
	}
}
