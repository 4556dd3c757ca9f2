// Package scenario is the seam between load and what its users do.
//
// A Scenario says step by step what one user sends. Load has the users and the connections: it asks
// for a step, sends the step's message when it is due, and hands the response over for the next
// step. So a scenario knows no connection, protocol or clock, and load no language in which
// scenarios are written. Implementations stand beside this package; whoever starts a run makes one
// and gives it to the plan.
//
// A worker has a Scenario of its own and calls it from its thread, between receiving and sending.
// A scenario does not wait, does no I/O, and should allocate nothing in a step.
//
//	callclock.go   how long calls of a scenario take: a few are timed
//	limits.go      how deep and how large a response may be that checks search, and in how many
//	               steps
//	numbering.go   the numbers of iterations, each once in a run
//	response.go    a response as a scenario has it; the outcomes of checks, and names of checks
//	               that nobody wrote
//	scenario.go    Scenario, Step, Maker, User
//	sink.go        keeps the fields and bodies of responses that a scenario wants
package scenario

import (
	"math/rand/v2"
	"time"

	"dyno/internal/engine/proto"
)

// A Scenario is what the users of one worker do.
type Scenario interface {
	// Start returns the first step of an iteration of a user.
	Start(u *User) Step
	// Next returns the step after a response, which is valid until Next returns. The memory of
	// the step before it is the scenario's again.
	Next(u *User, r *Response) Step
}

// A Maker makes the scenario of each worker of a run.
type Maker interface {
	// Want is what the scenario wants of each response. It is the same at every call.
	Want() proto.Want
	// Make makes the scenario of one worker. Workers call it at the same time.
	Make(s Share) (Scenario, error)
}

// A Share is what of a run is one worker's. The workers of all generators of a run have consecutive
// users and iterations, and each belongs to one of them.
type Share struct {
	FirstUser, Users int64
	// FirstIteration and Iterations are of a run with a number of iterations, those of the
	// warm-up apart. 0 Iterations: as many as the time allows.
	FirstIteration, Iterations int64
	Warmup                     bool // the run has a warm-up, whose iterations are in none of these
}

// A User is one virtual user. Load sets all fields but State.
type User struct {
	Number    int64      // of all users of the run, from 0
	Iteration int64      // how many it has had before this one
	Warmup    bool       // this iteration is before the measured window
	Due       int64      // when this iteration was due, in ns since the Unix epoch
	Now       int64      // when the scenario is called, likewise
	Rand      *rand.Rand // of its own, from the plan's seed and Number
	State     any        // the scenario's

	// Over reports whether the run has ended by now; nil: nobody can tell. See Spend.
	Over  func() bool
	spent int // steps since Over was asked
}

// spendMost is how many steps of a search a scenario takes before it looks at the clock.
const spendMost = MaxSteps / 8

// Spend notes steps of a search in a response. It reports whether the run is over: then the
// scenario looks no further, and says that the response is Unjudged.
func (u *User) Spend(steps int) (over bool) {
	if u.spent += steps; u.spent < spendMost || u.Over == nil {
		return false
	}
	u.spent = 0
	return u.Over()
}

// A Step is one request of an iteration, or its end.
type Step struct {
	// Message is what to send. Its memory belongs to load until Next or Start is called for the
	// user again.
	Message proto.Message
	Route   int           // which of the plan's steps this is
	Think   time.Duration // from the response before it, or the iteration's start, until it is due
	Timeout time.Duration // from when it was sent; 0: the plan's; of a Hop, see there

	AnyStatus bool // no status is an error in itself
	KeepGoing bool // an error does not end the iteration: Next is called
	Plain     bool // its answer is no stream of events, if others are
	// Hop, of a response that was a redirect: this step follows it. Both are one request, which is
	// due when the first was, has the timeout of the first, and of which the last answer alone is
	// counted.
	Hop bool
	// Challenge, with Hop: the response was none, but asked who sends the request.
	Challenge bool
	// Origin, with Hop, is which of the plan's FollowTo it leads to, from 1; 0: it is the server.
	Origin int

	End    bool // no step: the iteration is over
	Failed bool // with End: the iteration failed

	// Refused, with Failed, is why the iteration's next request cannot be sent: a value does not fit
	// its place, say. It is counted as an error of phase "check" and kind "value".
	Refused error

	// Stop, with End, has the worker begin no more iterations.
	Stop bool
	// Fault, with End, is why the scenario cannot go on. It ends the whole run as an interruption
	// does.
	Fault error
}

// End is the end of an iteration that did all it had to do.
func End() Step { return Step{End: true} }

// Fail is the end of an iteration that failed.
func Fail() Step { return Step{End: true, Failed: true} }

// Refuse is the end of an iteration whose next request cannot be sent.
func Refuse(reason error) Step { return Step{End: true, Failed: true, Refused: reason} }

// A Func is a scenario that is one Go function. For the first step its response is nil.
type Func func(u *User, r *Response) Step

// Start calls the function.
func (f Func) Start(u *User) Step { return f(u, nil) }

// Next calls the function.
func (f Func) Next(u *User, r *Response) Step { return f(u, r) }

// A Program is the Maker of a scenario that is written in Go.
type Program struct {
	Wants proto.Want
	New   func(Share) (Scenario, error)
}

// Want is Wants.
func (p Program) Want() proto.Want { return p.Wants }

// Make calls New.
func (p Program) Make(s Share) (Scenario, error) { return p.New(s) }
