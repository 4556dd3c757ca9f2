package grade

import (
	"math"
	"slices"

	"dyno/internal/lab"

	"dyno/internal/stats"
)

// secondsMin is the fewest seconds of a window to which MSER-5 applies.
const secondsMin = 10

// SetCourse examines the throughput of each second: warm-up and window together for a trend, the
// window alone for a rest of the warm-up.
func SetCourse(t *lab.Trial) {
	window := t.Rates()
	t.Transient = findTransient(window)
	var all []float64
	if t.Warmup != nil {
		all = slices.Clone(t.Warmup.Rates)
	}
	t.Steadiness = stats.Classify(append(all, window...), 1)
}

// findTransient applies MSER-5; nil for too few seconds. A second is the mean of so many requests
// that it is a batch by itself.
func findTransient(rates []float64) *lab.Transient {
	if len(rates) < secondsMin {
		return nil
	}
	cut, settled := stats.MSER(rates, 1)
	c := &lab.Transient{CutS: float64(cut), Settled: settled}
	first, rest := stats.Mean(rates[:cut]), stats.Mean(rates[cut:])
	if cut == 0 || rest == 0 {
		return c
	}
	c.Change = rest/stats.Mean(rates) - 1
	spread := stats.CoV(rates[cut:]) * rest
	c.Errors = (rest - first) / (spread * math.Sqrt(1/float64(cut)+1/float64(len(rates)-cut)))
	c.Errors = max(-errorsMax, min(errorsMax, c.Errors))
	return c
}

// errorsMax is the largest number of standard errors that is stored. Without any noise it would be
// infinite.
const errorsMax = 1000
