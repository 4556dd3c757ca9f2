package fleet

import (
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/load"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A member is an agent as its controller knows it.
type member struct {
	name  string
	hello wire.Hello
	index int // of its part
	part  load.Plan

	answered, connected, armed bool
	resharded                  bool // it knows its other share
	refused                    string
	clockQueries               int   // for its clock, how often
	clockQueriedAt             int64 // when it was last asked, by our clock
	slowestAnswer              int64 // of the answers, ns
	clockSync                  clockSyncing
	offset                     clockOffset // at the start
	drift                      clockDrift
	wallAhead                  time.Duration // by which its wall clock was ahead

	helloAt      time.Time // when its hello was heard
	heardAt      time.Time
	reportedAt   int64 // when it last did, by our clock
	lastSeq      int64 // of the last report that was taken
	repeated     int64 // reports that came again
	reported     reportedSeconds
	finalData    []byte // of a part of its final, of which not all has come
	finalBegun   bool   // of its final is on its way
	finalBegunAt int64  // since then, by our clock
	final        *wire.Final
	result       *result.Result // its final's, once it is believed
	lost         string         // why it was given up
	lostAt       time.Duration  // after the start

	sub        *nats.Subscription // to what it says; nil: there is none
	budget     budget
	distrusted bool // something that it said cannot be
}

func newMember(a FoundAgent) *member {
	return &member{name: a.Name, hello: a.Hello, helloAt: a.heardAt, offset: unknownOffset(),
		heardAt: time.Now(), wallAhead: a.ClockAhead}
}

func (m *member) splitWeight() int { return min(max(m.hello.Weight, 1), load.MaxWeight) }

func (m *member) runRef(r *fleetRun) wire.RunRef { return wire.RunRef{Run: r.id, Epoch: m.hello.Epoch} }

// hasFinal reports whether the agent has said all that it measured, and done whether nothing
// more is waited for.
func (m *member) hasFinal() bool { return m.final != nil }

func (m *member) isDone() bool { return m.hasFinal() || m.lost != "" }

// How far a member can have come. One that is done holds up nobody; one that was lost may
// still say what it measured.
func (m *member) isMember() bool { return true }

func (m *member) hasAnswered() bool { return m.answered || m.isDone() }

func (m *member) hasConnected() bool { return m.connected || m.isDone() }

func (m *member) hasKnownClock() bool { return m.offset != unknownOffset() || m.isDone() }

func (m *member) isConnected() bool { return m.connected }

func (m *member) isArmed() bool { return m.armed || m.isDone() }

func (m *member) hasEnded() bool { return m.isDone() }

func (m *member) hasReportedAll() bool { return m.hasFinal() || m.distrusted }
