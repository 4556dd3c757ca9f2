package fleet

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"maps"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// reportedSeconds is what an agent's reports add up to. Latencies are kept sparse: a thousand
// agents' histograms would be a quarter of a gigabyte. The seconds are kept, without them,
// for a final has to have the same: packed, for an hour of a thousand agents would be two
// gigabytes else.
type reportedSeconds struct {
	received, matched int64 // seconds that were reported, and of them found in the final
	nextIndex         int   // the lowest index that the next may have
	sum               load.Interval
	latency, service  metric.Sparse
	errors            metric.Sparse   // of answers that were errors
	recent            []load.Interval // the last ones
	packed            [][]byte        // those before, as pack packs them, packedEach in each
	unpacked          []load.Interval // what is in the one of packed before open
	unpackedBlock     int
}

// packedSeconds is how many seconds are packed together.
const packedSeconds = 60

// addSecond counts a report that is sound. h is to calculate with: a new one for each report
// would be the garbage collector's only business.
func (t *reportedSeconds) addSecond(iv load.Interval, h *metric.Histogram) {
	t.received, t.nextIndex = t.received+1, iv.Index+1
	t.latency, t.service = addSparse(h, t.latency, iv.Latency), addSparse(h, t.service, iv.Served())
	t.errors = addSparse(h, t.errors, iv.ErrorLatency)
	iv.Latency, iv.Service, iv.ErrorLatency = metric.Sparse{}, metric.Sparse{}, metric.Sparse{}
	t.sum.Add(iv)
	t.sum.Failures = load.Fewer(t.sum.Failures, failureKindsMax)
	iv.Failures = nil // the sum has them; their text, of each second, would be most of what is kept
	if t.recent = append(t.recent, iv); len(t.recent) == packedSeconds {
		t.packed, t.recent = append(t.packed, packSeconds(t.recent)), nil
	}
}

// secondAt is the one that was reported as the k-th, from 0 on; nil if there is none.
func (t *reportedSeconds) secondAt(k int64) (*load.Interval, error) {
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

// allSeconds are all that are kept.
func (t *reportedSeconds) allSeconds() (all []load.Interval, err error) {
	for _, b := range t.packed {
		some, err := unpackSeconds(b)
		if err != nil {
			return nil, fmt.Errorf("reading what an agent reported: %w", err)
		}
		all = append(all, some...)
	}
	return append(all, t.recent...), nil
}

// packSeconds makes intervals small, and unpack reads them again.
func packSeconds(some []load.Interval) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(wire.Encode(some)) // a buffer takes all
	w.Close()
	return bytes.Clone(b.Bytes())
}

func unpackSeconds(b []byte) (some []load.Interval, err error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err == nil {
		err = json.NewDecoder(r).Decode(&some)
	}
	return some, err
}

// addSparse is what both counted.
func addSparse(h *metric.Histogram, a, b metric.Sparse) metric.Sparse {
	if a.Count == 0 {
		return b
	}
	h.Reset()
	h.AddSparse(a)
	h.AddSparse(b)
	return h.Sparse()
}

// matchesTotals reports whether the reports add up to a result: every count, and every bucket of
// the latencies.
func (t *reportedSeconds) matchesTotals(r *result.Result) bool {
	q, s := r.Requests, t.sum
	if s.Sent != q.Sent || s.Completed != q.Completed || s.Failed != q.Errors ||
		s.Received != r.Bytes.Received || s.Written != r.Bytes.Sent {
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

// sameDistribution reports whether what was reported is, bucket by bucket, a result's distribution.
func sameDistribution(reported metric.Sparse, d *result.Distribution) bool {
	if reported.Count == 0 || d == nil {
		return reported.Count == 0 && d == nil
	}
	h := metric.NewHistogram(metric.Fine)
	h.AddSparse(reported)
	text, err := h.Encode()
	return err == nil && text == d.HDR
}

// matchSeries is why seconds of a final are not those that were reported, which come in the same
// order.
func (t *reportedSeconds) matchSeries(series []result.Point) error {
	for i := range series {
		iv, err := t.secondAt(t.matched)
		if err != nil {
			return err
		}
		if iv == nil {
			return fmt.Errorf("its result has more than the %d seconds that it has reported", t.received)
		}
		if !bytes.Equal(wire.Encode(series[i]), wire.Encode(result.PointOf(*iv))) {
			return fmt.Errorf("second %d of its result is not what it has reported of it", t.matched)
		}
		t.matched++
	}
	return nil
}

// unmatchedSeconds is how many seconds that were reported no part of the final has had yet.
func (t *reportedSeconds) unmatchedSeconds() int64 { return t.received - t.matched }
