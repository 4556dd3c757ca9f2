package stats

import "testing"

// In every screening each factor has both values equally often, together with each value of each
// other factor equally often, and its effect is free of all interactions of two others. These are
// the properties of resolution IV.
func TestScreeningHasResolutionIV(t *testing.T) {
	for k := FewestScreened; k <= 16; k++ {
		runs := FoldOver(k)
		if want := map[bool]int{true: 8, false: 16}[k == 4]; k <= 8 && len(runs) != want {
			t.Errorf("%d runs for %d factors, want %d", len(runs), k, want)
		}
		sum := func(factors ...int) (s int) {
			for _, run := range runs {
				sign := 1
				for _, j := range factors {
					sign *= 2*run[j] - 1
				}
				s += sign
			}
			return s
		}
		for a := range k {
			if sum(a) != 0 {
				t.Errorf("k=%d: factor %d has one value more often", k, a)
			}
			for b := range a {
				if sum(a, b) != 0 {
					t.Errorf("k=%d: factors %d and %d are mixed", k, a, b)
				}
				for c := range b {
					if sum(a, b, c) != 0 {
						t.Errorf("k=%d: factor %d is mixed with an interaction of %d and %d", k, a, b, c)
					}
					for d := range c {
						same := AliasOf(a, b) == AliasOf(c, d)
						if s := sum(a, b, c, d); same != (s == len(runs)) || !same && s != 0 {
							t.Errorf("k=%d: %d×%d and %d×%d: %d", k, a, b, c, d, s)
						}
					}
				}
			}
		}
	}
}
