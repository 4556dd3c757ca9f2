package flow

import (
	"math/rand/v2"
	"testing"
)

func TestFIFO(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := NewFIFO[int](1)
	in, out := 0, 0
	for range 10_000 {
		if r.IntN(2) == 0 || f.Len == 0 {
			f.PushBack(in)
			in++
		} else {
			if f.First() != out {
				t.Fatalf("head %d, want %d", f.First(), out)
			}
			f.DropHead()
			out++
		}
		if int(f.Len) != in-out {
			t.Fatalf("length %d, want %d", f.Len, in-out)
		}
	}
}
