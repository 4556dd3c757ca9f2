package judge

import (
	"math"

	"dyno/internal/lab"
	"dyno/internal/stats"
)

// pooledAt is the tail that a measure is, if any trial of these arms at a level has too few values
// for it. It is compared, and shown, over all trials of an arm then.
func (q scope) pooledAt(cells byCell, m lab.Measure, level string) (lab.Tail, bool) {
	tail, is := lab.TailOf(m.Name)
	if !is {
		return tail, false
	}
	for _, arm := range q.arms {
		for _, round := range cells.roundNumbers() {
			t := cells.bestTrial(arm.name, level, round)
			if t == nil {
				continue
			}
			if n := tail.Count(t); n > 0 && n < tail.Least() {
				return tail, true
			}
		}
	}
	return tail, false
}

// compareArms is pairArms, or the comparison of all their trials together where one has too few
// values; nil if all together are too few, too.
func (q scope) compareArms(cells byCell, m lab.Measure, level, baseline, arm string) *paired {
	if tail, few := q.pooledAt(cells, m, level); few {
		return poolArms(cells, m, tail, level, baseline, arm)
	}
	return pairArms(cells, m, level, baseline, arm)
}

// poolArms compares a percentile of all that the trials of two arms measured. Rounds stay together,
// as in pairArms. It is nil if an arm has too few values.
func poolArms(cells byCell, m lab.Measure, tail lab.Tail, level, baseline, arm string) *paired {
	p := &paired{Comparison: lab.Comparison{Metric: m.Name, Level: level, Baseline: baseline,
		Variant: arm, Better: m.Better}}
	var base, variant [][]stats.Counted
	over, overBase := math.Inf(1), math.Inf(1)
	for _, round := range cells.roundNumbers() {
		base, variant = append(base, nil), append(variant, nil)
		a, b := cells.trialPair(arm, baseline, level, round)
		if a == nil || b == nil {
			continue
		}
		x, y := tail.Values(a), tail.Values(b)
		if x == nil || y == nil {
			p.Missing++
			continue
		}
		base[len(base)-1], variant[len(variant)-1] = y, x
		over, overBase = min(over, tail.LeastOver(a)), min(overBase, tail.LeastOver(b))
		p.noteTrials(m, a, b)
	}
	p.pool = stats.NewPooled(tail.Quantile, base, variant)
	ofBase, of := p.pool.Counts()
	n := int64(min(ofBase, of))
	if n < tail.Least() {
		return nil
	}
	atBase, at := p.pool.Quantiles()
	p.Bound = lab.BoundOf(isOver(at, over), isOver(atBase, overBase))
	p.Pooled, p.row = n, p.pool.Row(0)
	for _, v := range p.row {
		if !math.IsNaN(v) {
			p.logs = append(p.logs, v)
		}
	}
	return p
}

// isOver reports whether a percentile may be higher: from the least on that requests without an
// answer took. Both are logarithms; a histogram is precise to 1 %.
func isOver(percentile, leastOver float64) bool { return percentile >= leastOver-0.01 }

// noiseFloor is by which share a control differs from its baseline. Flips of a pooled percentile
// know how much it varies, and its interval may end where its values do: so it is the difference.
func (p *paired) noiseFloor() float64 {
	if p.pool == nil {
		floor, _ := stats.NoiseFloor(p.logs)
		return floor
	}
	base, variant := p.pool.Quantiles()
	return math.Expm1(math.Abs(variant - base))
}

// alone is the 95 % interval of a ratio without correction for other comparisons.
func (p *paired) alone() stats.Interval {
	if p.pool == nil {
		return aloneInterval(p.logs)
	}
	v := stats.PooledIntervals([][]float64{p.row}, []*stats.Pooled{p.pool}, lab.Confidence)[0]
	return stats.Interval{Low: math.Exp(v.Low), Estimate: math.Exp(v.Estimate),
		High: math.Exp(v.High), Level: v.Level}
}

// pooledCells are a percentile of each arm over all its trials.
func (q scope) pooledCells(cells byCell, m lab.Measure, tail lab.Tail,
	level string) (all []lab.Cell) {
	for _, arm := range q.arms {
		var values [][]stats.Counted
		over := math.Inf(1)
		for _, round := range cells.roundNumbers() {
			if t := cells.bestTrial(arm.name, level, round); t != nil {
				if v := tail.Values(t); v != nil {
					values, over = append(values, v), min(over, tail.LeastOver(t))
				}
			}
		}
		p := stats.NewPooled(tail.Quantile, values, values)
		n, _ := p.Counts()
		if int64(n) < tail.Least() {
			continue
		}
		v, _ := p.Quantiles()
		one := stats.Interval{Low: math.Exp(v), Estimate: math.Exp(v), High: math.Exp(v)}
		all = append(all, lab.Cell{Arm: arm.name, Level: level, Metric: m.Name, Unit: m.Unit,
			Median: one, Trials: len(values), Pooled: int64(n), Over: isOver(v, over)})
	}
	return all
}
