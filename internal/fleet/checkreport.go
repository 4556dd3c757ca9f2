package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
)

// What no agent can do in a second, however large its machine. Reports are checked before they
// are added to those of others: an agent may be wrong by as much as a machine can do, but not by
// any amount, and its final must repeat its reports.
const (
	countPerSecondMax = 10 * loadplan.MaxRate
	bytesPerSecondMax = 1 << 40
)

// Limits of the failures in a report: how many kinds, besides one of each phase for the rest; how
// many bytes of text in one; and how many bytes of detail an agent sends of one and of all. In
// JSON a byte of detail can become six, and a message has wire.MessageMax.
const (
	failureKindsMax = loadresult.ReportedKinds
	failureTextMax  = 4 << 10
)

// eventsMost is how many of the bits of a sum are for seconds, of which each can have as many
// events: eleven days.
const eventsMost = 20

// A plausibleMax is the most that an agent can have counted, in all and up to an instant. Sums
// over all agents stay far below 2⁶³.
type plausibleMax struct {
	sum     int64         // of one agent
	elapsed time.Duration // since the window began, with what a clock may be wrong by
	checks  int           // of the plan
}

// currentMax returns what an agent can have counted up to now, and maxAt up to an instant of the
// controller's clock.
func (r *fleetRun) currentMax() plausibleMax { return r.maxAt(r.clock.currentReading()) }

func (r *fleetRun) maxAt(now int64) plausibleMax {
	window := now - r.start - int64(r.plan.Warmup)
	return plausibleMax{math.MaxInt64 / 4 / int64(max(len(r.members), 1)),
		time.Duration(window + window/driftRatio + int64(Lease)), len(r.plan.Checks)}
}

// checkSecond returns why a reported second cannot be true after those before it, or nil. Each
// completed request must have its latency, and each answer that was an error too, which is one of
// the failed requests.
func checkSecond(t *loadresult.Tally, iv *loadresult.Interval, m plausibleMax) error {
	no := errors.New
	switch wrong := countFailures(iv.Failures, loadresult.Expect, loadresult.Check); {
	case iv.Index < t.Next || iv.Index > int(max(m.elapsed, 0)/time.Second):
		return fmt.Errorf("it is of second %d, and comes after %d others and %v", iv.Index, t.Count,
			max(m.elapsed, 0).Round(time.Second))
	case iv.From < 0 || iv.From > iv.To || iv.To > m.elapsed:
		return no("it is of a time that has not come")
	case iv.Latency.Count != iv.Completed || iv.ErrorLatency.Count != wrong || wrong > iv.Failed ||
		iv.Service.Count != 0 && iv.Service.Count != iv.Completed:
		return fmt.Errorf("%d completed, %d failed, and there are %d and %d latencies", iv.Completed,
			iv.Failed, iv.Latency.Count, iv.ErrorLatency.Count)
	case iv.IterationTime.Count != iv.Iterations:
		return fmt.Errorf("%d iterations completed, and there are %d times", iv.Iterations,
			iv.IterationTime.Count)
	case !iv.Latency.HasBuckets(metric.Fine) || !iv.Service.HasBuckets(metric.Fine) ||
		!iv.ErrorLatency.HasBuckets(metric.Fine) || !iv.IterationTime.HasBuckets(metric.Fine):
		return no("its histograms are of another kind")
	case iv.Busy < 0 || iv.Busy > 1 || iv.LagMax < 0 || iv.LagMax > m.elapsed:
		return no("it was busy for less than no time, or for more than there was")
	}
	if err := cmp.Or(checkCounts(t, iv, m), iv.Stream.Check(m.sum>>eventsMost)); err != nil {
		return err
	}
	if iv.Events < 0 || iv.Events > m.sum-t.Events {
		return fmt.Errorf("%d events in %v", iv.Events, iv.To-iv.From)
	}
	s := t
	if done := s.Completed + s.Failed + iv.Completed + iv.Failed; done > s.Sent+iv.Sent {
		return fmt.Errorf("%d requests came to an end, and %d were sent", done, s.Sent+iv.Sent)
	}
	return errors.Join(checkStatuses(iv), checkFailures(iv.Failures))
}

// checkCounts fails if a count of a second is negative or larger than a machine can make it.
func checkCounts(s *loadresult.Tally, iv *loadresult.Interval, m plausibleMax) error {
	seconds := int64((iv.To-iv.From)/time.Second) + 2
	for _, c := range []struct {
		what   string
		n, sum int64
		each   int64 // at most, in a second
	}{
		{"sent", iv.Sent, s.Sent, countPerSecondMax},
		{"completed", iv.Completed, s.Completed, countPerSecondMax},
		{"failed", iv.Failed, s.Failed, countPerSecondMax},
		{"answered of the warm-up's", iv.Early, s.Early, countPerSecondMax},
		{"errors of the warm-up's", iv.EarlyErrors, s.EarlyErrors, countPerSecondMax},
		{"iterations completed of the warm-up's", iv.EarlyIterations, s.EarlyIterations,
			countPerSecondMax},
		{"good", iv.Good, s.Good, countPerSecondMax},
		{"good in the window", iv.GoodEnded, s.GoodEnded, countPerSecondMax},
		{"iterations completed", iv.Iterations, s.Iterations, countPerSecondMax},
		{"iterations failed", iv.IterationsFailed, s.IterationsFailed, countPerSecondMax},
		{"in flight", iv.InFlight, s.InFlight, countPerSecondMax},
		{"bytes received", iv.Received, s.Received, bytesPerSecondMax},
		{"bytes of bodies", iv.Bodies, s.Bodies, bytesPerSecondMax},
		{"bytes sent", iv.Written, s.Written, bytesPerSecondMax},
	} {
		if most := min(m.sum-c.sum, c.each*min(seconds, m.sum/bytesPerSecondMax)); c.n < 0 || c.n > most {
			return fmt.Errorf("%d %s in %v", c.n, c.what, iv.To-iv.From)
		}
	}
	return checkChecks(s, iv, m, seconds)
}

// checkChecks fails if the outcomes of checks in a second are of others than the plan's, negative
// or more than a machine can have.
func checkChecks(t *loadresult.Tally, iv *loadresult.Interval, m plausibleMax,
	seconds int64) error {
	if len(iv.Checks) > m.checks {
		return fmt.Errorf("outcomes of %d checks, and the plan has %d", len(iv.Checks), m.checks)
	}
	most := min(m.sum, countPerSecondMax*min(seconds, m.sum/bytesPerSecondMax))
	for i, c := range iv.Checks {
		var sum metric.Outcomes
		if i < len(t.Checks) {
			sum = t.Checks[i]
		}
		for _, n := range []struct{ now, sum int64 }{{c.Passed, sum.Passed}, {c.Failed, sum.Failed}} {
			if n.now < 0 || n.now > min(most, m.sum-n.sum) {
				return fmt.Errorf("%d outcomes of a check in %v", n.now, iv.To-iv.From)
			}
		}
	}
	return nil
}

// checkStatuses fails if the statuses of a second cannot be true.
func checkStatuses(iv *loadresult.Interval) error {
	answers := int64(0)
	for code, n := range iv.Status {
		if code >= metric.Statuses || n < 0 || n > iv.Completed+iv.Failed-answers {
			return fmt.Errorf("%d answers with status %d", n, code)
		}
		answers += n
	}
	return nil
}

// checkFailures fails if there are more failures than an agent tells, or of another kind.
func checkFailures(all []loadresult.Failure) error {
	if len(all) > failureKindsMax+len(loadresult.Phases) {
		return fmt.Errorf("%d ways to fail", len(all))
	}
	for _, f := range all {
		if !slices.Contains(loadresult.Phases, f.Phase) {
			return fmt.Errorf("a failure in the phase %q", wire.Readable(string(f.Phase)))
		}
		if n := f.MemorySize(); f.Count < 0 || f.Count > math.MaxInt64>>eventsMost || n > failureTextMax {
			return fmt.Errorf("%d failures, of which it says %d bytes", f.Count, n)
		}
	}
	return nil
}

// countFailures returns how many of the requests that were sent failed in some phases; below 0 if
// that overflows.
func countFailures(all []loadresult.Failure, phases ...loadresult.Phase) (n int64) {
	for _, f := range all {
		if !slices.Contains(phases, f.Phase) || loadresult.IsRefusal(f.Phase, f.Kind, f.Address) {
			continue
		}
		if f.Count < 0 || f.Count > math.MaxInt64-n {
			return -1
		}
		n += f.Count
	}
	return n
}
