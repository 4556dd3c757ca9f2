package payload

import (
	"math"

	"dyno/internal/lab"
	"dyno/internal/observe/probe"
	"dyno/internal/stats"
)

// A machineStrip is what the machine did meanwhile, of each trial, in percent.
type machineStrip struct {
	Took    column `json:"took_s"`
	Steal   column `json:"steal_percent"`   // of the machine's time, taken by its host
	Foreign column `json:"foreign_percent"` // of its CPUs, used by other programs
	CPU     column `json:"psi_cpu_percent"` // of the time, something waited for it
	Memory  column `json:"psi_memory_percent"`
	IO      column `json:"psi_io_percent"`
}

func (s *machineStrip) addTrial(t *lab.Trial) {
	absent := probe.Value(math.NaN())
	steal, foreign, cpu, memory, io := absent, absent, absent, absent, absent
	if t.Result != nil && t.Result.Server != nil {
		h := t.Result.Server.Host
		steal, cpu, memory, io = h.Steal, h.PressureCPU, h.PressureMemory, h.PressureIO
		if wall := h.WallS * 1e9 * float64(max(h.CPUs, 1)); wall > 0 {
			foreign = 100 * h.Foreign / probe.Value(wall)
		}
	}
	s.Took = append(s.Took, t.TookS)
	s.Steal = append(s.Steal, float64(steal))
	s.Foreign = append(s.Foreign, float64(foreign))
	s.CPU = append(s.CPU, float64(cpu))
	s.Memory = append(s.Memory, float64(memory))
	s.IO = append(s.IO, float64(io))
}

// A startupCurve is how a trial's server came to speed, in seconds after its start was begun:
// completed requests a second, in the warm-up and in the window.
type startupCurve struct {
	Ready  *float64       `json:"ready_s,omitempty"` // the first right answer
	Warm   ratesOfSeconds `json:"-"`
	Window ratesOfSeconds `json:"-"`
	Steady string         `json:"steady,omitempty"` // whether the warm-up ended so: yes or no
	CoV    float64        `json:"cov,omitempty"`
	Cut    *transientCut  `json:"cut,omitempty"` // absent: too few seconds to say
}

// A transientCut is where MSER-5 would begin to measure. Nothing is cut there.
type transientCut struct {
	lab.Transient
	At   *float64 `json:"at_s,omitempty"` // after the start was begun; absent: it would cut nothing
	Cold bool     `json:"cold,omitempty"` // it counts against the trial
}

// ratesOfSeconds are completed requests a second, each at the end of its second.
type ratesOfSeconds struct {
	At  column `json:"at_s"`
	Per column `json:"per_s"`
}

func (r *ratesOfSeconds) addSecond(at, perSecond float64) {
	r.At, r.Per = append(r.At, at), append(r.Per, perSecond)
}

const (
	pointsMost = 120 // of a trial's window that are drawn
	shortest   = 0.5 // seconds that a rate is of, at least
)

func startupOf(t *lab.Trial) (s startupCurve) {
	if t.ReadyS > 0 {
		s.Ready = &t.ReadyS
	}
	if t.Result == nil {
		return s
	}
	window := t.Result.Window.Started.Sub(t.Started).Seconds() // of the measured load
	s.Cut = transientCutOf(t, window+t.Result.Window.WarmupS)
	if w := t.Warmup; w != nil {
		s.Steady, s.CoV = string(w.Steady), w.CoV
		for i, rate := range w.Rates { // it was a load of its own, just before
			s.Warm.addSecond(window-w.TookS+float64(i+1), rate)
		}
	}
	all := t.Result.Series
	every := max(1, (len(all)+pointsMost-1)/pointsMost)
	last, before, done := 0.0, 0.0, int64(0)
	for i, p := range all {
		if !mostlyWithin(before, p.T, t.Result.Window.MeasuredS) || p.T-last < shortest {
			break // after the window, or what is left of it
		}
		before = p.T
		if done += p.Answered(); (i+1)%every == 0 {
			s.Window.addSecond(window+t.Result.Window.WarmupS+p.T, float64(done)/(p.T-last))
			last, done = p.T, 0
		}
	}
	return s
}

// mostlyWithin reports whether at least half of an interval lies in a window of so many seconds:
// the sample that ends the window's last second may come late.
func mostlyWithin(from, to, window float64) bool {
	return min(to, window)-from >= (to-from)/2
}

// transientCutOf is the cut of a trial whose window began so many seconds after its start.
func transientCutOf(t *lab.Trial, window float64) *transientCut {
	if t.Transient == nil {
		return nil
	}
	c := &transientCut{Transient: *t.Transient, Cold: t.Transient.IsCold()}
	if c.CutS > 0 {
		at := roundDigits(window+c.CutS, 6)
		c.At = &at
	}
	return c
}

// A readyTime is how long the servers of a cell took from their start, in seconds: medians.
type readyTime struct {
	Arm    string          `json:"arm"`
	Level  string          `json:"level"`
	Trials int             `json:"trials"`
	Ready  *stats.Interval `json:"ready,omitempty"`  // to the first right answer
	Steady *stats.Interval `json:"steady,omitempty"` // to steady throughput, where all got there
}

// addReadyTimes are those of all cells.
func (p *Experiment) addReadyTimes(trials []*lab.Trial) {
	for _, c := range p.Counted {
		one := readyTime{Arm: c.Arm, Level: c.Level, Trials: len(c.Trials)}
		var ready, steady []float64
		for _, i := range c.Trials {
			t := trials[i]
			if t.ReadyS > 0 {
				ready = append(ready, t.ReadyS)
			}
			if t.Warmup != nil && t.Warmup.Steady == lab.Yes {
				began := t.Result.Window.Started.Sub(t.Started).Seconds()
				steady = append(steady, began+t.Result.Window.WarmupS)
			}
		}
		one.Ready = medianOf(ready)
		if len(steady) == len(c.Trials) {
			one.Steady = medianOf(steady)
		}
		p.Comings = append(p.Comings, one)
	}
}

// medianOf is the median with its interval; nil of nothing.
func medianOf(x []float64) *stats.Interval {
	v, err := stats.MedianInterval(x, 0.95)
	if err != nil {
		return nil
	}
	return &v
}
