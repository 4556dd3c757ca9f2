package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/machine"
	"dyno/internal/fleet/wire"
)

// An orderInPieces is a sealed order of which pieces are missing.
type orderInPieces struct {
	of          wire.RunRef
	from        string
	nextPiece   int
	data        []byte
	lastPieceAt time.Time // when the last piece came
}

// receivePlanPiece appends a piece of an order. Pieces come in order; if one is missing, the
// order is dropped.
func (s *agentService) receivePlanPiece(p wire.Piece) {
	if p.Index == 0 {
		s.pendingOrder = orderInPieces{of: p.RunRef, from: p.From}
	}
	c := &s.pendingOrder
	switch {
	case p.RunRef != c.of || p.From != c.from: // another order has begun since
		return
	case p.Index != c.nextPiece || p.Index >= p.Count || len(c.data)+len(p.Data) > wire.BundleMax:
		s.pendingOrder = orderInPieces{}
		return
	}
	c.data, c.lastPieceAt = append(c.data, p.Data...), time.Now()
	if c.nextPiece++; c.nextPiece < p.Count {
		return
	}
	whole := *c
	s.pendingOrder = orderInPieces{}
	s.considerOrder(whole.of, whole.data, whole.from)
}

// considerOrder decides whether the agent carries out a sealed order, and answers. It decides in
// a goroutine, because looking up names may take a while.
func (s *agentService) considerOrder(of wire.RunRef, sealed []byte, from string) {
	refuse := func(why string) {
		s.logIgnored("refused", errors.New(why), time.Now())
		s.publishEvent(wire.OrderAnswered, wire.Answer{RunRef: wire.RunRef{Run: of.Run, Epoch: s.epoch},
			Refused: why})
	}
	switch {
	case s.WatchOnly:
		refuse("it only watches")
		return
	case of.Epoch != s.epoch:
		refuse("the plan is for a life of this agent that is over")
		return
	case s.isBusy(time.Now()):
		refuse("it is busy with another run")
		return
	}
	j := &job{RunRef: of, heardAt: time.Now(), lastNumbers: map[string]int64{},
		begin: make(chan time.Time, 1), shards: make(chan load.Share, queuedShardsMax)}
	j.ctx, j.cancel = context.WithCancelCause(context.Background()) // stopJob cancels it
	s.job = j
	s.goroutines.Go(func() {
		o, plan, err := s.checkOrder(j, sealed, from)
		s.callInLoop(func() {
			now := s.clock.currentReading()
			given, good := s.nonces.IssuedAt(o.Nonce, now)
			if err == nil && !good {
				err = errors.New("the plan is no answer to what this agent said of late: somebody has " +
					"kept it")
			} else if err == nil { // a nonce is good once
				s.nonces.Void = now
			}
			if s.job != j || j.ctx.Err() != nil { // it was stopped meanwhile
				return
			}
			if err != nil {
				s.job = nil
				refuse(strings.ReplaceAll(err.Error(), "\n", "; "))
				return
			}
			j.plan, j.mayReshard, j.stage = plan, o.MayReshard, stageAccepted
			j.age = ageBound{given - o.HelloHeardAt, given}
			s.publishEvent(wire.OrderAnswered, wire.Answer{RunRef: j.runRef(s)})
		})
	})
}

// partThreads returns how many threads an agent uses for its part, which has so many for a load.
func partThreads(p loadplan.Plan, has int) int {
	p.Threads = max(min(has, p.Connections), 1)
	p.FitThreads()
	return p.Threads
}

// checkOrder opens an order and returns its plan with the addresses that may be loaded. The error
// is why the agent refuses it. The nonce is checked elsewhere.
func (s *agentService) checkOrder(j *job, sealed []byte, from string) (
	o wire.Order, p loadplan.Plan, err error) {
	o, p, err = wire.OpenOrder(sealed, from, s.key, s.Verify)
	switch {
	case err != nil:
		return o, p, err
	case o.Agent != s.Name || o.RunRef != j.RunRef:
		return o, p, errors.New("the plan was made for another agent or another run")
	case o.Version != s.dynoVersion():
		return o, p, fmt.Errorf("it is dyno %s, and the controller %s: both must be the same",
			s.dynoVersion(), o.Version)
	case o.Geometry != wire.Geometry():
		return o, p, fmt.Errorf("its plans and results are of %s, and the controller's of %s: both must "+
			"be the same build", wire.Geometry(), o.Geometry)
	}
	if !o.Threads {
		p.Threads = partThreads(p, machine.Threads())
	}
	if err := p.Check(); err != nil {
		return o, p, err
	}
	most := p
	if o.MayReshard { // its shard can become the whole plan
		most.Part, most.Parts, most.Weights = 0, 0, nil
	}
	most, err = s.currentPolicy().Authorize(j.ctx, most, s.Lookup)
	p.Addresses, p.OwnerLimit = most.Addresses, most.OwnerLimit
	p.TellScenario(nil)
	return o, p, err
}
