package load

import (
	"math/rand/v2"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// What a report says of requests that were sent late never contradicts itself: the generator's own
// delay is a part of each request's lateness, so if 1 % have one of more than 1 ms, 1 % were late.
func TestLatenessAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a := account{totals: &loadresult.Totals{Lag: metric.NewHistogram(metric.Fine)}}
		const n = 2000
		busy, scale := random.Int64N(3e6), 1+random.Int64N(5e6)
		for i := range int64(n) {
			due := i * 1e6
			possible := due + random.Int64N(scale) - scale/2 // a connection may be free before
			a.countLag(max(due, possible)+random.Int64N(busy+1), due, possible)
		}
		lag := a.totals.Lag.View()
		if own := lag.Quantile(0.99); own > lateAfter+lateAfter/100 && a.totals.Late < n/100 { // it is to 3 digits
			t.Fatalf("p99 of the own delay is %d ns, and %d of %d were late", own, a.totals.Late, n)
		}
		if a.totals.Lag.Max > a.totals.LateMax {
			t.Fatalf("an own delay of %d ns, and none was later than %d", a.totals.Lag.Max, a.totals.LateMax)
		}
	}
}
