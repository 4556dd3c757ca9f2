package result

import (
	"math"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

// Thresholds of standstills. docs/measuring.md has the reasons and what was measured.
const (
	standstillLong    = 50e3  // µs: what is longer is in the maximum at least
	standstillShort   = 20e3  // µs, likewise of one that reaches p99.9
	standstillP999    = 0.001 // share of the requests that such standstills delayed
	standstillP99     = 0.01
	standstillOfP99   = 0.1  // of p99: what is shorter hides in it
	standstillMostP99 = 0.5  // of p99: what is longer is most of it
	standstillSuspect = 0.05 // share of the window
	standstillBound   = 0.25
	standstillBrief   = 100e3 // µs: what is shorter says nothing where too little was measured
)

// newStandstill is what a load of so many requests measured of its threads' standstills.
func newStandstill(from loadresult.StandstillTotals, sent int64) (s Standstill) {
	if from.StoodStill > 0 {
		since := math.Round(float64(from.StoodStillSince)/1e3) / 1e6
		s = Standstill{time.Duration(from.StoodStill).Seconds(),
			toMicroseconds(float64(from.StoodStillMost)), &since, min(from.Delayed, sent)}
	}
	return s
}

// findStandstill finds standstills of the generator that latencies or the rate show. One that
// reaches p99, as most of it, makes the numbers those of the generator.
func findStandstill(r *Result) *fact.Fact {
	if r.quotaStopped() {
		return nil // findQuota reports it
	}
	return judgeStandstill(r)
}

func judgeStandstill(r *Result) *fact.Fact {
	s, p99 := r.Generator.Standstill, 0.0
	if d := r.MainLatency(); d != nil {
		p99 = d.P99
	}
	if r.TooShort() && s.StoodStillMax <= standstillBrief {
		return nil
	}
	delayed := math.Min(float64(s.Delayed)/float64(max(r.Requests.Sent, 1)), 1)
	least := standstillLong
	if delayed >= standstillP999 {
		least = standstillShort
	}
	of := s.StoodStillS / max(r.Window.MeasuredS, 1e-9)
	f := fact.Fact{Severity: fact.Warning, Args: fact.StoodStill{LongestUS: s.StoodStillMax,
		SinceS: orZero(s.StoodStillFromS), TotalUS: s.StoodStillS * 1e6, Delayed: 100 * delayed}}
	switch {
	case of > standstillBound, delayed >= standstillP99 &&
		s.StoodStillMax > max(least, standstillMostP99*p99):
		f.Severity = fact.Error
	case of > standstillSuspect, s.StoodStillMax > max(least, standstillOfP99*p99):
	default:
		return nil
	}
	return &f
}
