package stats

import (
	"cmp"
	"math"
	"slices"
)

// MaxT returns the p-values of many comparisons that were made in the same rounds, corrected for
// all being looked at: claiming those at or below α is wrong in any of them with a chance of at
// most α. x[k][i] is what comparison k shows in round i, such as the logarithm of a ratio; NaN
// where it is missing. All comparisons have as many rounds. A p-value is 1 of a comparison that
// shows nothing but zeros.
//
// The statistic of a comparison is T = |Σ x_i| / √Σ x_i², a monotone function of Student's t: the
// signs of rounds can turn without changing its denominator. If nothing differs, turning the
// signs of a whole round, in all comparisons at once, changes nothing of what was likely. So the
// p-value is the share of all flips whose greatest T, among the comparisons that are still in
// question, is no less than the one observed; those that are already claimed are no longer in
// question. Source: Westfall, Young, "Resampling-Based Multiple Testing" (1993), algorithm 2.8
// with sign flips for resamples (step-down maxT); Ge, Dudoit, Speed, "Resampling-based multiple
// testing for microarray data analysis", Test 12 (2003), box 2, for the order of computing.
//
// It assumes that rounds are independent, and that what they show lies symmetrically about the
// truth, in all comparisons jointly. The least p-value is 2/2ⁿ of n rounds, however many
// comparisons there are, which is why six rounds can do what Holm's correction cannot: of 18
// comparisons it can show nothing then. T is no rank, because some flip reaches the greatest rank
// of every comparison. bench/correction simulates both corrections. A round
// that a comparison lacks makes its own T smaller, and no other comparison's.
//
// Time is O(2ⁿ·k), and that of 14 rounds beyond: then 2¹³ flips are drawn, always the same, of
// which that without a flip is one (Phipson, Smyth, Statistical Applications in Genetics and
// Molecular Biology 9, 2010).
func MaxT(x [][]float64) []float64 {
	if len(x) == 0 {
		return nil
	}
	columns := make([]column, len(x))
	for k := range x {
		columns[k] = newColumn(x[k])
	}
	r := newRolling(columns)
	observed := make([]float64, len(x))
	order := make([]int, len(x))
	for k := range x {
		observed[k], order[k] = r.statistic(k)*(1-flipRounding), k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(observed[b], observed[a]) })
	reached := make([]int, len(x))
	eachFlip(len(x[0]), func(_ int, turned []int, sign []float64) {
		r.flipRounds(turned, sign)
		most := 0.0
		for i := len(order) - 1; i >= 0; i-- {
			k := order[i]
			if most = max(most, r.statistic(k)); most >= observed[k] {
				reached[k]++
			}
		}
	})
	p, worst := make([]float64, len(x)), 0.0
	for _, k := range order {
		worst = max(worst, float64(reached[k])/float64(flipCount(len(x[0]))))
		p[k] = worst
	}
	return p
}

// flipRounding is by which share sums that were kept up to date may be off: what is equal but for
// that counts as reached.
const flipRounding = 1e-9

// SimultaneousIntervals estimates the centre of each comparison (see MaxT for x and for what is
// assumed) with intervals that all hold together at the level asked for (0 to 1): those values
// that the same flips do not reject.
//
// For a centre θ of comparison k, T is |Σ (x_i − θ)| / √Σ (x_i − θ)². θ is in the interval if
// enough flips reach it: by the flipped values of k about θ, or by the values of another
// comparison about their own mean, which stands for a truth that is not known. What an interval
// of k alone would be is Hartigan's ("Using subsample values as typical values", Journal of the
// American Statistical Association 64, 1969): means of subsets of rounds. That of all together is
// the mean plus and minus a multiple of the standard error, wherever that is farther. Neither
// width depends on how large a difference is.
//
// Estimate is the mean. Level is what flips leave: at least the level asked for, but where there
// are too few rounds; then the interval is the widest there is, with its lower level. Of one
// round it is the value itself, at the level 0; of none it is NaN.
//
// Time is that of MaxT, twice, and O(2ⁿ·n) for each comparison.
func SimultaneousIntervals(x [][]float64, level float64) []Interval {
	return PooledIntervals(x, nil, level)
}

// PooledIntervals is SimultaneousIntervals, where some comparisons are of pooled quantiles, as in
// JudgePooled.
func PooledIntervals(x [][]float64, pools []*Pooled, level float64) []Interval {
	if len(x) == 0 {
		return nil
	}
	about := make([]column, len(x))
	means := make([]float64, len(x))
	for k := range x {
		row := x[k]
		if p := pooledAt(pools, k); p != nil {
			row = p.Row(p.shift())
		}
		about[k], means[k] = newColumn(row).centredColumn()
	}
	tops := greatestStatistics(about, len(x[0]))
	all := make([]Interval, len(x))
	for k := range all {
		if p := pooledAt(pools, k); p != nil {
			all[k] = p.interval(tops, k, level)
			continue
		}
		low, high := about[k].reachBounds(tops, k)
		all[k] = sparedInterval(low, high, level)
		all[k].Low, all[k].Estimate, all[k].High =
			means[k]+all[k].Low, means[k], means[k]+all[k].High
	}
	return all
}

// pooledAt is the k-th of those that are pooled; nil if it is not.
func pooledAt(pools []*Pooled, k int) *Pooled {
	if pools == nil {
		return nil
	}
	return pools[k]
}

// A top is the greatest statistic under a flip, which comparison has it, and the next.
type top struct {
	most, next float64
	of         int
}

func (t top) largestWithout(k int) float64 {
	if t.of == k {
		return t.next
	}
	return t.most
}

// greatestStatistics are the tops of all flips.
func greatestStatistics(columns []column, rounds int) []top {
	tops := make([]top, flipCount(rounds))
	r := newRolling(columns)
	eachFlip(rounds, func(flip int, turned []int, sign []float64) {
		r.flipRounds(turned, sign)
		best := top{of: -1}
		for k := range columns {
			switch t := r.statistic(k); {
			case t > best.most:
				best = top{t, best.most, k}
			case t > best.next:
				best.next = t
			}
		}
		tops[flip] = best
	})
	return tops
}

// reachBounds returns for each flip how far below and above the mean a centre of this column, which
// is about its mean and the k-th, may lie for the flip to reach it; infinitely far if any.
func (c column) reachBounds(tops []top, k int) (low, high []float64) {
	low, high = make([]float64, len(tops)), make([]float64, len(tops))
	own := newRolling([]column{c, {x: c.has}})
	deviation := 0.0
	if c.unit > 0 {
		deviation = 1 / (c.unit * math.Sqrt(c.n))
	}
	eachFlip(len(c.x), func(flip int, turned []int, sign []float64) {
		own.flipRounds(turned, sign)
		s, n, t := own.sums[0], math.Round(own.sums[1]), tops[flip].largestWithout(k)
		if math.Abs(n) == c.n || t >= math.Sqrt(c.n)*(1-flipRounding) {
			low[flip], high[flip] = math.Inf(-1), math.Inf(1)
			return
		}
		others := deviation * t / math.Sqrt(c.n-t*t)
		one, rest := -s/(c.n-n), s/(c.n+n) // means of the turned rounds, and of the others
		low[flip], high[flip] = min(one, rest, -others), max(one, rest, others)
	})
	return low, high
}

// sparedInterval is the interval that leaves out no more flips than the level allows; it reorders
// what it is given.
func sparedInterval(low, high []float64, level float64) Interval {
	flips, never := len(high), 0
	for _, v := range high {
		if math.IsInf(v, 1) {
			never++
		}
	}
	out := max(int((1-level)*float64(flips)+rounding), never)
	if out == flips {
		return Interval{}
	}
	return Interval{Low: kthSmallest(low, out), High: kthSmallest(high, flips-1-out),
		Level: 1 - float64(out)/float64(flips)}
}

// kthSmallest is the k-th smallest of x, from 0, which is reordered. Source: Hoare, "Algorithm 65:
// Find", Communications of the ACM 4 (1961).
func kthSmallest(x []float64, k int) float64 {
	for from, to := 0, len(x)-1; from < to; {
		pivot, i, j := x[(from+to)/2], from, to
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for pivot < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			to = j
		case k >= i:
			from = i
		default:
			return x[k]
		}
	}
	return x[k]
}
