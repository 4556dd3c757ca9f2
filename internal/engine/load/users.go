package load

import (
	"fmt"
	"math"
	"math/rand/v2"

	"dyno/internal/engine/flow"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/silences"
	"dyno/internal/engine/timers"
)

// users are a worker's virtual users, who go through a scenario step by step; nil without one. A
// user is in one of these places, and none but the one in flight has a connection:
//
//	away       takes no part: it has not begun yet, or has left (see userramp.go)
//	free       without an iteration
//	thinking   until its next step is due
//	ready      its step is due and waits for a connection, in Flow.Retries: what has begun goes first
//	in flight  its step was sent (exchange.request is the user)
//	lent       its step is over, and the codec may still read the message: see lentStep
//
// steps.go leads a user from one place to the next.
type users struct {
	scenario scenario.Scenario
	want     proto.Want
	all      []user
	free     flow.FIFO[uint32] // the longest first
	thinking timers.Heap
	lent     []lentStep
	silent   silences.Users    // where redirects lead
	failed   scenario.Response // of a step that failed: without a response
	clock    scenario.CallClock
	judged   int64              // worker.now when an answer was judged last
	stopped  bool               // by the scenario: see stopIterations
	fault    error              // of the scenario; nil: it has none
	ramp     *loadplan.UserRamp // nil: all users take part all the time
}

// A user is one of them. It has at most one step, which is thought about, due, in flight or lent.
type user struct {
	scenario.User
	step     scenario.Step
	due      int64  // when its iteration was due
	freed    int64  // when the iteration before was over; 0: it had none; flow.NotYet: see freedBy
	first    int64  // when its request was sent first, while redirects of it are followed
	timeout  int64  // of that request with its redirects
	returned int64  // when a codec last gave back a message that it was lent; 0: none was
	sent     uint32 // steps of the iteration that were sent
	counted  bool   // the iteration was due in the window
	active   bool   // it has an iteration
	slot     bool   // in a closed workload there is a slot for it
	leaves   bool   // it is away, or will be once its iteration is over
	away     bool   // it is in no list

	waits flow.Arrival // its request, while that waits for a connection to another origin
}

// newUsers makes the users of worker i of n; nil if the plan has no scenario.
func newUsers(p *loadplan.Plan, i, n int) (*users, error) {
	if p.Scenario == nil {
		return nil, nil
	}
	share := p.ScenarioShare(i, n)
	does, err := p.Scenario.Make(share)
	if err != nil {
		return nil, fmt.Errorf("making the scenario of thread %d: %w", i+1, err)
	}
	u := &users{scenario: does, want: p.Scenario.Want(), all: make([]user, share.Users),
		free: flow.NewFIFO[uint32](int(share.Users))}
	slots := loadplan.EvenShare(int64(p.Connections), i, n) * int64(p.Depth())
	var first int
	if u.ramp, first = p.NewUserRamp(i, n); u.ramp == nil {
		first = len(u.all)
	}
	for k := range u.all {
		x := &u.all[k]
		x.Number = share.FirstUser + int64(k)
		x.Rand = rand.New(rand.NewPCG(p.ValuesSeed()^userStreams, uint64(x.Number)))
		if x.slot = int64(k) < slots && !p.Open(); x.slot {
			x.freed = flow.NotYet
		}
		if x.away = k >= first; x.away {
			x.leaves = true
			continue
		}
		u.free.PushBack(uint32(k))
	}
	u.clock = scenario.NewCallClock(p.Seed^userStreams, ^uint64(i))
	return u, nil
}

// userStreams keeps the users' random streams apart from those of arrivals, which have the seed.
const userStreams = 0x7573_6572_7300_0001

// freedBy is since when a user is free. A closed workload begins with open connections: as long as
// there is a slot for each user, a user's first iteration is due when it can be begun, which is now
// (see slot.go). Users beyond the slots wait from the load's start on.
func (u *user) freedBy(now, start int64) int64 {
	if u.freed == flow.NotYet {
		return now
	}
	return max(u.freed, start)
}

// canBegin reports whether a user is free to begin what is due next. Without a scenario none is
// needed.
func (u *users) canBegin() bool { return u == nil || u.free.Len > 0 }

// timeoutOf is how long a request may take, in ns: its step says so, or the plan.
func (w *worker) timeoutOf(request uint32) int64 {
	if w.users != nil && w.users.all[request].step.Timeout > 0 {
		return int64(w.users.all[request].step.Timeout)
	}
	return int64(w.plan.Timeout)
}

// sinkOf is what a connection's codec gives responses to; nil if nothing of them is wanted.
func (w *worker) sinkOf(c *conn) proto.Sink {
	var sink proto.Sink
	var want proto.Want
	switch {
	case w.plan.KeepsWhole():
		sink, want = w.wholeSinkOf(c), proto.Want{AllFields: true, Body: math.MaxInt64}
	case w.users != nil && !w.users.want.IsEmpty():
		sink, want = &c.responses, w.users.want
	}
	if w.streams == nil {
		return sink
	}
	if c.stream == nil {
		c.stream = w.streams.NewConn(sink, want)
	}
	return c.stream
}
