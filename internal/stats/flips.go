package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Sign flips of whole rounds: what MaxT and SimultaneousIntervals have in common. A flip turns
// the signs of some rounds, in all comparisons at once, so that what the comparisons of a round
// share stays shared. A flip and its opposite say the same of a two-sided statistic; only those
// that leave the first round as it is are looked at.

// flipRounds is up to how many rounds all flips are looked at: 2¹³, without opposites. Beyond,
// as many are drawn.
const flipRounds = 14

// flipSeed begins what is drawn, so that the same data always say the same.
const flipSeed = 0x6d617854

// flipCount returns how many flips of so many rounds are looked at, the one that turns nothing
// among them.
func flipCount(rounds int) int { return 1 << max(min(rounds, flipRounds)-1, 0) }

// eachFlip calls visit for each flip, first that which turns nothing. Turned are the rounds
// whose sign differs from that in the flip before, and sign has all of them.
func eachFlip(rounds int, visit func(flip int, turned []int, sign []float64)) {
	sign := make([]float64, rounds)
	for i := range sign {
		sign[i] = 1
	}
	visit(0, nil, sign)
	random := rand.New(rand.NewPCG(flipSeed, uint64(rounds)))
	turned := make([]int, 0, rounds)
	for flip := 1; flip < flipCount(rounds); flip++ {
		turned = turned[:0]
		if rounds <= flipRounds {
			turned = append(turned, 1+bits.TrailingZeros(uint(flip))) // the Gray code
		} else {
			turned = drawFlips(random, turned, rounds)
		}
		for _, i := range turned {
			sign[i] = -sign[i]
		}
		visit(flip, turned, sign)
	}
}

// drawFlips are rounds after the first, each with the probability ½: turning half of the signs of
// any flip makes one that is independent of it.
func drawFlips(random *rand.Rand, turned []int, rounds int) []int {
	for first := 1; first < rounds; first += 64 {
		coins := random.Uint64()
		if left := rounds - first; left < 64 {
			coins &= 1<<left - 1
		}
		for ; coins != 0; coins &= coins - 1 {
			turned = append(turned, first+bits.TrailingZeros64(coins))
		}
	}
	return turned
}

// A column is one comparison, round by round.
type column struct {
	x    []float64 // 0 where the round is missing
	has  []float64 // 1, or 0 where the round is missing
	n    float64   // rounds that it has
	unit float64   // 1/√Σx²; 0 if all x are 0
}

func newColumn(x []float64) column {
	c := column{x: make([]float64, len(x)), has: make([]float64, len(x))}
	sum := 0.0
	for i, v := range x {
		if !math.IsNaN(v) {
			c.x[i], c.has[i] = v, 1
			c.n++
			sum += v * v
		}
	}
	if sum > 0 {
		c.unit = 1 / math.Sqrt(sum)
	}
	return c
}

// centredColumn is the column about its mean, which is returned too.
func (c column) centredColumn() (column, float64) {
	if c.n == 0 {
		return c, math.NaN()
	}
	mean := 0.0
	for _, v := range c.x {
		mean += v / c.n
	}
	x := make([]float64, len(c.x))
	for i, v := range c.x {
		x[i] = v - mean
		if c.has[i] == 0 {
			x[i] = math.NaN()
		}
	}
	return newColumn(x), mean
}

// sumValues adds up what the column is under the signs that are all positive.
func sumValues(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// A rolling is Σ sign·x of each column, kept up to date from flip to flip.
type rolling struct {
	columns []column
	sums    []float64
}

func newRolling(columns []column) *rolling {
	r := &rolling{columns, make([]float64, len(columns))}
	for k, c := range columns {
		r.sums[k] = sumValues(c.x)
	}
	return r
}

func (r *rolling) flipRounds(turned []int, sign []float64) {
	for _, i := range turned {
		twice := 2 * sign[i]
		for k := range r.columns {
			r.sums[k] += twice * r.columns[k].x[i]
		}
	}
}

// statistic is the statistic of column k: |Σ sign·x| / √Σx², which has the variance 1 over all
// flips and is at most √n.
func (r *rolling) statistic(k int) float64 { return math.Abs(r.sums[k]) * r.columns[k].unit }
