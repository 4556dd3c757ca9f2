package ring

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLent looks at what was lent after more has come.
func TestLent(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		more, written := make(chan bool), make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) {
			c.Write([]byte("first"))
			await(t, more)
			c.Write([]byte("second"))
			close(written)
			io.Copy(io.Discard, c)
		}))
		fd := connect(t, r, 1)
		var c Completion
		for c.Op != Received {
			r.Wait(r.Now() + patience)
			for ok := true; ok && c.Op != Received; {
				c, ok = r.Next()
			}
		}
		close(more)
		<-written
		r.Wait(r.Now() + int64(10*time.Millisecond))
		r.Close(fd, true)
		r.Wait(r.Now() + int64(10*time.Millisecond))
		if string(c.Data) != "first" {
			t.Errorf("%q was lent, and is now %q", "first", c.Data)
		}
	})
}

// TestWait looks at deadlines. How late it is depends on the machine, and a
// signal may end a wait early: then the worker waits again, as here.
func TestWait(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		r := open()
		const us = time.Microsecond
		for _, d := range []time.Duration{-time.Hour, 0, 50 * us, 20_000 * us} {
			rests(t, d, func() (bool, string) {
				from, idle := r.Now(), r.IdleTime()
				for again := true; again; again = r.Now()-from < int64(d) {
					if err := r.Wait(from + int64(d)); err != nil {
						t.Fatal(err)
					}
				}
				took, idle := r.Now()-from, r.IdleTime()-idle
				if took < int64(d) || took > max(0, int64(d))+patience {
					t.Errorf("Wait for %v took %v", d, time.Duration(took))
				}
				if _, ok := r.Next(); ok {
					t.Error("a completion of nothing")
				}
				said := fmt.Sprintf("Wait for %v: idle for %v of %v", d, time.Duration(idle), time.Duration(took))
				if idle > took {
					t.Fatal(said)
				}
				return d <= 0 || idle >= int64(d)*9/10, said
			})
		}
	})
}

// TestWaitWakes waits for ever, for what comes.
func TestWaitWakes(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		begin := make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) {
			await(t, begin)
			c.Write([]byte("x"))
			io.Copy(io.Discard, c)
		}))
		dial(t, r, 1)
		time.AfterFunc(5*time.Millisecond, func() { close(begin) })
		for ok := false; !ok; _, ok = r.Next() {
			if err := r.Wait(Never); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCloseInTraffic closes connections whose servers send without end, and
// opens others that get their numbers. Who is told what must stay right.
func TestCloseInTraffic(t *testing.T) {
	const atOnce, lives = 8, 200
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		r := open(serveTCP(t, func(c net.Conn) { // repeats the byte it is sent
			b := make([]byte, 3000)
			if _, err := io.ReadFull(c, b[:1]); err != nil {
				return
			}
			b = bytes.Repeat(b[:1], len(b))
			for err := error(nil); err == nil; {
				_, err = c.Write(b)
			}
		}))
		fds := map[uint64]int{} // by user
		known, seen := map[uint64]bool{}, map[int]bool{}
		born, reused := uint64(0), 0
		begin := func() {
			born++
			fd := connect(t, r, born)
			for user, other := range fds {
				if other == fd {
					t.Fatalf("%d has the number of %d", born, user)
				}
			}
			fds[born] = fd
			if seen[fd] {
				reused++
			}
			seen[fd] = true
		}
		end := func(user uint64) {
			r.Close(fds[user], user%2 == 0)
			delete(fds, user)
		}
		for range atOnce {
			begin()
		}
		pieces := map[uint64]int{}
		turns(t, r, func() bool { return born > lives }, func(c Completion) {
			if bytes.Count(c.Data, []byte{byte(c.User)}) != len(c.Data) {
				t.Fatalf("%d received what is sent to another: %q", c.User, c.Data)
			}
			fd, open := fds[c.User]
			if c.Op == Connected {
				if known[c.User] {
					t.Fatalf("%d is connected twice", c.User)
				}
				known[c.User] = true
			}
			switch pieces[c.User] += len(c.Data); {
			case !open:
			case c.Err != nil:
				t.Fatalf("%d: %v", c.User, c.Err)
			case c.Op == Connected && c.User%5 == 0:
				end(c.User)
				begin()
			case c.Op == Connected:
				r.Send(fd, []byte{byte(c.User)})
			case c.Op == Received && pieces[c.User] > 10_000:
				end(c.User)
				begin()
				end(born) // still connecting
				begin()
			}
		})
		if reused == 0 {
			t.Error("no number was used again: nothing has been tested")
		}
	})
}

// TestCloseTakesBack closes in the middle of a Send, and uses the bytes again.
func TestCloseTakesBack(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		ones := bytes.Repeat([]byte{1}, 8<<20)
		sum := make(chan int, 1)
		begin := make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) {
			await(t, begin)
			b, _ := io.ReadAll(c)
			sum <- bytes.Count(b, []byte{1})
		}))
		for _, gently := range []bool{false, true} {
			fd := dial(t, r, 1)
			big := make([]byte, 8<<20)
			if r.Send(fd, big) {
				t.Fatal("a socket took 8 MiB at once")
			}
			r.Close(fd, gently)
			copy(big, ones)
			begin <- true
			for stale := 0; len(sum) == 0; {
				r.Wait(r.Now() + int64(time.Millisecond))
				for c, ok := r.Next(); ok; c, ok = r.Next() {
					if stale++; c.User != 1 || stale > 1 {
						t.Errorf("unexpected completion %+v", c)
					}
				}
			}
			if n := <-sum; n > 0 {
				t.Errorf("%d bytes were sent after Close", n)
			}
		}
	})
}

// TestLastWord closes right after a Send. What is little still goes out, and so does
// what was sent before it if that was said to be done.
func TestLastWord(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		heard := make(chan string, 1)
		r := open(serveTCP(t, func(c net.Conn) {
			b, _ := io.ReadAll(c)
			heard <- string(b)
		}))
		for words := range 3 { // after the first there is a place that was used before
			fd := dial(t, r, uint64(words))
			var said string
			for k, done := 0, true; k <= words && done; k++ {
				word := strings.Repeat(string('a'+rune(k)), lastMost)
				said += word
				done = r.Send(fd, []byte(word))
			}
			r.Close(fd, false)
			if got := <-heard; got != said {
				t.Errorf("of %d bytes the server has heard %d", len(said), len(got))
			}
		}
	})
}

// TestLastWordUnheard closes after a Send to a server that reads nothing, and takes
// nothing more.
func TestLastWordUnheard(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		over := make(chan bool)
		defer close(over)
		r := open(serveTCP(t, func(c net.Conn) { await(t, over) }))
		fd := dial(t, r, 1)
		for taken := true; taken; {
			taken = r.Send(fd, make([]byte, lastMost))
			for until := r.Now() + int64(50*time.Millisecond); !taken && r.Now() < until; {
				r.Wait(until)
				for c, ok := r.Next(); ok; c, ok = r.Next() {
					taken = taken || c.Op == Sent && c.Err == nil
				}
			}
		}
		r.Close(fd, false)
		quiet(t, r)
	})
}

// TestCloseKeepsOrder closes at any point between Sends of all sizes to a server that reads
// only afterwards. What it hears is the beginning of what was sent, with all that the ring has
// said to be Sent.
func TestCloseKeepsOrder(t *testing.T) {
	all := make([]byte, 16<<20)
	rand.NewChaCha8([32]byte{1}).Read(all)
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		begin, heard := make(chan bool), make(chan []byte)
		room := make([]byte, len(all)+1) // for each round: a buffer that grows takes most of the test's time
		r := open(serveTCP(t, func(c net.Conn) {
			await(t, begin)
			n, _ := io.ReadFull(c, room)
			heard <- room[:n]
		}))
		draw := rand.New(rand.NewPCG(1, 2))
		for round := range 100 {
			fd, sent, told, free := dial(t, r, uint64(round)), 0, 0, true
			for range draw.IntN(8) {
				if draw.IntN(2) == 0 {
					r.Wait(r.Now()) // what then has completed may not be known before Close
				}
				if free {
					n := []int{1, lastMost, lastMost + 1, 2 << 20}[draw.IntN(4)]
					free = r.Send(fd, all[sent:sent+n])
					sent += n
				}
				for range draw.IntN(2) {
					r.Wait(r.Now() + int64(draw.IntN(2))*int64(time.Millisecond))
					for c, ok := r.Next(); ok; c, ok = r.Next() {
						if c.Op != Sent || c.Err != nil {
							t.Fatalf("unexpected completion %+v", c)
						}
						free, told = true, sent
					}
				}
			}
			r.Close(fd, false)
			begin <- true
			if b := <-heard; !bytes.HasPrefix(all[:sent], b) || len(b) < told {
				t.Fatalf("round %d: of %d bytes, %d of them Sent, it heard %d, in order: %v", round,
					sent, told, len(b), bytes.HasPrefix(all, b))
			}
		}
	})
}

// TestGentleClose lets the server look whether the client has closed first.
func TestGentleClose(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		closed, over := make(chan bool), make(chan bool)
		r := open(serveTCP(t, func(c net.Conn) {
			defer close(over)
			c.Read(make([]byte, 1))
			c.Write([]byte("answer"))
			await(t, closed)
			c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !os.IsTimeout(err) {
				t.Errorf("before the server closes it reads %v", err)
			}
			c.Write([]byte("what TLS says at its end"))
			c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !os.IsTimeout(err) {
				t.Errorf("before the server closes, and after it has written, it reads %v", err)
			}
			c.(*net.TCPConn).CloseWrite()
			c.SetReadDeadline(time.Now().Add(time.Duration(patience)))
			if _, err := c.Read(make([]byte, 1)); os.IsTimeout(err) {
				t.Error("the client never closes")
			}
		}))
		fd := dial(t, r, 1)
		exchange(t, r, fd, []byte("q"), len("answer"))
		graceOf(r).lasts = patience
		r.Close(fd, true)
		close(closed)
		ended := func() bool {
			select {
			case <-over:
				return true
			default:
				return false
			}
		}
		turns(t, r, ended, func(c Completion) {
			t.Errorf("after Close: %+v", c)
		})
	})
}

// TestGentleCloseGivesUp has a server that does not close.
func TestGentleCloseGivesUp(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		ends := make(chan int64, 1)
		r := open(serveTCP(t, func(c net.Conn) {
			c.Read(make([]byte, 1))
			ends <- Clock()
		}))
		fd := dial(t, r, 1)
		from := Clock()
		r.Close(fd, true)
		turns(t, r, func() bool { return len(ends) == 1 }, func(c Completion) {
			t.Errorf("after Close: %+v", c)
		})
		if took := <-ends - from; took < departureLasts*9/10 {
			t.Errorf("it was left to the server for %v only", time.Duration(took))
		}
	})
}

// TestFreeEndsAll frees a ring while it is sending, receiving and departing.
func TestFreeEndsAll(t *testing.T) {
	for _, m := range manners() {
		t.Run(m.name, func(t *testing.T) {
			ended := make(chan bool, 3)
			begin := make(chan bool)
			addr := serveTCP(t, func(c net.Conn) {
				c.Write([]byte("x"))
				await(t, begin)
				io.Copy(io.Discard, c)
				ended <- true
			})
			r, free := m.open(t, []Addr{addr})
			fds := []int{dialAny(t, r, 1), dialAny(t, r, 2), dialAny(t, r, 3)}
			r.Send(fds[0], make([]byte, 8<<20))
			r.Close(fds[1], true)
			connect(t, r, 4)
			free()
			close(begin)
			for range fds {
				<-ended
			}
		})
	}
}

// dialAny connects, and ignores what others are told.
func dialAny(t *testing.T, r Ring, user uint64) int {
	t.Helper()
	fd, up := connect(t, r, user), false
	turns(t, r, func() bool { return up }, func(c Completion) {
		up = up || c.Op == Connected && c.User == user
	})
	return fd
}
