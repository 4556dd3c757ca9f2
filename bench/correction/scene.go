package main

import (
	"math"
	"math/rand/v2"

	"dyno/internal/stats"
)

// A scene is what disturbs trials. Values are logarithms, in units of design.noise.
type scene struct {
	name        string
	drawNoise   func(*rand.Rand) float64 // noise of a trial; nil: normal
	unequal     []float64                // noise of the arms in turn, from the baseline on
	missing     float64                  // share of trials that measured nothing
	grid        float64                  // to which values are rounded; 0: they are not
	correlation float64                  // of the measures of a trial
	trend       float64                  // drift from the first trial of a round to its last
	walk        float64                  // step of a random walk, each trial
	slow        float64                  // share of trials that are 10 to 40 % slow
}

func drawStudent3(random *rand.Rand) float64 {
	squares := 0.0
	for range 3 {
		z := random.NormFloat64()
		squares += z * z
	}
	return random.NormFloat64() / math.Sqrt(squares/3) / math.Sqrt(3)
}

func drawSkewed(random *rand.Rand) float64 { return random.ExpFloat64() - 1 }

// scenes are the rows of the tables.
var scenes = []scene{
	{name: "normal noise"},
	{name: "heavy tails (Student's t, 3 degrees)", drawNoise: drawStudent3},
	{name: "skewed (exponential)", drawNoise: drawSkewed},
	{name: "variants 1, 2 and 4 times as noisy", unequal: []float64{1, 1, 2, 4}},
	{name: "the baseline 4 times as noisy", unequal: []float64{4, 1, 1, 1, 1, 1, 1}},
	{name: "skewed, variants 1, 2 and 4 times as noisy", drawNoise: drawSkewed,
		unequal: []float64{1, 1, 2, 4}},
	{name: "skewed, the baseline 4 times as noisy", drawNoise: drawSkewed,
		unequal: []float64{4, 1, 1, 1, 1, 1, 1}},
	{name: "a tenth of the trials missing", missing: 0.1},
	{name: "rounded to one standard deviation (ties, zeros)", grid: 1},
	{name: "four measures of a trial, correlation 0.95", correlation: 0.95},
	{name: "drift within a round, 4 standard deviations", trend: 4},
	{name: "random walk from trial to trial", walk: 0.5},
	{name: "a twentieth of the trials 10 to 40 % slow", slow: 0.05},
	everyDisturbance,
}

// everyDisturbance has all disturbances at once.
var everyDisturbance = scene{name: "all of these", drawNoise: drawStudent3,
	unequal: []float64{1, 1, 2, 4},
	missing: 0.05, grid: 0.25, correlation: 0.9, trend: 2, walk: 0.25, slow: 0.05}

// A design is an experiment with so many variants, a baseline and its control.
type design struct {
	rounds, variants, measures int
	noise                      float64 // standard deviation of a trial
	differ                     func(variant int) float64
	margin                     float64 // as a ratio − 1
	floor                      bool    // the margin is raised to the difference of the control
}

func (d design) trueDifference(comparison int) float64 {
	if d.differ == nil {
		return 0
	}
	return d.differ(comparison / d.measures)
}

// simulateRound returns the values of all arms, by measure; NaN where a trial is missing. The
// first arm is the baseline, the second its control.
func (s scene) simulateRound(random *rand.Rand, d design) [][]float64 {
	arms := d.variants + 2
	y := make([][]float64, arms)
	walk := 0.0
	for position, arm := range random.Perm(arms) {
		walk += s.walk * random.NormFloat64()
		moved := walk + s.trend*float64(position)/float64(arms)
		y[arm] = s.simulateTrial(random, d, arm, moved)
	}
	return y
}

func (s scene) simulateTrial(random *rand.Rand, d design, arm int, moved float64) []float64 {
	draw := s.drawNoise
	if draw == nil {
		draw = (*rand.Rand).NormFloat64
	}
	scale := 1.0
	if s.unequal != nil {
		scale = s.unequal[arm%len(s.unequal)]
	}
	late := 0.0
	if random.Float64() < s.slow {
		late = math.Log(1.1 + 0.3*random.Float64())
	}
	gone, common := random.Float64() < s.missing, draw(random)
	values := make([]float64, d.measures)
	for m := range values {
		noise := s.correlation*common + math.Sqrt(1-s.correlation*s.correlation)*draw(random)
		v := moved + scale*noise
		if s.grid > 0 {
			v = s.grid * math.Round(v/s.grid)
		}
		v = d.noise*v + late
		if m%2 == 1 { // as throughput falls where latency rises
			v = -v
		}
		if values[m] = v; gone {
			values[m] = math.NaN()
		}
	}
	return values
}

// The rules by which experiments are judged.
const (
	alone = iota // each comparison by itself
	holm         // Holm's correction of the same p-values
	maxT         // as the laboratory does
	rules
)

// An outcome is the result of an experiment: counts of comparisons, and 0 or 1 for the
// experiment.
type outcome struct {
	falseClaims, differencesFound                      [rules]int
	trueDifferences, equal, compared                   int
	allIntervalsHold, equivalentAtMargin, beyondMargin int
	width                                              float64
}

// simulateExperiment simulates and judges an experiment.
func (s scene) simulateExperiment(d design, seed, number uint64) outcome {
	random := rand.New(rand.NewPCG(seed, number))
	compared := d.variants * d.measures
	x := make([][]float64, compared)
	control := make([][]float64, d.measures)
	for range d.rounds {
		y := s.simulateRound(random, d)
		for m := range d.measures {
			control[m] = append(control[m], y[1][m]-y[0][m])
		}
		for k := range x {
			v, m := k/d.measures, k%d.measures
			x[k] = append(x[k], y[v+2][m]-y[0][m]+d.trueDifference(k))
		}
	}
	margins := make([]stats.Margin, compared)
	for k := range margins {
		margins[k].Practical = d.margin
		if had := presentValues(control[k%d.measures]); d.floor && len(had) > 0 {
			margins[k].Floor, _ = stats.NoiseFloor(had)
		}
	}
	return d.countOutcome(x, margins)
}

func presentValues(x []float64) (had []float64) {
	for _, v := range x {
		if !math.IsNaN(v) {
			had = append(had, v)
		}
	}
	return had
}

// countOutcome compares the verdicts with the truth.
func (d design) countOutcome(x [][]float64, margins []stats.Margin) (o outcome) {
	o.allIntervalsHold = 1
	single := make([]stats.Judgement, len(x))
	ps := make([]float64, len(x))
	for k := range x {
		single[k] = stats.Judgement{Verdict: stats.Inconclusive, P: 1}
		if had := presentValues(x[k]); len(had) > 0 {
			single[k], _ = stats.Judge(had, margins[k])
		}
		ps[k] = single[k].P
	}
	corrected := stats.Holm(ps)
	for k, j := range stats.JudgeTogether(x, margins) {
		differs := single[k].Verdict == stats.Different
		d.countComparison(&o, k, j, [rules]bool{differs, differs && corrected[k] <= 0.05,
			j.Verdict == stats.Different})
	}
	return o
}

// countComparison counts one comparison.
func (d design) countComparison(o *outcome, k int, j stats.Judgement, said [rules]bool) {
	truth := d.trueDifference(k)
	o.compared++
	if truth != 0 {
		o.trueDifferences++
	}
	for r, is := range said {
		switch {
		case is && truth == 0:
			o.falseClaims[r]++
		case is:
			o.differencesFound[r]++
		}
	}
	margin := math.Log1p(d.margin)
	if j.Verdict == stats.Equivalent {
		o.equal++
		if math.Abs(truth) >= margin {
			o.equivalentAtMargin = 1
		}
	}
	low, high := math.Log(j.Ratio.Low), math.Log(j.Ratio.High)
	if j.Ratio.Level < 0.95-1e-9 {
		return // no interval is claimed
	}
	if math.Abs(truth) <= margin && (low > margin || high < -margin) {
		o.beyondMargin = 1
	}
	if truth < low-1e-8 || truth > high+1e-8 {
		o.allIntervalsHold = 0
	}
	o.width += (high - low) / 2
}
