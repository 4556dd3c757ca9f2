package load

import (
	"math/rand/v2"
	"testing"
)

func TestFIFO(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := newFIFO[int](1)
	in, out := 0, 0
	for range 10_000 {
		if r.IntN(2) == 0 || f.len == 0 {
			f.pushBack(in)
			in++
		} else {
			if f.first() != out {
				t.Fatalf("head %d, want %d", f.first(), out)
			}
			f.dropHead()
			out++
		}
		if int(f.len) != in-out {
			t.Fatalf("length %d, want %d", f.len, in-out)
		}
	}
}

func TestTimers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var h timers
	for i := range 1000 {
		h.pushTimer(r.Int64N(500), uint32(i))
	}
	last, n := int64(-1), 0
	for now := int64(0); now <= 504; now += 7 {
		for x, ok := h.popExpired(now); ok; x, ok = h.popExpired(now) {
			if x.at < last || x.at > now {
				t.Fatalf("timer at %d after %d, now %d", x.at, last, now)
			}
			last = x.at
			n++
		}
	}
	if n != 1000 || h.earliest(-1) != -1 {
		t.Errorf("%d timers came, %d are left", n, len(h))
	}
}
