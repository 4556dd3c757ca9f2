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
			f.push(in)
			in++
		} else {
			if f.head() != out {
				t.Fatalf("head %d, want %d", f.head(), out)
			}
			f.drop()
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
		h.push(r.Int64N(500), uint32(i))
	}
	last, n := int64(-1), 0
	for now := int64(0); now <= 504; now += 7 {
		for x, ok := h.pop(now); ok; x, ok = h.pop(now) {
			if x.at < last || x.at > now {
				t.Fatalf("timer at %d after %d, now %d", x.at, last, now)
			}
			last = x.at
			n++
		}
	}
	if n != 1000 || h.next(-1) != -1 {
		t.Errorf("%d timers came, %d are left", n, len(h))
	}
}

// No drift: after hours the k-th arrival is where k/rate is, on every worker.
func TestConstantIsExact(t *testing.T) {
	for _, rate := range []Rate{1, 1000, 20_000_000, 333_333, 99_999_999_000} {
		const workers = 3
		for i := range workers {
			c := newConstant(rate, i, workers)
			c.k = uint64(i) + 3_000_000*workers // hours into the run at most rates
			for j := range 100 {
				k := uint64(i) + (3_000_000+uint64(j))*workers
				due, ok := c.Next()
				// k·10¹²/rate, rounded down, without 128 bits: by parts.
				want := k/uint64(rate)*1e12 + mulDiv(k%uint64(rate), uint64(rate))
				if ok != (want < 1<<62) || ok && uint64(due) != want {
					t.Fatalf("rate %v, arrival %d: %d, want %d", rate.PerSecond(), k, due, want)
				}
			}
		}
	}
}

// mulDiv is rest × 10¹² / rate digit by digit, rest being less than rate.
func mulDiv(rest, rate uint64) (q uint64) {
	for range 12 {
		rest *= 10
		q = q*10 + rest/rate
		rest %= rate
	}
	return q
}

func TestSequence(t *testing.T) {
	reqs := make([]Request, 4)
	for i, w := range []int{1, 6, 2, 3} {
		reqs[i].Weight = w * 10
	}
	s := newSequence(reqs, 0, 1)
	if len(s.order) != 12 {
		t.Fatalf("%d in the sequence, want 12", len(s.order))
	}
	count := map[uint32]int{}
	last := map[uint32]int{}
	for i := range 24 {
		k := s.take()
		if before, seen := last[k]; seen && k == 1 && i-before > 3 {
			t.Errorf("request 1 comes %d apart", i-before)
		}
		last[k] = i
		count[k]++
	}
	for k, w := range map[uint32]int{0: 2, 1: 12, 2: 4, 3: 6} {
		if count[k] != w {
			t.Errorf("request %d came %d times, want %d", k, count[k], w)
		}
	}
}

func TestQuota(t *testing.T) {
	for _, rate := range []Rate{0, PerSecond(1000)} {
		for _, c := range []int{7, 50} {
			for n := 1; n <= 7; n++ {
				p := &Plan{Connections: c, Requested: 12345, Rate: rate}
				sum := int64(0)
				for i := range n {
					q := quota(p, i, n)
					sum += q
					mine := share(int64(c), i, n)
					if each := p.Requested / int64(c); rate == 0 && (q < each*mine || q > (each+1)*mine) {
						t.Errorf("%d of %d requests for %d of %d connections", q, p.Requested, mine, c)
					}
				}
				if sum != p.Requested {
					t.Errorf("rate %v, %d workers: %d requests in all", rate, n, sum)
				}
			}
		}
	}
}

func TestShare(t *testing.T) {
	for _, total := range []int64{0, 1, 7, 12345, 1 << 40} {
		for n := 1; n < 9; n++ {
			sum, most, least := int64(0), int64(0), total
			for i := range n {
				s := share(total, i, n)
				sum, most, least = sum+s, max(most, s), min(least, s)
			}
			if sum != total || most-least > 1 {
				t.Errorf("%d in %d parts: %d, from %d to %d", total, n, sum, least, most)
			}
		}
	}
}
