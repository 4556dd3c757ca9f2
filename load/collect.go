package load

import (
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"dyno/metric"
)

// handed is what a worker hands over: a snapshot each interval, at last itself.
type handed struct {
	from     int // which worker
	snapshot *metric.Snapshot
	worker   *worker
	err      error
}

// collect adds up what the workers hand over until all have ended.
func (r *run) collect() error {
	pending := map[int]*metric.Snapshot{} // intervals, until all workers have handed them over
	done := make([]int, r.threads)        // intervals that each worker has handed over, or will
	total := metric.NewSnapshot()
	next, running := 0, r.threads
	var workers []*worker
	var failed error
	for running > 0 {
		h := <-r.handed
		if s := h.snapshot; s != nil {
			total.Add(s)
			i := s.Interval
			done[h.from] = i + 1
			if sum := pending[i]; sum == nil {
				pending[i] = s
			} else {
				sum.Add(s)
				r.recycle(s)
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
			r.emit(pending[next])
			r.recycle(pending[next])
			delete(pending, next)
		}
	}
	if failed != nil {
		return failed
	}
	r.conclude(workers, total)
	return nil
}

func (r *run) recycle(s *metric.Snapshot) {
	s.Reset()
	select {
	case r.spare <- s:
	default:
	}
}

// latencies is of how many intervals the result has the latency: an hour of
// them is at most about 40 MB (see metric.Sparse), and more is not kept.
const latencies = 3600

// emit makes an interval of a second's snapshots. The last, of what came after
// the window, is left out when nothing did.
func (r *run) emit(s *metric.Snapshot) {
	if s.Sent+s.Completed+s.Failed+s.Received+s.Written == 0 && s.To-s.From < interval {
		return
	}
	iv := Interval{
		Index: s.Interval, From: time.Duration(s.From), To: time.Duration(s.To),
		Sent: s.Sent, Completed: s.Completed, Failed: s.Failed, InFlight: s.InFlight,
		Received: s.Received, Written: s.Written,
	}
	if l := s.Latency; l.Count > 0 {
		v := l.View()
		iv.Mean, iv.Max = time.Duration(l.Mean()), time.Duration(l.Max)
		iv.P50, iv.P99 = time.Duration(v.Quantile(0.5)), time.Duration(v.Quantile(0.99))
		iv.Latency = l.Sparse()
	}
	r.result.Intervals = append(r.result.Intervals, iv)
	if old := len(r.result.Intervals) - 1 - latencies; old >= 0 {
		r.result.Intervals[old].Latency = metric.Sparse{}
	}
	select {
	case r.shown <- iv:
	default: // nobody looks, or not for long
	}
}

// conclude makes the result of what all workers counted.
func (r *run) conclude(workers []*worker, total *metric.Snapshot) {
	res := r.result
	res.Total, res.Tally = total, newTally()
	notices := map[string]bool{}
	var last, to int64
	from, cpuFrom, cpuTo := int64(notYet), time.Duration(math.MaxInt64), time.Duration(0)
	outage, gone := int64(math.MaxInt64), 0
	for _, w := range workers {
		res.Tally.add(w.tally)
		res.Ring = w.kind
		outage = min(outage, w.tally.Outage) // while one has a connection there is none
		last = max(last, w.lastDone)
		to = max(to, w.now)
		from = min(from, w.from)
		if w.meter.ended {
			cpuFrom, cpuTo = min(cpuFrom, w.meter.cpuFrom), max(cpuTo, w.meter.cpuTo)
		}
		res.Busy = max(res.Busy, w.meter.busy)
		res.Routes = addRoutes(res.Routes, w.routes)
		maps.Copy(notices, w.notice)
		if w.ending == Gone {
			gone++
		} else {
			res.Ended = worse(res.Ended, w.ending)
		}
	}
	res.Outage = outage
	if gone == len(workers) {
		res.Ended = Gone
	} else if gone > 0 {
		r.notice(fmt.Sprintf("%d of %d threads lost all their connections and could open none "+
			"again: from then on the load was that of the others", gone, len(workers)))
	}
	res.CPU = max(cpuTo-cpuFrom, 0)
	res.Failures = sumFailures(workers)
	res.Notices = append(res.Notices, slices.Sorted(maps.Keys(notices))...)
	r.setWindow(from, to, last)
	if len(res.Failures) > 0 {
		res.Cause = res.Failures[0].cause()
	}
}

// sumFailures are those of all workers, the most frequent first.
func sumFailures(workers []*worker) (all []Failure) {
	known := map[failure]*Failure{}
	for _, w := range workers {
		for k, f := range w.errors {
			if known[k] == nil {
				known[k] = &Failure{Phase: f.Phase, Kind: f.Kind, Address: f.Address, Detail: f.Detail}
			}
			known[k].Count += f.Count
		}
	}
	for _, f := range known {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Failure) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(string(a.Phase)+a.Kind+a.Address, string(b.Phase)+b.Kind+b.Address)
	})
	return all
}

// setWindow finds how long was measured: the planned time, or until it ended.
func (r *run) setWindow(from, to, last int64) {
	res := r.result
	if from == notYet {
		return // never began
	}
	res.Warmed = time.Duration(r.plan.Warmup) + time.Duration(min(to-from, 0))
	res.Started = time.Now().Add(-time.Duration(to-from) - time.Duration(r.plan.Warmup))
	switch res.Ended {
	case ByDuration:
		res.Measured = time.Duration(r.plan.Duration)
	case ByRequests:
		res.Measured = time.Duration(last - from)
	default:
		res.Measured = time.Duration(max(to-from, 0))
	}
	if d := time.Duration(r.plan.Duration); d > 0 {
		res.Measured = min(res.Measured, d)
	}
	res.Drained = max(time.Duration(to-from)-res.Measured, 0)
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	for i, end := range gc.PauseEnd {
		if end.After(res.Started.Add(time.Duration(r.plan.Warmup))) {
			res.GCPauseMax = max(res.GCPauseMax, gc.Pause[i])
		}
	}
}

// worse is the ending that says more of the run.
func worse(a, b Ending) Ending {
	order := []Ending{ByRequests, ByDuration, Unreachable, Interrupted}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

func addRoutes(to, from []Route) []Route {
	if to == nil {
		return from
	}
	for i := range from {
		to[i].Completed += from[i].Completed
		to[i].Failed += from[i].Failed
		to[i].Latency.Add(from[i].Latency)
	}
	return to
}

// add adds from to t; failures are added elsewhere.
func (t *Tally) add(from *Tally) {
	t.Opened += from.Opened
	t.Reconnects += from.Reconnects
	t.Served += from.Served
	for name, n := range from.Protocols {
		t.Protocols[name] += n
	}
	t.Room = max(t.Room, from.Room)
	t.TLSFull += from.TLSFull
	t.TLSResumed += from.TLSResumed
	t.Retried += from.Retried
	t.Unfinished += from.Unfinished
	t.Late += from.Late
	t.SentAfter += from.SentAfter
	t.CompletedAfter += from.CompletedAfter
	t.LateMax = max(t.LateMax, from.LateMax)
	t.Waiting += from.Waiting
	if len(t.Stderr) == 0 {
		t.Stderr = from.Stderr
	}
	t.StderrBytes += from.StderrBytes
	t.FirstByte.Add(from.FirstByte)
	t.Connect.Add(from.Connect)
	t.TLS.Add(from.TLS)
	t.Lag.Add(from.Lag)
}
