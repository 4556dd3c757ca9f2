package capacity

import (
	"math"

	"dyno/internal/stats"
)

// A BandPoint is the law's throughput at a concurrency and, with 8 rounds or more, the interval at
// 95 % of it, from drawing rounds.
type BandPoint struct {
	N    float64  `json:"n"`
	X    float64  `json:"x_per_s"`
	Low  *float64 `json:"low_per_s,omitempty"`
	High *float64 `json:"high_per_s,omitempty"`
}

const (
	bandPoints = 48  // along the range that was measured
	bandDraws  = 400 // of rounds
)

// Band is the fitted law over the range that was measured; none if there is no fit.
func (c *Curve) Band() []BandPoint {
	if c.Fit == nil {
		return nil
	}
	low, high := math.Inf(1), 0.0
	byRound := map[int][]Point{}
	for _, p := range c.Points {
		if p.Counts() {
			low, high = min(low, p.N), max(high, p.N)
			byRound[p.Round] = append(byRound[p.Round], p)
		}
	}
	laws := c.bandByResampling(byRound)
	var all []BandPoint
	for i := range bandPoints {
		n := low + (high-low)*float64(i)/(bandPoints-1)
		point := BandPoint{N: n, X: c.Fit.At(n)}
		if v, ok := laws(n); ok {
			point.Low, point.High = &v.Low, &v.High
		}
		all = append(all, point)
	}
	return all
}

// bandByResampling returns the interval of the law's value at a concurrency: the same draws of
// rounds serve for all of them, and are fitted once.
func (c *Curve) bandByResampling(byRound map[int][]Point) func(n float64) (stats.Interval, bool) {
	var laws []Law
	return func(n float64) (stats.Interval, bool) {
		i := 0
		v, err := stats.Bootstrap(c.Rounds, bandDraws, c.Seed, func(blocks []int) float64 {
			if i == len(laws) {
				laws = append(laws, lawOf(blocks, byRound))
			}
			i++
			return laws[i-1].At(n)
		}, 0.95)
		return v, err == nil
	}
}

// lawOf is the law of some rounds, counted from 0.
func lawOf(rounds []int, byRound map[int][]Point) Law {
	var points []Point
	for _, r := range rounds {
		points = append(points, byRound[r+1]...)
	}
	if len(points) == 0 {
		return Law{Gamma: math.NaN()}
	}
	n, x := axisNames(points)
	return fitFree(n, x)
}
