package loadplan

import (
	"testing"
	"time"
)

func TestOfferedBetween(t *testing.T) {
	second := Seconds(time.Second)
	even := Plan{Rate: RatePerSecond(100), Duration: 10 * second}
	ramp := Plan{Stages: []Stage{{Duration: 10 * second, Rate: RatePerSecond(100)}, {0, RatePerSecond(20)},
		{Duration: 5 * second, Rate: RatePerSecond(20)}}, Duration: 15 * second}
	for _, c := range []struct {
		p        Plan
		from, to time.Duration
		Want     float64
	}{
		{even, 0, time.Second, 100}, {even, 9 * time.Second, 11 * time.Second, 100},
		{even, 10 * time.Second, 11 * time.Second, 0}, {even, 3, 3, 0},
		{Plan{Duration: second}, 0, time.Second, 0},
		{Plan{Rate: RatePerSecond(0.5), Requested: 9}, 5 * time.Second, 6 * time.Second, 0.5},
		{ramp, 0, time.Second, 5}, {ramp, 9 * time.Second, 10 * time.Second, 95},
		{ramp, 10 * time.Second, 11 * time.Second, 20},
		{ramp, 9500 * time.Millisecond, 10500 * time.Millisecond, 97.5/2 + 10},
		{ramp, 15 * time.Second, 16 * time.Second, 0}, {ramp, 0, 15 * time.Second, 40},
	} {
		if got := c.p.OfferedBetween(c.from, c.to).PerSecond(); got != c.Want {
			t.Errorf("%v to %v of %v, %v: %v/s, want %v/s", c.from, c.to, c.p.Rate, c.p.Stages, got, c.Want)
		}
	}
	if whole := ramp.OfferedBetween(0, 15*time.Second); whole != ramp.Offered() {
		t.Errorf("of the window %v, Offered %v", whole, ramp.Offered())
	}
}
