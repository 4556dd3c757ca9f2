package ring

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bench is an epoll ring and the peers of its sockets, all in the test's own
// goroutine. Its sockets are unix sockets: what one end has written is at the
// other end when the write returns, so that every turn is exactly known.
type bench struct {
	t     *testing.T
	r     *epoll
	l     net.Listener
	fds   []int
	peers []net.Conn
}

// newBench has n connected sockets, user i having peer i.
func newBench(t *testing.T, n int) *bench {
	l, err := net.Listen("unix", unixPath(t))
	if err != nil {
		t.Fatal(err)
	}
	r, free, err := openEpoll([]Addr{addrOf(l)}, Size{Sockets: n})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, r: r.(*epoll), l: l}
	t.Cleanup(func() {
		for _, p := range b.peers {
			p.Close()
		}
		l.Close()
		free()
	})
	for range n {
		b.connect()
	}
	if got := b.turn(0); len(got) != n {
		t.Fatalf("%d of %d have connected", len(got), n)
	}
	b.turn(0) // what the kernel has to say about it
	return b
}

func (b *bench) connect() {
	b.t.Helper()
	fd, err := b.r.Connect(0, uint64(len(b.fds)))
	if err != nil {
		b.t.Fatal(err)
	}
	b.fds = append(b.fds, fd)
	peer, err := b.l.Accept()
	if err != nil {
		b.t.Fatal(err)
	}
	b.peers = append(b.peers, peer)
}

// turn takes a turn that waits for d at the longest.
func (b *bench) turn(d time.Duration) map[uint64]string {
	b.t.Helper()
	b.wait(d)
	return b.rest()
}

func (b *bench) wait(d time.Duration) {
	b.t.Helper()
	if err := b.r.Wait(b.r.Now() + int64(d)); err != nil {
		b.t.Fatal(err)
	}
}

// rest takes the rest of the turn.
func (b *bench) rest() map[uint64]string {
	got := map[uint64]string{}
	for c, ok := b.r.Next(); ok; c, ok = b.r.Next() {
		if c.Err != nil {
			b.t.Errorf("unexpected completion %+v", c)
		}
		got[c.User] += string(c.Data)
	}
	return got
}

func (b *bench) send(i int) {
	b.t.Helper()
	if !b.r.Send(b.fds[i], []byte("q")) {
		b.t.Fatal("a socket does not take one byte")
	}
}

func (b *bench) answer(i int, s string) {
	b.t.Helper()
	if _, err := b.peers[i].Write([]byte(s)); err != nil {
		b.t.Fatal(err)
	}
}

// round has all the peers but the first few answer, and takes all answers.
func (b *bench) round(from int) map[uint64]string {
	b.t.Helper()
	for i := from; i < len(b.fds); i++ {
		b.send(i)
		b.answer(i, "a")
	}
	got := b.turn(0)
	for i := from; i < len(b.fds); i++ {
		if got[uint64(i)] != "a" {
			b.t.Fatalf("%d answers taken in this turn, not that of %d", len(got), i)
		}
	}
	return got
}

// blocks fails unless the ring soon has nothing to do but to wait.
func (b *bench) blocks() {
	b.t.Helper()
	const d = 30 * time.Millisecond
	rests(b.t, d, func() (bool, string) {
		idle, until, n := b.r.IdleTime(), b.r.Now()+int64(d), 0
		for ; b.r.Now() < until; n++ {
			if got := b.turn(d); len(got) > 0 {
				b.t.Fatalf("took %v of nothing", got)
			}
		}
		idle = b.r.IdleTime() - idle
		return n <= 10 && idle >= int64(d)/3,
			fmt.Sprintf("took %d turns to wait for %v, idle for %v", n, d, time.Duration(idle))
	})
	if b.r.pollMode {
		b.t.Error("poll for nothing")
	}
}

func TestPollBeginsAndEnds(t *testing.T) {
	b := newBench(t, 64)
	if b.round(0); b.r.pollMode {
		t.Error("poll before it knows that it pays")
	}
	for range 3 {
		if b.round(0); !b.r.pollMode || b.r.hits != 64 || b.r.polls != 64 {
			t.Fatalf("pollMode %v: %d answers to %d questions",
				b.r.pollMode, b.r.hits, b.r.polls)
		}
	}
	if b.r.orphans != 0 || b.r.got != 0 {
		t.Error("asks epoll, which it need not")
	}
	b.blocks()
	b.round(0)
	if b.round(0); !b.r.pollMode {
		t.Error("does not poll again")
	}
}

// TestConnectsBeginNoPoll has events enough, but nobody who awaits an answer.
func TestConnectsBeginNoPoll(t *testing.T) {
	newBench(t, 64).blocks()
}

// TestFewAnswersEndPoll has less than an eighth of the sockets answer.
func TestFewAnswersEndPoll(t *testing.T) {
	const few = 64/pollShare - 1
	b := newBench(t, 64)
	b.round(0)
	b.round(0)
	for i := range b.fds {
		b.send(i)
	}
	for turn := range 3 {
		for i := range few {
			b.answer(i, "a")
		}
		if got := b.turn(0); len(got) != few {
			t.Fatalf("%d of %d answers taken", len(got), few)
		}
		if b.r.pollMode != (turn == 0) {
			t.Errorf("in turn %d pollMode is %v", turn, b.r.pollMode)
		}
		for i := range few {
			b.send(i)
		}
	}
	b.answer(63, "late")
	if got := b.turn(0); got[63] != "late" {
		t.Errorf("took %v", got)
	}
}

// TestPieces has an answer come in pieces far apart while the others poll.
func TestPieces(t *testing.T) {
	b := newBench(t, 64)
	b.round(0)
	b.round(0)
	b.send(0)
	b.answer(0, "piece")
	if got := b.round(1); got[0] != "piece" {
		t.Fatalf("took %q", got[0])
	}
	for range partial {
		b.round(1)
	}
	if s := b.r.sockets[b.fds[0]]; s.hope != 0 || !s.orphan || b.r.orphans != 1 {
		t.Fatalf("the socket is still hoped for: %+v", s)
	}
	polls := b.r.polls
	if b.round(1); b.r.polls != polls-1 {
		t.Errorf("%d were asked, then %d: the hopeless one too", polls, b.r.polls)
	}
	for range 3 {
		b.answer(0, "rest")
		if got := b.round(1); got[0] != "rest" || !b.r.pollMode {
			t.Fatalf("pollMode %v, took %q", b.r.pollMode, got[0])
		}
		for range partial {
			b.round(1)
		}
	}
	b.peers[0].Close()
	b.wait(0)
	ended := 0
	for c, ok := b.r.Next(); ok; c, ok = b.r.Next() {
		if c.User == 0 && c.Err == syscall.ECONNRESET { // it had not read all
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("told %d times that the peer has closed", ended)
	}
}

// TestCloseInPoll closes a socket that the poll has passed. Epoll has spoken
// of the others already, and does not again: the poll must not miss one.
func TestCloseInPoll(t *testing.T) {
	b := newBench(t, 65)
	b.round(1) // 0 is a orphan, so epoll is asked in every turn
	b.round(1)
	for i := 1; i < 65; i++ {
		b.send(i)
		b.answer(i, "a")
	}
	b.wait(0)
	if !b.r.pollMode || b.r.got == 0 {
		t.Fatalf("pollMode %v, %d events", b.r.pollMode, b.r.got)
	}
	seen := map[uint64]bool{}
	for c, ok := b.r.Next(); ok; c, ok = b.r.Next() {
		seen[c.User] = true
		if n := len(seen); n == 2 || n%10 == 0 { // the one before, and this one
			b.r.Close(b.fds[c.User-1], false)
			b.r.Close(b.fds[c.User], false)
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d of 64 answers taken", len(seen))
	}
	for place, fd := range b.r.open {
		if s := b.r.sockets[fd]; int(s.place) != place || s.state != connected {
			t.Errorf("at %d of open there is %+v", place, s)
		}
	}
}

// TestConnectInTurn connects between the events of a turn without a poll.
func TestConnectInTurn(t *testing.T) {
	b := newBench(t, 64)
	for i := range b.fds {
		b.send(i)
	}
	b.answer(5, "a")
	b.answer(6, "b")
	b.wait(0)
	b.connect()
	if got := b.rest(); got[5] != "a" || got[6] != "b" {
		t.Errorf("took %v", got)
	}
}

// TestAnewInPoll has every answer end its connection, and another begin, for
// which nothing is sent yet: there is nobody to ask.
func TestAnewInPoll(t *testing.T) {
	b := newBench(t, 64)
	for i := range b.fds {
		b.send(i)
		b.answer(i, "a")
	}
	b.wait(0)
	for c, ok := b.r.Next(); ok; c, ok = b.r.Next() {
		if c.Op == Received {
			b.r.Close(b.fds[c.User], false)
			b.connect()
		}
	}
	b.turn(0)
	b.blocks()
}

// TestStaleEvent closes a socket of which an event has been taken, and opens
// one that gets its number.
func TestStaleEvent(t *testing.T) {
	b := newBench(t, 2)
	b.peers[0].(*net.UnixConn).CloseWrite()
	b.peers[1].(*net.UnixConn).CloseWrite()
	b.wait(0)
	if _, ok := b.r.Next(); !ok || b.r.got != 2 {
		t.Fatalf("%d events", b.r.got)
	}
	b.r.Close(b.fds[1], false)
	for b.connect(); b.fds[len(b.fds)-1] != b.fds[1]; {
		b.connect()
	}
	for _, ok := b.r.Next(); ok; _, ok = b.r.Next() {
	}
	if s := b.r.sockets[b.fds[1]]; s.state != connected || s.hup {
		t.Errorf("it takes the other's event for its own: %+v", s)
	}
}

// TestConnectFailsLater. On loopback it does so at once, so a socket that fails
// is made one that is still connecting.
func TestConnectFailsLater(t *testing.T) {
	b := newBench(t, 1)
	b.send(0)
	b.r.sockets[b.fds[0]].state = connecting
	b.peers[0].Close() // a reset, for it has not read
	b.wait(0)
	c, ok := b.r.Next()
	if !ok || c.Op != Connected || c.Err != syscall.ECONNRESET {
		t.Errorf("took %+v", c)
	}
	if c, ok := b.r.Next(); ok {
		t.Errorf("and after it %+v", c)
	}
}

// TestFullScratch receives more at once than can be lent at once.
func TestFullScratch(t *testing.T) {
	b := newBench(t, 1)
	const size = 4 * scratchSize
	go b.peers[0].Write(make([]byte, size))
	for got, limit := 0, b.r.Now()+patience; got < size; {
		for _, s := range b.turn(10 * time.Millisecond) {
			got += len(s)
		}
		if b.r.Now() > limit {
			t.Fatalf("%d of %d bytes", got, size)
		}
	}
}

// TestOldTimers has Wait do without epoll_pwait2.
func TestOldTimers(t *testing.T) {
	b := newBench(t, 1)
	b.r.coarseTimers = true
	for _, d := range []time.Duration{time.Microsecond, 1500 * time.Microsecond} {
		from := b.r.Now()
		turns := 0
		for ; b.r.Now() < from+int64(d); turns++ { // a signal of the scheduler's ends one early
			b.turn(d)
		}
		if turns > 10 {
			t.Errorf("%d turns for %v", turns, d)
		}
	}
	b.answer(0, "a")
	if got := b.turn(time.Hour); got[0] != "a" {
		t.Errorf("took %v", got)
	}
}

// TestTurnAllocatesNothing with few sockets by epoll, with many by polls.
func TestTurnAllocatesNothing(t *testing.T) {
	for _, n := range []int{1, 64} {
		b := newBench(t, n)
		b.round(0)
		b.round(0)
		answer, query := []byte("a"), []byte("q")
		taken := 0
		turn := func() {
			for i, fd := range b.fds {
				b.r.Send(fd, query)
				b.peers[i].Write(answer)
			}
			b.r.Wait(b.r.Now() + 1e6)
			for c, ok := b.r.Next(); ok; c, ok = b.r.Next() {
				taken += len(c.Data)
			}
		}
		if a := testing.AllocsPerRun(100, turn); a > 0 {
			t.Errorf("a turn of %d sockets allocates %v times", n, a)
		}
		if taken != 101*n || b.r.pollMode != (n > pollMin) {
			t.Errorf("%d sockets: %d answers, pollMode %v", n, taken, b.r.pollMode)
		}
	}
}

// TestNoLeaks opens and closes 2,000 connections in every way.
func TestNoLeaks(t *testing.T) {
	for _, m := range manners() {
		t.Run(m.name, func(t *testing.T) {
			t.Run("use", func(t *testing.T) { count(t, m, 1) }) // what is made once
			fds, goroutines := openFiles(t), runtime.NumGoroutine()
			t.Run("use", func(t *testing.T) { count(t, m, 20) })
			if n := openFiles(t); n != fds {
				t.Errorf("%d files were open, and now %d", fds, n)
			}
			for limit := Clock() + patience; runtime.NumGoroutine() > goroutines; {
				if runtime.Gosched(); Clock() > limit {
					t.Fatalf("%d goroutines more than before", runtime.NumGoroutine()-goroutines)
				}
			}
		})
	}
}

// count opens a hundred connections at a time: some it closes at once, some
// gently, some when the peer has closed, and some it leaves to free.
func count(t *testing.T, m manner, times int) {
	addr := serveTCP(t, func(c net.Conn) { c.Write([]byte("x")) })
	r, free := m.open(t, []Addr{addr})
	defer free()
	user := uint64(0)
	for range times {
		fds := map[uint64]int{}
		for range 100 {
			user++
			if fds[user] = connect(t, r, user); user%4 == 0 {
				r.Close(fds[user], false)
				delete(fds, user)
			}
		}
		left := len(fds)
		turns(t, r, func() bool { return left == 0 }, func(c Completion) {
			fd, open := fds[c.User]
			switch {
			case !open:
				return
			case c.User%100 == 1:
			case c.User%4 == 1 && c.Op == Received, c.Err != nil:
				r.Close(fd, true)
			case c.User%4 == 2:
				r.Close(fd, false)
			default:
				return
			}
			delete(fds, c.User)
			left--
		})
	}
}

// openFiles counts sockets and epolls. Package net keeps pipes for io.Copy.
func openFiles(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	n := 0
	for _, f := range files {
		what, _ := os.Readlink("/proc/self/fd/" + f.Name())
		if strings.HasPrefix(what, "socket:") || strings.HasPrefix(what, "anon_inode:") {
			n++
		}
	}
	return n
}
