package meter

import "testing"

// What is read after the end of a time may be more than that time: no share is above 1.
func TestShareOf(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        float64
	}{{0, 4, 0}, {1, 4, 0.25}, {4, 4, 1}, {5, 4, 1}, {-1, 4, 0}} {
		if got := fraction(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d: %v, want %v", c.part, c.whole, got, c.want)
		}
	}
}
