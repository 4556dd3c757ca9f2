// Package meter measures what the window of a load cost the generator, and when its threads stood
// still.
//
//	meter.go        CPU time, and waits for it
//	standstill.go   time in which a thread was stopped
package meter

import (
	"runtime/debug"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/machine"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

// A Meter measures what the window cost the generator, from its first turn to its last: this
// worker's busy time, and the CPU time of the process.
type Meter struct {
	ofProcess, roaming bool // see ReadOnce
	Begun, Ended       bool
	At, idle           int64
	Busy               float64 // share of the window in which there was something to do
	CPUFrom, CPUTo     time.Duration

	askedAt, askedIdle int64 // at the last call of BusySince

	queued      time.Duration         // what the thread had waited for a CPU at the window's start
	runs        int64                 // how often it had got one
	Unscheduled float64               // share of the window in which it waited
	CPUWait     time.Duration         // mean wait until it ran
	pauses      machine.RuntimePauses // of the whole process; the first worker reads them
	Wait, Stop  time.Duration

	quic, quicEnd quicBytes // HTTP/3: at the last count of an interval, and at the window's end
}

// ReadOnce reads the accounts once before any load, because the first time takes milliseconds. The
// first worker measures the whole process too. A worker of HTTP/3 is roaming: its thread may
// change, so its waits for a CPU are not measured.
func (m *Meter) ReadOnce(first, roaming bool) {
	m.ofProcess, m.roaming = first, roaming
	machine.ThreadQueued()
	if first {
		machine.ReadRuntimePauses()
	}
}

// BeginWindow is called in the window's first turn.
func (m *Meter) BeginWindow(now, idle int64, g ring.Ring) {
	m.Begun, m.At, m.idle, m.CPUFrom = true, now, idle, machine.ProcessCPU()
	m.askedAt, m.askedIdle = m.At, m.idle
	m.queued, m.runs = machine.ThreadQueued()
	m.quic, _ = quicBytesOf(g)
	if m.ofProcess {
		m.pauses = machine.ReadRuntimePauses()
	}
}

// EndWindow is called once, in the first turn after the window.
func (m *Meter) EndWindow(now, idle int64, g ring.Ring) {
	m.Ended, m.CPUTo = true, machine.ProcessCPU()
	m.quicEnd, _ = quicBytesOf(g)
	if took := now - m.At; took > 0 {
		m.Busy = 1 - fraction(idle-m.idle, took)
	}
	if took := now - m.At; took > 0 && !m.roaming {
		queued, runs := machine.ThreadQueued()
		m.Unscheduled = fraction(int64(queued-m.queued), took)
		m.CPUWait = (queued - m.queued) / time.Duration(max(runs-m.runs, 1))
	}
	if m.ofProcess {
		m.Wait, m.Stop = machine.ReadRuntimePauses().GrowthSince(m.pauses)
	}
}

// fraction is part/whole, limited to 0 to 1: the two are read one after the other, and if the
// thread loses its CPU in between, part may exceed whole.
func fraction(part, whole int64) float64 {
	return min(max(float64(part)/float64(whole), 0), 1)
}

// BusySince is the share of the time since its last call, or since the window's start, in which
// there was something to do.
func (m *Meter) BusySince(now, idle int64) (busy float64) {
	if took := now - m.askedAt; m.Begun && took > 0 {
		busy = 1 - fraction(idle-m.askedIdle, took)
	}
	m.askedAt, m.askedIdle = now, idle
	return busy
}

// A quicBytes is how many bytes QUIC has received and sent. They do not pass through the worker.
type quicBytes struct{ received, sent int64 }

// quicBytesOf returns the bytes of a ring of HTTP/3; ok is false for another ring.
func quicBytesOf(g ring.Ring) (now quicBytes, ok bool) {
	q, ok := g.(*h3.Ring)
	if ok {
		now.received, now.sent = q.Traffic()
	}
	return now, ok
}

// CountQUICBytes adds the bytes of QUIC to an interval. The worker itself sees only the records of
// its ring.
func (m *Meter) CountQUICBytes(g ring.Ring, count *metric.Counters) {
	now, ok := quicBytesOf(g)
	if !ok {
		return
	}
	if m.Ended {
		now = m.quicEnd
	}
	count.Received, count.Written = now.received-m.quic.received, now.sent-m.quic.sent
	m.quic = now
}

// LongestGCPause is the longest pause for the garbage collector that ended behind an instant, as
// far as the runtime remembers them.
func LongestGCPause(from time.Time) (longest time.Duration) {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	for i, end := range gc.PauseEnd {
		if end.After(from) {
			longest = max(longest, gc.Pause[i])
		}
	}
	return longest
}
