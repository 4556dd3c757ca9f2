package transport

import (
	"context"
	"sync"
	"time"

	"dyno/internal/engine/dial"
	"dyno/internal/engine/loadplan"
)

// Follow begins to look the name of p up each ResolveEvery, beside its load, until stop is called.
// Of a plan without that it returns nil, and nothing is looked up.
func Follow(ctx context.Context, p *loadplan.Plan) (f *dial.Following, stop func()) {
	if p.ResolveEvery == 0 {
		return nil, func() {}
	}
	f = new(dial.Following)
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(time.Duration(p.ResolveEvery))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				lookUp(ctx, f, p)
			}
		}
	})
	return f, func() { cancel(); group.Wait() }
}

// lookUp looks the name up once.
func lookUp(ctx context.Context, f *dial.Following, p *loadplan.Plan) {
	all, _, err := ResolveTarget(ctx, p)
	if err == nil {
		all, _, err = SpreadOverSources(p, all)
	}
	if ctx.Err() != nil {
		return
	}
	if f.Done.Add(1); err != nil || len(all) == 0 {
		f.Lost.Add(1)
		return
	}
	f.Found.Store(&all)
}
