package judge

import (
	"dyno/internal/lab"
	"maps"
	"math"
	"slices"

	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// A scope is what is compared: measures, arms and levels, and the margin.
type scope struct {
	metrics   []experiment.Metric
	margin    float64
	levels    []string
	at        map[string][]experiment.Metric // of each level
	arms      []scopeArm
	contrasts []design.Contrast // of factors
	screen    bool              // contrasts are those of a screening
	look      int               // for which time verdicts are looked at, from 1
}

// A scopeArm is an arm and its baseline; "" if it is not compared.
type scopeArm struct {
	name, baseline string
	control        bool
}

// judgeScope computes the verdict table: by level, then measure, then arm, then factor. Controls
// come first, because they show the noise of all that follow.
func judgeScope(q scope, trials []*lab.Trial) []lab.Comparison {
	return judgeSelected(q, trials, func(lab.Comparison) bool { return true })
}

// judgeSelected is judgeScope for the comparisons that keep selects, and for controls. Nothing else
// is looked at, so the correction covers only these.
func judgeSelected(q scope, trials []*lab.Trial, keep func(lab.Comparison) bool) []lab.Comparison {
	all := slices.DeleteFunc(q.allPairs(groupTrials(trials)), func(p *paired) bool {
		return !p.Control && !keep(p.Comparison)
	})
	judgeTogether(all, q.look)
	if q.screen && q.look <= 1 { // Lenth's method knows no looks
		judgeUnreplicated(all)
	}
	table := make([]lab.Comparison, len(all))
	for i, p := range all {
		table[i] = p.Comparison
	}
	return table
}

// allPairs are all comparisons of these trials, in the order of the table.
func (q scope) allPairs(cells byCell) (all []*paired) {
	for _, level := range q.levels {
		for _, name := range q.judgedAt(level) {
			if m, known := lab.MeasureNamed(string(name)); known {
				all = append(all, q.pairsByMeasure(cells, m, level)...)
			}
		}
	}
	return all
}

// pairsByMeasure are the comparisons of all arms at a level by one measure.
func (q scope) pairsByMeasure(cells byCell, m lab.Measure, level string) (all []*paired) {
	floor := map[string]float64{} // noise floor by baseline
	for _, control := range []bool{true, false} {
		for _, arm := range q.arms {
			if arm.control != control || arm.baseline == "" {
				continue
			}
			p := q.compareArms(cells, m, level, arm.baseline, arm.name)
			if p == nil {
				continue
			}
			p.Control, p.margin = control, stats.Margin{Practical: q.margin}
			if !control {
				p.margin.Floor = floor[arm.baseline]
			} else if len(p.logs) >= experiment.LeastRounds {
				floor[arm.baseline] = p.noiseFloor()
			}
			if len(p.logs) > 0 {
				all = append(all, p)
			}
		}
	}
	return append(all, q.contrastsByMeasure(cells, m, level, greatest(floor))...)
}

// A byCell has all attempts at each trial.
type byCell map[lab.TrialKey][]*lab.Trial

func groupTrials(trials []*lab.Trial) byCell {
	cells := byCell{}
	for _, t := range trials {
		at := lab.TrialKey{Arm: t.Arm, Level: t.Level, Round: t.Round}
		cells[at] = append(cells[at], t)
	}
	return cells
}

// bestTrial is the attempt that counts: the better graded of two, or else the first; nil if there
// is none. No trial is ever left out for its value.
func (cells byCell) bestTrial(arm, level string, round int) (best *lab.Trial) {
	for _, t := range cells[lab.TrialKey{Arm: arm, Level: level, Round: round}] {
		if best == nil || t.Grade < best.Grade {
			best = t
		}
	}
	return best
}

// trialPair is the two trials that are compared, both of the same attempt, so that they ran within
// one round's time.
func (cells byCell) trialPair(arm, baseline, level string, round int) (a, b *lab.Trial) {
	worst := lab.Grade("")
	for _, x := range cells[lab.TrialKey{Arm: arm, Level: level, Round: round}] {
		for _, y := range cells[lab.TrialKey{Arm: baseline, Level: level, Round: round}] {
			if g := max(x.Grade, y.Grade); x.Attempt == y.Attempt && (a == nil || g < worst) {
				a, b, worst = x, y, g
			}
		}
	}
	return a, b
}

// roundNumbers are the rounds that have trials, in order.
func (cells byCell) roundNumbers() []int {
	seen := map[int]bool{}
	for at := range cells {
		seen[at.Round] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// A paired is the trials of two arms, round by round. The trials of a round are close in time, so
// slow drift of the machine changes both and cancels out of their ratio.
type paired struct {
	lab.Comparison
	margin stats.Margin
	logs   []float64     // log ratios of the rounds in which both arms measured it
	row    []float64     // of all rounds; NaN where one is missing
	pool   *stats.Pooled // of a percentile of all trials together, whose values row and logs are
}

func pairArms(cells byCell, m lab.Measure, level, baseline, arm string) *paired {
	p := &paired{Comparison: lab.Comparison{Metric: m.Name, Level: level, Baseline: baseline,
		Variant: arm, Better: m.Better}}
	for _, round := range cells.roundNumbers() {
		p.addRound(cells, m, round, []design.Pair{{Variant: arm, Baseline: baseline}})
	}
	return p
}

// addRound adds the mean of the pairs' log ratios in a round. A round in which a pair has no trials
// counts for nothing, and one in which a trial lacks the measure is missing.
func (p *paired) addRound(cells byCell, m lab.Measure, round int, pairs []design.Pair) {
	p.row = append(p.row, math.NaN())
	sum, counted := 0.0, 0
	var trials []*lab.Trial
	for _, pair := range pairs {
		a, b := cells.trialPair(pair.Variant, pair.Baseline, p.Level, round)
		if a == nil || b == nil {
			return
		}
		x, ok := m.Value(a)
		y, also := m.Value(b)
		if !ok || !also {
			p.Missing++
			return
		}
		log, bound := math.Log(x/y), lab.BoundOf(m.IsOver(a), m.IsOver(b))
		if pair.Inverse {
			log, bound = -log, bound.Inverse()
		} else {
			counted++
		}
		p.Bound = p.Bound.With(bound)
		sum += log
		trials = append(trials, a, b)
	}
	p.row[len(p.row)-1] = sum / float64(counted)
	p.logs = append(p.logs, sum/float64(counted))
	p.noteTrials(m, trials...)
}

// noteTrials counts what speaks against the trials of a round.
func (p *paired) noteTrials(m lab.Measure, trials ...*lab.Trial) {
	if slices.ContainsFunc(trials, func(t *lab.Trial) bool { return t.Grade == lab.GradeF }) {
		p.GradeF++
	}
	noteDoubts(&p.Comparison, m, trials...)
}

// noteDoubts counts doubts of the generator about a value of m in trials that belong together: its
// limit, a disturbance, or another load than requested. None of these affects a cost per request.
func noteDoubts(c *lab.Comparison, m lab.Measure, trials ...*lab.Trial) {
	bound := func(to func(result.Kind) bool) bool {
		return m.DependsOnLoad() && slices.ContainsFunc(trials, func(t *lab.Trial) bool {
			return t.Result != nil && to(t.Result.Generator.Bound())
		})
	}
	searched := slices.ContainsFunc(trials, func(t *lab.Trial) bool {
		return t.Search != nil && t.Search.End == lab.ClientBound
	})
	if searched || bound(func(k result.Kind) bool { return k == result.Limit }) {
		c.ClientBound = true
	} else if bound(func(k result.Kind) bool { return k == result.HeldUp }) {
		c.Disturbed++
	} else if bound(func(k result.Kind) bool { return k != "" }) {
		c.OtherLoad++
	}
}

// applyJudgement copies a judgement into the comparison.
func applyJudgement(c *lab.Comparison, j stats.Judgement, margin stats.Margin) {
	c.Ratio, c.Low, c.High = j.Ratio.Estimate, j.Ratio.Low, j.Ratio.High
	c.Confidence, c.Verdict, c.More = j.Ratio.Level, j.Verdict, j.More
	c.P, c.PAdjusted = j.P, j.Adjusted
	c.Margin = margin.Practical
	c.Floor = margin.Floor
	if c.Bound != "" && !(c.Verdict == stats.Different && c.Bound.Shows(c.Ratio)) {
		c.Verdict, c.More = stats.Inconclusive, 0 // trials more have no answers, either
	}
}

// scopeOf is the scope of an experiment's verdicts.
func scopeOf(r *lab.Record) scope {
	d := r.Experiment.Design
	q := scope{metrics: d.Metrics, margin: float64(d.Margin), screen: d.Screen,
		look: len(r.Looks) + 1}
	q.setLevels(r.Experiment.Levels)
	for _, a := range r.Arms {
		if len(a.Missing) == 0 && a.Unfit == "" {
			q.arms = append(q.arms, scopeArm{a.Name, a.Baseline, a.Control})
		}
	}
	q.contrasts = contrastsOf(r)
	return q
}

// setLevels sets what is judged at which level.
func (q *scope) setLevels(levels []experiment.Level) {
	q.levels, q.at = nil, map[string][]experiment.Metric{}
	for _, l := range levels {
		q.levels = append(q.levels, l.Name)
		q.at[l.Name] = design.MetricsAt(q.metrics, l)
	}
}

// judgedAt is what is judged at a level.
func (q scope) judgedAt(level string) []experiment.Metric {
	if q.at == nil {
		return q.metrics
	}
	return q.at[level]
}
