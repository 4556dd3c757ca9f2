//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// A death is a way in which a connection ends, or stays unanswered, instead of a proper exchange.
// It reports whether the connection goes on.
type death func(c *net.TCPConn) bool

// large is an answer that a ring does not receive in one piece.
var large = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("0123456789", 10_000)

var deaths = []death{
	func(c *net.TCPConn) bool { // reset before an answer
		c.SetLinger(0)
		return false
	},
	func(c *net.TCPConn) bool { // reset in the middle of one
		io.WriteString(c, large[:50_000])
		c.SetLinger(0)
		return false
	},
	func(c *net.TCPConn) bool { return false }, // closed without a word
	func(c *net.TCPConn) bool { // and in the middle of a header
		io.WriteString(c, large[:20])
		return false
	},
	func(c *net.TCPConn) bool { // closed one way, and the rest is left to the client
		io.WriteString(c, answer)
		c.CloseWrite()
		io.Copy(io.Discard, c)
		return false
	},
	func(c *net.TCPConn) bool { // stalls until the client has had enough
		io.Copy(io.Discard, c)
		return false
	},
	func(c *net.TCPConn) bool { // in good order
		io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
		return false
	},
	func(c *net.TCPConn) bool { // slowly
		for _, b := range []byte(answer) {
			c.Write([]byte{b})
		}
		return true
	},
	func(c *net.TCPConn) bool {
		_, err := io.WriteString(c, large)
		return err == nil
	},
}

// serveAndDie answers nine requests of ten properly, and ends the connection at random otherwise.
func serveAndDie(c net.Conn) {
	for b := make([]byte, 1<<10); ; {
		n := 0
		for !bytes.HasSuffix(b[:n], []byte("\r\n\r\n")) {
			more, err := c.Read(b[n:])
			if n += more; err != nil {
				return
			}
		}
		if rand.IntN(10) > 0 {
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		} else if !deaths[rand.IntN(len(deaths))](c.(*net.TCPConn)) {
			return
		}
	}
}

// A state is the resources that a process holds.
type state struct {
	files, goroutines int
	heap              int64 // bytes, after collections
}

func heldResources() state {
	runtime.GC()
	runtime.GC() // what is in a sync.Pool survives one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return state{len(files), runtime.NumGoroutine(), int64(m.HeapAlloc)}
}

// mortals are the connections of a load that die.
type mortals struct {
	ring        string
	connections int
	patience    int // ms
}

// TestDeaths has connections that end at random under load. On no ring may anything accumulate
// meanwhile, or be left at the end. DYNO_SOAK sets how long it takes.
func TestDeaths(t *testing.T) {
	long := 6 * time.Second
	if s := os.Getenv("DYNO_SOAK"); s != "" {
		var err error
		if long, err = time.ParseDuration(s); err != nil {
			t.Fatal("DYNO_SOAK: ", err)
		}
	}
	manners := []mortals{{"epoll", 200, 500}, {"uring", 200, 500}, {"uring", 2100, 3000},
		{"portable", 200, 500}}
	for _, m := range manners {
		t.Run(m.ring, func(t *testing.T) {
			m.dieInTurn(t, 300*time.Millisecond) // what is made once
			before := heldResources()
			m.dieInTurn(t, max(long/time.Duration(len(manners)), time.Second))
			var after state
			waitUntil(t, "what was held is let go", func() bool {
				after = heldResources()
				return after.files <= before.files && after.goroutines <= before.goroutines
			})
			if after.heap > before.heap+2<<20 {
				t.Errorf("%d bytes of heap, and %d before", after.heap, before.heap)
			}
			maps, err := os.ReadFile("/proc/self/maps")
			if err != nil || strings.Contains(string(maps), "io_uring") {
				t.Errorf("io_uring's memory is still mapped: %v", err)
			}
		})
	}
}

// dieInTurn loads a mortal server for so long.
func (m mortals) dieInTurn(t *testing.T, long time.Duration) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer startServing(l, serveAndDie)()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://" + at.String(), Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Weight: 1,
		Request: proto.Request{Method: "GET", Authority: at.String(), Path: "/"}}}
	p.Ring, p.Connections, p.Threads = m.ring, m.connections, 1
	p.Duration = loadplan.Seconds(long)
	p.Timeout = loadplan.Seconds(time.Duration(m.patience) * time.Millisecond)
	var early, late state
	var lately int64
	r, err := load.Run(t.Context(), p, func(iv loadresult.Interval) {
		switch {
		case iv.From >= long: // a busy machine may end the last second late
			return
		case early.files == 0:
			early = heldResources()
		default:
			late = heldResources()
		}
		lately = iv.Completed
	})
	if errors.Is(err, ring.ErrRefused) { // as in most containers
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	judgeDeaths(t, r, long)
	if lately == 0 && long > time.Second {
		t.Error("at last nothing was completed any more")
	}
	if early.files > 0 && (late.files > early.files+2*m.connections ||
		late.goroutines > early.goroutines+2*m.connections || late.heap > early.heap+8<<20) {
		t.Errorf("after a second %+v, at last %+v", early, late)
	}
}

// judgeDeaths checks that every request is accounted for, and that there were deaths.
func judgeDeaths(t *testing.T, r *loadresult.Result, long time.Duration) {
	x := r.Total
	if x.Sent != x.Completed+x.Failed+r.Unfinished {
		t.Errorf("%d sent, %d completed, %d failed, %d unfinished", x.Sent, x.Completed, x.Failed,
			r.Unfinished)
	}
	kinds := map[string]int64{}
	for _, f := range r.Failures {
		kinds[f.Kind] += f.Count
		// On a busy machine dyno may give up an answer that has begun: it is unfinished.
		if !slices.Contains([]string{"reset", "truncated", "timeout", "unfinished", "closed", loadresult.Behind}, f.Kind) {
			t.Errorf("a death that no server died: %+v", f)
		}
	}
	if long < time.Second {
		return
	}
	for _, kind := range []string{"reset", "truncated", "timeout"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s among %v", kind, kinds)
		}
	}
	t.Logf("%s: %d completed, %d failed, %d reconnects: %v", r.Ring, x.Completed, x.Failed,
		r.Reconnects, kinds)
}
