package judge

import (
	"math"
	"slices"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/design"
	"dyno/internal/stats"
)

// queueFactor is how many times as many requests in flight make a cheaper server suspicious.
// Servers that handle each request when it arrives differ by less at a load below their capacity.
const queueFactor = 1.5

// frontierOf is the frontier of the open levels that differ in their rate alone; nil if there are
// too few. verdicts are those of the whole experiment.
func frontierOf(r *lab.Record, cells byCell, verdicts []lab.Comparison) *lab.Frontier {
	ladder := design.Ladder(r.Experiment.Levels)
	if ladder == nil {
		return nil
	}
	f := &lab.Frontier{}
	for _, l := range ladder {
		f.Levels, f.Rates = append(f.Levels, l.Name), append(f.Rates, float64(l.Rate))
	}
	for _, c := range verdicts {
		if q, is := queueOf(c, cells); is && slices.Contains(f.Levels, c.Level) {
			f.Queues = append(f.Queues, q)
		}
	}
	return f
}

// queueOf is the Queue of a comparison of CPU time, if it is one: the verdict is that one arm is
// cheaper, and the interval of the ratio of requests in flight, of rounds in pairs, lies above
// queueFactor.
func queueOf(c lab.Comparison, cells byCell) (lab.Queue, bool) {
	if c.Metric != lab.CPU.Name || c.Control || c.Factor != "" || c.Verdict != stats.Different {
		return lab.Queue{}, false
	}
	q := lab.Queue{Level: c.Level, Arm: c.Variant, Than: c.Baseline,
		CPU: stats.Interval{Low: c.Low, Estimate: c.Ratio, High: c.High, Level: c.Confidence}}
	if c.Ratio > 1 {
		q.Arm, q.Than, q.CPU = c.Baseline, c.Variant, inverse(q.CPU)
	}
	m, _ := lab.MeasureNamed(lab.InFlight)
	p := pairArms(cells, m, c.Level, q.Than, q.Arm)
	v, err := stats.HodgesLehmann(p.logs, lab.Confidence)
	if err != nil || !lab.Holds(v) {
		return lab.Queue{}, false
	}
	q.InFlight = stats.Interval{Low: math.Exp(v.Low), Estimate: math.Exp(v.Estimate),
		High: math.Exp(v.High), Level: v.Level}
	return q, q.InFlight.Low > queueFactor && p.Bound.Shows(q.InFlight.Low)
}

// inverse is the interval of the inverse of a ratio.
func inverse(v stats.Interval) stats.Interval {
	return stats.Interval{Low: 1 / v.High, Estimate: 1 / v.Estimate, High: 1 / v.Low, Level: v.Level}
}

// queueCautions are one for each arm that is cheaper because it queues, with the level at which the
// queue is longest against the other's.
func queueCautions(r *lab.Record) (all []fact.Fact) {
	if r.Frontier == nil {
		return nil
	}
	var said []string
	for _, q := range r.Frontier.Queues {
		if slices.Contains(said, q.Arm) {
			continue
		}
		said = append(said, q.Arm)
		for _, o := range r.Frontier.Queues {
			if o.Arm == q.Arm && o.InFlight.Estimate > q.InFlight.Estimate {
				q = o
			}
		}
		all = append(all, warn(fact.CheaperByQueue{Than: q.Than, Less: 100 * (1 - q.CPU.Estimate),
			InFlight: q.InFlight.Estimate, Low: q.InFlight.Low, High: q.InFlight.High},
			fact.Scope{Variant: q.Arm, Level: q.Level}))
	}
	return all
}
