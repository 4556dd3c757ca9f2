package payload

import (
	"fmt"
	"math"
	"slices"

	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// spectra are the distributions of durations of each cell, at the same fractions.
type spectra struct {
	At    []float64    `json:"at"` // fractions, ascending: 0.99 is p99
	Cells []cellSpread `json:"cells"`
}

// A cellSpread is the durations of a cell, in µs, at as many of the fractions as there are
// durations for: beyond the next there are fewer than beyond, or only requests without an answer.
type cellSpread struct {
	Arm    string   `json:"arm"`
	Level  string   `json:"level"`
	Kind   string   `json:"kind"`  // latency or service
	Count  int64    `json:"count"` // of durations
	Merged column   `json:"merged"`
	Low    column   `json:"low,omitempty"` // 95 % band of Merged
	High   column   `json:"high,omitempty"`
	Runs   []column `json:"-"` // of each trial, of Trials
	Trials []int    `json:"trials"`
}

const (
	resamples = 1000 // of the band
	mostRuns  = 30   // trials of a cell that are drawn one by one
)

// spectrumFractions are where spectra are read: as many in each nine as a line needs to look
// smooth.
func spectrumFractions() (all []float64) {
	all = []float64{0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85}
	for rest := 0.1; rest > 1e-7; rest /= 10 {
		for _, part := range []float64{1, 0.75, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15} {
			all = append(all, roundDigits(1-rest*part, 9))
		}
	}
	return all
}

// spectraOf are those of all cells: of latency, and in open loops of service time.
func spectraOf(levels []Level, cells []cellTrials, trials []*lab.Trial) (spectra, error) {
	s := spectra{At: spectrumFractions()}
	for _, c := range cells {
		of := []*lab.Trial{}
		for _, i := range c.Trials {
			of = append(of, trials[i])
		}
		open := slices.Contains(levels, Level{c.Level, true})
		for _, kind := range []string{"latency", "service"} {
			if kind == "service" && !open {
				continue
			}
			one, err := cellSpectrum(c, of, kind, s.At)
			if err != nil {
				return s, err
			}
			if one.Count > 0 {
				s.Cells = append(s.Cells, one)
			}
		}
	}
	return s, nil
}

func cellSpectrum(c cellTrials, trials []*lab.Trial, kind string,
	at []float64) (cellSpread, error) {
	one := cellSpread{Arm: c.Arm, Level: c.Level, Kind: kind}
	var found []metric.Sparse
	var unanswered []int64
	for i, t := range trials {
		d := t.Result.Latency
		if kind == "service" {
			d = t.Result.Service
		}
		if d == nil || d.HDR == "" {
			continue
		}
		h, err := histogramOf(d)
		if err != nil {
			return one, fmt.Errorf("trial %s: %w", t.ID, err)
		}
		found, unanswered = append(found, h), append(unanswered, int64(d.Beyond(0))-d.Count)
		one.Trials = append(one.Trials, c.Trials[i])
	}
	p := newHistogramPool(found)
	p.longer = unanswered
	all := p.indices()
	one.Count = p.countAll(all)
	one.Merged = p.quantilesAt(all, at)
	for i := range min(len(found), mostRuns) {
		one.Runs = append(one.Runs, p.quantilesAt([]int{i}, at))
	}
	one.Trials = one.Trials[:len(one.Runs)]
	one.Low, one.High = p.bootstrapBand(at[:len(one.Merged)])
	return one, nil
}

func histogramOf(d *result.Distribution) (metric.Sparse, error) {
	h, err := d.Histogram()
	if err != nil {
		return metric.Sparse{}, fmt.Errorf("reading its histogram: %w", err)
	}
	return h.ToSparse(), nil
}

// A histogramPool is histograms side by side, so that the sum of any of them can be read without
// adding them up: a bootstrap reads thousands of sums.
type histogramPool struct {
	values []int64   // ascending, in ns, of all that was counted
	upTo   [][]int64 // of each histogram, how many are at most values[i]
	longer []int64   // of each, how many had no value, and are above all; nil: none
}

func newHistogramPool(all []metric.Sparse) (p histogramPool) {
	for _, h := range all {
		for v := range h.ValueCounts() {
			p.values = append(p.values, v)
		}
	}
	slices.Sort(p.values)
	p.values = slices.Compact(p.values)
	for _, h := range all {
		upTo := make([]int64, len(p.values))
		at, sum := 0, int64(0)
		for v, n := range h.ValueCounts() {
			for ; p.values[at] < v; at++ {
				upTo[at] = sum
			}
			sum += n
		}
		for ; at < len(upTo); at++ {
			upTo[at] = sum
		}
		p.upTo = append(p.upTo, upTo)
	}
	return p
}

// indices are the histograms' indices.
func (p histogramPool) indices() []int {
	all := make([]int, len(p.upTo))
	for i := range all {
		all[i] = i
	}
	return all
}

func (p histogramPool) countUpTo(blocks []int, value int) (n int64) {
	for _, b := range blocks {
		n += p.upTo[b][value]
	}
	return n
}

func (p histogramPool) countAll(blocks []int) int64 {
	if len(p.values) == 0 {
		return 0
	}
	return p.countUpTo(blocks, len(p.values)-1)
}

// countLonger is how many of the blocks had no value.
func (p histogramPool) countLonger(blocks []int) (n int64) {
	for _, b := range blocks {
		if p.longer != nil {
			n += p.longer[b]
		}
	}
	return n
}

// quantileOf is the value, in µs, that a fraction of what the blocks hold does not exceed.
func (p histogramPool) quantileOf(blocks []int, fraction float64) float64 {
	n := p.countAll(blocks) + p.countLonger(blocks)
	wanted := max(1, int64(math.Ceil(fraction*float64(n)-1e-6)))
	low, high := 0, len(p.values)-1
	for low < high {
		if middle := (low + high) / 2; p.countUpTo(blocks, middle) >= wanted {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return float64(p.values[low]) / 1e3
}

// quantilesAt is the blocks' sum at those fractions that enough lies beyond.
func (p histogramPool) quantilesAt(blocks []int, at []float64) (all column) {
	longer := float64(p.countLonger(blocks))
	n := float64(p.countAll(blocks)) + longer
	for _, f := range at {
		if n*(1-f) < max(beyond, longer)-1e-6 {
			break
		}
		all = append(all, p.quantileOf(blocks, f))
	}
	return all
}

// bootstrapBand is the 95 % interval of the sum at each fraction, by a bootstrap whose blocks are
// trials; nil where there are too few of them.
func (p histogramPool) bootstrapBand(at []float64) (low, high column) {
	for _, f := range at {
		v, err := stats.Bootstrap(len(p.upTo), resamples, 1, func(blocks []int) float64 {
			return p.quantileOf(blocks, f)
		}, 0.95)
		if err != nil {
			return nil, nil
		}
		low, high = append(low, v.Low), append(high, v.High)
	}
	return low, high
}

// ratiosOf of each.
func ratiosOf(logs []float64) (all column) {
	for _, x := range logs {
		all = append(all, math.Exp(x))
	}
	return all
}
