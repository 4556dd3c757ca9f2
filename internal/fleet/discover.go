package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/fleet/wire"
)

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
	sub, err := wire.Subscribe(conn, wire.EventSubject("*", wire.Present), queuedMessagesMax,
		queuedBytesMax, collectHellos(asked,
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

// collectHellos calls f with each that answers a question, once for each of its lives. It reads
// little of each name, so that one that floods does not keep the others from being heard.
func collectHellos(asked string, f func(FoundAgent)) func(*nats.Msg) {
	read, lives := map[string]int{}, map[string][]string{} // by name
	return func(m *nats.Msg) {
		var h wire.Hello
		name, _, ok := wire.ParseSubject(m.Subject)
		if !ok || len(m.Data) > helloBytesMax || read[name] >= messagesPerNameMax ||
			len(lives[name]) >= sameNameMax {
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
