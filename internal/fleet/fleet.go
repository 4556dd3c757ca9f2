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

	"dyno/internal/fleet/wire"
)

const (
	// Lease is for how long an agent and a controller believe in one another unheard.
	Lease = 5 * time.Second

	heartbeatInterval = 500 * time.Millisecond // of agents and controllers
	deadlineInterval  = 100 * time.Millisecond // how often deadlines are looked at
	resendDelay       = time.Second            // after which a report is said again
)

// How much of one agent, or one controller, waits to be read, in messages and bytes. What comes
// then is lost, and said again if it has to be heard. An agent's plan may come at once.
const (
	queuedMessagesMax  = 4 << 10
	queuedBytesMax     = 8 << 20
	queuedPlanBytesMax = 2 * wire.BundleMax
)

// newRandomID is a name that nothing else has.
func newRandomID() string { return rand.Text() }

// An FoundAgent is an agent that says it is there.
type FoundAgent struct {
	Name       string
	ClockAhead time.Duration // by which its wall clock is ahead of ours
	wire.Hello
	heardAt time.Time
}

// Discover asks who is there and returns those who have answered, by name: as soon as all
// of names have, or after wait, but not before half of that has passed without another
// answer. Two that have one name are there twice, and more are not heard.
func Discover(ctx context.Context, conn *nats.Conn, names []string, wait time.Duration) (
	[]FoundAgent, error) {
	asked, heard, left := newRandomID(), make(chan FoundAgent), make(chan struct{})
	defer close(left)
	sub, err := wire.Subscribe(conn, wire.EventSubject("*", wire.Present), queuedMessagesMax, queuedBytesMax, collectHellos(asked,
		func(a FoundAgent) {
			select {
			case heard <- a:
			case <-left:
			}
		}))
	if err != nil {
		return nil, fmt.Errorf("asking for agents: %w", err)
	}
	defer sub.Unsubscribe()
	who := wire.Encode(wire.DiscoveryQuery{QueryID: asked})
	err = conn.Publish(wire.CommandSubject(wire.Everyone, wire.WhoIsThere), who)
	if err != nil {
		return nil, fmt.Errorf("asking for agents: %w", err)
	}
	found, over, least := map[string]FoundAgent{}, time.NewTimer(wait), time.Now().Add(wait)
	defer over.Stop()
	all := func() bool {
		for _, name := range names {
			if !slices.ContainsFunc(sortedByName(found), func(a FoundAgent) bool { return a.Name == name }) {
				return false
			}
		}
		return len(names) > 0
	}
	for !all() {
		select {
		case a := <-heard:
			found[a.Name+" "+a.Epoch] = a
			over.Reset(max(time.Until(least), wait/2))
		case <-over.C:
			return sortedByName(found), nil
		case <-ctx.Done():
			return sortedByName(found), nil
		}
	}
	return sortedByName(found), nil
}

// sameNameMax is how many agents of one name are heard: enough to say that it is not one. Who
// answers for ever as others must not keep whoever asked. Of the messages of one name so many
// are read, for some may be answers to others, if they have no more bytes than a Hello can have.
const (
	sameNameMax        = 2
	messagesPerNameMax = 64
	helloBytesMax      = 64 << 10
)

// collectHellos calls f with each that answers a question, once for each of its lives. It reads little
// of each name, so that one that floods does not keep the others from being heard.
func collectHellos(asked string, f func(FoundAgent)) func(*nats.Msg) {
	read, lives := map[string]int{}, map[string][]string{} // by name
	return func(m *nats.Msg) {
		var h wire.Hello
		name, _, ok := wire.ParseSubject(m.Subject)
		if !ok || len(m.Data) > helloBytesMax || read[name] >= messagesPerNameMax || len(lives[name]) >= sameNameMax {
			return
		}
		read[name]++
		if wire.Decode(m.Data, &h) != nil || h.QueryID != asked ||
			slices.Contains(lives[name], h.Epoch) {
			return
		}
		lives[name] = append(lives[name], h.Epoch)
		f(FoundAgent{name, time.Until(h.Clock), h, time.Now()})
	}
}

func sortedByName(all map[string]FoundAgent) []FoundAgent {
	return slices.SortedFunc(maps.Values(all), func(a, b FoundAgent) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Epoch, b.Epoch))
	})
}

// StopAllRuns has every agent stop what it runs, if it obeys the key that signs. The error names
// those that go on.
func StopAllRuns(ctx context.Context, conn *nats.Conn, sign func([]byte) ([]byte, error),
	why string) error {
	there, err := Discover(ctx, conn, nil, helloTimeout)
	if err != nil {
		return err
	}
	told := map[string]string{} // runs, by agent
	for _, a := range there {
		if a.Busy == "" {
			continue
		}
		told[a.Name] = a.Busy
		b, err := wire.Instruction{RunRef: wire.RunRef{Run: a.Busy, Epoch: a.Epoch}, Agent: a.Name,
			Verb: wire.StopLoad, Stop: &wire.Stop{Why: why}}.EncodeSigned(sign)
		if err == nil {
			err = conn.Publish(wire.CommandSubject(a.Name, wire.StopLoad), b)
		}
		if err != nil {
			return fmt.Errorf("telling %s to stop: %w", a.Name, err)
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("telling all agents to stop: %w", err)
	}
	return awaitStopped(ctx, conn, told)
}

// awaitStopped waits until agents do not have their runs any more, for Lease at most.
func awaitStopped(ctx context.Context, conn *nats.Conn, told map[string]string) error {
	left := slices.Sorted(maps.Keys(told))
	for until := time.Now().Add(Lease); len(left) > 0; time.Sleep(deadlineInterval) {
		there, err := Discover(ctx, conn, left, helloTimeout)
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
