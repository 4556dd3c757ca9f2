package load

import (
	"context"
	"sync"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// runProbed runs p and its probe: two loads that begin at the same instant and share nothing. The
// probe ends when the main load ends, if not before.
func runProbed(ctx context.Context, p loadplan.Plan, meet Barrier, shares <-chan Share,
	each func(loadresult.Interval)) (*loadresult.Result, error) {
	both := &rendezvous{missing: 2, barrier: meet, open: make(chan struct{})}
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	var probe *loadresult.Result
	var failed error
	var group sync.WaitGroup
	light := p.ProbePlan()
	if p.Ceiling > 0 { // the main load gets what the probe does not need
		p.Ceiling = max(p.Ceiling-p.Probe, 1)
	}
	group.Go(func() {
		party := &rendezvousParty{rendezvous: both}
		defer party.leaveMissing()
		r := &run{plan: light, cpusSkipped: p.Threads}
		probe, failed = r.execute(within, party.awaitOthers)
	})
	party := &rendezvousParty{rendezvous: both}
	r := &run{plan: p, each: each, shares: shares}
	main, err := r.execute(ctx, party.awaitOthers)
	if err != nil || main.Ended != loadresult.ByDuration { // else the probe's drain ends it
		end(loadresult.ErrAborted)
	}
	party.leaveMissing()
	group.Wait()
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	main.Probe = probe
	return main, nil
}

// A rendezvous is the barrier of the loads of one process: a load and its probe wait for each
// other, and then for the outer barrier, if there is one.
type rendezvous struct {
	barrier Barrier // nil: there is no outer barrier

	mu      sync.Mutex
	missing int           // loads that have neither arrived nor ended
	open    chan struct{} // closed when missing is 0
	once    sync.Once
	start   time.Time
}

// A rendezvousParty is one of these loads.
type rendezvousParty struct {
	*rendezvous
	once sync.Once
}

// leaveMissing reports that this load has arrived or ended, so that the others do not wait for it.
func (p *rendezvousParty) leaveMissing() {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.missing--; p.missing == 0 {
			close(p.open)
		}
	})
}

// awaitOthers is this load's Barrier.
func (p *rendezvousParty) awaitOthers(ctx context.Context) time.Time {
	p.leaveMissing()
	select {
	case <-p.open:
	case <-ctx.Done():
		return time.Now()
	}
	p.rendezvous.once.Do(func() {
		p.start = time.Now().Add(2 * time.Duration(startLead))
		if p.rendezvous.barrier != nil {
			p.start = p.rendezvous.barrier(ctx)
		}
	})
	return p.start
}
