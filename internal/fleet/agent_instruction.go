package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dyno/internal/fleet/wire"
)

// An ageBound limits the age of an instruction by the agent's own clock, so no clock
// synchronisation is needed. It starts from the nonce exchange: the order says when, by the
// controller's clock, the agent's Hello arrived, and that was not before the agent sent it.
// Whoever delays all messages alike, from the Hello on, gains nothing by it.
type ageBound struct {
	ahead, aheadAt int64 // agent's clock − controller's, at most; as of when; ns
}

// oldestAge returns how old an instruction can be that was sent at an instant of the controller's
// clock and arrived at one of the agent's, both in ns.
func (p *ageBound) oldestAge(said, came int64) time.Duration {
	p.ahead, p.aheadAt = min(came-said, p.ahead+(came-p.aheadAt)/driftRatio), came
	return time.Duration(came - said - p.ahead)
}

// handleInstruction carries out an instruction if it is signed, current and for this agent. The
// error says why it is ignored.
func (s *agentService) handleInstruction(b []byte, verb string, now time.Time) error {
	i, err := wire.ParseInstruction(b, s.Verify)
	switch {
	case verb == wire.Heartbeat && (s.job == nil || i.Run != s.job.Run):
		return nil // heartbeats of all runs go to all agents
	case err != nil:
		return err
	case i.Verb != verb:
		return fmt.Errorf("it was said as %q", i.Verb)
	}
	if err := s.checkInstruction(i, now); err != nil {
		return err
	}
	s.job.heardAt = now
	return s.carryOutInstruction(i)
}

// checkInstruction returns why a signed instruction is ignored, or nil. To stop a run is always
// accepted, even late or twice.
func (s *agentService) checkInstruction(i wire.Instruction, now time.Time) error {
	to, life, j := s.Name, s.epoch, s.job
	if i.Verb == wire.Heartbeat {
		to, life = wire.Everyone, ""
	}
	switch {
	case i.Agent != to:
		return fmt.Errorf("it is for another agent, %q", i.Agent)
	case i.Epoch != life:
		return errors.New("it is for a life of this agent that is over")
	case j == nil || i.Run != j.Run:
		return fmt.Errorf("it is of run %q, which this agent does not have", i.Run)
	case i.Verb == wire.StopLoad:
		return nil
	case i.Number <= j.lastNumbers[i.Verb]:
		return errors.New("it was said before, or something later was")
	}
	if j.stage > stageOrdered { // before, the order has not been read, and nothing is loaded
		if age := j.age.oldestAge(i.SentAt, s.clock.readingAt(now)); age > cmp.Or(s.lease, Lease) {
			return fmt.Errorf("it was said %v ago", age.Round(time.Millisecond))
		}
	}
	j.lastNumbers[i.Verb] = i.Number
	return nil
}

// errWrongStage is of an instruction that the agent is not ready for, or has carried out already.
var errWrongStage = errors.New("it is not its turn")

// carryOutInstruction carries out an instruction. A Heartbeat has done its work by arriving.
func (s *agentService) carryOutInstruction(i wire.Instruction) error {
	switch i.Verb {
	case wire.OpenConnections:
		return s.openConnections()
	case wire.Arm:
		return s.armLoad(i.Start)
	case wire.Reshard:
		if i.NewShard == nil {
			return errors.New("it has no share")
		}
		return s.changeShard(*i.NewShard)
	case wire.StopLoad:
		if i.Stop == nil {
			return errors.New("it has no reason")
		}
		s.stopByOrder(*i.Stop)
	}
	return nil
}
