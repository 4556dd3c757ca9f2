package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A jobStage is how far a job has come.
type jobStage int

const (
	stageOrdered jobStage = iota
	stageAccepted
	stageConnecting
	stageBarrier // at the barrier
	stageLoading
	stagePackingFinal // the load is over, and what it measured is being packed
	stageFinished     // and all of it has been packed
)

// A job is an agent's part in a run.
type job struct {
	wire.RunRef
	stage   jobStage
	plan    load.Plan
	heardAt time.Time // the controller, by what it signed

	lastNumbers map[string]int64 // of the last instruction of each verb: a Beat may overtake others
	age         ageBound

	ctx        context.Context
	cancel     context.CancelCauseFunc
	begin      chan time.Time // one: when the load begins
	start      time.Time      // that
	mayReshard bool           // its share may become larger
	shards     chan load.Share
	stopReason string // it was stopped
	spool      spool
}

func (j *job) isOver() bool { return j.stage >= stagePackingFinal }

// runRef is what the agent's messages belong to.
func (j *job) runRef(s *agentService) wire.RunRef { return wire.RunRef{Run: j.Run, Epoch: s.epoch} }

// A orderInPieces is a sealed order of which not all pieces have come.
type orderInPieces struct {
	of          wire.RunRef
	from        string
	nextPiece   int
	data        []byte
	lastPieceAt time.Time // the last piece
}

// receivePlanPiece takes a piece of an order. Pieces come in order, or not all of them do.
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

// considerOrder decides whether the agent does as a sealed order says, and answers. It may take
// a while, for names are looked up.
func (s *agentService) considerOrder(of wire.RunRef, sealed []byte, from string) {
	refuse := func(why string) {
		s.logIgnored("refused", errors.New(why), time.Now())
		s.publishEvent(wire.OrderAnswered, wire.Answer{RunRef: wire.RunRef{Run: of.Run, Epoch: s.epoch}, Refused: why})
	}
	switch {
	case s.WatchOnly:
		refuse("it only watches")
		return
	case of.Epoch != s.epoch:
		refuse("the plan is for a life of this agent that is over")
		return
	case s.job != nil && !s.job.isOver():
		refuse("it is busy with another run")
		return
	}
	j := &job{RunRef: of, heardAt: time.Now(), lastNumbers: map[string]int64{},
		begin: make(chan time.Time, 1), shards: make(chan load.Share, queuedShardsMax)}
	j.ctx, j.cancel = context.WithCancelCause(context.Background()) // end stops it
	s.job = j
	s.goroutines.Go(func() {
		o, plan, err := s.checkOrder(j, sealed, from)
		s.callInLoop(func() {
			now := s.clock.currentReading()
			given, good := s.nonces.IssuedAt(o.Nonce, now)
			if err == nil && !good {
				err = errors.New("the plan is no answer to what this agent said of late: somebody has " +
					"kept it")
			} else if err == nil { // once
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

// queuedShardsMax is how many changes of its share an agent keeps that its load has not made.
const queuedShardsMax = 16

// checkOrder opens an order and says why the agent would not carry out its plan, but for its nonce.
func (s *agentService) checkOrder(j *job, sealed []byte, from string) (o wire.Order, p load.Plan, err error) {
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
		return o, p, fmt.Errorf("its histograms are of %s, and the controller's of %s",
			wire.Geometry(), o.Geometry)
	}
	if !o.Threads {
		p.Threads = max(min(load.Threads(), p.Connections), 1)
	}
	if err := p.Check(); err != nil {
		return o, p, err
	}
	most := p
	if o.MayReshard { // of all, if the others end
		most.Part, most.Parts, most.Weights = 0, 0, nil
	}
	most, err = s.currentPolicy().Authorize(j.ctx, most, s.Lookup)
	p.Addresses, p.Ceiling = most.Addresses, most.Ceiling
	return o, p, err
}

// openConnections opens the connections, and has the load begin when it is told to.
func (s *agentService) openConnections() error {
	j := s.job
	if j.stage != stageAccepted {
		return errWrongStage
	}
	j.stage = stageConnecting
	s.logLine("run %s: loads %s", j.Run, describeLoad(j.plan))
	s.goroutines.Go(func() {
		ctx := j.ctx
		if d := s.currentPolicy().MaxDuration; d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			defer cancel()
		}
		plan := j.plan
		if s.ChooseRing != nil {
			plan.Ring = s.ChooseRing(plan)
		}
		r, err := load.RunShared(ctx, plan, func(ctx context.Context) time.Time {
			s.callInLoop(func() { s.reachBarrier(j) })
			select {
			case at := <-j.begin:
				return at
			case <-ctx.Done():
				return time.Time{}
			}
		}, j.shards, func(iv load.Interval) {
			iv.Failures = fewerFailures(iv.Failures)
			s.callInLoop(func() { s.queueReport(j, wire.Report{RunRef: j.runRef(s), Tick: &iv}) })
		})
		if r != nil {
			r.Plan.Ring = j.plan.Ring
		}
		s.reportFinal(j, s.buildFinal(r, err))
	})
	return nil
}

// describeLoad says what a plan loads, as it is dialed, and not as somebody calls it: host, port, the
// addresses that were judged, and how much.
func describeLoad(p load.Plan) string {
	var at []string
	for _, a := range p.Addresses {
		at = append(at, a.String())
	}
	how := fmt.Sprintf("%d connections", p.Connections)
	if p.Open() {
		how += fmt.Sprintf(", up to %v/s", p.Peak()+p.Probe)
	}
	return fmt.Sprintf("host %q, port %d, at %s: %s", p.Target.Host, p.Target.Port,
		strings.Join(at, ", "), how)
}

// reachBarrier is when the connections are open.
func (s *agentService) reachBarrier(j *job) {
	if j.stage == stageConnecting {
		j.stage = stageBarrier
		s.publishEvent(wire.ConnectionsOpen, j.runRef(s))
	}
}

// armLoad tells the load when to begin. What should have begun already is given up: the others
// have begun without it.
func (s *agentService) armLoad(at int64) error {
	j := s.job
	if j.stage != stageBarrier {
		return errWrongStage
	}
	begin := s.clock.instantOf(at)
	if late := time.Since(begin); late > 0 {
		s.stopJob(fmt.Sprintf("it heard of the start %v after it", late.Round(time.Millisecond)),
			context.Canceled)
		return nil
	}
	j.stage, j.start = stageLoading, begin
	j.begin <- begin
	s.publishEvent(wire.Armed, j.runRef(s))
	return nil
}

// changeShard gives the load another share, if the order has that in it and it is heard of in
// time: else some arrivals would be two agents'. Whoever does not say that it has it is not
// believed to.
func (s *agentService) changeShard(to wire.Shard) error {
	j, p := s.job, s.job.plan
	p.Part, p.Parts, p.Weights = to.Part, len(to.Weights), to.Weights
	switch {
	case j.stage != stageLoading || !j.mayReshard || len(to.Weights) == 0:
		return errWrongStage
	case p.Check() != nil:
		return errors.New("its share is none of this plan's")
	case time.Until(j.start.Add(time.Duration(to.After))) < reshardLeadMin:
		return errors.New("it is too late for another share")
	}
	select {
	case j.shards <- load.Share{After: time.Duration(to.After), Part: to.Part, Weights: to.Weights}:
		s.publishEvent(wire.Resharded, j.runRef(s))
		return nil
	default:
		return fmt.Errorf("%d other shares were not yet taken", queuedShardsMax)
	}
}

// queueReport keeps a report until it is acknowledged, and says it.
func (s *agentService) queueReport(j *job, r wire.Report) {
	j.spool.addReport(r)
	s.publishReports(j.spool.dueReports(time.Now()))
	if j.spool.isFull() && s.job == j {
		s.stopJob("its reports are not acknowledged", context.Canceled)
	}
}

// stopByOrder is a controller's word that it is over.
func (s *agentService) stopByOrder(stop wire.Stop) {
	cause := context.Canceled
	if stop.Aborted {
		cause = load.ErrAborted
	}
	s.stopJob(stop.Why, cause)
}

// stopJob stops the job. A load that has begun will finish by itself, with what it measured.
func (s *agentService) stopJob(why string, cause error) {
	j := s.job
	if j.isOver() || j.ctx.Err() != nil {
		return
	}
	j.stopReason = why
	j.cancel(cause)
	if j.stage < stageConnecting {
		s.job = nil
	}
}

// buildFinal is all that a load measured, or why it did not.
func (s *agentService) buildFinal(r *load.Result, err error) wire.Final {
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	r.Failures = fewerFailures(r.Failures)
	if r.Probe != nil {
		r.Probe.Failures = fewerFailures(r.Probe.Failures)
	}
	out, err := result.From(r, s.dynoVersion())
	if err != nil {
		return wire.Final{Error: err.Error()}
	}
	return wire.Final{Result: out, Start: s.clock.readingAt(r.Started), Late: int64(r.StartLate)}
}

// reportFinal reports the whole of what was measured. It is called beside the loop: to pack the seconds
// of days takes longer than a controller waits for a beat, and the loop says those meanwhile.
func (s *agentService) reportFinal(j *job, f wire.Final) {
	s.callInLoopAndWait(func() {
		j.stage, f.Why = stagePackingFinal, j.stopReason
		if j.stopReason == "" && f.Result != nil && f.Result.Ended == string(load.Interrupted) {
			f.Why = "its policy allows no longer runs"
		}
	})
	for part := range f.PackParts() {
		wanted := false
		s.callInLoopAndWait(func() {
			if wanted = s.job == j; wanted {
				s.reportFinalPart(j, part)
			}
		})
		if !wanted { // by a controller that was not heard for long, or the agent is over
			break
		}
	}
	s.callInLoopAndWait(func() {
		j.stage = stageFinished
		j.cancel(nil)
		s.logLine("run %s: over", j.Run)
	})
}

// reportFinalPart reports a part of what was measured.
func (s *agentService) reportFinalPart(j *job, part []byte) {
	pieces := wire.SplitPieces(part, wire.FinalPieceMax)
	for i, data := range pieces {
		s.queueReport(j, wire.Report{RunRef: j.runRef(s), Data: data, Last: i == len(pieces)-1})
	}
}
