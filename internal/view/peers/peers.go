// Package peers writes a result in the form in which another load generator reports: wrk, wrk2,
// ab, hey, oha or go-meter. Scripts that read such output go on working. The numbers are dyno's.
// Where the other tool would have reported something else, Untrue says so in a line.
//
//	ab.go        the report of ab
//	gometer.go   go-meter's
//	hey.go       hey's
//	oha.go       oha's, also as JSON
//	peers.go     what a report is of: the result, its percentiles and times
//	untrue.go    what the other tool would have reported that is not so
//	wrk.go       wrk's and wrk2's
package peers

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"dyno/internal/result"
)

// A Run is what the other tool's command line asked for.
type Run struct {
	Tool        string
	URL         string
	Method      string
	Threads     int
	Connections int
	Duration    time.Duration // 0: a number of requests
	Requested   int64
	Limit       float64 // go-meter -mrq: requests a second at most; 0: none
	Detail      bool    // wrk --latency, wrk2 -U, go-meter -v
	Uncorrected bool    // wrk2 -U: latency from when requests were sent, too
	KeepAlive   bool    // ab -k
	Varied      bool    // ab -l: bodies may differ in length
	Document    Document
	Unit        string // oha --time-unit: ns, us, ms, s, m or h; "": as long as the slowest
	Form        string // oha --output-format: json or quiet; "": text
}

// A Document is the first answer, which ab shows.
type Document struct {
	Server string // its header Server
	Length int64  // of its body, in bytes; ab takes all others for as long
}

// Write writes the result as the tool of the run does.
func Write(w io.Writer, run Run, r *result.Result) error {
	v := newView(run, r)
	switch run.Tool {
	case "wrk", "wrk2":
		v.wrk()
	case "ab":
		v.ab()
	case "hey":
		v.hey()
	case "oha":
		if err := v.oha(); err != nil {
			return fmt.Errorf("writing oha's report: %w", err)
		}
	case "go-meter":
		v.goMeter()
	default:
		return fmt.Errorf("%q is no tool whose output is known", run.Tool)
	}
	_, err := io.WriteString(w, v.out.String())
	return err
}

// A view is a result on its way to a text.
type view struct {
	Run
	r       *result.Result
	out     strings.Builder
	latency result.Distribution
	sample  []float64 // ascending values in µs, each of which stands for equally many requests
}

// sampleMost is how many values stand for a distribution.
const sampleMost = 20_000

func newView(run Run, r *result.Result) *view {
	v := &view{Run: run, r: r}
	if r.Latency == nil {
		return v
	}
	v.latency = *r.Latency.Answered() // all that other tools know
	n := min(v.latency.Count, sampleMost)
	at := make([]float64, n)
	for i := range at {
		at[i] = (float64(i) + 0.5) / float64(n)
	}
	if values, _, err := v.latency.Quantiles(at); err == nil { // one of another version has none
		v.sample = values
	}
	return v
}

func (v *view) print(format string, args ...any) { fmt.Fprintf(&v.out, format, args...) }

// quantile is a percentile of latency in µs.
func (v *view) quantile(percent float64) float64 {
	if percent >= 100 {
		return v.latency.Max
	}
	if us, ok := v.latency.Percentile(percent); ok {
		return us
	}
	if len(v.sample) == 0 {
		return v.latency.Max
	}
	return v.sample[min(int(percent/100*float64(len(v.sample))), len(v.sample)-1)]
}

// upTo is how many requests took at most so many µs.
func (v *view) upTo(us float64) int64 {
	if len(v.sample) == 0 || us >= v.latency.Max {
		return v.latency.Count
	}
	i := sort.Search(len(v.sample), func(i int) bool { return v.sample[i] > us })
	return int64(math.Round(float64(i) / float64(len(v.sample)) * float64(v.latency.Count)))
}

// within is the percentage of requests whose latency is within a standard deviation of the mean.
func (v *view) within() float64 {
	d := v.latency
	if d.Count == 0 {
		return 0
	}
	return 100 * float64(v.upTo(d.Mean+d.Stdev)-v.upTo(d.Mean-d.Stdev)) / float64(d.Count)
}

// seconds is how long the run was measured.
func (v *view) seconds() float64 { return v.r.Window.MeasuredS }

// completed is how many requests completed within the run, as the tools count them: they stop at
// its end, and dyno waits for what is in flight then.
func (v *view) completed() int64 { return int64(math.Round(v.r.Rate.Completed * v.seconds())) }

// perSecond is a number a second.
func (v *view) perSecond(n int64) float64 {
	if v.seconds() <= 0 {
		return 0
	}
	return float64(n) / v.seconds()
}

// failed is how many errors there were of some phases.
func (v *view) failed(phases ...string) (n int64) {
	for _, e := range v.r.Errors {
		if slices.Contains(phases, e.Phase) {
			n += e.Count
		}
	}
	return n
}

// statuses are the status codes, ascending.
func (v *view) statuses() (codes []int) {
	for s := range v.r.Status {
		if code, err := strconv.Atoi(s); err == nil {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

// answers is how many answers had a status from one to another.
func (v *view) answers(from, to int) (n int64) {
	for _, code := range v.statuses() {
		if code >= from && code <= to {
			n += v.r.Status[strconv.Itoa(code)]
		}
	}
	return n
}

// A moment is a mean, a standard deviation, a greatest value, and the share in percent of values
// within one deviation of the mean.
type moment struct{ mean, stdev, max, within float64 }

// perThread is how many requests a thread completed in a second, over the seconds of the run.
func (v *view) perThread() moment {
	rates := v.secondRates()
	for i := range rates {
		rates[i] /= float64(max(v.Threads, 1))
	}
	return momentOf(rates)
}

// secondRates are the requests completed a second, of each second of the run; of all of it if it is
// shorter.
func (v *view) secondRates() (rates []float64) {
	last := 0.0
	for _, p := range v.r.Series {
		if length := p.T - last; length > 0.5 {
			rates = append(rates, float64(p.Completed)/length)
		}
		last = p.T
	}
	if len(rates) == 0 {
		rates = []float64{v.perSecond(v.completed())}
	}
	return rates
}

// momentOf is the moment of some values, of which there is one at least.
func momentOf(values []float64) (m moment) {
	for _, x := range values {
		m.mean += x / float64(len(values))
		m.max = max(m.max, x)
	}
	for _, x := range values {
		m.stdev += (x - m.mean) * (x - m.mean)
	}
	m.stdev = math.Sqrt(m.stdev / float64(max(len(values)-1, 1)))
	for _, x := range values {
		if math.Abs(x-m.mean) <= m.stdev {
			m.within += 100 / float64(len(values))
		}
	}
	return m
}
