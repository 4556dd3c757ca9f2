package load

import (
	"bytes"
	"encoding/gob"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/metric"
)

// Pack is a plan with all that is in it, for a generator in another process: its JSON
// leaves out what is not for the eyes of people. A scenario that is Go code cannot be packed.
func Pack(p Plan) ([]byte, error) {
	if p.Scenario != nil {
		return nil, errors.New("a scenario that is Go code runs in this process alone")
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(p)
	return b.Bytes(), err
}

// Unpack reads what Pack wrote.
func Unpack(b []byte) (p Plan, err error) {
	err = gob.NewDecoder(bytes.NewReader(b)).Decode(&p)
	return p, err
}

// How many intervals wait for one that falls behind, and how many bytes of what was measured
// in them: a generator that is silent, or says what it likes, must not fill the memory.
const (
	pendingMost  = 64
	pendingBytes = 32 << 20
)

// Together calls each with the intervals of n generators that load at once, in order,
// once it has one of all that still measure. It is told of each interval, in its
// generator's order, and of a nil one when there will be no more. Where one is more than
// 64 intervals behind, or 32 MiB wait for it, the oldest is shown without it, and what it
// says of that later is not.
func Together(n int, each func(Interval)) func(from int, iv *Interval) {
	done := make([]int, n) // intervals that each has measured, or will
	pending := map[int][]Interval{}
	next, bytes := 0, 0
	show := func() {
		for i := range pending[next] {
			bytes -= pending[next][i].memorySize()
		}
		each(Sum(pending[next]))
		delete(pending, next)
		next++
	}
	return func(from int, iv *Interval) {
		switch {
		case iv == nil:
			done[from] = math.MaxInt
		case iv.Index >= next:
			done[from] = iv.Index + 1
			pending[iv.Index] = append(pending[iv.Index], *iv)
			bytes += iv.memorySize()
		}
		for next < slices.Min(done) && pending[next] != nil {
			show()
		}
		for len(pending) > pendingMost || bytes > pendingBytes {
			next = slices.Min(slices.Collect(maps.Keys(pending)))
			show()
		}
	}
}

// memorySize is about how many bytes of memory an interval takes.
func (iv *Interval) memorySize() int {
	const each = 128 // of what it has several of
	n := iv.Latency.Size() + iv.Service.Size() + iv.ErrorLatency.Size() +
		each*(1+len(iv.Failures)+len(iv.Status)) + 16*len(iv.Heat)
	for _, f := range iv.Failures {
		n += len(f.Phase) + len(f.Kind) + len(f.Address) + len(f.Detail)
	}
	return n
}

// Sum makes one interval of those of several generators, with the percentiles of all
// that they completed.
func Sum(parts []Interval) Interval {
	sum := parts[0]
	if len(parts) == 1 {
		return sum
	}
	sum.Status = nil
	sum.addStatuses(parts[0])
	latency, service := metric.NewHistogram(metric.Fine), metric.NewHistogram(metric.Fine)
	errors := metric.NewHistogram(metric.Fine)
	latency.AddSparse(sum.Latency)
	service.AddSparse(sum.Served())
	errors.AddSparse(sum.ErrorLatency)
	differ := sum.Service.Count > 0
	for _, part := range parts[1:] {
		sum.Add(part)
		latency.AddSparse(part.Latency)
		service.AddSparse(part.Served())
		errors.AddSparse(part.ErrorLatency)
		differ = differ || part.Service.Count > 0
	}
	if sum.Latency = latency.Sparse(); differ {
		sum.Service = service.Sparse()
	}
	sum.ErrorLatency = errors.Sparse()
	sum.measureFrom(sum.Latency)
	return sum
}

// Served is the service time of what completed, also where it equals latency.
func (iv *Interval) Served() metric.Sparse {
	if iv.Service.Count == 0 {
		return iv.Latency
	}
	return iv.Service
}

// measureFrom reads from what was completed in an interval what is told of it.
func (iv *Interval) measureFrom(latency metric.Sparse) {
	iv.Mean, iv.P50, iv.P99, iv.Max, iv.Heat = 0, 0, 0, 0, nil
	if latency.Count == 0 {
		return
	}
	iv.Mean, iv.Max = time.Duration(latency.Mean()), time.Duration(latency.Max)
	iv.P50, iv.P99 = time.Duration(latency.Quantile(0.5)), time.Duration(latency.Quantile(0.99))
	iv.Heat = latency.Heat()
}

// Measure reads what is told of an interval's latencies from Latency, for one that somebody else
// has told.
func (iv *Interval) Measure() { iv.measureFrom(iv.Latency) }

// Add adds up what is counted in two intervals. What was measured is not: see Sum.
func (iv *Interval) Add(part Interval) {
	iv.From, iv.To = min(iv.From, part.From), max(iv.To, part.To)
	iv.Sent += part.Sent
	iv.Completed += part.Completed
	iv.Failed += part.Failed
	iv.InFlight += part.InFlight
	iv.Received += part.Received
	iv.Written += part.Written
	iv.addStatuses(part)
	iv.Failures = mergeFailures(iv.Failures, part.Failures)
	iv.Busy, iv.LagMax = max(iv.Busy, part.Busy), max(iv.LagMax, part.LagMax)
}

func (iv *Interval) addStatuses(part Interval) {
	for code, n := range part.Status {
		if iv.Status == nil {
			iv.Status = map[uint16]int64{}
		}
		iv.Status[code] += n
	}
}
