package load

import (
	"context"
	"sync/atomic"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/ring"
)

// A gate is what the workers of a run share: whether all are connected, when the load begins, and
// when it is interrupted. Nothing is written to it while there is load, except a change of the
// load's share.
//
// The load begins when every first connect has ended, TLS included, with success or without. So
// handshakes do not distort the first second, and a target that cannot be reached is known before
// the first request.
type gate struct {
	unsettled atomic.Int32                 // workers that are still connecting
	opened    atomic.Int64                 // connections, at the first attempt
	start     atomic.Int64                 // of the load; flow.NotYet: not known
	stop      atomic.Int64                 // when the run was interrupted; 0: it was not
	share     atomic.Pointer[flow.Reshare] // the last change; nil: the plan's share

	settled chan struct{} // closed when no worker is connecting; nil: without a barrier
}

// unreachable is the start of a load that could open no connection.
const unreachable = -1

// startLead is how far ahead the start lies when it is set, in ns, so that every worker sees it in
// time.
const startLead = int64(2e6)

func newGate(workers int) *gate {
	g := &gate{}
	g.unsettled.Store(int32(workers))
	g.start.Store(flow.NotYet)
	return g
}

// workerConnected reports that a worker's first attempts ended now with that many connections open.
// The last worker's report sets the start, or begins the wait at the barrier.
func (g *gate) workerConnected(opened int, now int64, workers int) {
	g.opened.Add(int64(opened))
	if g.unsettled.Add(-1) > 0 {
		return
	}
	switch {
	case g.opened.Load() == 0:
		g.start.Store(unreachable)
	case g.settled != nil:
		close(g.settled)
	case workers == 1:
		g.start.Store(now)
	default:
		g.start.Store(now + startLead)
	}
}

// holdForBarrier has the barrier set the start. The function that it returns ends the wait.
func (g *gate) holdForBarrier(ctx context.Context, meet Barrier) (release func()) {
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
				g.start.Store(max(ring.ClockAt(at), ring.Clock()+startLead))
			}
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
