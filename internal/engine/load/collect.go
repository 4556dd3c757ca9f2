package load

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/meter"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/sampling"
	"dyno/internal/fact"
)

// A workerReport is what a worker sends: the counters of an interval, or itself when it has ended.
type workerReport struct {
	from int // which worker
	*metric.Counters
	health failure.Health // of the interval of the counters
	worker *worker
	err    error
}

// collectIntervals adds up what the workers report until all have ended.
func (r *run) collectIntervals() error {
	pending := map[int]*workerReport{} // intervals, added up, that some worker has not published yet
	done := make([]int, r.threads)     // intervals published by each worker; all, once it has ended
	total := metric.NewCounters()
	r.failures = failure.Counts{}
	next, running := 0, r.threads
	var workers []*worker
	var failed error
	for running > 0 {
		h := <-r.reports
		if s := h.Counters; s != nil {
			total.Merge(s)
			i := s.Interval
			done[h.from] = i + 1
			if sum := pending[i]; sum == nil {
				pending[i] = &h
			} else {
				sum.Counters.Merge(s)
				sum.health.Add(h.health)
				r.recycleCounters(s)
			}
		} else {
			running--
			done[h.from] = math.MaxInt // the others do not wait for it
			if h.err != nil {
				failed = h.err
			} else {
				workers = append(workers, h.worker)
			}
		}
		for ; next < slices.Min(done) && pending[next] != nil; next++ {
			r.publishInterval(pending[next])
			r.recycleCounters(pending[next].Counters)
			delete(pending, next)
		}
	}
	if failed != nil {
		return failed
	}
	r.buildResult(workers, total)
	return nil
}

func (r *run) recycleCounters(s *metric.Counters) {
	s.Reset()
	select {
	case r.emptyCounters <- s:
	default:
	}
}

// publishInterval makes the Interval of a second's counters. It leaves out the last one, of the
// time after the window, if nothing happened then.
func (r *run) publishInterval(s *workerReport) {
	r.failures.AddCounts(s.health.Failures)
	nothing := s.EarlyCounts == metric.EarlyCounts{} && s.GoodCounts == metric.GoodCounts{} &&
		(s.Stream == nil || s.Stream.StreamCounts == metric.StreamCounts{}) &&
		s.Sent+s.Completed+s.Failed+s.Received+s.Written+s.Iterations+s.IterationsFailed == 0
	if nothing && s.To < int64(s.Interval+1)*interval {
		return
	}
	iv := loadresult.IntervalOf(s.Counters)
	s.health.WriteTo(&iv)
	r.result.Intervals = append(r.result.Intervals, iv.Kept())
	r.viewer.Show(iv)
}

// buildResult makes the result of what all workers counted.
func (r *run) buildResult(workers []*worker, total *metric.Counters) {
	res := r.result
	res.Total, res.Totals = total, loadresult.NewTotals()
	notices, dismissed := map[fact.Args]bool{}, failure.Counts{}
	var last, end, to int64
	next := int64(flow.NotYet)
	from, cpuFrom, cpuTo := int64(flow.NotYet), time.Duration(math.MaxInt64), time.Duration(0)
	outage, gone, without := int64(math.MaxInt64), 0, loadresult.Unserved
	endWaits(workers, max(total.Latency.Max, total.ErrorLatency.Max))
	for _, w := range workers {
		res.Totals.AddTotals(w.totals)
		res.Ring = w.kind
		outage = min(outage, w.totals.Outage) // there is an outage only while all workers have one
		last = max(last, w.last)
		next = min(next, w.FirstUnrequested(&w.Window))
		end = max(end, min(w.End, w.now))
		to = max(to, w.now)
		from = min(from, w.From)
		if w.meter.Begun {
			res.StartLate = max(res.StartLate, time.Duration(w.meter.At-w.From))
		}
		if w.meter.Ended {
			cpuFrom, cpuTo = min(cpuFrom, w.meter.CPUFrom), max(cpuTo, w.meter.CPUTo)
		}
		res.Busy = max(res.Busy, w.meter.Busy)
		res.Unscheduled = max(res.Unscheduled, w.meter.Unscheduled)
		res.CPUWait = max(res.CPUWait, w.meter.CPUWait)
		res.GoroutineWait = max(res.GoroutineWait, w.meter.Wait)
		res.StopMax = max(res.StopMax, w.meter.Stop)
		res.Routes = loadresult.AddRoutes(res.Routes, w.routes)
		maps.Copy(notices, w.notices)
		dismissed.AddCounts(w.account.ended)
		if w.ending == loadresult.Gone || w.ending == loadresult.Unserved {
			gone++
			without = min(without, w.ending) // gone is worse
		} else {
			res.Ended = loadresult.WorseEnding(res.Ended, w.ending)
		}
	}
	res.Outage = outage
	if gone == len(workers) {
		res.Ended = without
	} else if res.Waited = [63]int64{}; gone > 0 { // the others waited on
		r.addNotice(fact.ThreadsLost{Threads: gone, Of: len(workers)})
	}
	res.LeaveOutEarly()
	res.CPU = max(cpuTo-cpuFrom, 0)
	res.Failures = r.sumFailures(workers)
	res.Samples = sampling.Sum(workers, func(w *worker) *sampling.Sampler { return &w.samples })
	r.addNotices(notices)
	res.Notices = append(res.Notices, dismissed.Dismissals()...)
	if next != flow.NotYet { // open: -R 100 -n 100 measures 1 s, not 0.99 s and one answer's time
		last = max(last, next)
	}
	r.setWindow(from, end, to, last)
	res.Lost = lostAddresses(workers, from)
	res.Busy = max(res.Busy, r.shareOfCPUs())
	r.noteCause(workers)
}

// addNotices adds notices of workers in an order, so that runs which are alike have them alike.
func (r *run) addNotices(all map[fact.Args]bool) {
	order := func(a, b fact.Args) int {
		return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	}
	for _, args := range slices.SortedFunc(maps.Keys(all), order) {
		r.addNotice(args)
	}
}

// noteCause sets what the run ended of, if it did not end by itself: the most frequent failure, or
// a fault of the scenario.
func (r *run) noteCause(workers []*worker) {
	if all := r.result.Failures; len(all) > 0 {
		r.result.Cause = all[0].CauseText()
	}
	for _, w := range workers {
		if w.users != nil && w.users.fault != nil {
			r.result.Ended, r.result.Cause = loadresult.Faulted, w.users.fault.Error()
		}
	}
}

// sumFailures are the failures of all intervals and of the time after the last one.
func (r *run) sumFailures(workers []*worker) []loadresult.Failure {
	for _, w := range workers {
		r.failures.AddCounts(w.errors)
	}
	return r.failures.ByFrequency()
}

// setWindow sets how long was measured: the planned time, or less if the run ended earlier.
func (r *run) setWindow(from, end, to, last int64) {
	res := r.result
	if from == flow.NotYet {
		return // the load never began
	}
	res.Warmed = time.Duration(r.plan.Warmup) + time.Duration(min(to-from, 0))
	res.Started = ring.TimeAt(from - int64(r.plan.Warmup))
	switch res.Ended {
	case loadresult.ByDuration:
		res.Measured = time.Duration(r.plan.Duration)
	case loadresult.ByRequests, loadresult.Stopped:
		res.Measured = time.Duration(last - from)
	default:
		res.Measured = time.Duration(max(end-from, 0))
	}
	if d := time.Duration(r.plan.Duration); d > 0 {
		res.Measured = min(res.Measured, d)
	}
	res.Drained = max(time.Duration(to-from)-res.Measured, 0)
	res.GCPauseMax = meter.LongestGCPause(res.Started.Add(time.Duration(r.plan.Warmup)))
}
