package lab

import (
	"math"
	"slices"

	"dyno/internal/result"
	"dyno/internal/stats"
)

// A Transient is what MSER-5 finds at the beginning of the measured window. It is said and
// never cut: the trial's figures are those of the whole window.
type Transient struct {
	CutS    float64 `json:"cut_s"`   // of the window, that it would leave out; 0: nothing
	Settled bool    `json:"settled"` // false: half of the window or more
	Change  float64 `json:"change"`  // by which share throughput would be higher, without
	// Errors is how far what it would leave out lies below the rest, in standard errors.
	Errors float64 `json:"standard_errors"`
}

// The window is called not warm when what MSER-5 would leave out lowers throughput by more than
// this share, half the margin that counts by default, and lies so many standard errors below
// the rest. Of ten seconds of pure noise MSER-5 alone cuts some in half of all trials; with
// both, at a noise of 2 %, in 1 to 2 %, while two seconds that are 10 % slow are found in nine
// of ten (a test counts both).
const (
	transientShare  = 0.01
	transientErrors = 3
)

// Cold reports whether the window still contains warm-up.
func (c *Transient) Cold() bool {
	return c != nil && c.Change > transientShare && c.Errors > transientErrors
}

// secondsMin is the fewest seconds of a window that MSER-5 can say anything of.
const secondsMin = 10

// course looks at the seconds of throughput: of warm-up and window together for a trend, of the
// window alone for what is left of the warm-up in it.
func (t *Trial) course() {
	window := t.rates()
	t.Transient = transient(window)
	var all []float64
	if t.Warmup != nil {
		all = slices.Clone(t.Warmup.Rates)
	}
	t.Steadiness = stats.Classify(append(all, window...), 1)
}

// rates is the throughput of each second of the window.
func (t *Trial) rates() (all []float64) {
	last := 0.0
	for _, p := range t.Result.Series {
		if length := p.T - last; length > 0.9 && t.within(p) {
			all = append(all, float64(p.Completed)/length)
		}
		last = p.T
	}
	return all
}

// within reports whether a point of the series lies in the window, and not after it.
func (t *Trial) within(p result.Point) bool { return p.T <= t.Result.Window.MeasuredS+0.01 }

// inWindow are the answers that came in the window, errors too, as far as the series tells, and
// the bytes received meanwhile. Answers of the result has those that came after it, too, and
// Bytes has not.
func (t *Trial) inWindow() (answers, received int64) {
	for _, p := range t.Result.Series {
		if t.within(p) {
			answers += p.Answers()
			received += p.Received
		}
	}
	return answers, received
}

// transient is nil for too few seconds. A second is the mean of so many requests that it is
// a batch by itself.
func transient(rates []float64) *Transient {
	if len(rates) < secondsMin {
		return nil
	}
	cut, settled := stats.MSER(rates, 1)
	c := &Transient{CutS: float64(cut), Settled: settled}
	first, rest := mean(rates[:cut]), mean(rates[cut:])
	if cut == 0 || rest == 0 {
		return c
	}
	c.Change = rest/mean(rates) - 1
	spread := stats.CoV(rates[cut:]) * rest
	c.Errors = (rest - first) / (spread * math.Sqrt(1/float64(cut)+1/float64(len(rates)-cut)))
	c.Errors = max(-errorsMax, min(errorsMax, c.Errors))
	return c
}

// errorsMax stands for all more: of a rest without any noise it would be infinite.
const errorsMax = 1000

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}
