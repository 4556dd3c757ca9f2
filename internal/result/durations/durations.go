// Package durations has the distribution of durations that a result stores, with its percentiles.
// Requests that were not answered when the load ended have no duration, but are known to have taken
// longer than something: a percentile that reaches them is at least that. There is one way to
// compute a percentile, and every output and objective has it from here.
package durations

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"dyno/internal/engine/metric"
)

// A Distribution is a distribution of durations. HDR is a HdrHistogram of nanoseconds, V2
// compressed, in base64. Count, Mean, Stdev and HDR are of what was answered. Percentiles and Max
// count Over too: one that reaches it (see IsOver) is a lower bound.
type Distribution struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min_us"`
	Mean  float64 `json:"mean_us"`
	Stdev float64 `json:"stdev_us"`
	P50   float64 `json:"p50_us"`
	P75   float64 `json:"p75_us"`
	P90   float64 `json:"p90_us"`
	P95   float64 `json:"p95_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99_9_us"`
	P9999 float64 `json:"p99_99_us"`
	Max   float64 `json:"max_us"`
	HDR   string  `json:"hdr,omitempty"`
	Over  *Over   `json:"over,omitempty"`
}

// An Over is of requests that had no answer. Each took longer than US, the least of the bounds.
type Over struct {
	US       float64 `json:"us"`
	Count    int64   `json:"count"`
	Answered float64 `json:"answered_max_us"` // the longest of those that were answered

	// Bounds are the requests by what each is known to have exceeded, in ascending order; nil if US is
	// the bound of all.
	Bounds []Bound `json:"bounds,omitempty"`
}

// A Bound is of Count requests that each took longer than US.
type Bound struct {
	US    float64 `json:"us"`
	Count int64   `json:"count"`
}

// boundsMost is how many bounds an Over has at most. More are taken together, with the least of
// them: what is known then is less, and still true.
const boundsMost = 8

// all are the bounds, also where they are one.
func (o *Over) all() []Bound {
	switch {
	case o == nil:
		return nil
	case len(o.Bounds) == 0:
		return []Bound{{o.US, o.Count}}
	}
	return o.Bounds
}

// with is o, which may be nil, with more bounds.
func (o *Over) with(more []Bound, answered float64) *Over {
	var all []Bound
	for _, b := range slices.Concat(o.all(), more) {
		i, known := slices.BinarySearchFunc(all, b.US, func(b Bound, us float64) int {
			return cmp.Compare(b.US, us)
		})
		switch {
		case b.Count <= 0 || !(b.US > 0):
		case known:
			all[i].Count = plus(all[i].Count, b.Count)
		default:
			all = slices.Insert(all, i, b)
		}
	}
	if len(all) == 0 {
		return o
	}
	sum := &Over{US: all[0].US, Answered: answered}
	for _, b := range all {
		sum.Count = plus(sum.Count, b.Count)
	}
	for len(all) > boundsMost { // the two that are nearest to one another
		i := nearestPair(all)
		all[i].Count = plus(all[i].Count, all[i+1].Count)
		all = slices.Delete(all, i+1, i+2)
	}
	if len(all) > 1 {
		sum.Bounds = all
	}
	return sum
}

// Together are bounds in ascending order, as many as an Over has at most.
func Together(of ...Bound) []Bound { return (*Over)(nil).with(of, 0).all() }

// CheckBounds returns an error if bounds are not as Together has them, or of more than most.
func CheckBounds(all []Bound, most int64) error {
	o := &Over{Bounds: all}
	for _, b := range all {
		o.Count = plus(o.Count, b.Count)
	}
	if len(all) == 0 {
		return nil
	} else if o.US = all[0].US; o.Count > most {
		return fmt.Errorf("%d of %d requests", o.Count, most)
	}
	return o.Check()
}

// LeastMean is what the mean of all exceeds, of which count were answered with that mean.
func (o *Over) LeastMean(count int64, mean float64) float64 {
	n, sum := float64(count), float64(count)*mean
	for _, b := range o.all() {
		n, sum = n+float64(b.Count), sum+float64(b.Count)*b.US
	}
	return sum / max(n, 1)
}

// LeastMean is the mean; with requests that had no answer, what it exceeds.
func (d *Distribution) LeastMean() float64 {
	if d.Over == nil {
		return d.Mean
	}
	return d.Over.LeastMean(d.Count, d.Mean)
}

// nearestPair is the index of the bound whose successor is the least times as long.
func nearestPair(all []Bound) (at int) {
	for i := range len(all) - 1 {
		if all[i+1].US/all[i].US < all[at+1].US/all[at].US {
			at = i
		}
	}
	return at
}

// Check returns an error if dyno cannot have written o.
func (o *Over) Check() error {
	if o != nil && len(o.Bounds) > boundsMost {
		return fmt.Errorf("it has %d bounds of requests without an answer, and at most %d are written",
			len(o.Bounds), boundsMost)
	}
	sum, last := int64(0), 0.0
	for _, b := range o.all() {
		if b.Count <= 0 || !(b.US > last) {
			return errors.New("its requests without an answer are fewer than one, or their bounds do " +
				"not ascend")
		}
		sum, last = plus(sum, b.Count), b.US
	}
	if o != nil && (sum != o.Count || o.all()[0].US != o.US) {
		return fmt.Errorf("it has %d requests without an answer, and bounds of %d", o.Count, sum)
	}
	return nil
}

// plus adds counts, which peers may have made up.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Reaches reports whether a percentile of count answered, which is at least us, may be that of one
// of o's requests or be above them.
func (o *Over) Reaches(count int64, percent, us float64) bool {
	return o != nil && (us >= o.US || percent/100*float64(plus(count, o.Count)) > float64(count))
}

// New is the distribution of a histogram of ns.
func New(h *metric.Histogram) *Distribution {
	d := Summary(h)
	d.HDR = h.EncodeHDR()
	return d
}

// Summary is New(h).WithUnanswered(more...) without HDR.
func Summary(h *metric.Histogram, more ...Bound) *Distribution {
	v := h.View()
	d := &Distribution{Count: h.Count, Min: Micros(float64(h.Min)), Mean: Micros(h.Mean()),
		Stdev: Micros(v.Stdev()), Max: Micros(float64(h.Max))}
	d.addUnanswered(v, more)
	return d
}

// setPercentiles sets those that have fields of their own.
func (d *Distribution) setPercentiles(v metric.View) {
	last := 0.0
	for _, p := range metric.Percentiles(d) {
		*p.Value = max(d.percentileIn(v, p.Percent), last)
		last = *p.Value
	}
}

// percentileIn is what a percentile is at least, whose histogram is v: that of what was answered
// and of the bounds of what was not.
func (d *Distribution) percentileIn(v metric.View, percent float64) float64 {
	if d.Over == nil {
		return Micros(float64(v.Quantile(percent / 100)))
	}
	rank := d.rank(percent)
	for _, b := range d.Over.all() {
		if us := d.answeredIn(v, rank); us <= b.US {
			return us
		}
		if rank -= float64(b.Count); d.answeredIn(v, rank) <= b.US {
			return b.US
		}
	}
	return d.answeredIn(v, min(rank, float64(d.Count)))
}

// answeredIn is the value at a rank of what was answered, as if all others took for ever.
func (d *Distribution) answeredIn(v metric.View, rank float64) float64 {
	switch n := float64(d.Count); {
	case rank <= 0:
		return 0
	case rank > n*(1+1e-9):
		return math.Inf(1)
	default:
		return Micros(float64(v.Quantile(min(rank/n, 1))))
	}
}

// mostIn is what a percentile is at most, +Inf if that is unknown: all that was not answered would
// be above all that was.
func (d *Distribution) mostIn(v metric.View, percent float64) float64 {
	return d.answeredIn(v, d.rank(percent))
}

// rank is the rank, from 1, of a percentile.
func (d *Distribution) rank(percent float64) float64 {
	return max(percent/100*float64(d.Known()), 1)
}

// Known is how many requests d knows of, answered or not; 0 of nil.
func (d *Distribution) Known() int64 {
	if d == nil || d.Over == nil {
		return d.Counted()
	}
	return plus(d.Count, d.Over.Count)
}

// IsOver reports whether a percentile, or with 100 the maximum, is known only to be at least what d
// has: it is that of a request that was not answered, or these may be above or below it.
func (d *Distribution) IsOver(percent float64) bool {
	if d.Over == nil || percent >= 100 {
		return d.Over != nil
	}
	switch us, ok := d.Percentile(percent); {
	case !ok || d.HDR == "":
		return d.Over.Reaches(d.Count, percent, us)
	case us < d.Over.US:
		return false
	default:
		return d.Most(percent) > us
	}
}

// Most is what a percentile (above 0, below 100) is at most, in µs; +Inf if that is unknown.
func (d *Distribution) Most(percent float64) float64 {
	h, err := d.Histogram()
	if err != nil {
		return math.Inf(1)
	}
	return d.mostIn(h.View(), percent)
}

// Beyond is how many of all requests are above a percentile.
func (d *Distribution) Beyond(percent float64) float64 {
	return float64(d.Known()) * (1 - percent/100)
}

// WithUnanswered is d with more requests that had no answer; d itself if there are none, and if d
// has no histogram that dyno wrote.
func (d *Distribution) WithUnanswered(more ...Bound) *Distribution {
	if d.Over.with(more, 0) == nil { // there are none, as in most loads
		return d
	}
	h, err := d.Histogram()
	if err != nil {
		return d
	}
	with := *d
	with.addUnanswered(h.View(), more)
	return &with
}

// addUnanswered adds to d, whose histogram is v, requests that had no answer, and sets what counts
// them.
func (d *Distribution) addUnanswered(v metric.View, more []Bound) {
	if d.Over = d.Over.with(more, d.answeredMax()); d.Over != nil {
		all := d.Over.all()
		d.Max = max(d.Over.Answered, all[len(all)-1].US)
	}
	d.setPercentiles(v)
}

// Answered is d without the requests that had no answer.
func (d *Distribution) Answered() *Distribution {
	h, err := d.Histogram()
	if d.Over == nil || err != nil {
		return d
	}
	return New(h)
}

// answeredMax is the longest of what was answered.
func (d *Distribution) answeredMax() float64 {
	if d.Over == nil {
		return d.Max
	}
	return d.Over.Answered
}

// Counted is how many were answered; 0 of nil.
func (d *Distribution) Counted() int64 {
	if d == nil {
		return 0
	}
	return d.Count
}

// Quantiles are the values, in µs, that the fractions at (0 to 1) of all requests did not exceed,
// as Percentile has them, and which of them are so as IsOver has it. An error means that d has no
// histogram, or none that dyno wrote.
func (d *Distribution) Quantiles(at []float64) (values []float64, over []bool, err error) {
	h, err := d.Histogram()
	if err != nil {
		return nil, nil, fmt.Errorf("a stored histogram: %w", err)
	}
	v := h.View()
	for _, q := range at {
		us := d.percentileIn(v, 100*q)
		values = append(values, us)
		over = append(over, d.Over != nil && us >= d.Over.US && d.mostIn(v, 100*q) > us)
	}
	return values, over, nil
}

// Histogram is the histogram of what was answered.
func (d *Distribution) Histogram() (*metric.Histogram, error) {
	return metric.Restore(d.HDR, d.Count, d.Min, d.answeredMax(), d.Mean, 1e3)
}

// LowerBounds is Histogram with what was not answered, at the duration that it exceeded.
func (d *Distribution) LowerBounds() (*metric.Histogram, error) {
	h, err := d.Histogram()
	if err == nil {
		for _, b := range d.Over.all() {
			h.RecordMany(int64(b.US*1e3), b.Count)
		}
	}
	return h, err
}

// Percentile is any percentile (above 0) in µs, from the histogram, or with 100 the maximum; false
// if d has none.
func (d *Distribution) Percentile(percent float64) (float64, bool) {
	if percent == 100 {
		return d.Max, true
	}
	for _, p := range metric.Percentiles(d) {
		if p.Percent == percent {
			return *p.Value, true
		}
	}
	h, err := d.Histogram()
	if err != nil {
		return 0, false
	}
	return d.percentileIn(h.View(), percent), true
}

// Check returns an error if dyno cannot have written d, a distribution of that name.
func (d *Distribution) Check(name string) error {
	ascending := []float64{0, d.Min}
	if d.Over != nil { // a request may be given up sooner than the quickest answer came
		ascending[1] = min(d.Min, d.Over.US)
	}
	for _, p := range metric.Percentiles(d) {
		ascending = append(ascending, *p.Value)
	}
	if !slices.IsSorted(ascending) || d.P50 > d.Max*1.01 {
		return fmt.Errorf("%s: its percentiles do not ascend", name)
	}
	if err := d.Over.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if d.HDR == "" {
		return nil
	}
	if h, err := metric.DecodeHDR(d.HDR); err != nil {
		return fmt.Errorf("%s.hdr: %w", name, err)
	} else if h.Count != d.Count {
		return fmt.Errorf("%s: hdr has %d values, and count is %d", name, h.Count, d.Count)
	}
	return nil
}

// Micros converts ns to µs, rounded to the nanosecond.
func Micros(ns float64) float64 { return math.Round(ns) / 1000 }
