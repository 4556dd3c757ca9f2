package fleet

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"maps"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A reportedSeconds holds the seconds that an agent has reported, and their sum. Latencies are
// summed in sparse histograms: full ones would take a quarter of a gigabyte for a thousand
// agents. The seconds are kept without latencies, because the final must repeat them. They are
// compressed, because an hour of a thousand agents would take two gigabytes otherwise.
type reportedSeconds struct {
	received, matched int64 // seconds that were reported, and of them found in the final
	nextIndex         int   // the lowest index that the next second may have
	sum               loadresult.Interval
	latency, service  metric.Sparse
	errors            metric.Sparse         // of answers that were errors
	iterations        metric.Sparse         // time of those that completed
	recent            []loadresult.Interval // the last seconds, fewer than packedSeconds
	packed            [][]byte              // those before, packedSeconds in each block
	unpacked          []loadresult.Interval // the block that secondAt has read last
	unpackedBlock     int                   // its number, from 1; 0: none
}

// packedSeconds is how many seconds are compressed together.
const packedSeconds = 60

// addSecond adds a second that checkSecond has accepted. h is scratch space: a new histogram for
// each report would keep the garbage collector busy.
func (t *reportedSeconds) addSecond(iv loadresult.Interval, h *metric.Histogram) {
	t.received, t.nextIndex = t.received+1, iv.Index+1
	t.latency, t.service = addSparse(h, t.latency, iv.Latency), addSparse(h, t.service, iv.Served())
	t.errors = addSparse(h, t.errors, iv.ErrorLatency)
	t.iterations = addSparse(h, t.iterations, iv.IterationTime)
	iv.Latency, iv.Service, iv.ErrorLatency = metric.Sparse{}, metric.Sparse{}, metric.Sparse{}
	iv.IterationTime = metric.Sparse{}
	t.sum.Add(iv)
	iv.Checks = nil // the sum has them
	t.sum.Failures = loadresult.Fewer(t.sum.Failures, failureKindsMax)
	iv.Failures = nil // the sum has them; their text would take most of the memory
	if t.recent = append(t.recent, iv); len(t.recent) == packedSeconds {
		t.packed, t.recent = append(t.packed, packSeconds(t.recent)), nil
	}
}

// secondAt returns the k-th reported second, counted from 0, or nil if there is none.
func (t *reportedSeconds) secondAt(k int64) (*loadresult.Interval, error) {
	if k >= t.received {
		return nil, nil
	}
	at := int(k / packedSeconds)
	if at == len(t.packed) {
		return &t.recent[k%packedSeconds], nil
	}
	if t.unpackedBlock != at+1 {
		some, err := unpackSeconds(t.packed[at])
		if err != nil {
			return nil, fmt.Errorf("reading what an agent reported: %w", err)
		}
		t.unpacked, t.unpackedBlock = some, at+1
	}
	return &t.unpacked[k%packedSeconds], nil
}

// allSeconds returns all reported seconds, without latencies.
func (t *reportedSeconds) allSeconds() (all []loadresult.Interval, err error) {
	for _, b := range t.packed {
		some, err := unpackSeconds(b)
		if err != nil {
			return nil, fmt.Errorf("reading what an agent reported: %w", err)
		}
		all = append(all, some...)
	}
	return append(all, t.recent...), nil
}

// packSeconds compresses intervals, and unpackSeconds reads them again.
func packSeconds(some []loadresult.Interval) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(wire.Encode(some)) // a buffer never fails
	w.Close()
	return bytes.Clone(b.Bytes())
}

func unpackSeconds(b []byte) (some []loadresult.Interval, err error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err == nil {
		err = json.NewDecoder(r).Decode(&some)
	}
	return some, err
}

// addSparse returns the sum of two histograms. h is scratch space.
func addSparse(h *metric.Histogram, a, b metric.Sparse) metric.Sparse {
	if a.Count == 0 {
		return b
	}
	h.Reset()
	h.MergeSparse(a)
	h.MergeSparse(b)
	return h.ToSparse()
}

// matchesTotals reports whether the reports add up to a result of a plan: every count, and every
// bucket of the latencies.
func (t *reportedSeconds) matchesTotals(p *loadplan.Plan, r *result.Result) bool {
	q, s := r.Requests, t.sum
	if s.Sent != q.Sent || s.Completed != q.Completed || s.Failed != q.Errors ||
		s.Early+s.EarlyErrors != q.WarmupInWindow ||
		s.Received != r.Bytes.Received || s.Written != r.Bytes.Sent || s.Bodies != r.Bytes.Bodies {
		return false
	}
	var i result.Iterations
	if r.Iterations != nil {
		i = *r.Iterations
	}
	if s.Iterations != i.Completed || s.IterationsFailed != i.Failed ||
		!sameDistribution(t.iterations, i.Time) || !sameChecks(p.Checks, s.Checks, r.Checks) {
		return false
	}
	status := map[string]int64{}
	for code, n := range s.Status {
		status[fmt.Sprintf("%03d", code)] = n
	}
	if !maps.Equal(status, r.Status) {
		return false
	}
	return sameDistribution(t.latency, r.Latency) && sameDistribution(t.errors, r.ErrorLatency)
}

// sameChecks reports whether the reported outcomes of checks of those names are a result's, which
// leaves some without outcomes out.
func sameChecks(names []string, reported []metric.Outcomes, said []result.CheckCount) bool {
	left := map[string]metric.Outcomes{}
	for i, n := range reported { // no more than there are names: see checkChecks
		o := left[names[i]]
		left[names[i]] = metric.Outcomes{Passed: o.Passed + n.Passed, Failed: o.Failed + n.Failed}
	}
	for _, c := range said {
		o := left[c.Name]
		left[c.Name] = metric.Outcomes{Passed: o.Passed - c.Passed, Failed: o.Failed - c.Failed}
	}
	for _, o := range left {
		if o != (metric.Outcomes{}) {
			return false
		}
	}
	return true
}

// sameDistribution reports whether a reported histogram equals a result's, bucket by bucket.
func sameDistribution(reported metric.Sparse, d *result.Distribution) bool {
	if reported.Count == 0 || d == nil {
		return reported.Count == 0 && d == nil
	}
	h := metric.NewHistogram(metric.Fine)
	h.MergeSparse(reported)
	return h.EncodeHDR() == d.HDR
}

// matchSeries fails unless the seconds of a part of the final equal those reported, in order.
func (t *reportedSeconds) matchSeries(series []result.Point) error {
	for i := range series {
		iv, err := t.secondAt(t.matched)
		if err != nil {
			return err
		}
		if iv == nil {
			return fmt.Errorf("its result has more than the %d seconds that it has reported", t.received)
		}
		said := series[i]
		said.Users = 0 // follows from the plan: the whole load's result has it computed anew
		if !bytes.Equal(wire.Encode(said), wire.Encode(result.PointOf(*iv))) {
			return fmt.Errorf("second %d of its result is not what it has reported of it", t.matched)
		}
		t.matched++
	}
	return nil
}

// unmatchedSeconds returns how many reported seconds are in no part of the final so far.
func (t *reportedSeconds) unmatchedSeconds() int64 { return t.received - t.matched }
