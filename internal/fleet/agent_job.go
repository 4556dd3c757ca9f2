package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fleet/wire"
)

// A jobStage is how far a job has come.
type jobStage int

const (
	stageOrdered jobStage = iota
	stageAccepted
	stageConnecting
	stageBarrier // connected, and waiting for the start
	stageLoading
	stagePackingFinal // the load is over, and its final is being packed
	stageFinished     // the whole final was packed
)

// A job is an agent's part in a run.
type job struct {
	wire.RunRef
	stage   jobStage
	plan    loadplan.Plan
	heardAt time.Time // when the last signed instruction came

	lastNumbers map[string]int64 // of the last instruction by verb: a Heartbeat may overtake others
	age         ageBound

	ctx        context.Context
	cancel     context.CancelCauseFunc
	begin      chan time.Time // holds one: when the load begins
	start      time.Time      // the same instant; zero until it is known
	mayReshard bool           // its shard may become larger
	shards     chan load.Share
	stopReason string // why it was stopped; "": it was not
	runOver    bool   // the controller waits for nothing more
	spool      spool
}

func (j *job) isOver() bool { return j.stage >= stagePackingFinal }

// isAwaited reports whether the controller waits for the final, or for the rest of it.
func (j *job) isAwaited() bool {
	return !j.runOver && (j.stage != stageFinished || len(j.spool.unacked) > 0)
}

// isBusy reports whether the agent has a run that another would disturb: its load goes on, or its
// controller waits for the final. A controller that was silent for Lease does not.
func (s *agentService) isBusy(now time.Time) bool {
	j := s.job
	if j == nil || !j.isOver() {
		return j != nil
	}
	return j.isAwaited() && now.Sub(j.heardAt) <= cmp.Or(s.lease, Lease)
}

// runRef returns what the agent's messages about the job refer to.
func (j *job) runRef(s *agentService) wire.RunRef { return wire.RunRef{Run: j.Run, Epoch: s.epoch} }

// openConnections starts the load in a goroutine of its own. The load opens its connections and
// waits for the instant of the start.
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
		run := s.Load
		if run == nil {
			run = s.loadHere
		}
		r, err := run(ctx, plan, func(ctx context.Context) time.Time {
			s.callInLoop(func() { s.reachBarrier(j) })
			select {
			case at := <-j.begin:
				return at
			case <-ctx.Done():
				return time.Time{}
			}
		}, j.shards, func(iv loadresult.Interval) {
			iv.Failures = loadresult.Reported(iv.Failures)
			s.callInLoop(func() { s.queueReport(j, wire.Report{RunRef: j.runRef(s), Tick: &iv}) })
		})
		if r != nil {
			r.Plan = j.plan
		}
		s.reportFinal(j, s.buildFinal(r, err))
	})
	return nil
}

// describeLoad describes what a plan loads as it will be dialed: host, port, the addresses that
// the policy has allowed, and how much.
func describeLoad(p loadplan.Plan) string {
	var at []string
	for _, a := range p.Addresses {
		at = append(at, a.String())
	}
	how := fmt.Sprintf("%d connections", p.Connections)
	if p.Open() {
		how += fmt.Sprintf(", up to %v/s", p.Peak()+p.Probe)
	}
	to := fmt.Sprintf("host %q, port %d", p.Target.Host, p.Target.Port)
	if all := p.Reached(); len(all) > 1 {
		to += fmt.Sprintf(", by the proxy %q, port %d", all[1].Host, all[1].Port)
	}
	return fmt.Sprintf("%s, at %s: %s", to, strings.Join(at, ", "), how)
}

// reachBarrier notes that the connections are open, and says so.
func (s *agentService) reachBarrier(j *job) {
	if j.stage == stageConnecting {
		j.stage = stageBarrier
		s.publishEvent(wire.ConnectionsOpen, j.runRef(s))
	}
}

// armLoad tells the load when to begin. If that has passed, the job is stopped: the others have
// begun without it.
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

// queuedShardsMax is how many changes of its shard may wait for the load to apply them.
const queuedShardsMax = 16

// changeShard gives the load another shard, if its order allows that and the instant is far
// enough ahead: otherwise two agents would send the same arrivals. The controller gives up an
// agent that does not confirm.
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

// stopByOrder stops the job on the controller's instruction.
func (s *agentService) stopByOrder(stop wire.Stop) {
	s.job.runOver = s.job.runOver || stop.RunOver
	cause := context.Canceled
	if stop.Aborted {
		cause = loadresult.ErrAborted
	}
	s.stopJob(stop.Why, cause)
}

// stopJob stops the job. A load that has begun still finishes with what it has measured.
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
