package loadplan

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// counted is a source of chance that counts how often it was asked: once for an arrival, and
// once more for about one in a hundred.
type counted struct {
	rand.Source
	asked int64
}

func (c *counted) Uint64() uint64 {
	c.asked++
	return c.Source.Uint64()
}

// However many are waiting, they are computed: of a constant law and of ramps all, and of a
// Poisson law what is left after walkMost, of which the mean number is right.
func TestLeftIsComputed(t *testing.T) {
	const hour = time.Hour
	for name, c := range map[string]struct {
		p    *Plan
		Want float64
	}{
		"steady": {stagesPlan(1e8, 0, stageOf(24*hour, 1e8)), 1e8 * 86400}, // a walk takes a day
		"ramp":   {stagesPlan(0, 0, stageOf(hour, 1e8), stageOf(hour, 0)), 1e8 * 3600},
	} {
		for _, arrival := range []string{Even, Poisson} {
			c.p.Arrival, c.p.Seed = arrival, 3
			for _, shared := range []bool{false, true} {
				left := c.p.NewSchedule(0, 1)
				for range 1000 {
					left.Next()
				}
				draws := &counted{Source: rand.NewPCG(1, 2)}
				later := c.p.ScheduleFrom(0, 1, int64(hour))
				for _, s := range []Schedule{left, later} {
					if p, is := s.(*poisson); is {
						p.coin = rand.New(draws)
					}
				}
				if shared {
					left = ChangeAt(left, later, int64(hour))
				}
				n := float64(left.Left(0, int64(c.p.Duration)))
				if draws.asked > 2*walkMost*21/20 {
					t.Errorf("%s, %s: %d draws", name, arrival, draws.asked)
				}
				off := math.Abs(n + 1000 - c.Want)
				if arrival == Even && off > 0 || off > 6*math.Sqrt(c.Want) {
					t.Errorf("%s, %s: %.0f waiting, want %.0f", name, arrival, n, c.Want-1000)
				}
			}
		}
	}
}
