package load

import "time"

// A meter is what the window cost the generator, from its first turn to its
// last: this worker's time, and the CPU time of the process then and then.
type meter struct {
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
func (m *meter) prepare(w *worker) {
	threadQueued()
	if w.id == 0 {
		readStandstill()
	}
}

func (m *meter) begin(w *worker) {
	if m.begun {
		return
	}
	m.begun, m.at, m.idle, m.cpuFrom = true, w.now, w.idled(), processCPU()
	m.askedAt, m.askedIdle = m.at, m.idle
	m.queued, m.runs = threadQueued()
	m.wire, _ = wireOf(w.ring)
	if w.id == 0 {
		m.held = readStandstill()
	}
}

func (m *meter) end(w *worker) {
	if !m.begun || m.ended {
		return
	}
	m.ended, m.cpuTo = true, processCPU()
	m.wireEnd, _ = wireOf(w.ring)
	if took := w.now - m.at; took > 0 {
		m.busy = 1 - shareOf(w.idled()-m.idle, took)
	}
	if took := w.now - m.at; took > 0 && w.speech.http3 == nil { // else it may be another thread now
		queued, runs := threadQueued()
		m.unscheduled = shareOf(int64(queued-m.queued), took)
		m.cpuWait = (queued - m.queued) / time.Duration(max(runs-m.runs, 1))
	}
	if w.id == 0 {
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
func (m *meter) since(w *worker) (busy float64) {
	idle := w.idled()
	if took := w.now - m.askedAt; m.begun && took > 0 {
		busy = 1 - shareOf(idle-m.askedIdle, took)
	}
	m.askedAt, m.askedIdle = w.now, idle
	return busy
}
