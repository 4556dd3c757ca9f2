package capacity

import (
	"errors"
	"math"
	"slices"

	"dyno/internal/stats"
)

// A Law is the universal scalability law: throughput at concurrency N is
//
//	X(N) = γN / (1 + σ(N−1) + κN(N−1))
//
// where γ is that of one alone, σ the share of the work that is serial
// (contention) and κ what each pair costs to agree (coherency). Source: Gunther,
// "Guerrilla Capacity Planning", chapter 6; in this form, Gunther 2018.
type Law struct {
	Gamma float64 `json:"gamma_per_s"`
	Sigma float64 `json:"sigma"`
	Kappa float64 `json:"kappa"`
}

// At is the throughput at concurrency n.
func (l Law) At(n float64) float64 { return l.Gamma * n / l.divisor(n) }

func (l Law) divisor(n float64) float64 { return 1 + l.Sigma*(n-1) + l.Kappa*n*(n-1) }

// PeakConcurrency is the concurrency of most throughput, infinite if throughput only grows.
func (l Law) PeakConcurrency() float64 {
	if l.Kappa == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(1-l.Sigma, 0) / l.Kappa)
}

// A Fit is a law as measured throughputs have it.
type Fit struct {
	Law
	R2        float64   `json:"r2"`        // share of the variance that the law explains
	Residuals []float64 `json:"residuals"` // of each point, as a share of the law's value

	// The peak, if it is within the range that was measured. Beyond it a law says
	// nothing that anyone has seen.
	PeakN *float64 `json:"peak_n,omitempty"`
	PeakX *float64 `json:"peak_per_s,omitempty"`

	// Intervals at 95 %, from drawing rounds; absent with fewer than 8 of them. One
	// of the peak's concurrency that reaches beyond the range has no high.
	PeakNInterval *Range `json:"peak_n_interval,omitempty"`
	PeakXInterval *Range `json:"peak_per_s_interval,omitempty"`
}

// A Range is an interval at 95 %.
type Range struct {
	Low  float64  `json:"low"`
	High *float64 `json:"high,omitempty"`
}

// levelsLeast is how many different concurrencies make a fit: one more than there
// are parameters.
const levelsLeast = 4

// errLevels is the fault of fewer.
var errLevels = errors.New("too few levels")

// FitLaw fits the law to throughputs x at concurrencies n by least squares, with
// none of its parameters below 0.
func FitLaw(n, x []float64) (*Fit, error) {
	distinct := slices.Compact(slices.Sorted(slices.Values(n)))
	if len(distinct) < levelsLeast {
		return nil, errLevels
	}
	law := fitFree(n, x)
	f := &Fit{Law: law}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var off, all float64
	for i := range x {
		off += (x[i] - law.At(n[i])) * (x[i] - law.At(n[i]))
		all += (x[i] - mean) * (x[i] - mean)
		f.Residuals = append(f.Residuals, x[i]/law.At(n[i])-1)
	}
	if all > 0 {
		f.R2 = 1 - off/all
	}
	if at := law.PeakConcurrency(); at <= distinct[len(distinct)-1] {
		at = max(at, distinct[0])
		most := law.At(at)
		f.PeakN, f.PeakX = &at, &most
	}
	return f, nil
}

// fitFree tries which of σ and κ are 0. Where the best law has neither, that is the
// one; else the best lies on the border.
func fitFree(n, x []float64) (best Law) {
	least := math.Inf(1)
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		law := refineLaw(n, x, linearStart(n, x, free), free)
		if off := law.squaredResiduals(n, x); law.Sigma >= 0 && law.Kappa >= 0 && off < least {
			best, least = law, off
		}
	}
	return best
}

// squaredResiduals is the sum of the squared residuals; infinite where there is no law.
func (l Law) squaredResiduals(n, x []float64) (sum float64) {
	for i := range n {
		if l.divisor(n[i]) <= 0 {
			return math.Inf(1)
		}
		d := x[i] - l.At(n[i])
		sum += d * d
	}
	return sum
}

func (l *Law) parameter(i int) *float64 { return []*float64{&l.Gamma, &l.Sigma, &l.Kappa}[i] }

// linearStart is where to begin: n/x is linear in 1, n−1 and n(n−1), with coefficients
// 1/γ, σ/γ and κ/γ.
func linearStart(n, x []float64, free []int) Law {
	var a [3][3]float64
	var b [3]float64
	for i := range n {
		basis := [3]float64{1, n[i] - 1, n[i] * (n[i] - 1)}
		for j, p := range free {
			b[j] += basis[p] * n[i] / x[i]
			for k, q := range free {
				a[j][k] += basis[p] * basis[q]
			}
		}
	}
	law := Law{Gamma: x[0] / n[0]}
	c, ok := solveLinear(a, b, len(free))
	if !ok || c[0] <= 0 {
		return law
	}
	law.Gamma = 1 / c[0]
	for j, p := range free[1:] {
		*law.parameter(p) = max(c[j+1]/c[0], 0)
	}
	return law
}

// refineLaw goes from a law to the nearest of least squares, in the parameters that
// are free. Source: Marquardt, "An algorithm for least-squares estimation of
// nonlinear parameters", SIAM 11 (1963).
func refineLaw(n, x []float64, law Law, free []int) Law {
	const rounds, done = 500, 1e-14
	least, damping := law.squaredResiduals(n, x), 1e-3
	for range rounds {
		a, b := normalEquations(n, x, law, free)
		for j := range free {
			a[j][j] *= 1 + damping
		}
		step, ok := solveLinear(a, b, len(free))
		if !ok {
			return law
		}
		next := law
		for j, p := range free {
			*next.parameter(p) += step[j]
		}
		off := next.squaredResiduals(n, x)
		if !(off < least) {
			if damping *= 10; damping > 1e12 {
				return law
			}
			continue
		}
		near := least-off <= done*least
		law, least, damping = next, off, max(damping/10, 1e-15)
		if near {
			return law
		}
	}
	return law
}

// normalEquations are the normal equations of a step from law: JᵀJ and Jᵀr.
func normalEquations(n, x []float64, law Law, free []int) (a [3][3]float64, b [3]float64) {
	for i := range n {
		d := law.divisor(n[i])
		slope := law.Gamma * n[i] * (n[i] - 1) / (d * d)
		gradient := [3]float64{n[i] / d, -slope, -slope * n[i]}
		for j, p := range free {
			b[j] += gradient[p] * (x[i] - law.At(n[i]))
			for k, q := range free {
				a[j][k] += gradient[p] * gradient[q]
			}
		}
	}
	return a, b
}

// solveLinear solves the first n of three linear equations by elimination with pivots;
// not ok if they have no one solution.
func solveLinear(a [3][3]float64, b [3]float64, n int) (x [3]float64, ok bool) {
	for i := range n {
		pivot := i
		for j := i + 1; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[pivot][i]) {
				pivot = j
			}
		}
		if a[pivot][i] == 0 {
			return x, false
		}
		a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
		for j := i + 1; j < n; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < n; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x, true
}

// draws is how many times rounds are drawn for an interval.
const draws = 1000

// resampleIntervals draws rounds, of which there are so many, and fits the points of each
// draw. What has no peak in the range counts as having it at infinity.
func (f *Fit) resampleIntervals(points []Point, rounds int, seed uint64) {
	if f.PeakN == nil {
		return
	}
	byRound := make([][]Point, rounds)
	for _, p := range points {
		byRound[p.Round-1] = append(byRound[p.Round-1], p)
	}
	of := func(value func(*Fit) *float64) *Range {
		v, err := stats.Bootstrap(rounds, draws, seed, func(blocks []int) float64 {
			var drawn []Point
			for _, i := range blocks {
				drawn = append(drawn, byRound[i]...)
			}
			g, err := FitLaw(axisNames(drawn))
			if err != nil || value(g) == nil {
				return math.MaxFloat64
			}
			return *value(g)
		}, 0.95)
		if err != nil {
			return nil
		}
		r := &Range{Low: v.Low}
		if v.High < math.MaxFloat32 {
			r.High = &v.High
		}
		return r
	}
	f.PeakNInterval = of(func(g *Fit) *float64 { return g.PeakN })
	f.PeakXInterval = of(func(g *Fit) *float64 { return g.PeakX })
}
