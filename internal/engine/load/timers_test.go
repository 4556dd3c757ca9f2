package load

import (
	"math/rand/v2"
	"testing"
)

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
