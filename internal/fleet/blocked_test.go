package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/bus/bustest"
)

// An agent whose line takes nothing any more holds up nobody: the others' load is complete and exact, the
// run comes to its end, and so does the agent.
func TestBlockedLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := bustest.NewValve(t, strings.TrimPrefix(w.bus, "nats://"))
	conn, err := nats.Connect("nats://"+v.Addr().String(), nats.FlusherTimeout(5*time.Second), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	_, end := w.startAgent("blocked", 1, unhurriedly, func(a *Agent) { a.Conn = conn })
	w.startAgent("a", 1, unhurriedly)
	w.startAgent("b", 1, unhurriedly)
	c := w.newController("a", "b", "blocked")
	c.OnLoss, c.lease = Continue, unhurried
	p := w.newPlan(600, 3*time.Second, 6)
	p.Drain, p.Timeout, p.Connecting = loadplan.Seconds(4*time.Second), loadplan.Seconds(time.Second), loadplan.Seconds(time.Second)
	r, err := w.tryRun(t.Context(), c, p, onceInSecond(0, func() {
		v.Shut()
		go func() { // until the line is full
			for conn.Publish("dyno.ev.blocked.beat", make([]byte, 64<<10)) == nil {
			}
		}()
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Fleet.Agents {
		switch {
		case a.Name == "blocked":
			if !strings.Contains(a.Lost, "reported nothing") && !strings.Contains(a.Lost, "has not finished") || a.Final {
				t.Errorf("of the blocked one: %+v", a)
			}
		case a.Lost != "" || !a.Final || !*a.AddsUp || a.Requests.Sent != 600 || a.Covered != 3:
			t.Errorf("of another: %+v", a)
		}
	}
	end()
}
