package rendezvous

import (
	"context"
	"sync/atomic"
	"time"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/ring"
)

// A Gate is what the workers of a run share: whether all are connected, when the load begins, and
// when it is interrupted. Nothing is written to it while there is load, except a change of the
// load's share.
//
// The load begins when every first connect has ended, TLS included, with success or without. So
// handshakes do not distort the first second, and a target that cannot be reached is known before
// the first request.
type Gate struct {
	unsettled atomic.Int32                 // workers that are still connecting
	opened    atomic.Int64                 // connections, at the first attempt
	Start     atomic.Int64                 // of the load; flow.NotYet: not known
	Stop      atomic.Int64                 // when the run was interrupted; 0: it was not
	Share     atomic.Pointer[flow.Reshare] // the last change; nil: the plan's share

	settled chan struct{} // closed when no worker is connecting; nil: without a barrier
}

// Unreachable is the start of a load that could open no connection.
const Unreachable = -1

// StartLead is how far ahead the start lies when it is set, in ns, so that every worker sees it in
// time.
const StartLead = int64(2e6)

// NewGate is the gate of so many workers.
func NewGate(workers int) *Gate {
	g := &Gate{}
	g.unsettled.Store(int32(workers))
	g.Start.Store(flow.NotYet)
	return g
}

// WorkerConnected reports that a worker's first attempts ended now with that many connections open.
// The last worker's report sets the start, or begins the wait at the barrier.
func (g *Gate) WorkerConnected(opened int, now int64, workers int) {
	g.opened.Add(int64(opened))
	if g.unsettled.Add(-1) > 0 {
		return
	}
	switch {
	case g.opened.Load() == 0:
		g.Start.Store(Unreachable)
	case g.settled != nil:
		close(g.settled)
	case workers == 1:
		g.Start.Store(now)
	default:
		g.Start.Store(now + StartLead)
	}
}

// HoldForBarrier has the barrier set the start. The function that it returns ends the wait.
func (g *Gate) HoldForBarrier(ctx context.Context,
	meet func(context.Context) time.Time) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	g.settled = make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-g.settled:
			at := meet(ctx)
			// Workers may hear of the end later than of a start, and would send until then.
			if ctx.Err() == nil {
				g.Start.Store(max(ring.ClockAt(at), ring.Clock()+StartLead))
			}
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
