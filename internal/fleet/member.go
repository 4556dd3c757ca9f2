package fleet

import (
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/wire"
)

// A member is an agent as its controller knows it.
type member struct {
	name    string
	hello   wire.Hello
	helloAt time.Time // when the Hello arrived
	index   int       // of its part in the plan
	part    loadplan.Plan

	sub        *nats.Subscription // to its events; nil: none
	heardAt    time.Time          // when its last message arrived
	budget     budget
	distrusted bool          // it sent something that cannot be: nothing more is read of it
	lost       string        // why it was given up; "": it was not
	lostAt     time.Duration // when it was, since the window began

	memberPhase
	clockState
	reportState
}

// A memberPhase says how far an agent has come.
type memberPhase struct {
	answered  bool   // its Order
	refused   string // why it refused the Order; "": it did not
	connected bool   // its connections are open
	armed     bool   // it knows when to begin
	resharded bool   // it knows its new shard
}

func newMember(a FoundAgent) *member {
	return &member{name: a.Name, hello: a.Hello, helloAt: a.heardAt, heardAt: time.Now(),
		clockState: clockState{offset: unknownOffset(), wallAhead: a.ClockAhead}}
}

func (m *member) splitWeight() int { return min(max(m.hello.Weight, 1), loadplan.MaxWeight) }

func (m *member) runRef(r *fleetRun) wire.RunRef {
	return wire.RunRef{Run: r.id, Epoch: m.hello.Epoch}
}

// hasFinal reports whether the agent's final is complete.
func (m *member) hasFinal() bool { return m.final != nil }

// isDone reports whether the load need not wait for the agent: its final is complete, or it is
// lost.
func (m *member) isDone() bool { return m.hasFinal() || m.lost != "" }

// How far a member has come. A member that is done has come far enough for all of these, so that
// nobody waits for it.
func (m *member) hasAnswered() bool   { return m.answered || m.isDone() }
func (m *member) hasConnected() bool  { return m.connected || m.isDone() }
func (m *member) hasKnownClock() bool { return m.offset != unknownOffset() || m.isDone() }
func (m *member) isArmed() bool       { return m.armed || m.isDone() }

// isConnected and isMember say who gets an instruction: the members whose connections are open, or
// all of them.
func (m *member) isConnected() bool { return m.connected }
func (m *member) isMember() bool    { return true }

// hasReportedAll reports whether the agent sends no more. A lost agent may still send its final.
func (m *member) hasReportedAll() bool { return m.hasFinal() || m.distrusted }
