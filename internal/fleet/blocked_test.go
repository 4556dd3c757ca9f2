package fleet

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/load"
)

// A valve is a way to a listener that takes nothing any more once it is shut, in either direction, and
// does not say so.
type valve struct {
	net.Listener
	closed chan struct{}
}

// newValve is one to that address, until the test ends.
func newValve(t *testing.T, to string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v, over := &valve{l, make(chan struct{})}, make(chan struct{})
	var group sync.WaitGroup
	pass := func(from, to net.Conn) {
		defer from.Close()
		defer to.Close()
		for b := make([]byte, 32<<10); ; {
			n, err := from.Read(b)
			select {
			case <-v.closed:
				<-over
				return
			default:
			}
			if _, more := to.Write(b[:n]); err != nil || more != nil {
				return
			}
		}
	}
	group.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			group.Go(func() { pass(near, far) })
			group.Go(func() { pass(far, near) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		close(over)
		group.Wait()
	})
	return v
}

func (v *valve) shutValve() { close(v.closed) }

// An agent whose line takes nothing any more holds up nobody: the others' load is complete and exact, the
// run comes to its end, and so does the agent.
func TestBlockedLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := newValve(t, strings.TrimPrefix(w.bus, "nats://"))
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
	p.Drain, p.Timeout, p.Connecting = load.Seconds(4*time.Second), load.Seconds(time.Second), load.Seconds(time.Second)
	r, err := w.tryRun(t.Context(), c, p, onceInSecond(0, func() {
		v.shutValve()
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
