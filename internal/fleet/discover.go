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

// A FoundAgent is an agent that answered Discover.
type FoundAgent struct {
	Name       string
	ClockAhead time.Duration // by which its wall clock is ahead of ours
	wire.Hello
	heardAt time.Time
}

// Discover asks which agents are on the bus and returns those that answered, sorted by name. It
// returns as soon as all of names have answered, else after wait. Each answer extends the wait to
// at least half of wait. Of agents with the same name two are returned, and no more.
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

// Limits of what Discover reads. Two agents of one name are enough to tell that the name is not
// unique. A sender that answers for ever must not keep the caller waiting: of each name Discover
// reads so many messages, because some may answer other queries, and none that is longer than a
// Hello can be.
const (
	sameNameMax        = 2
	messagesPerNameMax = 64
	helloBytesMax      = 64 << 10
)

// collectHellos returns a message handler that calls f with each agent that answers the query,
// once for each process. It reads a limited number of messages of each name, so that one that
// floods does not keep the others from being read.
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
