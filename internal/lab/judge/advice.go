package judge

import (
	"math"
	"slices"
	"time"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// secondsForAdvice is the fewest seconds of a window from which their variation can be estimated.
const secondsForAdvice = 5

// adviceFor estimates the best window from the throughput of all trials at closed levels; nil if
// they are too short or too few. The throughput of an open workload is that of its schedule, so it
// is not used.
func adviceFor(r *lab.Record, trials []*lab.Trial) *lab.Advice {
	var seconds [][][]float64
	var cost []float64
	byPlace := groupTrials(trials)
	for _, l := range r.Experiment.Levels {
		for _, arm := range r.Arms {
			if l.IsOpen() || l.IsSearch() {
				continue
			}
			var cell [][]float64
			for _, round := range byPlace.roundNumbers() {
				t := byPlace.bestTrial(arm.Name, l.Name, round)
				if t == nil || t.Failure != nil || t.Grade == lab.GradeF {
					continue // a disturbance is no property of the experiment
				}
				if logs := positiveLogs(t.Rates()); len(logs) >= secondsForAdvice {
					cell, cost = append(cell, logs), append(cost, t.TookS-t.Result.Window.MeasuredS)
				}
			}
			seconds = append(seconds, cell)
		}
	}
	besides := stats.Median(cost) + time.Duration(r.Experiment.Design.Cooldown).Seconds()
	e, ok := stats.VarianceComponents(seconds, besides)
	if !ok {
		return nil
	}
	a := &lab.Advice{Within: math.Sqrt(e.Within), Between: math.Sqrt(e.Between), CostS: besides,
		WindowS: e.Length}
	if a.WindowS > windowMax {
		a.WindowS = 0
	}
	return a
}

// windowMax is the longest window that is recommended, in seconds. Above it, the advice is to
// measure as long as possible.
const windowMax = 600

// positiveLogs are the logarithms of the rates above 0.
func positiveLogs(rates []float64) (all []float64) {
	for _, v := range rates {
		if v > 0 {
			all = append(all, math.Log(v))
		}
	}
	return all
}

// othersMin is how many earlier experiments are needed to know the usual noise.
const othersMin = 3

// compareNoise compares the noise now with that of earlier runs.
func compareNoise(now *lab.Record, others []*lab.Record) (all []lab.Noise) {
	for _, c := range now.Verdicts {
		here, ok := pairNoise(c)
		if !c.Control || !ok {
			continue
		}
		var before []float64
		for _, o := range others {
			i := slices.IndexFunc(o.Verdicts, func(d lab.Comparison) bool {
				return d.Control && d.Metric == c.Metric && d.Level == c.Level && d.Variant == c.Variant
			})
			if i < 0 {
				continue
			}
			if v, ok := pairNoise(o.Verdicts[i]); ok {
				before = append(before, v)
			}
		}
		if len(before) >= othersMin {
			all = append(all, lab.Noise{Metric: c.Metric, Level: c.Level, Now: here,
				Usual: stats.Median(before), Others: len(before)})
		}
	}
	return all
}

// pairNoise estimates the standard deviation of a pair's ratio, as a share. It uses the interval of
// the pairs' centre, which narrows as pairs are added. ok is false if there are too few pairs, or
// if an older version did not store the interval.
func pairNoise(c lab.Comparison) (share float64, ok bool) {
	if c.Trials < experiment.LeastRounds || c.Alone.Low <= 0 {
		return 0, false
	}
	const normal = 1.96
	half := math.Log(c.Alone.High/c.Alone.Low) / 2
	return math.Expm1(half / normal * math.Sqrt(float64(c.Trials))), true
}

// AddNoise compares the noise of r, which Compute has just computed, with that of earlier runs.
func AddNoise(r *lab.Record, others []*lab.Record) {
	r.Noise = compareNoise(r, others)
	for _, n := range r.Noise {
		if n.IsUnusual() {
			setFacts(r, append(r.Facts, warn(fact.NoiseUnusual{Metric: n.Metric, Now: 100 * n.Now,
				Usual: 100 * n.Usual, Others: n.Others}, fact.Scope{Level: n.Level})))
		}
	}
}
