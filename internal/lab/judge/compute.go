package judge

import (
	"dyno/internal/lab"
	"slices"

	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// Compute computes all findings of the record from the trials.
func Compute(r *lab.Record, trials []*lab.Trial) {
	q, first := scopeOf(r), SelectBatch(trials, false)
	cells := groupTrials(first)
	r.Verdicts = judgeScope(q, first)
	for i, c := range r.Verdicts {
		r.Verdicts[i].ClientBound = c.ClientBound || isNearCeiling(r, c, cells)
	}
	r.Shifts = q.allShifts(cells)
	r.Ranks, r.Cells, r.Trials, r.SpentS = q.rankAll(first, r.Verdicts), nil, nil, 0
	for _, level := range q.levels {
		for _, m := range lab.Measures {
			r.Cells = append(r.Cells, q.medianCells(cells, m, level)...)
		}
	}
	r.Parts = processUses(q, cells)
	r.Sensitive = sensitivityOf(r, trials)
	compared := slices.DeleteFunc(slices.Clone(trials), func(t *lab.Trial) bool {
		r.SpentS += t.TookS
		return t.TriesGenerator()
	})
	for _, t := range compared {
		r.Trials = append(r.Trials, t.Summary())
	}
	trials = compared
	r.Objectives = objectivesMet(q, cells)
	r.Sampler = samplerCost(trials)
	r.Programs, r.Served = programsRun(trials), countAgreement(trials)
	r.Scenario = scenarioOf(trials)
	r.Advice = adviceFor(r, trials)
	r.Frontier = frontierOf(r, cells, r.Verdicts)
	r.Published = besidePublished(r, r.Experiment.Published)
	setFacts(r, append(cautionsOf(r, trials), SpoiledFacts(r)...))
}

// medianCells are the medians of all arms at a level for one measure, or what it is in all their
// trials together.
func (q scope) medianCells(cells byCell, m lab.Measure, level string) (all []lab.Cell) {
	if tail, few := q.pooledAt(cells, m, level); few {
		return q.pooledCells(cells, m, tail, level)
	}
	for _, arm := range q.arms {
		values := cellValues(cells, m, arm.name, level)
		v, err := stats.MedianInterval(values, 0.95)
		if err == nil {
			all = append(all, lab.Cell{Arm: arm.name, Level: level, Metric: m.Name, Unit: m.Unit,
				Median: v, Trials: len(values), Over: isMedianOver(cells, m, arm.name, level)})
		}
	}
	return all
}

// processUses are the medians of what each process used, in the order in which the trials first
// list them.
func processUses(q scope, cells byCell) (all []lab.ProcessUse) {
	for _, level := range q.levels {
		for _, arm := range q.arms {
			var names []string
			used := map[string][]result.Usage{}
			for _, round := range cells.roundNumbers() {
				t := cells.bestTrial(arm.name, level, round)
				if t == nil || t.Search != nil { // whose rate is another for each variant
					continue
				}
				for _, u := range sumByName(t.ServerProcesses()) {
					if used[u.Name] == nil {
						names = append(names, u.Name)
					}
					used[u.Name] = append(used[u.Name], u)
				}
			}
			for _, name := range names {
				all = append(all, medianUse(arm.name, level, name, used[name]))
			}
		}
	}
	return all
}

// sumByName adds up a trial's processes of the same name, such as the workers of a pool.
func sumByName(all []result.Usage) (sums []result.Usage) {
	for _, u := range all {
		i := slices.IndexFunc(sums, func(s result.Usage) bool { return s.Name == u.Name })
		if i < 0 {
			sums = append(sums, u)
			continue
		}
		sums[i].Add(u)
	}
	return sums
}

func medianUse(arm, level, name string, used []result.Usage) lab.ProcessUse {
	median := func(of func(result.Usage) probe.Value) probe.Value {
		var x []float64
		for _, u := range used {
			if v := of(u); v.OK() {
				x = append(x, float64(v))
			}
		}
		return probe.Value(stats.Median(x))
	}
	return lab.ProcessUse{Arm: arm, Level: level, Name: name,
		CPU:     median(func(u result.Usage) probe.Value { return u.CPU }),
		User:    median(func(u result.Usage) probe.Value { return u.User }),
		System:  median(func(u result.Usage) probe.Value { return u.System }),
		Percent: median(func(u result.Usage) probe.Value { return u.Percent }),
		Memory:  median(func(u result.Usage) probe.Value { return u.Memory })}
}

// samplerCost is the median CPU use of the probes, in percent of a core; nil if nothing was
// watched.
func samplerCost(trials []*lab.Trial) *float64 {
	var shares []float64
	for _, t := range trials {
		if t.Result != nil && t.Result.Server != nil && t.Result.Server.Sampler.Share.OK() {
			shares = append(shares, float64(t.Result.Server.Sampler.Share))
		}
	}
	if len(shares) == 0 {
		return nil
	}
	m := stats.Median(shares)
	return &m
}

// scenarioOf is that of the trials, which all have the same; nil if it is one request without data.
func scenarioOf(trials []*lab.Trial) *lab.Scenario {
	for _, t := range trials {
		if t.Result == nil {
			continue
		}
		s := lab.Scenario{Steps: len(t.Result.Plan.Steps)}
		if rows := t.Result.Plan.Rows; rows != nil {
			s.Rows = rows.Rows
		}
		if s == (lab.Scenario{}) {
			return nil
		}
		return &s
	}
	return nil
}

// objectivesMet counts in how many trials each objective was met.
func objectivesMet(q scope, cells byCell) (all []lab.ObjectiveCount) {
	for _, level := range q.levels {
		for _, arm := range q.arms {
			var kept []lab.ObjectiveCount
			spoiled, missed := 0, map[int]bool{} // by the machine; by the server, by the index of kept
			for _, round := range cells.roundNumbers() {
				t := cells.bestTrial(arm.name, level, round)
				if t == nil {
					continue
				}
				if t.SpoiledByMachine() {
					spoiled++
				}
				for i, o := range t.Objectives {
					missed[i] = missed[i] || o.IsMissed() && !t.SpoiledByMachine()
					if i == len(kept) {
						kept = append(kept, lab.ObjectiveCount{Expr: o.Expr, Arm: arm.name, Level: level})
					}
					if o.IsUndecided() && kept[i].Open == nil {
						kept[i].Open = &o
					}
					kept[i].Trials++
					if o.Met {
						kept[i].Met++
					}
				}
			}
			for i := range kept {
				if missed[i] {
					kept[i].Open = nil
				}
				kept[i].Undecided = kept[i].Open != nil ||
					isTooMany(spoiled, kept[i].Trials) && !missed[i]
			}
			all = append(all, kept...)
		}
	}
	return all
}

// isNearCeiling reports whether throughput is near what the generator can reach.
func isNearCeiling(r *lab.Record, c lab.Comparison, cells byCell) bool {
	top := ceilingOf(r, c.Level)
	if c.Metric != "throughput" || top == 0 {
		return false
	}
	m, _ := lab.MeasureNamed(c.Metric)
	for _, arm := range []string{c.Baseline, c.Variant} {
		if v := cellValues(cells, m, arm, c.Level); len(v) > 0 && stats.Median(v) > ceilingShare*top {
			return true
		}
	}
	return false
}

// ceilingShare is the share of a ceiling above which throughput counts as limited by the generator.
const ceilingShare = 0.8

// ceilingOf is the ceiling of a level; 0 if it is unknown.
func ceilingOf(r *lab.Record, level string) float64 {
	for _, c := range r.Ceilings {
		if c.Level == level {
			return c.Throughput
		}
	}
	return 0
}
