package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dyno/internal/fleet/wire"
)

// A pace is how an agent knows by its own clock how old an instruction is at most, though
// nobody compares two clocks for it: its order says when its Hello was heard, by the
// controller's clock, which was not before it was said. So who holds up all alike, from the
// first word on, gains nothing either.
type pace struct {
	ahead, at int64 // ns: the agent's clock, of the controller's, at least; when it was
}

// goesApart is in how much time two clocks go apart by one of it at most: each is slewed
// by 500 ppm at most.
const goesApart = 1000

// age is how old an instruction is that was said at an instant of the controller's clock,
// and came at one of the agent's.
func (p *pace) age(said, came int64) time.Duration {
	p.ahead, p.at = min(came-said, p.ahead+(came-p.at)/goesApart), came
	return time.Duration(came - said - p.ahead)
}

// instruct does as an instruction says, if it is to be believed. The error is why not.
func (s *service) instruct(b []byte, verb string, now time.Time) error {
	i, err := wire.ParseInstruction(b, s.Verify)
	switch {
	case verb == wire.Heartbeat && (s.job == nil || i.Run != s.job.Run):
		return nil // all hear the controllers of all runs
	case err != nil:
		return err
	case i.Verb != verb:
		return fmt.Errorf("it was said as %q", i.Verb)
	}
	if err := s.believe(i, now); err != nil {
		return err
	}
	s.job.heard = now
	return s.obey(i)
}

// believe is why an instruction that was signed is not to be followed. To end a run may be
// said late, or twice, and by whoever has the key.
func (s *service) believe(i wire.Instruction, now time.Time) error {
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
	case i.Number <= j.numbers[i.Verb]:
		return errors.New("it was said before, or something later was")
	}
	if j.stage > judging { // until then the order has not been read, and nothing is loaded
		if age := j.pace.age(i.SentAt, s.clock.of(now)); age > cmp.Or(s.lease, Lease) {
			return fmt.Errorf("it was said %v ago", age.Round(time.Millisecond))
		}
	}
	j.numbers[i.Verb] = i.Number
	return nil
}

// errTurn is of an instruction that the agent is not ready for, or has carried out.
var errTurn = errors.New("it is not its turn")

// obey carries out an instruction. A Beat says all that it has to by having come.
func (s *service) obey(i wire.Instruction) error {
	switch i.Verb {
	case wire.OpenConnections:
		return s.open()
	case wire.Arm:
		return s.arm(i.Start)
	case wire.Reshard:
		if i.NewShard == nil {
			return errors.New("it has no share")
		}
		return s.reshare(*i.NewShard)
	case wire.StopLoad:
		if i.Stop == nil {
			return errors.New("it has no reason")
		}
		s.halt(*i.Stop)
	}
	return nil
}

// complain says what is not done, and why.
func (s *service) complain(what string, why error, now time.Time) {
	s.complaints.Print(what, why, now)
}
