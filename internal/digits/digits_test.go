package digits

import (
	"math"
	"testing"
)

// A ratio has no digit beyond the second of its uncertainty, and no figure has an exponent.
func TestDigits(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ got, want string }{
		{Ratio(0.287, 0.245, 0.342), "0.287"}, {Ratio(0.8123, 0.71, 0.93), "0.81"},
		{Ratio(1.2, 0.012, 144), "1.2"}, {Ratio(0.0123, 0.0123, 144), "0.012"},
		{Ratio(144.3, 0.012, 144.3), "144"}, {Ratio(47622, 0.012, 47622), "48,000"},
		{Ratio(1.00049, 1.0003, 1.0006), "1.000"}, {Ratio(inf, 1, inf), None}, {Ratio(0, 0, 2), "0.0"},
		{RatioInterval(0.71234, 1.93456), "[0.71, 1.93]"}, {RatioInterval(0, inf), "[0.000, –]"},
		{RatioAlone(1.2345), "1.23"}, {RatioAlone(0.0241), "0.0241"}, {RatioAlone(1913.4), "1,910"},
		{RatioAlone(0), "0.000"}, {RatioAlone(math.NaN()), None},
		{Significant(0.0000012346, 4), "0.000001235"}, {Significant(1234567, 3), "1,234,567"}, {Significant(2.50, 4), "2.5"},
		{Significant(-12345.678, 4), "-12,346"}, {Significant(0, 4), "0"}, {Significant(inf, 4), None},
		{Significant(1e18, 3), "1,000,000,000,000,000,000"},
		{Rounded(332014, -1), "332,010"}, {Rounded(-0.001, 2), "-0.00"}, {Thousands("-1234.5678"), "-1,234.5678"},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
	for half, want := range map[float64]int{0.012: 3, 0.0996: 2, 12: 0, 480: -1, 1e-9: Most, 0: Most} {
		if got := DecimalsFor(half); got != want {
			t.Errorf("%d decimals beside ±%v, want %d", got, half, want)
		}
	}
}

func TestTwoDigits(t *testing.T) {
	for x, want := range map[float64]string{0.567: "0.57", 1: "1", 2.34: "2.3", 9.94: "9.9", 9.96: "10", 28.4: "28",
		125.9: "130", 995: "1,000", 1032: "1,000", 1266: "1,300"} {
		if got := Two(x); got != want {
			t.Errorf("%g is %s, want %s", x, got, want)
		}
	}
}

// One has no plural.
func TestPlural(t *testing.T) {
	for n, want := range map[int64]string{0: "0 requests were", 1: "1 request was", 2: "2 requests were",
		1_200_000: "1,200,000 requests were"} {
		if got := Plural(n, "request") + " " + Were(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Plural(2, "process"); got != "2 processes" {
		t.Errorf("%q", got)
	}
}
