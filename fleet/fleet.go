// Package fleet makes one load of many machines: a Controller cuts a plan into parts
// and each Agent carries out one. What they say to each other is in package wire, how
// they come to the bus is not theirs to know.
//
// A run goes through stages that nobody passes alone: every agent accepts its part or
// says why not, all open their connections, the controller learns how far each agent's
// monotonic clock is from its own, all begin at one instant, and then nobody needs to
// talk: the parts are shares of one schedule. Each second an agent reports what it
// measured, and at last all of it once more; the two are held against each other.
//
// Whoever hears nothing of the other for Lease gives it up: an agent stops its load, and
// the controller calls the agent lost. An agent that was started again is another one.
package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/fleet/wire"
)

const (
	// Lease is for how long an agent and a controller believe in one another unheard.
	Lease = 5 * time.Second

	heartbeat = 500 * time.Millisecond // of agents and controllers
	pulse     = 100 * time.Millisecond // how often deadlines are looked at
	resend    = time.Second            // after which a report is said again
	queueMost = 1 << 16                // messages that wait to be read
)

// newID is a name that nothing else has.
func newID() string { return rand.Text() }

// An Answerer is an agent that says it is there.
type Answerer struct {
	Name string
	Off  time.Duration // by which its wall clock is ahead of ours
	wire.Hello
	heard time.Time
}

// Discover asks who is there and returns those who have answered, by name: as soon as all
// of names have, or after wait, but not before half of that has passed without another
// answer. Two that have one name are there twice, and more are not heard.
func Discover(ctx context.Context, conn *nats.Conn, names []string, wait time.Duration) (
	[]Answerer, error) {
	heard := make(chan *nats.Msg, queueMost)
	sub, err := conn.ChanSubscribe(wire.Event("*", wire.Here), heard)
	if err != nil {
		return nil, fmt.Errorf("listening for agents: %w", err)
	}
	defer sub.Unsubscribe()
	asked := newID()
	who := wire.Encode(wire.Who{Asked: asked})
	err = conn.Publish(wire.Command(wire.Everyone, wire.WhoIsThere), who)
	if err != nil {
		return nil, fmt.Errorf("asking for agents: %w", err)
	}
	said := map[string]int{} // by name
	found, over, least := map[string]Answerer{}, time.NewTimer(wait), time.Now().Add(wait)
	defer over.Stop()
	all := func() bool {
		for _, name := range names {
			if !slices.ContainsFunc(byName(found), func(a Answerer) bool { return a.Name == name }) {
				return false
			}
		}
		return len(names) > 0
	}
	for !all() {
		select {
		case m := <-heard:
			var h wire.Hello
			name, _, ok := wire.Parse(m.Subject)
			if !ok || wire.Decode(m.Data, &h) != nil || h.Asked != asked {
				continue
			}
			id := name + " " + h.Epoch
			if _, had := found[id]; !had && said[name] < twinsMost {
				said[name]++
				found[id] = Answerer{name, time.Until(h.Clock), h, time.Now()}
				over.Reset(max(time.Until(least), wait/2))
			}
		case <-over.C:
			return byName(found), nil
		case <-ctx.Done():
			return byName(found), nil
		}
	}
	return byName(found), nil
}

// twinsMost is how many agents of one name are heard: enough to say that it is not one. Who
// answers for ever as others must not keep whoever asked.
const twinsMost = 2

func byName(all map[string]Answerer) []Answerer {
	return slices.SortedFunc(maps.Values(all), func(a, b Answerer) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Epoch, b.Epoch))
	})
}

// StopAll has every agent stop what it runs, if it obeys the key that signs. The error names
// those that go on.
func StopAll(ctx context.Context, conn *nats.Conn, sign func([]byte) ([]byte, error),
	why string) error {
	there, err := Discover(ctx, conn, nil, settling)
	if err != nil {
		return err
	}
	told := map[string]string{} // runs, by agent
	for _, a := range there {
		if a.Busy == "" {
			continue
		}
		told[a.Name] = a.Busy
		b, err := wire.Instruction{Of: wire.Of{Run: a.Busy, Epoch: a.Epoch}, Agent: a.Name,
			Verb: wire.Halt, Ends: &wire.Stop{Why: why}}.Sign(sign)
		if err == nil {
			err = conn.Publish(wire.Command(a.Name, wire.Halt), b)
		}
		if err != nil {
			return fmt.Errorf("telling %s to stop: %w", a.Name, err)
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("telling all agents to stop: %w", err)
	}
	return obeyed(ctx, conn, told)
}

// obeyed waits until agents do not have their runs any more, for Lease at most.
func obeyed(ctx context.Context, conn *nats.Conn, told map[string]string) error {
	left := slices.Sorted(maps.Keys(told))
	for until := time.Now().Add(Lease); len(left) > 0; time.Sleep(pulse) {
		there, err := Discover(ctx, conn, left, settling)
		if err != nil {
			return err
		}
		left = nil
		for _, a := range there {
			if a.Busy != "" && a.Busy == told[a.Name] {
				left = append(left, a.Name)
			}
		}
		if len(left) > 0 && (ctx.Err() != nil || time.Now().After(until)) {
			return fmt.Errorf("agents that were told to stop and go on: %s; do they obey another plan "+
				"key than this machine's, which dyno fleet key prints?", strings.Join(left, ", "))
		}
	}
	return nil
}
