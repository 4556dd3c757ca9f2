package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/machine"
)

// patience is how long a test waits for what must come.
const patience = int64(2 * time.Minute)

// A poisoner overwrites what was lent when its time is over.
type poisoner struct {
	Ring
	lent []byte
}

func (p *poisoner) Next() (Completion, bool) {
	for i := range p.lent {
		p.lent[i] = '!'
	}
	c, ok := p.Ring.Next()
	p.lent = c.Data
	return c, ok
}

// A manner is a kind of ring, and for how many sockets it is, which changes what
// io_uring does with memory.
type manner struct {
	name, kind string
	sockets    int
}

// manners are all of this platform.
func manners() (all []manner) {
	for _, kind := range Kinds {
		all = append(all, manner{kind, kind, 1})
		if kind == "uring" {
			all = append(all, manner{"uring of many", kind, 100_000})
		}
	}
	return all
}

// onEveryRing runs a test on every ring of this platform.
func onEveryRing(t *testing.T, test func(t *testing.T, open func(...Addr) Ring)) {
	for _, m := range manners() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			test(t, func(addrs ...Addr) Ring {
				r, free := m.open(t, addrs)
				t.Cleanup(free)
				return &poisoner{Ring: r}
			})
		})
	}
}

// rests fails unless a try, which waits for d, rests more often than it spins: three times before three. It spins if
// the thread had the CPU meanwhile; if others had it, the try tells nothing.
func rests(t *testing.T, d time.Duration, try func() (rested bool, said string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpu, enough, most := machine.ThreadCPU(), 3, 3
	if cpu == nil { // whose it was is not known
		cpu, enough, most = Clock, 1, 10
	}
	said := ""
	for rested, spun, tries := 0, 0, 0; rested < enough; tries++ {
		before, is := cpu(), false
		switch is, said = try(); {
		case is:
			rested++
		case cpu()-before >= int64(d)/3:
			spun++
		}
		if spun == most || tries == 2000 {
			t.Fatalf("%s; it rested %d times of %d, and spun %d times", said, rested, tries+1, spun)
		}
	}
}

// open opens a ring, unless the system refuses that kind.
func (m manner) open(t *testing.T, addrs []Addr) (Ring, func()) {
	t.Helper()
	o, err := Open(m.kind, Size{Sockets: m.sockets}, addrs)
	if errors.Is(err, ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.Kind != m.kind || o.Refused != nil {
		t.Errorf("asked for %s, opened %s, refused %v", m.kind, o.Kind, o.Refused)
	}
	return o.Ring, o.Free
}

// turns drives r as a worker does, each turn to its end, until done.
func turns(t *testing.T, r Ring, done func() bool, take func(Completion)) {
	t.Helper()
	limit := r.Now() + patience
	for !done() {
		if r.Now() >= limit {
			t.Fatal("waited in vain")
		}
		if err := r.Wait(min(limit, r.Now()+int64(10*time.Millisecond))); err != nil {
			t.Fatal(err)
		}
		for c, ok := r.Next(); ok; c, ok = r.Next() {
			take(c)
		}
	}
}

// quiet fails if any completion comes within the next few turns.
func quiet(t *testing.T, r Ring) {
	t.Helper()
	until := r.Now() + int64(20*time.Millisecond)
	turns(t, r, func() bool { return r.Now() >= until }, func(c Completion) {
		t.Errorf("unexpected completion %+v", c)
	})
}

func connect(t *testing.T, r Ring, user uint64) int {
	t.Helper()
	fd, err := r.Connect(0, user)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// dial connects to a server that does not speak first, and waits for that.
func dial(t *testing.T, r Ring, user uint64) int {
	t.Helper()
	fd, up := connect(t, r, user), false
	turns(t, r, func() bool { return up }, func(c Completion) {
		if c.Op != Connected || c.User != user || c.Err != nil {
			t.Fatalf("unexpected completion %+v", c)
		}
		up = true
	})
	return fd
}

// exchange sends b and takes n bytes of answer.
func exchange(t *testing.T, r Ring, fd int, b []byte, n int) []byte {
	t.Helper()
	sent := r.Send(fd, b)
	var got []byte
	turns(t, r, func() bool { return sent && len(got) >= n }, func(c Completion) {
		if c.Err != nil || c.Op == Sent && sent {
			t.Fatalf("unexpected completion %+v", c)
		}
		sent = sent || c.Op == Sent
		got = append(got, c.Data...)
	})
	return got
}

// serve answers connections until the test is over, which waits for handlers.
func serve(t *testing.T, network, address string, handle func(net.Conn)) Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("no %s here: %v", network, err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				handle(c)
				c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return addrOf(l)
}

func addrOf(l net.Listener) Addr {
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		return Addr{TCP: a.AddrPort()}
	}
	return Addr{Unix: l.Addr().String()}
}

func serveTCP(t *testing.T, handle func(net.Conn)) Addr {
	t.Helper()
	return serve(t, "tcp", "127.0.0.1:0", handle)
}

func echo(c net.Conn) { io.Copy(c, c) }

// await is a server waiting for its test to go on, or to be over.
func await(t *testing.T, c <-chan bool) {
	select {
	case <-c:
	case <-t.Context().Done():
	}
}

// unixPath is short: the paths of unix sockets have to be.
func unixPath(t *testing.T) string {
	dir, err := os.MkdirTemp("", "ring")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func TestEcho(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		for _, test := range []struct{ name, network, address string }{
			{"ipv4", "tcp4", "127.0.0.1:0"},
			{"ipv6", "tcp6", "[::1]:0"},
			{"unix", "unix", unixPath(t)},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := open(serve(t, test.network, test.address, echo))
				fd := dial(t, r, 7)
				for _, s := range []string{"x", "and again"} {
					if got := exchange(t, r, fd, []byte(s), len(s)); string(got) != s {
						t.Errorf("sent %q, received %q", s, got)
					}
				}
				r.Close(fd, false)
				quiet(t, r)
			})
		}
	})
}

// TestMappedAddress connects to an IPv4 address in the form that IPv6 has for it.
func TestMappedAddress(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		a := serveTCP(t, echo)
		ip := netip.AddrFrom16(a.TCP.Addr().As16())
		r := open(Addr{TCP: netip.AddrPortFrom(ip, a.TCP.Port())})
		dial(t, r, 1)
	})
}

func TestManyConnections(t *testing.T) {
	const connections, messages = 300, 10
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		r := open(serveTCP(t, echo))
		fds := make([]int, connections)
		sent, received := make([]int, connections), make([][]byte, connections)
		message := func(i, n int) []byte {
			return bytes.Repeat([]byte(fmt.Sprintf("<%d:%d>", i, n)), 1+(i+n)%50)
		}
		for i := range fds {
			fds[i] = connect(t, r, uint64(i))
		}
		left := connections
		turns(t, r, func() bool { return left == 0 }, func(c Completion) {
			i := c.User
			if c.Err != nil {
				t.Fatalf("connection %d: %v", i, c.Err)
			}
			received[i] = append(received[i], c.Data...)
			if c.Op == Received {
				want := message(int(i), sent[i]-1)
				if len(received[i]) < len(want) {
					return
				}
				if !bytes.Equal(received[i], want) {
					t.Fatalf("connection %d: received %q, not %q", i, received[i], want)
				}
				received[i] = received[i][:0]
			}
			if c.Op == Sent {
				return
			}
			if sent[i] == messages {
				left--
				return
			}
			sent[i]++
			r.Send(fds[i], message(int(i), sent[i]-1))
		})
	})
}

// TestBigMessage sends more than a socket takes at once, while the answer comes.
func TestBigMessage(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		block := make([]byte, 10_007) // no power of two: what is misplaced differs
		for i := range block {
			block[i] = byte(i ^ i>>8)
		}
		big := bytes.Repeat(block, 8<<20/len(block)+1)
		begin := make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) { await(t, begin); echo(c) }))
		fd := dial(t, r, 1)
		if r.Send(fd, big) {
			t.Fatal("a socket took 8 MiB at once")
		}
		close(begin)
		unsent := 1
		var got []byte
		turns(t, r, func() bool { return unsent == 0 && len(got) >= len(big) }, func(c Completion) {
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			if c.Op == Sent {
				unsent--
			}
			got = append(got, c.Data...)
		})
		if !bytes.Equal(got, big) || unsent != 0 {
			t.Errorf("%d bytes came back, not those sent; %d Sent too many", len(got), -unsent)
		}
	})
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := addrOf(l)
	l.Close()
	none := Addr{Unix: unixPath(t)}
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		for i, want := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ENOENT} {
			r := open(closed, none)
			fd, err := r.Connect(i, 5)
			for err == nil {
				turns(t, r, func() bool { return err != nil }, func(c Completion) {
					if c.Op != Connected || c.User != 5 {
						t.Errorf("unexpected completion %+v", c)
					}
					err = c.Err
				})
				quiet(t, r)
				r.Close(fd, true)
			}
			if err != want {
				t.Errorf("connecting failed with %v (%T), not %v", err, err, want)
			}
			quiet(t, r)
		}
	})
}

func TestPeerEnds(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		for _, test := range []struct {
			name string
			end  func(*net.TCPConn)
			err  error
		}{
			{"closes", func(c *net.TCPConn) { c.Close() }, io.EOF},
			{"closes one way", func(c *net.TCPConn) {
				c.CloseWrite()
				io.Copy(io.Discard, c)
			}, io.EOF},
			{"resets", func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, syscall.ECONNRESET},
		} {
			t.Run(test.name, func(t *testing.T) {
				greeted := make(chan bool, 1)
				r := open(serveTCP(t, func(c net.Conn) {
					c.Write([]byte("bye"))
					await(t, greeted) // a reset may overtake data
					test.end(c.(*net.TCPConn))
				}))
				fd := connect(t, r, 3)
				var got []byte
				var end error
				turns(t, r, func() bool { return end != nil }, func(c Completion) {
					if c.Op == Sent || c.User != 3 || end != nil {
						t.Errorf("unexpected completion %+v", c)
					}
					if got = append(got, c.Data...); string(got) == "bye" && c.Err == nil {
						greeted <- true
					}
					end = c.Err
				})
				if string(got) != "bye" || end != test.err {
					t.Errorf("received %q, then %v", got, end)
				}
				quiet(t, r)
				r.Close(fd, true)
				quiet(t, r)
			})
		}
	})
}

// TestSendAfterReset must end in an error, and not in a signal.
func TestSendAfterReset(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		begin := make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) {
			await(t, begin)
			c.(*net.TCPConn).SetLinger(0)
		}))
		fd := dial(t, r, 3)
		close(begin)
		var reset error
		turns(t, r, func() bool { return reset != nil }, func(c Completion) { reset = c.Err })
		if r.Send(fd, []byte("x")) {
			t.Fatal("sent to nobody")
		}
		var err error
		turns(t, r, func() bool { return err != nil }, func(c Completion) {
			if c.Op == Sent {
				err = c.Err
			}
		})
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) &&
			!errors.Is(err, syscall.ECONNABORTED) {
			t.Errorf("sending failed with %v (%T)", err, err)
		}
	})
}

// A peer that sends faster than it is read leaves the worker its turns, and other sockets theirs.
func TestEndlessPeers(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		const greedy, most = 3, 4 << 20 // bytes of a turn
		r := open(serveTCP(t, func(c net.Conn) {
			first := make([]byte, 1)
			c.Read(first)
			if first[0] == 'q' {
				c.Write([]byte("answer"))
				return
			}
			for endless := make([]byte, 1<<20); ; {
				if _, err := c.Write(endless); err != nil {
					return
				}
			}
		}))
		for n := range greedy {
			r.Send(dialAny(t, r, uint64(n)), []byte("e"))
		}
		r.Send(dialAny(t, r, greedy), []byte("q"))
		answered, received := false, 0
		for turn := 0; !answered || received < 4*most; turn++ {
			if turn == 100_000 {
				t.Fatalf("%d bytes were received; the socket beside them is answered: %v", received, answered)
			}
			if err := r.Wait(r.Now() + int64(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			of := 0
			for c, ok := r.Next(); ok; c, ok = r.Next() {
				answered = answered || c.User == greedy && len(c.Data) > 0
				if of += len(c.Data); of > most {
					t.Fatalf("a turn has received %d bytes, and goes on", of)
				}
			}
			received += of
		}
	})
}
