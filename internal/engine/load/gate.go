package load

import (
	"context"
	"sync/atomic"

	"dyno/internal/engine/ring"
)

// A gate is what the workers of a run know of each other: that all of them
// have their connections, when the load begins, and when it is broken off.
// Nobody writes to it while there is load, but when the load's share changes.
type gate struct {
	unsettled atomic.Int32            // workers that still wait for connections
	opened    atomic.Int64            // connections, at the first attempt
	start     atomic.Int64            // of the load; notYet: not known
	stop      atomic.Int64            // the run was interrupted then; 0: it was not
	share     atomic.Pointer[reshare] // the last that changed; nil: the plan's

	settled chan struct{} // closed when all are, and others say the start; nil: nobody does
}

// unreachable is the start of a load that cannot begin.
const unreachable = -1

// startLead lets every worker see the start before it comes.
const startLead = int64(2e6)

func newGate(workers int) *gate {
	g := &gate{}
	g.unsettled.Store(int32(workers))
	g.start.Store(notYet)
	return g
}

// workerConnected says that a worker's first attempts have ended, now, opening so many
// connections. The last to say it starts the load.
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

// holdForBarrier leaves it to meet when the load begins, until the function that it returns
// is called.
func (g *gate) holdForBarrier(ctx context.Context, meet Barrier) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	g.settled = make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-g.settled:
			at := meet(ctx)
			g.start.Store(max(ring.ClockAt(at), ring.Clock()+startLead))
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
