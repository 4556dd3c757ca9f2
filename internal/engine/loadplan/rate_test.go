package loadplan

import (
	"fmt"
	"slices"
	"testing"
)

// A rate is written without an exponent, however high.
func TestRateString(t *testing.T) {
	for want, r := range map[string]Rate{"2500000": RatePerSecond(2.5e6), "0.5": RatePerSecond(0.5),
		"20000": RatePerSecond(20_000), "1000000000": RatePerSecond(1e9), "0.001": 1} {
		if got := fmt.Sprintf("%v", r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A rate is at most MaxRate, and not below 0.
func TestRangeOfRates(t *testing.T) {
	for rate, wrong := range map[Rate]bool{-1: true, 1: false, MaxRate * 1000: false, MaxRate*1000 + 1: true} {
		p := DefaultPlan()
		p.Rate = rate
		flawed := slices.ContainsFunc(p.SettingFlaws(), func(f Flaw) bool { return f.Setting == "Rate" })
		if flawed != wrong {
			t.Errorf("%v/s is wrong: %v, want %v", rate, flawed, wrong)
		}
	}
}
