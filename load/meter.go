package load

import "time"

// A meter is what the window cost the generator, from its first turn to its
// last: this worker's time, and the CPU time of the process then and then.
type meter struct {
	begun, ended   bool
	at, idle       int64
	busy           float64 // share of the time in which there was something to do
	cpuFrom, cpuTo time.Duration
}

func (m *meter) begin(w *worker) {
	if m.begun {
		return
	}
	m.begun, m.at, m.idle, m.cpuFrom = true, w.now, w.ring.Idle(), processCPU()
}

func (m *meter) end(w *worker) {
	if !m.begun || m.ended {
		return
	}
	m.ended, m.cpuTo = true, processCPU()
	if took := w.now - m.at; took > 0 {
		m.busy = 1 - float64(w.ring.Idle()-m.idle)/float64(took)
	}
}
