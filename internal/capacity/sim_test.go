package capacity

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/machine"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// A queue is a server of one first-come-first-served queue, in virtual time: a run
// of it takes no time, and its waiting times are Lindley's recursion.
type queue struct {
	service  func(r *rand.Rand) float64 // s
	seed     uint64
	runs     int
	failing  float64                                  // share of requests that fail
	breaks   float64                                  // rate from which the server is gone; 0: never
	generate func(r *loadresult.Result, rate float64) // what the generator is to blame for
	seen     func(p loadplan.Plan)                    // each plan
	slow     func(t float64, run int) (s float64)     // besides the service, at an instant
	most     int                                      // connections that the machine has files for; 0: any
	workers  int                                      // of a closed loop; 0: one
	first    time.Duration                            // of streams: from the service's beginning to the first event
}

func constant(d time.Duration) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return d.Seconds() }
}

func exponential(mean time.Duration) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return mean.Seconds() * r.ExpFloat64() }
}

// run is a result.Runner.
func (q *queue) run(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
	q.runs++
	if q.seen != nil {
		q.seen(p)
	}
	if q.most > 0 && p.Connections > q.most {
		return nil, machine.Limit("no more files")
	}
	l := &loadresult.Result{Plan: p, Total: metric.NewCounters(), Started: time.Unix(1e9, 0),
		Ended: loadresult.ByDuration, Totals: loadresult.Totals{ConnectionTotals: loadresult.ConnectionTotals{
			Served: p.Connections, Opened: int64(p.Connections)}}}
	if q.breaks > 0 && p.Rate.PerSecond() >= q.breaks {
		l.Ended, l.Cause = loadresult.Unreachable, "connect: refused"
		return result.From(l, "test")
	}
	w := &window{p: p, l: l, from: time.Duration(p.Warmup).Seconds(),
		long: time.Duration(p.Duration).Seconds()}
	if p.Open() {
		q.open(w)
	} else {
		q.closed(w)
	}
	for i := range w.seconds {
		if ctx.Err() != nil {
			l.Ended, l.Measured = loadresult.Interrupted, time.Duration(i)*time.Second
			break
		}
		w.emit(i, each)
	}
	if q.generate != nil {
		q.generate(l, p.Rate.PerSecond())
	}
	return result.From(l, "test")
}

// open lets requests arrive.
func (q *queue) open(w *window) {
	r := rand.New(rand.NewPCG(q.seed, uint64(q.runs)))
	w.l.Measured = time.Duration(w.p.Duration)
	var left []float64 // when requests left, of all that arrived
	for due, k := 0.0, 0; due < w.from+w.long; k++ {
		sent, begin := due, due
		if k > 0 {
			begin = max(due, left[k-1])
		}
		if c := w.p.Connections; k >= c {
			sent = max(due, left[k-c]) // in order of arrival, they leave in it too
		}
		if q.slow != nil {
			begin += q.slow(begin-w.from, q.runs)
		}
		done := begin + q.service(r)
		left = append(left, done)
		w.count(due, sent, done, done, r.Float64() < q.failing)
		if w.p.Arrival == loadplan.Poisson {
			due += r.ExpFloat64() / w.p.Rate.PerSecond()
		} else {
			due = float64(k+1) / w.p.Rate.PerSecond()
		}
	}
}

// closed keeps all connections busy, with as many requests in flight on each as it has room for.
func (q *queue) closed(w *window) {
	r := rand.New(rand.NewPCG(q.seed, uint64(q.runs)))
	w.l.Measured = time.Duration(w.p.Duration)
	clients := float64(w.p.Connections * w.p.Depth())
	workers := min(float64(max(q.workers, 1)), clients)
	for at, due := 0.0, 0.0; at < w.from+w.long || w.p.Stream.IsSet() && due < w.from+w.long; {
		took := q.service(r)
		at += took / workers
		due = at - clients*took/workers
		w.count(due, due, at-took+q.first.Seconds(), at, false)
	}
}

// A window counts what was due in it.
type window struct {
	p          loadplan.Plan
	l          *loadresult.Result
	from, long float64
	seconds    []*metric.Counters
}

func (w *window) second(at float64) *metric.Counters {
	i := int(min(at-w.from, w.long+1e-9)) // all that is after the window in one
	if at-w.from >= w.long {
		i = int(math.Ceil(w.long))
	}
	for len(w.seconds) <= max(i, int(math.Ceil(w.long))) {
		w.seconds = append(w.seconds,
			&metric.Counters{Latency: metric.NewHistogram(metric.Fine), Service: w.l.Total.Service,
				ErrorLatency: w.l.Total.ErrorLatency})
	}
	return w.seconds[max(i, 0)]
}

func (w *window) count(due, sent, first, done float64, fails bool) {
	end := w.from + w.long
	if due < w.from || due >= end {
		return
	}
	limit := end + time.Duration(w.p.Drain).Seconds()
	if sent >= limit {
		w.l.Waiting++
		return
	}
	w.l.LateMax = max(w.l.LateMax, int64((sent-due)*1e9))
	w.second(sent).Sent++
	if sent >= end {
		w.l.SentAfter++
	}
	if done >= limit {
		w.l.Unfinished++
		return
	}
	s := w.second(done)
	if fails {
		s.Failed++
		return
	}
	s.Completed++
	s.Latency.Record(int64((done - due) * 1e9))
	if w.p.Stream.IsSet() {
		s.CountStreams()
		s.Stream.First.Record(int64((first - due) * 1e9))
		s.Stream.Eventful++
	}
}

func (w *window) emit(i int, each func(loadresult.Interval)) {
	s := w.seconds[i]
	from := time.Duration(i) * time.Second
	s.To = int64(from + time.Second)
	w.l.Total.Merge(s)
	iv := loadresult.Interval{Index: i, From: min(from, w.l.Measured), To: from + time.Second, Sent: s.Sent,
		Completed: s.Completed, Failed: s.Failed, Latency: s.Latency.ToSparse()}
	iv.Stream = s.Stream.ToSparse()
	each(iv)
}
