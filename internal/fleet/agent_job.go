package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
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

// describeLoad says what a plan loads, as it is dialed, and not as somebody calls it: host, port,
// the addresses that were judged, and how much.
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

// queuedShardsMax is how many changes of its share an agent keeps that its load has not made.
const queuedShardsMax = 16

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
