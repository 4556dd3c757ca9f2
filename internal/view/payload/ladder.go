package payload

import (
	"cmp"
	"math"
	"slices"

	"dyno/internal/capacity"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
)

// A ladder is levels that differ in nothing but how much they load: closed ones in their
// connections, open ones in their rate. Only along such is there a curve.
type ladder struct {
	Open   bool      `json:"open"`
	Levels []string  `json:"levels"` // by how much they load
	At     []float64 `json:"at"`     // connections, or requests due a second
	Laws   []law     `json:"laws,omitempty"`
}

// A law is the universal scalability law of an arm's throughput, fitted to its trials at the
// levels of a ladder.
type law struct {
	Arm    string       `json:"arm"`
	Law    capacity.Law `json:"law"`
	R2     float64      `json:"r2"`
	PeakN  *float64     `json:"peak_n,omitempty"`
	PeakX  *float64     `json:"peak_per_s,omitempty"`
	Trials int          `json:"trials"`
	N      column       `json:"-"` // where the curve is drawn
	X      column       `json:"-"`
}

// addLadders are those with two levels or more.
func (p *Experiment) addLadders(levels []experiment.Level, trials []*lab.Trial) {
	kinds := map[experiment.Level][]experiment.Level{}
	var order []experiment.Level
	for _, l := range levels {
		kind := l
		kind.Name, kind.Requests = "", 0
		if l.IsOpen() {
			kind.Rate = 1
		} else {
			kind.Connections = 0
		}
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		kinds[kind] = append(kinds[kind], l)
	}
	for _, kind := range order {
		rungs := slices.Clone(kinds[kind])
		slices.SortStableFunc(rungs, func(a, b experiment.Level) int {
			return cmp.Compare(loadAt(a), loadAt(b))
		})
		if len(rungs) < 2 || loadAt(rungs[0]) == loadAt(rungs[len(rungs)-1]) {
			continue
		}
		one := ladder{Open: kind.IsOpen()}
		for _, l := range rungs {
			one.Levels, one.At = append(one.Levels, l.Name), append(one.At, loadAt(l))
		}
		if !one.Open {
			one.Laws = p.lawsOf(one, trials)
		}
		p.Ladders = append(p.Ladders, one)
	}
}

// loadAt is how much a level loads.
func loadAt(l experiment.Level) float64 {
	if l.IsOpen() {
		return float64(l.Rate)
	}
	return float64(l.Connections)
}

// curvePoints are where a law is drawn.
const curvePoints = 41

// lawsOf are those of the arms that were measured at enough levels. A trial in which the
// generator was the limit says nothing of a server.
func (p *Experiment) lawsOf(l ladder, trials []*lab.Trial) (all []law) {
	for _, arm := range p.Record.Arms {
		var n, x []float64
		for _, c := range p.Counted {
			rung := slices.Index(l.Levels, c.Level)
			if c.Arm != arm.Name || rung < 0 {
				continue
			}
			for _, i := range c.Trials {
				v, ok := p.Record.Trials[i].Values["throughput"]
				if ok && trials[i].Result.Generator.Verdict != result.ClientBound {
					n, x = append(n, l.At[rung]), append(x, v)
				}
			}
		}
		fit, err := capacity.FitLaw(n, x)
		if err != nil {
			continue // of too few levels
		}
		one := law{Arm: arm.Name, Law: fit.Law, R2: fit.R2, PeakN: fit.PeakN, PeakX: fit.PeakX,
			Trials: len(n)}
		first, last := math.Log(l.At[0]), math.Log(l.At[len(l.At)-1])
		for i := range curvePoints {
			at := math.Exp(first + (last-first)*float64(i)/(curvePoints-1))
			one.N, one.X = append(one.N, at), append(one.X, fit.Law.At(at))
		}
		all = append(all, one)
	}
	return all
}
