package ring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dyno/internal/engine/uring"
)

// onEveryUring runs a test on a ring for few sockets, and on one for many, which share their
// pieces: with multishot receives, without, and without quiet sends, too, as on Linux before 6.1.
func onEveryUring(t *testing.T, test func(t *testing.T, r *uringRing, accept func() net.Conn)) {
	for name, size := range map[string]Size{"few": {Sockets: ownMost}, "many": {Sockets: ownMost + 1},
		"single": {Sockets: ownMost + 1}, "older": {Sockets: ownMost + 1}, "deep": {Sockets: 10, Deep: true}} {
		t.Run(name, func(t *testing.T) {
			r, accept := newUring(t, size)
			r.multi = r.multi && name != "single" && name != "older"
			r.deferred = r.deferred && name != "older"
			test(t, r, accept)
		})
	}
}

// newUring is a uring and a function that accepts what it connects.
func newUring(t *testing.T, size Size) (*uringRing, func() net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", unixPath(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r, free, err := openUring([]Addr{addrOf(l)}, size)
	if errors.Is(err, ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	return r.(*uringRing), func() net.Conn {
		t.Helper()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// TestUringPieces has answers of sizes at which the ring changes its manner of
// receiving.
func TestUringPieces(t *testing.T) { onEveryUring(t, testUringPieces) }

func testUringPieces(t *testing.T, r *uringRing, accept func() net.Conn) {
	i := dial(t, r, 1)
	peer := accept()
	b := make([]byte, 3*scratchSize)
	for k := range b {
		b[k] = byte(k ^ k>>8)
	}
	for _, size := range []int{1, r.piece - 1, r.piece, 1, r.piece + 1, r.piece,
		scratchSize - 1, scratchSize, scratchSize + r.piece, len(b), 2} {
		for range 3 {
			over := make(chan bool)
			go func() {
				defer close(over)
				if _, err := io.ReadFull(peer, make([]byte, 3)); err == nil {
					peer.Write(b[:size])
				}
			}()
			if got := exchange(t, r, i, []byte("get"), size); !bytes.Equal(got, b[:size]) {
				t.Fatalf("an answer of %d bytes came as %d others", size, len(got))
			}
			<-over
		}
		if large := r.sockets[i].large > 0; size != 1 && size != 2 && large != (size >= r.piece) {
			t.Errorf("after answers of %d bytes large is %v", size, large)
		}
	}
	for range largeFor {
		go io.CopyN(peer, peer, 1)
		exchange(t, r, i, []byte("x"), 1)
	}
	if r.sockets[i].large > 0 {
		t.Error("small answers do not make it small again")
	}
}

// TestUringSends sends again as soon as it may, in every combination of sizes.
func TestUringSends(t *testing.T) { onEveryUring(t, testUringSends) }

func testUringSends(t *testing.T, r *uringRing, accept func() net.Conn) {
	i := dial(t, r, 1)
	peer := accept()
	sizes := []int{1, 1, r.request, r.request + 1, 1, 1, 1 << 20, 1 << 20, 2, r.request + 1, 1}
	var want []byte
	for k, n := range sizes {
		want = append(want, bytes.Repeat([]byte{byte('a' + k)}, n)...)
	}
	got := make(chan []byte, 1)
	go func() {
		b := make([]byte, len(want))
		io.ReadFull(peer, b)
		got <- b
	}()
	copied := 0
	for k, n := range sizes {
		b := bytes.Repeat([]byte{byte('a' + k)}, n)
		sent := r.Send(i, b)
		if sent && n > r.request {
			t.Fatalf("has sent %d bytes before any turn", n)
		}
		if sent {
			copied++
			copy(b, "overwritten")
		}
		turns(t, r, func() bool { return sent }, func(c Completion) {
			if c.Op != Sent || c.Err != nil {
				t.Fatalf("unexpected completion %+v", c)
			}
			sent = true
		})
	}
	turns(t, r, func() bool { return len(got) > 0 }, func(c Completion) {
		t.Errorf("unexpected completion %+v", c)
	})
	if !bytes.Equal(<-got, want) {
		t.Error("something else was sent, or in another order")
	}
	if copied == 0 {
		t.Error("nothing was copied")
	}
}

// TestUringShortSend has the kernel send half of a request.
func TestUringShortSend(t *testing.T) { onEveryUring(t, testUringShortSend) }

func testUringShortSend(t *testing.T, r *uringRing, accept func() net.Conn) {
	i := dial(t, r, 1)
	peer := accept()
	s := &r.sockets[i]
	for _, telling := range []bool{false, true} {
		s.rest, s.telling = []byte("halves"), telling
		if c, ok := r.completeSend(i, s, 3); ok {
			t.Fatalf("after a half: %+v", c)
		}
		told := 0
		turns(t, r, func() bool { return !s.sending }, func(c Completion) {
			if c.Op != Sent || c.Err != nil {
				t.Errorf("unexpected completion %+v", c)
			}
			told++
		})
		b := make([]byte, 10)
		if n, _ := peer.Read(b); string(b[:n]) != "ves" || (told == 1) != telling {
			t.Errorf("%q was sent, and %d times told", b[:n], told)
		}
	}
}

// TestUringQuietSends sends again while nobody has said what became of the send before: the kernel
// has not taken it, it is done, or it failed because the peer had no room.
func TestUringQuietSends(t *testing.T) { onEveryUring(t, testUringQuietSends) }

func testUringQuietSends(t *testing.T, r *uringRing, accept func() net.Conn) {
	for _, test := range []struct{ taken, full bool }{{}, {taken: true}, {taken: true, full: true}} {
		i := dial(t, r, 1)
		peer := accept()
		n := 0
		for test.full {
			m, err := sendNow(int(r.sockets[i].fd), make([]byte, 1000))
			if n += max(m, 0); err != 0 {
				break
			}
		}
		r.Send(i, []byte("first, "))
		if test.taken {
			r.queues.Submit(false)
		}
		done := r.Send(i, []byte("second"))
		if waits := !test.taken || test.full; waits && done {
			t.Errorf("%+v: the second is done before the first", test)
		}
		got := make(chan string, 1)
		go func() {
			b := make([]byte, n+len("first, second"))
			io.ReadFull(peer, b)
			got <- string(b[n:])
			io.WriteString(peer, "answer")
		}()
		var answer string
		turns(t, r, func() bool { return done && answer == "answer" }, func(c Completion) {
			answer += string(c.Data)
			done = done || c.Op == Sent
			if c.Err != nil {
				t.Fatalf("%+v: unexpected completion %+v", test, c)
			}
		})
		if sent := <-got; sent != "first, second" {
			t.Errorf("%+v: sent %q", test, sent)
		}
		r.Wait(r.Now())
		r.Next()
		if r.settleSend(i, &r.sockets[i]); r.pending != 1 || r.sends != 0 { // the receive
			t.Errorf("%+v: %d entries and %d sends are left", test, r.pending, r.sends)
		}
		r.Close(i, false)
		turns(t, r, func() bool { return r.pending == 0 }, func(Completion) {})
	}
}

// TestUringFiles has sockets that last, whose place in the table of files another one gets.
func TestUringFiles(t *testing.T) { onEveryUring(t, testUringFiles) }

func testUringFiles(t *testing.T, r *uringRing, accept func() net.Conn) {
	if r.files == 0 {
		t.Skip("this system allows no table of files")
	}
	place := -1
	for round := range 3 {
		i := dial(t, r, 1)
		peer := accept()
		if r.sockets[i].fixed || round > 0 && i != place {
			t.Fatalf("round %d: place %d: %+v", round, i, r.sockets[i])
		}
		place = i
		for range lasting + 1 {
			go func() {
				b := make([]byte, 1)
				io.ReadFull(peer, b)
				peer.Write(b)
			}()
			exchange(t, r, i, []byte("q"), 1)
		}
		if !r.sockets[i].fixed {
			t.Fatalf("a socket that lasts is not in the table: %+v", r.sockets[i])
		}
		r.Close(i, false)
		peer.SetReadDeadline(time.Now().Add(time.Duration(patience)))
		if n, err := peer.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("after its close the peer reads %d bytes, %v", n, err)
		}
		turns(t, r, func() bool { return r.sockets[i].state == closed }, func(Completion) {})
	}
}

// TestUringFullPeer has a peer that answers, and does not take what it answers.
// A request that has no room must not keep its connection from receiving.
func TestUringFullPeer(t *testing.T) { onEveryUring(t, testUringFullPeer) }

func testUringFullPeer(t *testing.T, r *uringRing, accept func() net.Conn) {
	i := dial(t, r, 1)
	peer := accept()
	s := &r.sockets[i]
	n := 0
	for ; !s.sending; n += r.request {
		if n > 1<<30 {
			t.Fatal("the socket is never full")
		}
		if !r.Send(i, bytes.Repeat([]byte("r"), r.request)) {
			t.Fatal("a small request is not copied")
		}
		peer.Write([]byte("a"))
		heard := false
		turns(t, r, func() bool { return heard }, func(c Completion) {
			if heard = string(c.Data) == "a"; !heard {
				t.Fatalf("unexpected completion %+v", c)
			}
		})
		r.settleSend(i, s)
	}
	go func() {
		io.CopyN(io.Discard, peer, int64(n))
		peer.Write([]byte("all"))
	}()
	var got string
	turns(t, r, func() bool { return got == "all" }, func(c Completion) {
		if got += string(c.Data); c.Err != nil {
			t.Fatalf("unexpected completion %+v", c)
		}
	})
	if r.settleSend(i, s); s.sending {
		t.Error("still sends what the peer has got")
	}
}

// TestUringPlaces closes sockets of which the kernel has memory. Their places
// must not be used before it has let go.
func TestUringPlaces(t *testing.T) { onEveryUring(t, testUringPlaces) }

func testUringPlaces(t *testing.T, r *uringRing, accept func() net.Conn) {
	idle := dial(t, r, 1) // receives
	accept()
	r.Wait(r.Now())
	if s := r.sockets[idle]; !s.receiving {
		t.Fatal("an idle socket does not receive")
	}
	r.Close(idle, false)
	if s := r.sockets[idle]; s.state != dying || slices.Contains(r.unused, idle) {
		t.Fatalf("its place is free: %+v", s)
	}
	for range 2 * slab {
		if connect(t, r, 2) == idle {
			t.Fatal("its place is used again")
		}
		accept()
	}
	turns(t, r, func() bool { return slices.Contains(r.unused, idle) }, func(Completion) {})
	if s := r.sockets[idle]; s.state != closed || s.receiving {
		t.Errorf("its place is free, and it is %+v", s)
	}
}

// TestUringCloseUnderWay closes a socket whose entries the kernel has not taken, or has just taken:
// they must not become another's, which could get its descriptor.
func TestUringCloseUnderWay(t *testing.T) { onEveryUring(t, testUringCloseUnderWay) }

func testUringCloseUnderWay(t *testing.T, r *uringRing, accept func() net.Conn) {
	for _, taken := range []bool{false, true} {
		i := dial(t, r, 1)
		first := accept()
		io.WriteString(first, "a")
		exchange(t, r, i, []byte("q"), 1)
		r.Send(i, []byte("for the first"))
		if taken {
			r.queues.Submit(false)
		}
		r.Close(i, false)
		other := connect(t, r, 2)
		peer := accept()
		r.Send(other, []byte("for the second"))
		r.Wait(r.Now())
		b := make([]byte, 100)
		if n, _ := peer.Read(b); string(b[:n]) != "for the second" {
			t.Errorf("the second was sent %q", b[:n])
		}
		answer := strings.Repeat("to the second ", 3*r.piece/14) // what one receive leaves
		io.WriteString(peer, answer)
		var got string
		turns(t, r, func() bool { return len(got) >= len(answer) }, func(c Completion) {
			if got += string(c.Data); c.User != 2 || c.Err != nil {
				t.Errorf("unexpected completion %+v", c)
			}
		})
		if got != answer {
			t.Error("the second received something else")
		}
		r.Close(other, false)
	}
}

// TestUringRests has sockets of every kind, and nothing to do.
func TestUringRests(t *testing.T) { onEveryUring(t, testUringRests) }

func testUringRests(t *testing.T, r *uringRing, accept func() net.Conn) {
	for k := range 64 {
		i := dial(t, r, uint64(k))
		peer := accept()
		switch k % 4 {
		case 0:
			r.Send(i, []byte("x"))
		case 1:
			r.Close(i, true)
		case 2:
			go peer.Write(make([]byte, scratchSize))
			for got := 0; got < scratchSize; {
				r.Wait(r.Now() + 1e6)
				for c, ok := r.Next(); ok; c, ok = r.Next() {
					got += len(c.Data)
				}
			}
		}
	}
	r.Wait(r.Now())
	const d, tries = 30 * time.Millisecond, 10 // others may need the CPU
	for try := 1; ; try++ {
		idle, until, n := r.IdleTime(), r.Now()+int64(d), 0
		for ; r.Now() < until; n++ {
			r.Wait(until)
			if c, ok := r.Next(); ok {
				t.Errorf("unexpected completion %+v", c)
			}
		}
		if idle = r.IdleTime() - idle; n <= 10 && idle >= int64(d)/3 {
			return
		}
		if try == tries {
			t.Fatalf("took %d turns to wait for %v, idle for %v", n, d, time.Duration(idle))
		}
	}
}

// TestUringQueueFull sends more at once than the queue has room for.
func TestUringQueueFull(t *testing.T) { onEveryUring(t, testUringQueueFull) }

func testUringQueueFull(t *testing.T, r *uringRing, accept func() net.Conn) {
	const n = uring.Submissions + 10
	fds, peers := make([]int, n), make([]net.Conn, n)
	for k := range fds {
		fds[k] = dial(t, r, uint64(k))
		peers[k] = accept()
	}
	for k, i := range fds {
		r.Send(i, fmt.Appendf(nil, "<%d>", k))
	}
	r.Wait(r.Now())
	b := make([]byte, 10)
	for k, peer := range peers {
		m, _ := peer.Read(b)
		if want := fmt.Sprintf("<%d>", k); string(b[:m]) != want {
			t.Fatalf("%q was sent, not %q", b[:m], want)
		}
		peer.Write(b[:m])
	}
	left := n
	turns(t, r, func() bool { return left == 0 }, func(c Completion) {
		if want := fmt.Sprintf("<%d>", c.User); string(c.Data) != want {
			t.Fatalf("%+v, not %q", c, want)
		}
		left--
	})
}

// TestUringSharedPieces has more answers at once than there are pieces, and
// sockets that are closed while theirs are on the way, until each piece has been
// used several times.
func TestUringSharedPieces(t *testing.T) {
	const n, rounds = 2*sharedFirst + 10, 4 * sharedMost / (2 * sharedFirst)
	r, accept := newUring(t, Size{Sockets: ownMost + 1})
	fds, peers := make([]int, n), make([]net.Conn, n)
	for k := range fds {
		fds[k] = dial(t, r, uint64(k))
		peers[k] = accept()
	}
	for round := range rounds {
		for _, i := range fds {
			r.Send(i, []byte("q"))
		}
		r.Wait(r.Now())
		want := map[uint64]string{}
		for k, peer := range peers {
			if _, err := io.ReadFull(peer, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			want[uint64(k)] = fmt.Sprintf("%d of %d", k, round)
			io.WriteString(peer, want[uint64(k)])
		}
		for range n { // all complete before one is taken
			r.queues.Submit(true)
		}
		closing := round * 7 % n
		r.Close(fds[closing], round%2 == 0)
		delete(want, uint64(closing))
		turns(t, &poisoner{Ring: r}, func() bool { return len(want) == 0 }, func(c Completion) {
			if c.Err != nil || string(c.Data) != want[c.User] {
				t.Fatalf("%d received %q, %v, and not %q", c.User, c.Data, c.Err, want[c.User])
			}
			delete(want, c.User)
		})
		peers[closing].Close()
		fds[closing] = dial(t, r, uint64(closing))
		peers[closing] = accept()
	}
}

// TestUringMultishot has a receive that goes on by itself while answers are small. A large answer
// stops it, and after some small ones another one begins.
func TestUringMultishot(t *testing.T) {
	r, accept := newUring(t, Size{Sockets: ownMost + 1})
	if !r.multi {
		t.Skip("this kernel completes entries by itself")
	}
	i := dial(t, r, 1)
	peer := accept()
	answer := func(size int) {
		want := make([]byte, size)
		for k := range want {
			want[k] = byte(k % 251)
		}
		go func() {
			io.ReadFull(peer, make([]byte, 1))
			peer.Write(want)
		}()
		r.Send(i, []byte("q"))
		var got []byte
		turns(t, r, func() bool { return len(got) >= size }, func(c Completion) {
			if got = append(got, c.Data...); c.Err != nil {
				t.Fatalf("unexpected completion %+v", c)
			}
		})
		if !bytes.Equal(got, want) {
			t.Fatalf("of %d bytes something else arrived", size)
		}
	}
	const times = 10
	answer(5)
	for before := r.queues.Pushed(); r.queues.Pushed() != before+times; {
		if answer(5); r.queues.Pushed() > before+times {
			t.Fatalf("%d entries for %d answers", r.queues.Pushed()-before, times)
		}
	}
	answer(100 * r.piece)
	s := &r.sockets[i]
	turns(t, r, func() bool { return !s.stopping }, func(c Completion) {
		t.Errorf("unexpected completion %+v", c)
	})
	if s.large == 0 {
		t.Errorf("after a large answer: %+v", *s)
	}
	for range largeFor + 1 {
		answer(5)
	}
	if r.Wait(r.Now()); s.large > 0 || !s.receiving {
		t.Errorf("after small answers: %+v", *s)
	}
}

// TestUringQuietNumbers has a socket whose send is settled after so many others that their numbers
// have gone round.
func TestUringQuietNumbers(t *testing.T) {
	onEveryUring(t, func(t *testing.T, r *uringRing, accept func() net.Conn) {
		i := dial(t, r, 1)
		peer := accept()
		r.Send(i, []byte("one"))
		r.Wait(r.Now())
		other := dial(t, r, 2)
		accept()
		r.Send(other, []byte("queued"))
		// Only what is queued is told from what was taken, so the number is that of a queued entry.
		r.sockets[i].sent = r.queues.Pushed()
		if s := &r.sockets[other]; s.quiet && s.sent != r.queues.Pushed() {
			t.Fatalf("%d is not the number of the queued send: %+v", r.queues.Pushed(), *s)
		}
		r.Send(i, []byte("two"))
		got := make(chan string, 1)
		go func() {
			b := make([]byte, len("onetwo"))
			io.ReadFull(peer, b)
			got <- string(b)
		}()
		turns(t, r, func() bool { return len(got) > 0 }, func(Completion) {})
		if text := <-got; text != "onetwo" {
			t.Errorf("the peer received %q", text)
		}
	})
}

// TestUringPiecesMost has few sockets whose answers need many pieces, and then many sockets: the
// kernel must not have more completions than the queue holds.
func TestUringPiecesMost(t *testing.T) {
	r, accept := newUring(t, Size{Sockets: ownMost + 1})
	dial(t, r, 1)
	accept()
	if !r.quiet {
		t.Skip("this kernel has no quiet sends")
	}
	for r.queues.Pieces() < r.piecesMost() { // as large answers make them
		r.queues.AddPiece()
	}
	for range 2 * slab {
		dial(t, r, 1)
		accept()
		if r.quiet && r.queues.Pieces() > r.piecesMost() {
			t.Fatalf("%d sockets, %d pieces and quiet sends", len(r.sockets), r.queues.Pieces())
		}
	}
	if r.quiet {
		t.Errorf("%d sockets and %d pieces: sends are quiet", len(r.sockets), r.queues.Pieces())
	}
}

// TestUringLentPiece has the kernel fill all pieces but that which is lent.
func TestUringLentPiece(t *testing.T) {
	const n = 2 * sharedFirst
	r, accept := newUring(t, Size{Sockets: ownMost + 1})
	var peers [n]net.Conn
	for k := range peers {
		dial(t, r, uint64(k))
		peers[k] = accept()
	}
	r.Wait(r.Now()) // all receive
	io.WriteString(peers[0], "lent")
	c, ok := Completion{}, false
	for till := r.Now() + patience; !ok && r.Now() < till; c, ok = r.Next() {
		r.Wait(till) // a signal may end it
	}
	if !ok || string(c.Data) != "lent" {
		t.Fatalf("%+v, %v", c, ok)
	}
	for _, peer := range peers[1:] {
		io.WriteString(peer, "more")
	}
	for range n {
		r.queues.Submit(true)
	}
	if string(c.Data) != "lent" {
		t.Errorf("%q was lent, and is now %q", "lent", c.Data)
	}
}

// TestUringGather takes all at once that has come while the ring let it gather.
func TestUringGather(t *testing.T) { onEveryUring(t, testUringGather) }

func testUringGather(t *testing.T, r *uringRing, accept func() net.Conn) {
	const n = 100
	var peers [n]net.Conn
	for k := range peers {
		dial(t, r, uint64(k))
		peers[k] = accept()
	}
	r.Wait(r.Now()) // all receive
	for _, peer := range peers {
		io.WriteString(peer, "x")
	}
	r.Gather(r.Now()+50e6, AnyNumber) // longer than another program takes this one's CPU
	r.Wait(r.Now() + patience)
	taken := 0
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		taken++
	}
	if taken != n {
		t.Errorf("%d of %d", taken, n)
	}
}

// TestUringGathersInVain waits on for what comes after the time in which completions gather.
func TestUringGathersInVain(t *testing.T) { onEveryUring(t, testUringGathersInVain) }

func testUringGathersInVain(t *testing.T, r *uringRing, accept func() net.Conn) {
	dial(t, r, 0)
	peer := accept()
	sent := make(chan int64, 1)
	go func() {
		time.Sleep(20 * time.Millisecond)
		sent <- r.Now()
		io.WriteString(peer, "x")
	}()
	begun, done := r.Now(), false
	for !done && r.Now() < begun+patience {
		r.Gather(r.Now()+1e6, AnyNumber)
		r.Wait(begun + patience) // a signal may end it
		_, done = r.Next()
	}
	if ended := r.Now(); !done || ended < <-sent {
		t.Errorf("it ended after %v: %v", time.Duration(ended-begun), done)
	}
}

// TestUringGathersEnough ends a wait of a minute as soon as three sockets have something. What they
// have sent does not count.
func TestUringGathersEnough(t *testing.T) {
	r, accept := newUring(t, Size{Sockets: ownMost})
	const n, enough = 5, 3
	var peers [n]net.Conn
	var sockets []int
	for k := range peers {
		sockets = append(sockets, dial(t, r, uint64(k)))
		peers[k] = accept()
	}
	r.Wait(r.Now()) // all receive
	for _, fd := range sockets {
		r.Send(fd, []byte("q"))
	}
	sent := make(chan int64, 1)
	go func() {
		io.WriteString(peers[0], "x")
		time.Sleep(20 * time.Millisecond)
		sent <- r.Now()
		for _, peer := range peers[1:enough] {
			io.WriteString(peer, "x")
		}
	}()
	begun := r.Now()
	till, taken := begun+int64(time.Minute), 0
	for taken < enough && r.Now() < till {
		r.Gather(till, enough-taken)
		r.Wait(till) // a signal may end it
		for _, ok := r.Next(); ok; _, ok = r.Next() {
			taken++
		}
	}
	if ended := r.Now(); ended < <-sent || ended > begun+int64(time.Minute)/2 {
		t.Errorf("the wait ended after %v", time.Duration(ended-begun))
	}
	if taken != enough {
		t.Errorf("%d completions, want %d", taken, enough)
	}
}

// TestUringTurnAllocatesNothing with answers small and large.
func TestUringTurnAllocatesNothing(t *testing.T) { onEveryUring(t, testUringTurnAllocatesNothing) }

func testUringTurnAllocatesNothing(t *testing.T, r *uringRing, accept func() net.Conn) {
	const n = 16
	var fds [n]int
	var peers [n]net.Conn
	for k := range fds {
		fds[k] = dial(t, r, uint64(k))
		peers[k] = accept()
	}
	small, large := []byte("a"), make([]byte, 2*r.piece)
	query, body := []byte("q"), make([]byte, 2*r.request)
	taken, told := 0, 0
	turn := func() {
		for k, i := range fds {
			if k%2 == 0 {
				r.Send(i, query)
				peers[k].Write(small)
			} else {
				r.Send(i, body)
				peers[k].Write(large)
			}
		}
		for range 2 { // a body's end is heard of in the turn after
			r.Wait(r.Now() + 1e6)
			for c, ok := r.Next(); ok; c, ok = r.Next() {
				if taken += len(c.Data); c.Op == Sent {
					told++
				}
			}
		}
		for k := 1; k < n; k += 2 {
			peers[k].Read(large)
		}
	}
	turn()
	if a := testing.AllocsPerRun(100, turn); a > 0 {
		t.Errorf("a turn allocates %v times", a)
	}
	want := 102 * n / 2 * (len(small) + len(large))
	turns(t, r, func() bool { return taken >= want && told >= 102*n/2 }, func(c Completion) {
		if taken += len(c.Data); c.Op == Sent { // what the last turn has not heard of
			told++
		}
	})
	if taken != want || told != 102*n/2 {
		t.Errorf("%d bytes taken, not %d; %d bodies sent", taken, want, told)
	}
}

// TestUringRefused forbids io_uring as a container does, on a thread that ends
// with the test.
func TestUringRefused(t *testing.T) {
	for _, test := range []struct {
		call  uint32
		errno syscall.Errno
	}{
		{unix.SYS_IO_URING_SETUP, syscall.EPERM},
		{unix.SYS_IO_URING_SETUP, syscall.ENOSYS},
		{unix.SYS_IO_URING_REGISTER, syscall.EPERM},
		{unix.SYS_IO_URING_ENTER, syscall.EPERM},
	} {
		over := make(chan error)
		go func() {
			runtime.LockOSThread() // for ever: the thread is of no more use
			if err := forbid(test.call, test.errno); err != nil {
				over <- fmt.Errorf("seccomp: %w", err)
				return
			}
			o, err := Open("auto", Size{Sockets: 100}, nil)
			if err != nil || o.Kind != "epoll" || !errors.Is(o.Refused, test.errno) {
				t.Errorf("opened %q, refused %v, and failed with %v", o.Kind, o.Refused, err)
			} else {
				o.Free()
			}
			_, err = Open("uring", Size{Sockets: 1}, nil)
			over <- err
		}()
		err := <-over
		if err != nil && strings.HasPrefix(err.Error(), "seccomp") {
			t.Skip(err)
		}
		if !errors.Is(err, ErrRefused) || !errors.Is(err, test.errno) {
			t.Errorf("opening failed with %v", err)
		}
	}
}

// forbid makes a system call fail on this thread, and no other call.
func forbid(call uint32, errno syscall.Errno) error {
	const noNewPrivs, setSeccomp, filterMode = 38, 22, 2
	const load, equal, answer = 0x20, 0x15, 0x06
	const refuse, allow = 0x00050000, 0x7fff0000
	code := []unix.SockFilter{
		{Code: load}, // the call's number
		{Code: equal, K: call, Jf: 1},
		{Code: answer, K: refuse | uint32(errno)},
		{Code: answer, K: allow},
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivs, 1, 0, 0, 0, 0); e != 0 {
		return e
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setSeccomp, filterMode,
		uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}
