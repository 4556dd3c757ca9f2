package lab

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/stats"
)

// An Advice is how long windows should be, if the same experiment is run again.
type Advice struct {
	Within  float64 `json:"within"`             // by which share a second of a trial varies
	Between float64 `json:"between"`            // and a trial besides
	CostS   float64 `json:"cost_s"`             // what a trial takes besides its window
	WindowS int     `json:"window_s,omitempty"` // 0: the longer, the better
}

// secondsForAdvice is the fewest seconds of a window that say how much they vary.
const secondsForAdvice = 5

// advice is from the throughput of all trials at closed levels; nil if they are too short or
// too few. That of an open loop is the schedule's.
func (r *Record) advice(trials []*Trial) *Advice {
	var seconds [][][]float64
	var cost []float64
	byPlace := sortTrials(trials)
	for _, l := range r.Experiment.Levels {
		for _, arm := range r.Arms {
			if l.Open() {
				continue
			}
			var cell [][]float64
			for _, round := range byPlace.rounds() {
				t := byPlace.best(arm.Name, l.Name, round)
				if t == nil || t.Failure != nil || t.Grade == GradeF {
					continue // what others did to it is no property of the experiment
				}
				if logs := logsOf(t.rates()); len(logs) >= secondsForAdvice {
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
	a := &Advice{math.Sqrt(e.Within), math.Sqrt(e.Between), besides, e.Length}
	if a.WindowS > windowMax {
		a.WindowS = 0
	}
	return a
}

// windowMax, in seconds, is the longest window that is advised; beyond, longer is better.
const windowMax = 600

// logsOf are the logarithms of rates, of which one that is 0 has none.
func logsOf(rates []float64) (all []float64) {
	for _, v := range rates {
		if v > 0 {
			all = append(all, math.Log(v))
		}
	}
	return all
}

// A Noise is by how much pairs of the baseline and itself varied, now and when the same
// experiment was run on the same machine before.
type Noise struct {
	Metric string  `json:"metric"`
	Level  string  `json:"level"`
	Now    float64 `json:"now"`    // as a share, of a pair
	Usual  float64 `json:"usual"`  // median of the others
	Others int     `json:"others"` // experiments
}

// othersMin is how many earlier experiments it takes to say what is usual.
const othersMin = 3

// unusual is by which factor noise may be more or less than it usually is.
const unusual = 2

// Unusual reports whether the noise is far from what it usually is.
func (n Noise) Unusual() bool { return n.Now > unusual*n.Usual || n.Now*unusual < n.Usual }

// compareNoise is the noise now beside that of others, experiments that were run before.
func compareNoise(now *Record, others []*Record) (all []Noise) {
	for _, c := range now.Verdicts {
		here, ok := pairNoise(c)
		if !c.Control || !ok {
			continue
		}
		var before []float64
		for _, o := range others {
			i := slices.IndexFunc(o.Verdicts, func(d Comparison) bool {
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
			all = append(all, Noise{c.Metric, c.Level, here, stats.Median(before), len(before)})
		}
	}
	return all
}

// pairNoise is about the standard deviation of a pair's ratio, as a share, from the interval of
// their centre, which is narrower the more pairs there are; ok is false of too few, and of what
// was judged by a dyno that did not store that interval.
func pairNoise(c Comparison) (share float64, ok bool) {
	if c.Trials < minimum || c.Alone.Low <= 0 {
		return 0, false
	}
	const normal = 1.96
	half := math.Log(c.Alone.High/c.Alone.Low) / 2
	return math.Expm1(half / normal * math.Sqrt(float64(c.Trials))), true
}

// like reports whether o is an earlier run of the same experiment on the same machine.
func (r *Record) like(o *Record) bool {
	return o.State == Complete && o.SHA256 == r.SHA256 && o.Quick == r.Quick &&
		o.Started.Before(r.Started) && o.Host.OS == r.Host.OS && o.Host.CPU == r.Host.CPU &&
		o.Host.CPUs == r.Host.CPUs && slices.Equal(o.CPUs.Server, r.CPUs.Server) &&
		slices.Equal(o.CPUs.Generator, r.CPUs.Generator) && o.Fleet.String() == r.Fleet.String()
}

// historyMax is how many of the newest experiments are looked at.
const historyMax = 100

// Earlier are the runs of the same experiment on the same machine before r whose folders lie in
// dir, oldest first; those among the newest hundred there. What cannot be read is none: it is a
// yardstick, not a result.
func Earlier(dir string, r *Record) (all []*Record) {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[max(len(entries)-historyMax, 0):] {
		o, err := openRecord(filepath.Join(dir, e.Name()))
		if err == nil && r.like(o) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *Record) int { return a.Started.Compare(b.Started) })
	return all
}

// age is when something in a folder was last made or removed; zero if nobody can say.
func age(e os.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// recallNoise says how the noise compares with that of others.
func (r *Record) recallNoise(others []*Record) {
	r.Noise = compareNoise(r, others)
	for _, n := range r.Noise {
		word := "higher"
		if n.Now < n.Usual {
			word = "lower"
		}
		if n.Unusual() {
			r.Cautions = append(r.Cautions, fmt.Sprintf("the noise of %s at %s is much %s than usual: a "+
				"pair of the baseline and itself varies by %.1f %%, and by %.1f %% in the median of %d "+
				"earlier runs of this experiment on this machine", n.Metric, n.Level, word, 100*n.Now,
				100*n.Usual, n.Others))
		}
	}
}
