package run

import (
	"context"
	"sync/atomic"

	"dyno/internal/server"
)

// A SharedStage leaves servers running until Close, for experiments with isolation: none. Each arm
// has its own server, and so does the control, because otherwise it could not differ from the
// baseline. A server that died is started again.
type SharedStage struct {
	*Stage
	stands map[string]*sharedStand // by arm
}

// Start starts an arm's server, unless it runs already.
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

// Close stops all servers.
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
	over chan struct{} // closed when no one reads died any more
}

// keepStand also watches a stand between trials.
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

// Died returns a channel that delivers the first failure once.
func (k *sharedStand) Died() <-chan server.Failure { return k.died }

// Stop leaves the server running.
func (k *sharedStand) Stop() server.Report { return server.Report{} }
