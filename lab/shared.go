package lab

import (
	"context"

	"dyno/server"
)

// A Shared stage leaves servers up until Close, for experiments that say
// isolation: none. Each variant is started once, when it is first wanted.
type Shared struct {
	*Stage
	stands map[string]Stand
}

// Start starts a variant, unless it is up.
func (g *Shared) Start(ctx context.Context, s Setting) (Stand, error) {
	if up := g.stands[s.Variant.Name]; up != nil {
		return kept{up}, nil
	}
	stand, err := g.Stage.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	if g.stands == nil {
		g.stands = map[string]Stand{}
	}
	g.stands[s.Variant.Name] = stand
	return kept{stand}, nil
}

// Close stops all.
func (g *Shared) Close() {
	for _, s := range g.stands {
		s.Stop()
	}
	g.stands = nil
}

// kept is a Stand that outlives its trial.
type kept struct{ Stand }

// Stop leaves it up.
func (kept) Stop() server.Report { return server.Report{} }
