package digits

import (
	"math"
	"testing"
)

// A change has its sign, and no digit that its interval does not carry.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want, interval   string
	}{
		{0.65, 0.55, 0.85, "−35 %", "[−45, −15]"},
		{1.43, 1.39, 1.47, "+43 %", "[+39, +47]"},
		{1.004, 1.0031, 1.0049, "+0.40 %", "[+0.31, +0.49]"},
		{0.991, 0.986, 0.996, "−0.9 %", "[−1.4, −0.4]"},
		{0.91, 0.83, 0.9993, "−9 %", "[−17, −0.1]"},
		{1.001, 0.97, 1.03, "0 %", "[−3, +3]"},
		{3.4, 1.41, 8.49, "+240 %", "[+41, +749]"},
		{1.1003, 1.1001, 1.1006, "+10.0 %", "[+10.0, +10.1]"},
		{7, 4.5, 11, "×7", "[×4.5, ×11]"},
		{499.2, 203.3, 920.2, "×499", "[×203, ×920]"},
		{0.004, 0.001, 0.03, "−99.6 %", "[−99.9, −97]"}, // something is left
		{1, 0.04, 12, "×1", "[×0.04, ×12]"},
		{1.1, math.Exp(1e-9), 1.2, "+10 %", "(0, +20]"}, // the interval leaves out no difference
		{0.9, 0.8, math.Exp(-1e-9), "−10 %", "[−20, 0)"},
		{math.Inf(1), 1, math.Inf(1), None, None},
		{math.NaN(), math.NaN(), math.NaN(), None, None},
	} {
		if got := Change(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("%v: %q, not %q", c.ratio, got, c.want)
		}
		if _, got := Bound("").Change(c.ratio, c.low, c.high); got != c.interval {
			t.Errorf("%v to %v: %q, not %q", c.low, c.high, got, c.interval)
		}
	}
}

// A change that is only bounded says so in words, and its interval is open at the end that is not
// known.
func TestBoundedChange(t *testing.T) {
	for b, want := range map[Bound]string{"": "−35 % [−45, −15]", AtLeast: "−35 % or higher [−45, ∞)",
		AtMost: "−35 % or lower (−100, −15]", NoBound: "– –"} {
		change, interval := b.Change(0.65, 0.55, 0.85)
		if change+" "+interval != want {
			t.Errorf("%q: %s %s, not %s", b, change, interval, want)
		}
	}
}
