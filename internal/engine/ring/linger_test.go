package ring

import (
	"net"
	"testing"
)

// TestGrace has peers that never close first, that begin to, and of which some are late.
func TestGrace(t *testing.T) {
	for name, test := range map[string]struct {
		closes func(n int) bool // whether the nth peer closes by itself in time
		waits  int              // of 100,000 sockets
	}{
		"never":         {func(int) bool { return false }, 30},
		"always":        {func(int) bool { return true }, 100_000},
		"one is late":   {func(n int) bool { return n != 50 }, 100_000 - 3},
		"after a while": {func(n int) bool { return n >= 50_000 }, 17 + 49_484},
	} {
		var g grace
		waits := 0
		for n := range 100_000 {
			if g.waits() {
				waits++
				g.endWait(test.closes(n))
			}
		}
		if waits != test.waits {
			t.Errorf("%s: %d sockets wait, want %d", name, waits, test.waits)
		}
	}
}

// TestGraceTogether has sockets that all wait in vain at once: as much is learned of them as of one.
func TestGraceTogether(t *testing.T) {
	var g grace
	for range 100 {
		if !g.waits() {
			t.Fatal("none has ended, and one does not wait")
		}
	}
	for range 100 {
		g.endWait(false)
	}
	if g.apart != 3 {
		t.Errorf("%d sockets are closed at once, want 3", g.apart)
	}
}

// TestCloseHoldsNobodyUp has a server that waits for its clients to close.
func TestCloseHoldsNobodyUp(t *testing.T) {
	onEveryRing(t, func(t *testing.T, open func(...Addr) Ring) {
		ends := make(chan bool, 1)
		r := open(serveTCP(t, func(c net.Conn) {
			c.Read(make([]byte, 1))
			ends <- true
		}))
		for n := range 100 {
			fd := dial(t, r, uint64(n))
			r.Close(fd, true)
			turns(t, r, func() bool { return len(ends) == 1 }, func(c Completion) {
				t.Errorf("after Close: %+v", c)
			})
			<-ends
		}
		if g := graceOf(r); g.apart != 255 { // the 1st, 5th, 21st and 85th have waited
			t.Errorf("%d sockets are closed at once between two that wait, want 255", g.apart)
		}
	})
}
