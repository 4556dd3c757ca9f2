package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/fleet/wire"
	"dyno/internal/result"
)

// A running is a Controller's run. All of it belongs to the goroutine that called Run.
type running struct {
	*Controller
	id      string
	plan    load.Plan // the whole one
	clock   clock
	on      string         // loss of an agent
	heard   chan *nats.Msg // one at a time, of each member in turn
	left    chan struct{}  // closed when nobody listens any more
	members []*member
	byName  map[string]*member
	shown   func(from int, iv *load.Interval) // for the live view
	seconds []load.Interval                   // of all together, without their latencies
	scratch *metric.Histogram
	kept    *load.Plan // as results keep it; nil until one does

	opened  bool      // connections were asked for
	armed   bool      // and all will begin
	stopped bool      // all were told to stop
	stop    wire.Stop // how
	lost    bool      // because an agent was
	owed    bool      // shares are to be changed, for a member was lost
	start   int64     // of the load, by our clock
	beaten  time.Time
	sounded int64 // when clocks were last asked for, by ours
	said    int64 // instructions
	loose   error // why the load does not begin though nobody is lost

	balanced time.Time // from when on shares may change again
	changes  []result.Rebalanced
}

// unshownMost is how many seconds may wait to be shown: a few minutes, for each can have
// histograms of some hundred kilobytes.
const unshownMost = 256

// listen hears each member apart from the others, so that none can keep another from being
// heard, and returns what ends that.
func (r *running) listen() (leave func(), err error) {
	r.left = make(chan struct{})
	leave = sync.OnceFunc(func() {
		close(r.left)
		for _, m := range r.members {
			m.unheard()
		}
	})
	for _, m := range r.members {
		m.sub, err = wire.Subscribe(r.Conn, wire.EventSubject(m.name, "*"), waitMost, bytesWait, func(msg *nats.Msg) {
			select {
			case r.heard <- msg:
			case <-r.left:
			}
		})
		if err != nil {
			leave()
			return nil, fmt.Errorf("listening to the agents: %w", err)
		}
	}
	return leave, nil
}

// show has each called with what all measured in a second, and keeps that. It is called
// apart from listening, for it may wait: a terminal that is stopped must not have the
// agents believe that nobody is there. What show returns waits until all is shown.
func (r *running) show(each func(load.Interval)) (wait func()) {
	r.byName = map[string]*member{}
	for i, m := range r.members {
		m.index, r.byName[m.name] = i, m
	}
	unshown := make(chan load.Interval, unshownMost)
	r.shown = load.Together(len(r.members), func(iv load.Interval) {
		select {
		case unshown <- iv:
		default: // nobody looks, or not for long
		}
		iv.Latency, iv.Service, iv.Heat = metric.Sparse{}, metric.Sparse{}, nil
		iv.ErrorLatency = metric.Sparse{}
		iv.Status, iv.Failures = nil, nil // of which there is more in the finals
		r.seconds = append(r.seconds, iv)
	})
	var group sync.WaitGroup
	group.Go(func() {
		for iv := range unshown {
			if each != nil {
				each(iv)
			}
		}
	})
	return func() {
		close(unshown)
		group.Wait()
	}
}

// say sends a command that does not bear on load.
func (r *running) say(agent, verb string, m any) error {
	return r.Conn.Publish(wire.CommandSubject(agent, verb), wire.Encode(m))
}

// instruct tells a member what bears on its load.
func (r *running) instruct(m *member, i wire.Instruction) {
	i.RunRef, i.Agent = m.of(r), m.name
	r.publish(i)
}

// publish numbers an instruction, signs it and sends it. What does not arrive is missed by
// whoever waits for the answer, as is what cannot be signed any more.
func (r *running) publish(i wire.Instruction) {
	r.said++
	i.Number, i.SentAt = r.said, r.clock.now()
	if b, err := i.EncodeSigned(r.Sign); err == nil {
		r.Conn.Publish(wire.CommandSubject(i.Agent, i.Verb), b)
	}
}

// command gives all members that are such and not done their instruction.
func (r *running) command(such func(*member) bool, what func(*member) wire.Instruction) {
	for _, m := range r.members {
		if such(m) && !m.done() {
			r.instruct(m, what(m))
		}
	}
}

// await listens to the agents until all members that are not given up are so far, or all
// are stopped while they were not, or the time is over, if there is any. When ctx ends it
// tells all to stop.
func (r *running) await(ctx context.Context, most time.Duration, far func(*member) bool) {
	before := r.stopped
	deadline := time.Now().Add(most)
	timer := time.NewTicker(pulse)
	defer timer.Stop()
	ended := ctx.Done()
	if before {
		ended = nil // all know
	}
	for !r.all(far) && (r.stopped == before) {
		select {
		case m := <-r.heard:
			r.arrive(m)
		case now := <-timer.C:
			r.keepTime(now)
			if most > 0 && now.After(deadline) {
				return
			}
		case <-ended:
			ended = nil
			r.halt("the controller was interrupted", errors.Is(context.Cause(ctx), load.ErrAborted))
		}
	}
}

func (r *running) all(far func(*member) bool) bool {
	for _, m := range r.members {
		if !far(m) {
			return false
		}
	}
	return true
}

// arrive takes a message, or what tests make of it.
func (r *running) arrive(m *nats.Msg) {
	if r.alter == nil {
		r.take(m, time.Now())
		return
	}
	for _, m := range r.alter(m) {
		r.take(m, time.Now())
	}
}

// take does with a message what has to be done. Those of other runs, of strangers and of
// an agent's other lives are none of ours.
func (r *running) take(msg *nats.Msg, now time.Time) {
	name, what, ok := wire.ParseSubject(msg.Subject)
	m := r.byName[name]
	if !ok || m == nil || m.distrusted {
		return
	}
	if why := m.budget.spend(len(msg.Data), now); why != "" && m.over() {
		m.unheard() // it has said what it measured
		return
	} else if why != "" {
		m.unbelieved(r, why)
		return
	}
	mine := func(of wire.RunRef) bool {
		if of.Run != r.id || of.Epoch != m.hello.Epoch {
			return false
		}
		m.heard = now
		return true
	}
	switch what {
	case wire.OrderAnswered:
		if a := (wire.Answer{}); wire.Decode(msg.Data, &a) == nil && mine(a.RunRef) && !r.opened {
			m.answered, m.refused = true, wire.Readable(a.Refused)
		}
	case wire.ClockSynced:
		if s := (wire.ClockSync{}); wire.Decode(msg.Data, &s) == nil && mine(s.RunRef) {
			m.learn(r, s, now)
		}
	case wire.Reported:
		if p := (wire.Report{}); wire.Decode(msg.Data, &p) == nil && mine(p.RunRef) {
			m.report(r, p, len(msg.Data))
		}
	case wire.ConnectionsOpen, wire.Armed, wire.Resharded, wire.Alive:
		if of := (wire.RunRef{}); wire.Decode(msg.Data, &of) == nil && mine(of) {
			m.ready = m.ready || what == wire.ConnectionsOpen
			m.armed = m.armed || what == wire.Armed
			m.shared = m.shared || what == wire.Resharded
			switch { // it goes on, for it has not heard that it should not
			case m.over():
			case m.lost != "":
				r.instruct(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.givenUp(m.lost)})
			case r.stopped:
				r.instruct(m, wire.Instruction{Verb: wire.StopLoad, Stop: &r.stop})
			}
		}
	}
}

// keepTime says that the controller is there, finds out which agents are not, and looks at
// the clocks of those that are.
func (r *running) keepTime(now time.Time) {
	if now.Sub(r.beaten) >= heartbeat {
		r.beaten = now
		r.publish(wire.Instruction{RunRef: wire.RunRef{Run: r.id}, Agent: wire.Everyone, Verb: wire.Heartbeat})
		for _, m := range r.members {
			if m.distrusted { // it is not heard, and so not whether it has heard
				r.instruct(m, wire.Instruction{Verb: wire.StopLoad, Stop: m.givenUp(m.lost)})
			}
		}
	}
	for _, m := range r.members {
		switch {
		case m.done():
		case now.Sub(m.heard) > cmp.Or(r.lease, Lease):
			r.without(m, fmt.Sprintf("nothing was heard of it for %v", cmp.Or(r.lease, Lease)))
		case r.armed && !r.stopped:
			if why := m.overdue(r.plan, r.start, r.clock.of(now)); why != "" {
				r.without(m, why)
			}
		}
	}
	if at := r.clock.of(now); r.armed && at-max(r.start, r.sounded) >= int64(resound) {
		r.sounded = at
		for _, m := range r.members {
			m.sound(handful)
		}
	}
	r.sound(now)
	r.unshared(now)
	r.rebalance(now)
}

// without gives up a member, and the run if that is what is to be done then.
func (r *running) without(m *member, why string) {
	m.lose(r, why)
	switch {
	case r.stopped:
	case !r.armed:
		r.halt(m.name+" was lost before the start", true)
	case r.on == Abort:
		r.tell("%s was lost: the run ends", m.name)
		r.lost = true
		r.halt(m.name+" was lost", true)
	default:
		r.tell("%s was lost: the others go on", m.name)
	}
}

// halt tells all to stop.
func (r *running) halt(why string, aborted bool) {
	r.stopped, r.stop = true, wire.Stop{Why: why, Aborted: aborted}
	for _, m := range r.members {
		if !m.over() && m.refused == "" {
			r.instruct(m, wire.Instruction{Verb: wire.StopLoad, Stop: &r.stop})
		}
	}
}
