package capacity

import (
	"math/rand/v2"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
)

// lasting are intervals whose mean latency is as given, in ms.
func lasting(means ...float64) (all []loadresult.Interval) {
	for i, m := range means {
		h := metric.NewHistogram(metric.Coarse)
		h.Record(int64(m * 1e6))
		at := time.Duration(i) * time.Second
		all = append(all, loadresult.Interval{From: at, To: at + time.Second, Latency: h.ToSparse()})
	}
	return all
}

func TestGrowing(t *testing.T) {
	for name, test := range map[string]struct {
		means []float64
		want  bool
	}{
		"steady":      {[]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, false},
		"up":          {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, true},
		"mostly up":   {[]float64{2, 1, 3, 5, 4, 6, 8, 7, 9, 10}, true},
		"down":        {[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, false},
		"up and down": {[]float64{1, 3, 5, 7, 9, 10, 8, 6, 4, 2}, false},
		"too few":     {[]float64{1, 2, 3, 4, 5, 6, 7}, false},
		"after":       {[]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13}, false},
	} {
		if got := isGrowing(lasting(test.means...), 10*time.Second); got != test.want {
			t.Errorf("%s: growing is %v", name, got)
		}
	}
	coin := rand.New(rand.NewPCG(1, 2))
	said := 0
	for range 2000 {
		means := make([]float64, 10)
		for i := range means {
			means[i] = 1 + coin.Float64()
		}
		if isGrowing(lasting(means...), 10*time.Second) {
			said++
		}
	}
	if said > 40 { // 1 in a hundred
		t.Errorf("%d of 2,000 without a trend are said to grow", said)
	}
}

// A server that can do 1,000/s cannot do 1,050, although it takes longer than a probe until
// the 99th percentile is 5 s.
func TestSlightOverloadIsNotCertified(t *testing.T) {
	for _, arrival := range []string{loadplan.Even, loadplan.Poisson} {
		for seed := range uint64(3) {
			p := plan()
			p.Arrival, p.Connections = arrival, 100_000
			q := &queue{service: constant(time.Millisecond), seed: seed}
			s := find(t, q, p, Settings{Start: 200}, "p99<5s")
			if s.End != Found {
				t.Fatalf("%s, seed %d: %s, %s", arrival, seed, s.End, s.Reason)
			}
			if *s.Certified > 1000 || *s.Certified < 900 {
				t.Errorf("%s, seed %d: %v/s certified", arrival, seed, *s.Certified)
			}
		}
	}
}
