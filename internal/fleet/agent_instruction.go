package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dyno/internal/fleet/wire"
)

// A ageBound is how an agent knows by its own clock how old an instruction is at most, though
// nobody compares two clocks for it: its order says when its Hello was heard, by the
// controller's clock, which was not before it was said. So who holds up all alike, from the
// first word on, gains nothing either.
type ageBound struct {
	ahead, aheadAt int64 // ns: the agent's clock, of the controller's, at least; when it was
}

// oldestAge is how old an instruction is that was said at an instant of the controller's clock,
// and came at one of the agent's.
func (p *ageBound) oldestAge(said, came int64) time.Duration {
	p.ahead, p.aheadAt = min(came-said, p.ahead+(came-p.aheadAt)/driftRatio), came
	return time.Duration(came - said - p.ahead)
}

// handleInstruction does as an instruction says, if it is to be believed. The error is why not.
func (s *agentService) handleInstruction(b []byte, verb string, now time.Time) error {
	i, err := wire.ParseInstruction(b, s.Verify)
	switch {
	case verb == wire.Heartbeat && (s.job == nil || i.Run != s.job.Run):
		return nil // all hear the controllers of all runs
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

// checkInstruction is why an instruction that was signed is not to be followed. To end a run may be
// said late, or twice, and by whoever has the key.
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
	if j.stage > stageOrdered { // until then the order has not been read, and nothing is loaded
		if age := j.age.oldestAge(i.SentAt, s.clock.readingAt(now)); age > cmp.Or(s.lease, Lease) {
			return fmt.Errorf("it was said %v ago", age.Round(time.Millisecond))
		}
	}
	j.lastNumbers[i.Verb] = i.Number
	return nil
}

// errWrongStage is of an instruction that the agent is not ready for, or has carried out.
var errWrongStage = errors.New("it is not its turn")

// carryOutInstruction carries out an instruction. A Beat says all that it has to by having come.
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
