package timers

import (
	"math/rand/v2"
	"testing"
)

func TestTimers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var h Heap
	for i := range 1000 {
		h.Push(r.Int64N(500), uint32(i))
	}
	last, n := int64(-1), 0
	for now := int64(0); now <= 504; now += 7 {
		for x, ok := h.PopExpired(now); ok; x, ok = h.PopExpired(now) {
			if x.At < last || x.At > now {
				t.Fatalf("timer at %d after %d, now %d", x.At, last, now)
			}
			last = x.At
			n++
		}
	}
	if n != 1000 || h.Earliest(-1) != -1 {
		t.Errorf("%d timers came, %d are left", n, len(h))
	}
}
