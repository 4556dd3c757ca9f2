package load

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A server has as many workers as there are connections. They announce the close, or ignore that
// dyno announces it, and then wait for dyno to close, which frees them. On no ring dyno leaves that
// to them.
func TestServerWaitsForClose(t *testing.T) {
	for _, kind := range ring.Kinds {
		for name, test := range map[string]struct {
			says      string
			reconnect int
		}{
			"it announces the close": {"Connection: close\r\n", 0},
			"dyno announces it":      {"", 1},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				patiently(t, 200*time.Millisecond, func(longest time.Duration) error {
					at, kept := serveWaiting(t, 4, longest, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"+test.says+"\r\nok")
					p := loadplan.DefaultPlan()
					p.Target = loadplan.Target{URL: "http://" + at.String() + "/", Host: at.Addr().String(),
						Port: at.Port()}
					p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Path: "/"}}}
					p.Connections, p.Threads, p.Requested, p.Duration, p.Ring = 4, 1, 100, 0, kind
					p.Reconnect = test.reconnect
					r, err := Run(t.Context(), p, nil)
					if errors.Is(err, ring.ErrRefused) {
						t.Skip(err)
					}
					if err != nil || r.Total.Completed != 100 {
						t.Fatalf("%+v, %v", r, err)
					}
					if n := kept.Load(); n > 20 {
						return fmt.Errorf("of 100 connections %d kept a worker for its longest time", n)
					}
					return nil
				})
			})
		}
	}
}

// serveWaiting has a server with that many workers. Each answers one request, and waits for the
// client to close; kept counts how often that took the longest time.
func serveWaiting(t *testing.T, workers int, longest time.Duration, answer string) (at netip.AddrPort, kept *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	kept = new(atomic.Int32)
	for range workers {
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				c.Read(make([]byte, 4096))
				c.Write([]byte(answer))
				c.SetReadDeadline(time.Now().Add(longest))
				if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
					kept.Add(1)
				}
				c.Close()
			}
		}()
	}
	return l.Addr().(*net.TCPAddr).AddrPort(), kept
}
