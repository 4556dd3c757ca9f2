//go:build linux

package e2e

import (
	"net"
	"sync"
	"testing"
)

// listen serves each connection with a function, which need not close it, until
// the test ends.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, serve)
	return l
}

func serveOn(t *testing.T, l net.Listener, serve func(net.Conn)) {
	var mu sync.Mutex
	var conns []net.Conn
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			group.Go(func() {
				serve(c)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		group.Wait()
	})
}
