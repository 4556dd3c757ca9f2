package load

import (
	"time"

	"dyno/ring"
)

// A meter is what the window cost the generator: from its first turn to its
// last, of this worker and, for the first worker, of the process.
type meter struct {
	begun, ended bool
	at, idle     int64
	cpuAt        time.Duration

	busy float64 // share of the time in which there was something to do
	cpu  time.Duration
}

func (m *meter) begin(w *worker) {
	if m.begun {
		return
	}
	m.begun, m.at, m.idle = true, w.now, w.ring.Idle()
	if w.id == 0 {
		m.cpuAt = processCPU()
	}
}

func (m *meter) end(w *worker) {
	if !m.begun || m.ended {
		return
	}
	m.ended = true
	if took := w.now - m.at; took > 0 {
		m.busy = 1 - float64(w.ring.Idle()-m.idle)/float64(took)
	}
	if w.id == 0 {
		m.cpu = processCPU() - m.cpuAt
	}
}

func (r *run) ringKind() string {
	if r.plan.Ring == "auto" {
		return ring.Kinds[0]
	}
	return r.plan.Ring
}
