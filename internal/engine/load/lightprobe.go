package load

import (
	"context"
	"sync"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/rendezvous"
)

// runProbed runs p and its probe: two loads that begin at the same instant and share nothing. The
// probe ends when the main load ends, if not before.
func runProbed(ctx context.Context, p loadplan.Plan, meet Barrier, shares <-chan Share,
	each func(loadresult.Interval)) (*loadresult.Result, error) {
	both := rendezvous.New(2, 2*time.Duration(rendezvous.StartLead), meet)
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	var probe *loadresult.Result
	var failed error
	var group sync.WaitGroup
	light := p.ProbePlan()
	if p.OwnerLimit > 0 { // the main load gets what the probe does not need
		p.OwnerLimit = max(p.OwnerLimit-p.Probe, 1)
	}
	group.Go(func() {
		party := both.Party()
		defer party.Leave()
		r := &run{plan: light, cpusSkipped: p.Threads}
		probe, failed = r.execute(within, party.AwaitOthers)
	})
	party := both.Party()
	r := &run{plan: p, each: each, shares: shares}
	main, err := r.execute(ctx, party.AwaitOthers)
	if err != nil || main.Ended != loadresult.ByDuration { // else the probe's drain ends it
		end(loadresult.ErrAborted)
	}
	party.Leave()
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
