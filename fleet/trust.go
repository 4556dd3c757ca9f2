package fleet

import (
	"errors"
	"fmt"
	"time"

	"dyno/fleet/wire"
)

// nonceLife is how old a nonce is when the next is given out; it is still good for as long
// again. A plan of many megabytes for many agents must be there by then.
const nonceLife = 2 * time.Minute

// nonces are what an agent gives out with each Hello, and wants to have back in an order:
// one that was recorded, or held up, is of no use later.
type nonces struct {
	now, last string
	since     time.Time // of now
}

// turn is the nonce to give out.
func (n *nonces) turn(now time.Time) string {
	if age := now.Sub(n.since); age >= nonceLife {
		*n = nonces{newID(), n.now, now}
		if age >= 2*nonceLife {
			n.last = ""
		}
	}
	return n.now
}

// good reports whether an order can have a nonce.
func (n nonces) good(nonce string, now time.Time) bool {
	n.turn(now)
	return nonce != "" && (nonce == n.now || nonce == n.last)
}

// A pace is how an agent knows by its own clock how old an instruction is, though nobody
// compares two clocks for it: by how much later it has come than the quickest.
type pace struct {
	begun    bool
	base, at int64 // ns: the quickest's way and what the clocks lie apart; when that was found
}

// goesApart is in how much time two clocks go apart by one of it at most: each is slewed
// by 500 ppm at most.
const goesApart = 1000

// age is how old an instruction is that was said at an instant of the controller's clock,
// and came at one of the agent's.
func (p *pace) age(said, came int64) time.Duration {
	late := came - said
	if !p.begun {
		*p = pace{true, late, came}
	}
	p.base, p.at = min(late, p.base+(came-p.at)/goesApart), came
	return time.Duration(late - p.base)
}

// instruct does as an instruction says, if it is to be believed. The error is why not.
func (s *service) instruct(b []byte, verb string, now time.Time) error {
	i, err := wire.ReadInstruction(b, s.Verify)
	switch {
	case verb == wire.Beat && (s.job == nil || i.Run != s.job.Run):
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
	if i.Verb == wire.Beat {
		to, life = wire.Everyone, ""
	}
	switch {
	case i.Agent != to:
		return fmt.Errorf("it is for another agent, %q", i.Agent)
	case i.Epoch != life:
		return errors.New("it is for a life of this agent that is over")
	case j == nil || i.Run != j.Run:
		return fmt.Errorf("it is of run %q, which this agent does not have", i.Run)
	case i.Verb == wire.Halt:
		return nil
	case i.Number <= j.numbers[i.Verb]:
		return errors.New("it was said before, or something later was")
	}
	if age := j.pace.age(i.Said, s.clock.of(now)); age > Lease {
		return fmt.Errorf("it was said %v ago", age.Round(time.Millisecond))
	}
	j.numbers[i.Verb] = i.Number
	return nil
}

// errTurn is of an instruction that the agent is not ready for, or has carried out.
var errTurn = errors.New("it is not its turn")

// obey carries out an instruction. A Beat says all that it has to by having come.
func (s *service) obey(i wire.Instruction) error {
	switch i.Verb {
	case wire.OpenUp:
		return s.open()
	case wire.Arm:
		return s.arm(i.Start)
	case wire.Reshare:
		if i.Changes == nil {
			return errors.New("it has no share")
		}
		return s.reshare(*i.Changes)
	case wire.Halt:
		if i.Ends == nil {
			return errors.New("it has no reason")
		}
		s.halt(*i.Ends)
	}
	return nil
}

// complaintsMost is how many lines a minute an agent says of what it does not do: who owns
// the bus must not fill its disk.
const complaintsMost = 60

// complaints are those of a minute.
type complaints struct {
	since time.Time
	lines int
}

// complain says what is not done, and why.
func (s *service) complain(what string, why error, now time.Time) {
	c := &s.complaints
	if now.Sub(c.since) >= time.Minute {
		if more := c.lines - complaintsMost; more > 0 {
			s.tell("and %d more that were not done", more)
		}
		*c = complaints{since: now}
	}
	if c.lines++; c.lines <= complaintsMost {
		s.tell("%s: %s", what, readable(why.Error()))
	}
}
