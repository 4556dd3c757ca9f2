package load

import (
	"time"

	"dyno/internal/engine/ring"
)

// A meter is what the window cost the generator, from its first turn to its
// last: this worker's time, and the CPU time of the process then and then.
type meter struct {
	first, roaming bool // see prepare
	begun, ended   bool
	at, idle       int64
	busy           float64 // share of the time in which there was something to do
	cpuFrom, cpuTo time.Duration

	askedAt, askedIdle int64 // when since was last asked

	queued      time.Duration // of the thread until then, waiting for a CPU
	runs        int64         // how often it then had one
	unscheduled float64       // share of the time in which it waited
	cpuWait     time.Duration // on average, until it ran
	held        standstill    // the first worker's: of all the process
	wait, stop  time.Duration

	wire, wireEnd wire // of HTTP/3: when an interval was last counted, and the window's end
}

// prepare asks for the accounts once, before any load: the first time takes milliseconds.
// The first worker has those of all the process; one of HTTP/3 has none of its thread, for it may
// be another one later.
func (m *meter) prepare(first, roaming bool) {
	m.first, m.roaming = first, roaming
	threadQueued()
	if first {
		readStandstill()
	}
}

// begin is in the window's first turn.
func (m *meter) begin(now, idle int64, g ring.Ring) {
	m.begun, m.at, m.idle, m.cpuFrom = true, now, idle, processCPU()
	m.askedAt, m.askedIdle = m.at, m.idle
	m.queued, m.runs = threadQueued()
	m.wire, _ = wireOf(g)
	if m.first {
		m.held = readStandstill()
	}
}

// end is in the first turn after the window, once.
func (m *meter) end(now, idle int64, g ring.Ring) {
	m.ended, m.cpuTo = true, processCPU()
	m.wireEnd, _ = wireOf(g)
	if took := now - m.at; took > 0 {
		m.busy = 1 - shareOf(idle-m.idle, took)
	}
	if took := now - m.at; took > 0 && !m.roaming {
		queued, runs := threadQueued()
		m.unscheduled = shareOf(int64(queued-m.queued), took)
		m.cpuWait = (queued - m.queued) / time.Duration(max(runs-m.runs, 1))
	}
	if m.first {
		m.wait, m.stop = readStandstill().since(m.held)
	}
}

// shareOf is the share of a time that part of it is, 0 to 1. Part and whole are read one after
// the other, and the thread may lose its CPU between: part can then be more than there is.
func shareOf(part, whole int64) float64 {
	return min(max(float64(part)/float64(whole), 0), 1)
}

// since is the share of the time since it was last asked, or the window's start, in
// which there was something to do.
func (m *meter) since(now, idle int64) (busy float64) {
	if took := now - m.askedAt; m.begun && took > 0 {
		busy = 1 - shareOf(idle-m.askedIdle, took)
	}
	m.askedAt, m.askedIdle = now, idle
	return busy
}
