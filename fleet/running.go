package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"

	"dyno/fleet/wire"
	"dyno/load"
	"dyno/metric"
	"dyno/result"
)

// A running is a Controller's run. All of it belongs to the goroutine that called Run.
type running struct {
	*Controller
	id      string
	plan    load.Plan // the whole one
	clock   clock
	on      string // loss of an agent
	heard   chan *nats.Msg
	members []*member
	byName  map[string]*member
	shown   func(from int, iv *load.Interval) // for the live view
	seconds []load.Interval                   // of all together, without their latencies
	scratch *metric.Histogram

	opened  bool      // connections were asked for
	armed   bool      // and all will begin
	stopped bool      // all were told to stop
	stop    wire.Stop // how
	lost    bool      // because an agent was
	owed    bool      // shares are to be changed, for a member was lost
	start   int64     // of the load, by our clock
	beaten  time.Time

	balanced time.Time // from when on shares may change again
	changes  []result.Rebalanced
}

// unshownMost is how many seconds may wait to be shown, an hour of them.
const unshownMost = 3600

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
		iv.Latency, iv.Service = metric.Sparse{}, metric.Sparse{}
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

// say sends a command to an agent, or to everyone.
func (r *running) say(agent, verb string, m any) error {
	return r.Conn.Publish(wire.Command(agent, verb), wire.Encode(m))
}

// command says the same to all members that are such and not done. What does not arrive is
// missed by whoever waits for the answers.
func (r *running) command(such func(*member) bool, verb string, what func(*member) any) {
	for _, m := range r.members {
		if such(m) && !m.done() {
			r.say(m.name, verb, what(m))
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
	name, what, ok := wire.Parse(msg.Subject)
	m := r.byName[name]
	if !ok || m == nil {
		return
	}
	mine := func(of wire.Of) bool {
		if of.Run != r.id || of.Epoch != m.hello.Epoch {
			return false
		}
		m.heard = now
		return true
	}
	switch what {
	case wire.Answered:
		if a := (wire.Answer{}); wire.Decode(msg.Data, &a) == nil && mine(a.Of) {
			m.answered, m.refused = true, readable(a.Refused)
		}
	case wire.Exchanged:
		if s := (wire.Sync{}); wire.Decode(msg.Data, &s) == nil && mine(s.Of) {
			m.learn(r, s, r.clock.of(now))
		}
	case wire.Reported:
		if p := (wire.Report{}); wire.Decode(msg.Data, &p) == nil && mine(p.Of) {
			m.report(r, p)
		}
	case wire.Opened, wire.Armed, wire.Shared, wire.Alive:
		if of := (wire.Of{}); wire.Decode(msg.Data, &of) == nil && mine(of) {
			m.ready = m.ready || what == wire.Opened
			m.armed = m.armed || what == wire.Armed
			m.shared = m.shared || what == wire.Shared
			switch { // it goes on, for it has not heard that it should not
			case m.over():
			case m.lost != "":
				r.say(m.name, wire.Halt, wire.Stop{Of: m.of(r), Why: "it was given up: " + m.lost})
			case r.stopped:
				r.stop.Of = m.of(r)
				r.say(m.name, wire.Halt, r.stop)
			}
		}
	}
}

// askNext asks the next member of which nothing is known for its clock.
func (r *running) askNext() {
	for _, m := range r.members {
		if m.asked == 0 && !m.done() {
			m.ask(r)
			return
		}
	}
}

// readableMost is how many characters of an agent's words are shown.
const readableMost = 500

// readable is what an agent says, for a terminal: it may not be who one thinks.
func readable(s string) string {
	runes := []rune(strings.ToValidUTF8(s, "?"))
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = ' '
		}
	}
	return string(runes[:min(len(runes), readableMost)])
}

// keepTime says that the controller is there, and finds out which agents are not.
func (r *running) keepTime(now time.Time) {
	if now.Sub(r.beaten) >= heartbeat {
		r.beaten = now
		r.say(wire.Everyone, wire.Beat, wire.Of{Run: r.id})
	}
	for _, m := range r.members {
		if m.asked > 0 && !m.isKnown() && r.clock.of(now)-m.began > int64(resend) {
			m.ask(r) // the answer got lost
		}
		if m.done() || now.Sub(m.heard) <= Lease {
			continue
		}
		m.lose(r, fmt.Sprintf("nothing was heard of it for %v", Lease))
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
	r.unshared(now)
	r.rebalance(now)
}

// halt tells all to stop.
func (r *running) halt(why string, aborted bool) {
	r.stopped, r.stop = true, wire.Stop{Why: why, Aborted: aborted}
	for _, m := range r.members {
		if !m.over() {
			r.stop.Of = m.of(r)
			r.say(m.name, wire.Halt, r.stop)
		}
	}
}
