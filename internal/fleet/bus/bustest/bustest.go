// Package bustest has what tests of a fleet's lines need.
package bustest

import (
	"net"
	"sync"
	"testing"
)

// A Valve forwards connections to another address. Once it is shut it takes nothing more in either
// direction and closes nothing, as a line that is blocked.
type Valve struct {
	net.Listener
	closed chan struct{}
}

// NewValve listens on loopback and forwards to that address until the test ends.
func NewValve(t *testing.T, to string) *Valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v, over := &Valve{l, make(chan struct{})}, make(chan struct{})
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

// Shut blocks every connection. It may be called once.
func (v *Valve) Shut() { close(v.closed) }
