package run

import (
	"context"
	"sync/atomic"

	"dyno/internal/server"
)

// A SharedStage stage leaves servers up until Close, for experiments that say
// isolation: none. Each arm has its own, the control too, or its difference from
// the baseline would be none. One that has died is started again.
type SharedStage struct {
	*Stage
	stands map[string]*sharedStand // by arm
}

// Start starts an arm's server, unless it is up.
func (g *SharedStage) Start(ctx context.Context, s Setting) (Stand, error) {
	if s.Aside {
		return g.Stage.Start(ctx, s)
	}
	if up := g.stands[s.Arm]; up != nil {
		if !up.dead.Load() {
			return up, nil
		}
		up.Stand.Stop()
		delete(g.stands, s.Arm)
	}
	stand, err := g.Stage.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	if g.stands == nil {
		g.stands = map[string]*sharedStand{}
	}
	up := keepStand(stand)
	g.stands[s.Arm] = up
	return up, nil
}

// Close stops all.
func (g *SharedStage) Close() {
	for _, up := range g.stands {
		close(up.over)
		up.Stand.Stop()
	}
	g.stands = nil
}

// sharedStand is a Stand that outlives its trial.
type sharedStand struct {
	Stand
	dead atomic.Bool
	died chan server.Failure
	over chan struct{} // closed when nobody wants to know any more
}

// keepStand watches over a stand between trials too.
func keepStand(stand Stand) *sharedStand {
	k := &sharedStand{Stand: stand, died: make(chan server.Failure, 1), over: make(chan struct{})}
	go func() {
		select {
		case f := <-stand.Died():
			k.dead.Store(true)
			k.died <- f
		case <-k.over:
		}
	}()
	return k
}

// Died tells of the first failure, to whoever asks first.
func (k *sharedStand) Died() <-chan server.Failure { return k.died }

// Stop leaves it up.
func (k *sharedStand) Stop() server.Report { return server.Report{} }
