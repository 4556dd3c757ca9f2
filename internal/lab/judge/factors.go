package judge

import (
	"math"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// contrastsOf are the comparisons of factors that the loaded arms allow.
func contrastsOf(r *lab.Record) []design.Contrast {
	if r.Experiment == nil {
		return nil
	}
	var loaded []string
	for _, a := range r.Arms {
		if !a.Control && isLoaded(a) {
			loaded = append(loaded, a.Name)
		}
	}
	return design.Contrasts(r.Experiment, loaded)
}

// contrastsByMeasure are the comparisons of factors at a level by one measure. floor is by how much
// an arm differs from itself here. A mean of n pairs has a √n-th of that.
func (q scope) contrastsByMeasure(cells byCell, m lab.Measure, level string,
	floor float64) (all []*paired) {
	for _, c := range q.contrasts {
		if q.hasArms(c.Name, c.Baseline) {
			continue // two arms that are compared anyway
		}
		n := float64(len(c.Pairs))
		if c.With != "" {
			n /= 4 // the mean is of fours, each with the noise of two pairs
		}
		p := &paired{Comparison: lab.Comparison{Metric: m.Name, Level: level, Variant: c.Name,
			Baseline: c.Baseline, Better: m.Better, Effect: lab.Effect{
				Factor: c.Factor, With: c.With, Aliases: strings.Join(c.Aliases, design.AliasSeparator)}},
			margin: stats.Margin{Practical: q.margin, Floor: floor / math.Sqrt(n)}}
		for _, round := range cells.roundNumbers() {
			p.addRound(cells, m, round, c.Pairs)
		}
		if len(p.logs) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// hasArms reports whether an arm of that name is compared with that baseline.
func (q scope) hasArms(name, baseline string) bool {
	for _, arm := range q.arms {
		if arm.name == name && arm.baseline == baseline {
			return true
		}
	}
	return false
}

// greatest is the largest of floors; 0 if there is none.
func greatest(floors map[string]float64) (most float64) {
	for _, f := range floors {
		most = max(most, f)
	}
	return most
}

// judgeUnreplicated judges the effects of a screening with too few rounds for intervals of their
// own, those of each measure at each level together.
func judgeUnreplicated(all []*paired) {
	type cell struct{ metric, level string }
	families := map[cell][]*paired{}
	for _, p := range all {
		if p.Factor != "" && len(p.row) < experiment.LeastRounds {
			at := cell{p.Metric, p.Level}
			families[at] = append(families[at], p)
		}
	}
	for _, family := range families {
		x, scale := make([]float64, len(family)), make([]float64, len(family))
		margins := make([]stats.Margin, len(family))
		for i, p := range family {
			x[i], scale[i], margins[i] = stats.Mean(p.logs), 1, p.margin
			if p.With != "" {
				scale[i] = 2
			}
		}
		for i, j := range stats.JudgeUnreplicated(x, scale, margins) {
			p := family[i]
			applyJudgement(&p.Comparison, j, p.margin)
			p.Method, p.Trials = lab.ByLenth, len(p.logs)
			p.Alone, p.PHolm, p.Q = j.Ratio, j.Adjusted, j.P
		}
	}
}
