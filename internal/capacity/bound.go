package capacity

import (
	"maps"
	"math"
	"slices"

	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/stats"
)

const (
	oneSided  = 0.95 // that a bound holds
	resamples = 2000
)

// bounds are what a quantile of latency may have been, in µs: each holds with 95 %.
// 0 as Low, and an infinite High, are of too few requests.
type bounds struct {
	low, high float64
	seconds   int // that were resampled
}

// A sample is the latencies of a run, or its first events, second by second.
type sample struct {
	values  []int64 // ns, descending
	counts  []int64 // of each value, how often in each second
	seconds []int64 // how many in each second
	all     int64
}

// newSample takes values of the seconds of a window, of which there are so many. What was
// due in it and completed after it belongs to its last.
func newSample(from []loadresult.Interval, of func(*loadresult.Interval) metric.Sparse,
	window float64) *sample {
	whole := min(max(int(window), 1), len(from))
	places := map[int64]int{}
	for i := range from {
		values := of(&from[i])
		for v := range values.ValueCounts() {
			places[v] = 0
		}
	}
	s := &sample{values: slices.Sorted(maps.Keys(places)), seconds: make([]int64, whole)}
	slices.Reverse(s.values)
	for i, v := range s.values {
		places[v] = i
	}
	s.counts = make([]int64, len(s.values)*whole)
	for i := range from {
		second, values := min(i, whole-1), of(&from[i])
		for v, n := range values.ValueCounts() {
			s.counts[places[v]*whole+second] += n
			s.seconds[second] += n
			s.all += n
		}
	}
	return s
}

// valueAtRank is the n-th smallest value, in µs, of all seconds, each taken so often;
// infinite if there are fewer values.
func (s *sample) valueAtRank(n int64, times []int64) float64 {
	above := -n // how many are larger than it, and one more
	for i, t := range times {
		above += t * s.seconds[i]
	}
	if above < 0 {
		return math.Inf(1)
	}
	row := s.counts
	for _, v := range s.values { // from the largest: of a high percentile few are above
		for i, t := range times {
			above -= t * row[i]
		}
		if above < 0 {
			return float64(v) / 1e3
		}
		row = row[len(times):]
	}
	return 0
}

// highWith is the upper bound of the q-quantile if so many more requests had no answer, which may
// have taken longer than all others. high is the bound without them.
func (s *sample) highWith(high, q float64, unanswered int64) float64 {
	if unanswered == 0 {
		return high
	}
	once := make([]int64, len(s.seconds))
	for i := range once {
		once[i] = 1
	}
	_, rank := boundRanks(s.all+unanswered, q)
	return max(high, s.valueAtRank(rank, once))
}

// quantileOf is the q-quantile of the seconds, each taken so often; NaN of nothing.
func (s *sample) quantileOf(q float64, times []int64) float64 {
	var all int64
	for i, t := range times {
		all += t * s.seconds[i]
	}
	if all == 0 {
		return math.NaN()
	}
	return s.valueAtRank(max(int64(q*float64(all)+0.5), 1), times) // as HdrHistogram rounds
}

// boundQuantile bounds the q-quantile: by resampling seconds, for requests of one second
// have waited in the same queue, and by counting requests as if they had not,
// because that alone knows how few there are. The wider is taken on each side.
func (s *sample) boundQuantile(q float64, seed uint64) bounds {
	times := make([]int64, len(s.seconds))
	low, high := boundRanks(s.all, q)
	b := bounds{high: math.Inf(1)}
	if s.all == 0 {
		return b
	}
	for i := range times {
		times[i] = 1
	}
	b.high = s.valueAtRank(high, times)
	if low > 0 {
		b.low = s.valueAtRank(low, times)
	}
	statistic := func(blocks []int) float64 {
		clear(times)
		for _, i := range blocks {
			times[i]++
		}
		return s.quantileOf(q, times)
	}
	v, err := stats.Bootstrap(len(s.seconds), resamples, seed, statistic, 2*oneSided-1)
	if err != nil { // fewer than 8 seconds, or some with nothing
		return b
	}
	b.seconds = len(s.seconds)
	b.low, b.high = min(b.low, v.Low), max(b.high, v.High)
	return b
}

// boundRanks are the order statistics, counted from 1, of n independent values that
// bound their q-quantile from below and from above, each with 95 %; 0 and n+1 if
// there are too few values. The number of values above a quantile is binomial.
func boundRanks(n int64, q float64) (low, high int64) {
	p := 1 - q
	mean, deviation := float64(n)*p, math.Sqrt(float64(n)*p*q)
	if deviation*deviation > 200 { // the normal distribution's, and no underflow
		away := 1.6449 * deviation
		return max(n-int64(math.Ceil(mean+away)), 0), min(n-int64(math.Floor(mean-away)), n+1)
	}
	few, many := int64(-1), n // at most few lie above with ≤ 5 %; more than many likewise
	below := 0.0
	term := math.Pow(q, float64(n))
	for k := int64(0); k <= n; k++ {
		below += term
		if below <= 1-oneSided {
			few = k
		}
		if 1-below <= 1-oneSided {
			many = k
			break
		}
		term *= float64(n-k) / float64(k+1) * p / q
	}
	return n - many, n - few
}

// requestsForBound is how many requests bound a quantile from above at all, with some to
// spare.
func requestsForBound(q float64) float64 { return 1.2 * math.Log(1-oneSided) / math.Log(q) }
