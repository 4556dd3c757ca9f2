package stats

import (
	"cmp"
	"math"
	"slices"
)

// A Counted is a value and how often a trial measured it.
type Counted struct {
	Value float64
	N     int64
}

// A Pooled compares a high quantile of all that two arms measured, of which a single trial has too
// few values for a quantile of its own. Values are logarithms; the comparison is of rounds.
//
// The quantile x of both arms together stays what it is if the two trials of a round change places.
// A round's value is by how many more values the variant has above x than the baseline, apart from
// what each has to have. To change places turns its sign, so that MaxT's flips are an exact test:
// values of a trial may depend on each other as they like. The interval has the shifts of the
// variant that this test does not reject. Of values equal to x so many count as above, by the same
// share in each trial, that x is the quantile.
type Pooled struct {
	tail          float64 // 1 − the quantile
	base, variant side
	rounds        int
}

// A side is all values of an arm, the highest first, and how many each round has.
type side struct {
	values []pooledValue
	n      []float64
	all    float64
}

type pooledValue struct {
	value, n float64
	round    int
}

// NewPooled compares the q-quantiles (0 to 1) of two arms; base[i] and variant[i] are the values of
// round i, finite, or nil where either is missing.
func NewPooled(q float64, base, variant [][]Counted) *Pooled {
	for i := range base {
		if base[i] == nil || variant[i] == nil {
			base[i], variant[i] = nil, nil
		}
	}
	return &Pooled{1 - q, newSide(base), newSide(variant), len(base)}
}

func newSide(rounds [][]Counted) side {
	s := side{n: make([]float64, len(rounds))}
	for i, all := range rounds {
		for _, v := range all {
			s.values = append(s.values, pooledValue{v.Value, float64(v.N), i})
			s.n[i] += float64(v.N)
		}
		s.all += s.n[i]
	}
	slices.SortFunc(s.values, func(a, b pooledValue) int { return cmp.Compare(b.value, a.value) })
	return s
}

// Counts are how many values each arm has.
func (p *Pooled) Counts() (base, variant float64) { return p.base.all, p.variant.all }

// Quantiles are those of the arms.
func (p *Pooled) Quantiles() (base, variant float64) {
	return p.base.quantile(p.tail), p.variant.quantile(p.tail)
}

// quantile is the highest value of which more than the share tail are as high, or higher.
func (s side) quantile(tail float64) float64 {
	above := 0.0
	for _, v := range s.values {
		if above += v.n; above > allowedAbove(tail, s.all) {
			return v.value
		}
	}
	return math.NaN()
}

// allowedAbove is how many of n values may be above a quantile.
func allowedAbove(tail, n float64) float64 { return math.Floor(tail*n + rounding) }

// shift is by how much the variant's quantile is higher.
func (p *Pooled) shift() float64 {
	base, variant := p.Quantiles()
	return variant - base
}

// Row is the comparison round by round if the variant's values were lower by a shift; NaN where a
// round is missing.
func (p *Pooled) Row(shift float64) []float64 {
	row := make([]float64, p.rounds)
	for i := range row {
		if row[i] = p.tail * (p.base.n[i] - p.variant.n[i]); p.base.n[i] == 0 || p.variant.n[i] == 0 {
			row[i] = math.NaN()
		}
	}
	b, v, left := p.base.values, p.variant.values, p.tail*(p.base.all+p.variant.all)
	for len(b)+len(v) > 0 {
		at := math.Inf(-1)
		if len(b) > 0 {
			at = b[0].value
		}
		if len(v) > 0 {
			at = max(at, v[0].value-shift)
		}
		i, k, n := 0, 0, 0.0 // of equal values
		for ; i < len(b) && b[i].value >= at; i++ {
			n += b[i].n
		}
		for ; k < len(v) && v[k].value-shift >= at; k++ {
			n += v[k].n
		}
		above := min(1, left/n) // share of them, so that as many are above as may be
		for _, one := range b[:i] {
			row[one.round] -= above * one.n
		}
		for _, one := range v[:k] {
			row[one.round] += above * one.n
		}
		if left -= n; left <= 0 {
			break
		}
		b, v = b[i:], v[k:]
	}
	return row
}

// interval has the shifts that the flips do not reject; tops are those of all comparisons, of which
// this is the k-th. No shift is farther than a value of one arm is from a value of the other.
func (p *Pooled) interval(tops []top, k int, level float64) Interval {
	c := newColumn(p.Row(0))
	if c.n == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	always := 0 // flips that reach any shift
	own := newRolling([]column{{x: c.has}})
	eachFlip(p.rounds, func(flip int, turned []int, sign []float64) {
		own.flipRounds(turned, sign)
		if math.Abs(math.Round(own.sums[0])) == c.n ||
			tops[flip].largestWithout(k) >= math.Sqrt(c.n)*(1-flipRounding) {
			always++
		}
	})
	out := max(int((1-level)*float64(len(tops))+rounding), always)
	estimate := p.shift()
	if out == len(tops) {
		return Interval{Low: estimate, Estimate: estimate, High: estimate}
	}
	holds := func(shift float64) bool { return p.reaching(shift, tops, k) > out }
	all := Interval{Estimate: estimate, Level: 1 - float64(out)/float64(len(tops))}
	all.Low, all.High = p.farthest(estimate, -1, holds), p.farthest(estimate, 1, holds)
	return all
}

// reaching is how many flips have a statistic that is at least what a shift is observed to have.
func (p *Pooled) reaching(shift float64, tops []top, k int) (n int) {
	r := newRolling([]column{newColumn(p.Row(shift))})
	observed := r.statistic(0) * (1 - flipRounding)
	eachFlip(p.rounds, func(flip int, turned []int, sign []float64) {
		r.flipRounds(turned, sign)
		if max(r.statistic(0), tops[flip].largestWithout(k)) >= observed {
			n++
		}
	})
	return n
}

// farthest is the end of the interval on one side of the estimate. It is looked for from outside,
// so that a gap within the interval does not end it.
func (p *Pooled) farthest(estimate, side float64, holds func(float64) bool) float64 {
	const nearer, steps, halvings = 0.8, 40, 12
	b, v := p.base.values, p.variant.values
	end := v[0].value - b[len(b)-1].value - estimate + rounding
	if side < 0 {
		end = estimate - (v[len(v)-1].value - b[0].value) + rounding
	}
	if holds(estimate + side*end) {
		return estimate + side*end
	}
	within := 0.0
	for range steps {
		if within = end * nearer; holds(estimate + side*within) {
			break
		}
		end, within = within, 0
	}
	for range halvings {
		if middle := (within + end) / 2; holds(estimate + side*middle) {
			within = middle
		} else {
			end = middle
		}
	}
	return estimate + side*end
}
