package format

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
		{1.1, math.Exp(1e-9), 1.2, "+10 %", "[above 0, +20]"}, // the interval leaves out no difference
		{0.9, 0.8, math.Exp(-1e-9), "−10 %", "[−20, below 0]"},
		{math.Inf(1), 1, math.Inf(1), TooFew, TooFew},
		{math.NaN(), math.NaN(), math.NaN(), TooFew, TooFew},
	} {
		if got := Change(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("%v: %q, not %q", c.ratio, got, c.want)
		}
		if got := ChangeInterval(c.low, c.high); got != c.interval {
			t.Errorf("%v to %v: %q, not %q", c.low, c.high, got, c.interval)
		}
	}
}

// In a sentence that says less or more, a change and the ends of its interval have no sign, and the
// smaller end is first.
func TestAbsoluteChange(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		want, ends       string
	}{
		{0.36, 0.34, 0.39, "64 %", "61, 66"},
		{1.12, 1.09, 1.15, "12 %", "9, 15"},
		{0.91, 0.83, 0.9993, "9 %", "0.1, 17"},
		{1.02, 0.96, 1.08, "2 %", "−4, +8"},
		{0.004, 0.001, 0.03, "99.6 %", "97, 99.9"},
		{1.1, math.Exp(1e-9), 1.2, "10 %", "above 0, 20"},
	} {
		if got := AbsoluteChange(c.ratio, c.low, c.high); got != c.want {
			t.Errorf("%v: %q, not %q", c.ratio, got, c.want)
		}
		if least, most := AbsoluteEnds(c.low, c.high); least+", "+most != c.ends {
			t.Errorf("%v: %q and %q, not %q", c.ratio, least, most, c.ends)
		}
	}
	least, most := RatioEnds(1.413, 8.486)
	if got := RatioText(3.449, 1.413, 8.486) + " [" + least + ", " + most + "]"; got != "3.4 [1.4, 8.5]" {
		t.Error(got)
	}
	if got := RatioText(499.2, 203.3, 920.2); got != "499" {
		t.Error(got)
	}
}
