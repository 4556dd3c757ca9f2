// Package rendezvous has the threads of a load begin at the same instant (gate.go), and the loads
// of one process (rendezvous.go).
package rendezvous

import (
	"context"
	"sync"
	"time"
)

// A Rendezvous is the barrier of the loads of one process: a load and its probe wait for each
// other, and then for the outer barrier, if there is one.
type Rendezvous struct {
	outer func(ctx context.Context) time.Time // nil: there is none
	lead  time.Duration                       // how far ahead the start lies without it

	mu      sync.Mutex
	missing int           // loads that have neither arrived nor ended
	open    chan struct{} // closed when missing is 0
	once    sync.Once
	start   time.Time
}

// New is the rendezvous of so many loads.
func New(loads int, lead time.Duration, outer func(ctx context.Context) time.Time) *Rendezvous {
	return &Rendezvous{outer: outer, lead: lead, missing: loads, open: make(chan struct{})}
}

// A Party is one of these loads.
type Party struct {
	of   *Rendezvous
	once sync.Once
}

// Party is one of the loads.
func (r *Rendezvous) Party() *Party { return &Party{of: r} }

// Leave reports that this load has arrived or ended, so that the others do not wait for it.
func (p *Party) Leave() {
	p.once.Do(func() {
		p.of.mu.Lock()
		defer p.of.mu.Unlock()
		if p.of.missing--; p.of.missing == 0 {
			close(p.of.open)
		}
	})
}

// AwaitOthers is when all begin, once all have arrived.
func (p *Party) AwaitOthers(ctx context.Context) time.Time {
	p.Leave()
	select {
	case <-p.of.open:
	case <-ctx.Done():
		return time.Now()
	}
	p.of.once.Do(func() {
		p.of.start = time.Now().Add(p.of.lead)
		if p.of.outer != nil {
			p.of.start = p.of.outer(ctx)
		}
	})
	return p.of.start
}
