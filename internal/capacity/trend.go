package capacity

import (
	"math"
	"time"

	"dyno/internal/engine/loadresult"
)

const (
	trendLeast = 8    // seconds that can have a trend
	trendZ     = 2.33 // chance exceeds it once in a hundred
)

// isGrowing reports whether latency still grew while it was measured. Then the queue had
// not found its length, if it has one: at a rate a little above what a server can do it
// grows without end, but so slowly that a probe is over before the objective is missed.
//
// Each second's mean is compared with those of all later ones, and if more of these are
// higher than chance would have it (Mann's test; Kendall's S), latency grew. Seconds of a
// stable queue are nearly independent, unless it is so near its limit that it may as well
// be doubted.
func isGrowing(from []loadresult.Interval, window time.Duration) bool {
	var means []float64
	for _, iv := range from {
		if l := iv.Latency; iv.From < window && l.Count > 0 {
			means = append(means, l.Mean())
		}
	}
	n := float64(len(means))
	if n < trendLeast {
		return false
	}
	s := 0.0
	for i, early := range means {
		for _, late := range means[i+1:] {
			switch {
			case late > early:
				s++
			case late < early:
				s--
			}
		}
	}
	return (s-1)/math.Sqrt(n*(n-1)*(2*n+5)/18) > trendZ
}
