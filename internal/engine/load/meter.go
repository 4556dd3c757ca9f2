package load

import (
	"time"

	"dyno/internal/engine/machine"
	"dyno/internal/engine/ring"
)

// A meter measures what the window cost the generator, from its first turn to its last: this
// worker's busy time, and the CPU time of the process.
type meter struct {
	ofProcess, roaming bool // see readOnce
	begun, ended       bool
	at, idle           int64
	busy               float64 // share of the window in which there was something to do
	cpuFrom, cpuTo     time.Duration

	askedAt, askedIdle int64 // at the last call of busySince

	queued      time.Duration         // what the thread had waited for a CPU at the window's start
	runs        int64                 // how often it had got one
	unscheduled float64               // share of the window in which it waited
	cpuWait     time.Duration         // mean wait until it ran
	pauses      machine.RuntimePauses // of the whole process; the first worker reads them
	wait, stop  time.Duration

	quic, quicEnd quicBytes // HTTP/3: at the last count of an interval, and at the window's end
}

// readOnce reads the accounts once before any load, because the first time takes milliseconds. The
// first worker measures the whole process too. A worker of HTTP/3 is roaming: its thread may
// change, so its waits for a CPU are not measured.
func (m *meter) readOnce(first, roaming bool) {
	m.ofProcess, m.roaming = first, roaming
	machine.ThreadQueued()
	if first {
		machine.ReadRuntimePauses()
	}
}

// beginWindow is called in the window's first turn.
func (m *meter) beginWindow(now, idle int64, g ring.Ring) {
	m.begun, m.at, m.idle, m.cpuFrom = true, now, idle, machine.ProcessCPU()
	m.askedAt, m.askedIdle = m.at, m.idle
	m.queued, m.runs = machine.ThreadQueued()
	m.quic, _ = quicBytesOf(g)
	if m.ofProcess {
		m.pauses = machine.ReadRuntimePauses()
	}
}

// endWindow is called once, in the first turn after the window.
func (m *meter) endWindow(now, idle int64, g ring.Ring) {
	m.ended, m.cpuTo = true, machine.ProcessCPU()
	m.quicEnd, _ = quicBytesOf(g)
	if took := now - m.at; took > 0 {
		m.busy = 1 - fraction(idle-m.idle, took)
	}
	if took := now - m.at; took > 0 && !m.roaming {
		queued, runs := machine.ThreadQueued()
		m.unscheduled = fraction(int64(queued-m.queued), took)
		m.cpuWait = (queued - m.queued) / time.Duration(max(runs-m.runs, 1))
	}
	if m.ofProcess {
		m.wait, m.stop = machine.ReadRuntimePauses().GrowthSince(m.pauses)
	}
}

// fraction is part/whole, limited to 0 to 1: the two are read one after the other, and if the
// thread loses its CPU in between, part may exceed whole.
func fraction(part, whole int64) float64 {
	return min(max(float64(part)/float64(whole), 0), 1)
}

// busySince is the share of the time since its last call, or since the window's start, in which
// there was something to do.
func (m *meter) busySince(now, idle int64) (busy float64) {
	if took := now - m.askedAt; m.begun && took > 0 {
		busy = 1 - fraction(idle-m.askedIdle, took)
	}
	m.askedAt, m.askedIdle = now, idle
	return busy
}
