package durations

import (
	"math"
	"testing"
	"time"

	"dyno/internal/engine/metric"
)

const ms = 1e3 // µs

// of is a distribution of so many durations of each length, in ms.
func of(counts map[int]int64) *Distribution {
	h := metric.NewHistogram(metric.Fine)
	for d, n := range counts {
		h.RecordMany(int64(d)*int64(time.Millisecond), n)
	}
	return New(h)
}

// Requests that had no answer are the highest of all, and at least as long as they are known to be.
func TestUnanswered(t *testing.T) {
	type percentile struct {
		of, want float64
		over     bool
	}
	for name, c := range map[string]struct {
		d     *Distribution
		us    float64
		n     int64
		wants []percentile
	}{
		"none": {of(map[int]int64{10: 990, 50: 10}), 2000 * ms, 0,
			[]percentile{{50, 10 * ms, false}, {99, 10 * ms, false}, {99.5, 50 * ms, false}, {100, 50 * ms, false}}},
		"11 of 3,000": {of(map[int]int64{10: 2989}), 2000 * ms, 11,
			[]percentile{{50, 10 * ms, false}, {99, 10 * ms, false}, {99.6, 10 * ms, false}, {99.7, 2000 * ms, true},
				{99.9, 2000 * ms, true}, {99.99, 2000 * ms, true}, {100, 2000 * ms, true}}},
		"they shift what is below": {of(map[int]int64{50: 945, 150: 35}), 2000 * ms, 20,
			[]percentile{{94, 50 * ms, false}, {95, 150 * ms, false}, {97, 150 * ms, false}, {98, 150 * ms, false},
				{98.1, 2000 * ms, true}}},
		"half": {of(map[int]int64{1: 500}), 1000 * ms, 500,
			[]percentile{{50, 1 * ms, false}, {50.2, 1000 * ms, true}, {99, 1000 * ms, true}}},
		"shorter than answers": {of(map[int]int64{1: 900, 300: 90}), 100 * ms, 10, // between 100 and ∞
			[]percentile{{50, 1 * ms, false}, {95, 300 * ms, false}, {99.5, 300 * ms, true}, {100, 300 * ms, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.d.WithUnanswered(c.us, c.n)
			for _, p := range c.wants {
				got, ok := d.Percentile(p.of)
				if p.of == 100 {
					got = d.Max
				}
				if !ok && p.of < 100 || math.Abs(got/p.want-1) > 0.001 || d.IsOver(p.of) != p.over {
					t.Errorf("p%v is %v, over: %v; want %v, %v", p.of, got, d.IsOver(p.of), p.want, p.over)
				}
			}
			if d.P99 < d.P95 || d.P999 < d.P99 || d.P9999 < d.P999 || d.Max < d.P9999*0.999 || d.Count != c.d.Count {
				t.Errorf("%+v", d)
			}
			if c.n > 0 && (d.Answered().P99 != c.d.P99 || d.Answered().Max != c.d.Max || d.Answered().Over != nil) {
				t.Errorf("what was answered: %+v, want %+v", d.Answered(), c.d)
			}
			if all, err := d.LowerBounds(); err != nil || all.Count != c.d.Count+c.n {
				t.Errorf("%v, %v", all, err)
			}
		})
	}
}

// What is added twice adds up, with the shorter of the durations; merging leaves it out.
func TestUnansweredOfParts(t *testing.T) {
	d := of(map[int]int64{10: 100}).WithUnanswered(2000*ms, 3).WithUnanswered(1000*ms, 4)
	if *d.Over != (Over{1000 * ms, 7, 10 * ms}) || d.Max != 1000*ms {
		t.Errorf("%+v, longest %v", d.Over, d.Max)
	}
	all, err := Merge([]*Distribution{d, nil, d})
	if err != nil || all.Count != 200 || all.Over != nil || all.Max != 10*ms || d.Mergeable("x") != nil {
		t.Errorf("%+v, %v", all, err)
	}
}
