package fleet

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// ticks is what an agent's reports add up to. Latencies are kept sparse: a thousand
// agents' histograms would be a quarter of a gigabyte. The seconds are kept, without them,
// for a final has to have the same: packed, for an hour of a thousand agents would be two
// gigabytes else.
type ticks struct {
	taken, matched   int64 // seconds that were reported, and of them found in the final
	next             int   // the lowest index that the next may have
	sum              load.Interval
	latency, service metric.Sparse
	errors           metric.Sparse   // of answers that were errors
	kept             []load.Interval // the last ones
	packed           [][]byte        // those before, as pack packs them, packedEach in each
	opened           []load.Interval // what is in the one of packed before open
	open             int
}

// packedEach is how many seconds are packed together.
const packedEach = 60

// add counts a report that is sound. h is to calculate with: a new one for each report would be
// the garbage collector's only business.
func (t *ticks) add(iv load.Interval, h *metric.Histogram) {
	t.taken, t.next = t.taken+1, iv.Index+1
	t.latency, t.service = plus(h, t.latency, iv.Latency), plus(h, t.service, iv.Served())
	t.errors = plus(h, t.errors, iv.ErrorLatency)
	iv.Latency, iv.Service, iv.ErrorLatency = metric.Sparse{}, metric.Sparse{}, metric.Sparse{}
	t.sum.Add(iv)
	t.sum.Failures = load.Fewer(t.sum.Failures, waysMost)
	iv.Failures = nil // the sum has them; their text, of each second, would be most of what is kept
	if t.kept = append(t.kept, iv); len(t.kept) == packedEach {
		t.packed, t.kept = append(t.packed, pack(t.kept)), nil
	}
}

// second is the one that was reported as the k-th, from 0 on; nil if there is none.
func (t *ticks) second(k int64) (*load.Interval, error) {
	if k >= t.taken {
		return nil, nil
	}
	at := int(k / packedEach)
	if at == len(t.packed) {
		return &t.kept[k%packedEach], nil
	}
	if t.open != at+1 {
		some, err := unpack(t.packed[at])
		if err != nil {
			return nil, fmt.Errorf("reading what an agent reported: %w", err)
		}
		t.opened, t.open = some, at+1
	}
	return &t.opened[k%packedEach], nil
}

// seconds are all that are kept.
func (t *ticks) seconds() (all []load.Interval, err error) {
	for _, b := range t.packed {
		some, err := unpack(b)
		if err != nil {
			return nil, fmt.Errorf("reading what an agent reported: %w", err)
		}
		all = append(all, some...)
	}
	return append(all, t.kept...), nil
}

// pack makes intervals small, and unpack reads them again.
func pack(some []load.Interval) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(wire.Encode(some)) // a buffer takes all
	w.Close()
	return bytes.Clone(b.Bytes())
}

func unpack(b []byte) (some []load.Interval, err error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err == nil {
		err = json.NewDecoder(r).Decode(&some)
	}
	return some, err
}

// plus is what both counted.
func plus(h *metric.Histogram, a, b metric.Sparse) metric.Sparse {
	if a.Count == 0 {
		return b
	}
	h.Reset()
	h.AddSparse(a)
	h.AddSparse(b)
	return h.Sparse()
}

// addUpTo reports whether the reports add up to a result: every count, and every bucket of
// the latencies.
func (t *ticks) addUpTo(r *result.Result) bool {
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
	return same(t.latency, r.Latency) && same(t.errors, r.ErrorLatency)
}

// same reports whether what was reported is, bucket by bucket, a result's distribution.
func same(reported metric.Sparse, d *result.Distribution) bool {
	if reported.Count == 0 || d == nil {
		return reported.Count == 0 && d == nil
	}
	h := metric.NewHistogram(metric.Fine)
	h.AddSparse(reported)
	text, err := h.Encode()
	return err == nil && text == d.HDR
}

// asResult is what the reports say of an agent that did not say more: all that was reported,
// and of what was under way nothing is known, nor of its connections and threads: none is asked
// of it.
func (t *ticks) asResult(p load.Plan) (*result.Result, error) {
	total := metric.NewSnapshot()
	s := t.sum
	total.Sent, total.Completed, total.Failed = s.Sent, s.Completed, s.Failed
	total.Received, total.Written = s.Received, s.Written
	for code, n := range s.Status {
		if int(code) < metric.Statuses {
			total.Status[code] = n
		}
	}
	total.Latency.AddSparse(t.latency)
	total.Service.AddSparse(t.service)
	total.ErrorLatency.AddSparse(t.errors)
	measured := s.To
	if d := time.Duration(p.Duration); d > 0 {
		measured = min(measured, d)
	}
	seconds, err := t.seconds()
	if err != nil {
		return nil, err
	}
	r := &load.Result{Plan: p, Ended: load.Lost, Total: total, Measured: measured,
		Warmed: time.Duration(p.Warmup), Intervals: seconds}
	r.Unfinished, r.Failures = max(s.Sent-s.Completed-s.Failed, 0), s.Failures
	part, err := result.From(r, load.Version)
	if err == nil {
		part.Connections = result.Connections{}
	}
	return part, err
}

// conclude makes one result of all that the agents measured.
func (r *running) conclude() (*result.Result, error) {
	f := &result.Fleet{Run: r.id, OnAgentLoss: r.on}
	begun := 0 // agents of which it is known when
	var all []*result.Result
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, m := range r.members {
		r.trust(m)
		part, a, err := r.account(m)
		if err != nil {
			return nil, err
		}
		if a.Late != nil {
			at := r.start + int64(*a.Late*1e3)
			first, last = min(first, at), max(last, at)
			begun++
		}
		f.OffsetBound = max(f.OffsetBound, a.OffsetBound)
		f.DriftBound = max(f.DriftBound, float64(m.drift.bound)/1e3)
		f.Covered += a.Covered
		all = append(all, part)
		f.Agents = append(f.Agents, a)
	}
	abandoned(all, f.Agents)
	whole, err := result.Merge(all)
	if err != nil {
		return nil, err
	}
	if begun > 1 || begun == len(r.members) {
		spread := float64(last-first) / 1e3
		f.StartSpread = &spread
	}
	planned := whole.Window.MeasuredS
	if d := time.Duration(r.plan.Duration); d > 0 && r.plan.Requested == 0 {
		planned = d.Seconds()
	}
	f.Planned = planned * float64(len(r.members))
	f.Rebalanced = r.changes
	whole.Plan.Addresses = r.plan.Addresses
	whole.SetIntervalPercentiles(r.seconds)
	if r.lost { // and the others were stopped for that
		whole.Ended = string(load.Lost)
	}
	whole.SetFleet(f)
	return whole, nil
}

// abandoned notes which agents had no connection any more while others went on: they are as
// good as lost. If it is so with all, that is what was measured.
func abandoned(all []*result.Result, agents []result.Agent) {
	without := func(r *result.Result) bool {
		return r.Ended == string(load.Gone) || r.Ended == string(load.Unreachable)
	}
	onward := func(r *result.Result) bool { return !without(r) && r.Ended != string(load.Lost) }
	if !slices.ContainsFunc(all, onward) {
		return
	}
	for i, r := range all {
		if without(r) {
			agents[i].Lost = fmt.Sprintf("no connection of it could be opened (%s)", r.Cause)
			agents[i].LostAfter = &r.Window.MeasuredS
			r.Ended, r.Cause = string(load.Lost), ""
		}
	}
}

// account is what is known of a member's part.
func (r *running) account(m *member) (*result.Result, result.Agent, error) {
	a := result.Agent{Name: m.name, Host: m.hello.Host, Weight: m.hello.Weight,
		Connections: m.part.Connections, ClockOff: math.Round(m.off.Seconds()*1e3) / 1e3,
		Reports: m.ticks.taken, Repeated: m.repeated, Lost: m.lost}
	if m.lost != "" {
		after := m.lostAt.Seconds()
		a.LostAfter = &after
	}
	if m.offset != unknown() {
		a.OffsetBound = float64(m.offset.bound) / 1e3
	}
	if m.drift.known {
		gone := float64(m.drift.gone) / 1e3
		a.Drift = &gone
	}
	if part := m.own; part != nil {
		if m.lost != "" { // no reason why the run ended while others went on
			part.Ended = string(load.Lost)
		}
		if part.Window.MeasuredS > 0 {
			late := float64(m.begun(r)-r.start+m.final.Late) / 1e3
			a.Late = &late
		}
		agree := true // or it would not be its own
		a.Final, a.AddsUp, a.Requests, a.Covered = true, &agree, part.Requests, part.Window.MeasuredS
		a.Threads = part.Generator.Threads
		return part, a, nil
	}
	part, err := m.ticks.asResult(m.part)
	if err != nil { // what it has reported is of no use either
		part, err = new(ticks).asResult(m.part)
	}
	if err != nil {
		return nil, a, err
	}
	part.Window.Started = r.clock.at(r.start).UTC()
	a.Requests, a.Covered, a.Threads = part.Requests, part.Window.MeasuredS, part.Generator.Threads
	return part, a, nil
}
