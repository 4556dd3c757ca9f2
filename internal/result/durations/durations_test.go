package durations

import (
	"encoding/json"
	"math"
	"reflect"
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
			d := c.d.WithUnanswered(Bound{c.us, c.n})
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

// Requests that had no answer are in the order of what each is known to have exceeded. Their least bound
// is that of all; merging leaves them out.
func TestUnansweredOfParts(t *testing.T) {
	d := of(map[int]int64{10: 93}).WithUnanswered(Bound{2000 * ms, 3}).WithUnanswered(Bound{1000 * ms, 2}, Bound{2000 * ms, 1},
		Bound{0, 5}, Bound{10000 * ms, 1}, Bound{3000 * ms, 0})
	want := Over{1000 * ms, 7, 10 * ms, []Bound{{1000 * ms, 2}, {2000 * ms, 4}, {10000 * ms, 1}}}
	if !reflect.DeepEqual(*d.Over, want) || d.Max != 10000*ms || d.Known() != 100 {
		t.Errorf("%+v, longest %v", d.Over, d.Max)
	}
	for percent, want := range map[float64]float64{50: 10, 93: 10, 94: 1000, 95: 1000, 96: 2000, 99: 2000, 99.5: 10000} {
		if got, ok := d.Percentile(percent); !ok || math.Abs(got/want/ms-1) > 0.001 || d.IsOver(percent) != (percent > 93) {
			t.Errorf("p%v is %v, over: %v; want %v ms", percent, got, d.IsOver(percent), want)
		}
	}
	if got := d.Over.LeastMean(d.Count, d.Mean); math.Abs(got/ms-(93*10+2*1000+4*2000+10000)/100.) > 0.1 {
		t.Errorf("the mean is over %v", got)
	}
	if got := (*Over)(nil).LeastMean(d.Count, d.Mean); got != d.Mean {
		t.Errorf("the mean is %v", got)
	}
}

// There are few bounds: those that are nearest to one another are taken together, with the least.
func TestFewBounds(t *testing.T) {
	d := of(map[int]int64{10: 100})
	for i := range 12 {
		d = d.WithUnanswered(Bound{float64(int(1)<<i) * ms * 100, 1}, Bound{float64(int(1)<<i) * ms * 101, 1})
	}
	if o := d.Over; len(o.Bounds) != boundsMost || o.Count != 24 || o.US != 100*ms || o.Check() != nil {
		t.Errorf("%+v", o)
	}
}

// An older result has one bound. What dyno cannot have written is refused.
func TestOverIsChecked(t *testing.T) {
	for text, fits := range map[string]bool{
		`{"us":2e6,"count":3,"answered_max_us":9}`:                                                true,
		`{"us":1,"count":3,"answered_max_us":9,"bounds":[{"us":1,"count":1},{"us":2,"count":2}]}`: true,
		`{"us":0,"count":3,"answered_max_us":9}`:                                                  false,
		`{"us":1,"count":-3,"answered_max_us":9}`:                                                 false,
		`{"us":1,"count":4,"answered_max_us":9,"bounds":[{"us":1,"count":1},{"us":2,"count":2}]}`: false,
		`{"us":2,"count":3,"answered_max_us":9,"bounds":[{"us":1,"count":1},{"us":2,"count":2}]}`: false,
		`{"us":2,"count":3,"answered_max_us":9,"bounds":[{"us":2,"count":1},{"us":1,"count":2}]}`: false,
		`{"us":1,"count":9223372036854775807,"answered_max_us":9,"bounds":[{"us":1,"count":` +
			`9223372036854775807},{"us":2,"count":-1}]}`: false,
	} {
		d := of(map[int]int64{10: 100})
		if err := json.Unmarshal([]byte(text), &d.Over); err != nil {
			t.Fatal(err)
		}
		if (d.Check("x") == nil) != fits || (d.Over.Check() == nil) != fits {
			t.Errorf("%s: %v", text, d.Check("x"))
		}
	}
}

// Requests may be given up sooner than the quickest answer came, such as at the end of a load.
func TestBoundsBelowTheLeast(t *testing.T) {
	d := of(map[int]int64{50: 3}).WithUnanswered(Bound{10 * ms, 5})
	if d.P50 != 10*ms || d.Min < 49*ms {
		t.Fatalf("the median is %v µs, the least %v", d.P50, d.Min)
	}
	if err := d.Check("latency"); err != nil {
		t.Error(err)
	}
	if d.P50 = 9 * ms; d.Check("latency") == nil {
		t.Error("a median that is below all bounds is taken")
	}
}

// A percentile among answers is known only to be at least that of all bounds where a bound is below it, and
// at most that of the answers alone. Where these are the same, it is exact.
func TestBoundsBelowAnswers(t *testing.T) {
	type percentile struct {
		of, want, most float64
		over           bool
	}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		d     *Distribution
		bound Bound
		wants []percentile
	}{
		"half given up sooner": {of(map[int]int64{5000: 50}), Bound{100 * ms, 50}, []percentile{
			{25, 100 * ms, 5000 * ms, true}, {50, 100 * ms, 5000 * ms, true}, {60, 5000 * ms, inf, true}}},
		"between": {of(map[int]int64{1: 40, 20000: 30}), Bound{5000 * ms, 30}, []percentile{
			{40, 1 * ms, 1 * ms, false}, {50, 5000 * ms, 20000 * ms, true}, {60, 5000 * ms, 20000 * ms, true},
			{70, 5000 * ms, 20000 * ms, true}, {75, 20000 * ms, inf, true}}},
		"one cut off at once": {of(map[int]int64{10: 9000, 50: 999}), Bound{1 * ms, 1}, []percentile{
			{50, 10 * ms, 10 * ms, false}, {99, 50 * ms, 50 * ms, false}, {99.999, 50 * ms, inf, true}}},
	} {
		d := c.d.WithUnanswered(c.bound)
		for _, p := range c.wants {
			got, ok := d.Percentile(p.of)
			values, over, err := d.Quantiles([]float64{p.of / 100})
			if !ok || err != nil || math.Abs(got/p.want-1) > 0.001 || math.Abs(values[0]/p.want-1) > 0.001 {
				t.Errorf("%s: p%v is %v, %v; want %v", name, p.of, got, values, p.want)
			}
			if most := d.Most(p.of); most != p.most && !(math.Abs(most/p.most-1) < 0.001) {
				t.Errorf("%s: p%v is at most %v; want %v", name, p.of, most, p.most)
			}
			if d.IsOver(p.of) != p.over || over[0] != p.over {
				t.Errorf("%s: p%v over: %v, %v; want %v", name, p.of, d.IsOver(p.of), over, p.over)
			}
		}
	}
}
