package loadplan

import (
	"fmt"
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
