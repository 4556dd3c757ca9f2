package dyno

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"dyno/internal/result"
	"dyno/internal/view/report"
)

// A Result is what one load measured. A request belongs to the window in which it was due.
type Result struct {
	Sent       int64 // Completed + Errors + Unfinished
	Completed  int64 // answered as expected: by default with a status below 400
	Errors     int64 // failed, or answered with another status
	Unfinished int64 // without an answer at the end of the drain

	Offered float64 // open workload: requests due a second; 0 of a closed one
	Rate    float64 // completed a second

	// Latency is from the intended start time to the end of the answer, Service from the actual
	// sending, both of completed requests.
	Latency, Service Distribution

	Status   map[int]int64 // answers by status code
	Failures []Failure     // the most frequent first

	Measured time.Duration // the length of the window
	Ended    string        // why: "duration", "requests", "interrupted", "unreachable" …

	Objectives []Outcome // of Load.Objectives, in their order
	Generator  Verdict   // may the numbers be believed?
	Reasons    []string  // why not
	Warnings   []string  // what else a reader must know

	of *result.Result
}

// A Verdict is dyno's judgement of its own numbers.
type Verdict string

// The verdicts, from good to bad.
const (
	OK          Verdict = "ok"           // no doubt about the numbers
	Suspect     Verdict = "suspect"      // there are doubts: see Result.Reasons
	ClientBound Verdict = "client-bound" // they show the generator's limit, not the server's
)

// A Distribution is a distribution of durations, to three significant digits.
type Distribution struct {
	Count                         int64
	Min, Mean, Stdev              time.Duration
	P50, P75, P90, P95, P99, P999 time.Duration
	Max                           time.Duration
	of                            *result.Distribution
}

// Percentile is the duration that percent of all do not exceed, from 0 to 100; 0 if there are none,
// or the Result came from JSON without histograms.
func (d Distribution) Percentile(percent float64) time.Duration {
	if d.of == nil {
		return 0
	}
	us, known := d.of.Percentile(percent)
	if !known {
		return 0
	}
	return microseconds(us)
}

// An Outcome says whether an objective was met.
type Outcome struct {
	Objective string // as it was given
	Met       bool
	Value     *float64 // what was measured, in Unit; nil: nothing
	Unit      string   // "us", "percent", "per_s", or "" of a count
	Note      string   // what the value lacks; often ""
}

// A Failure is a way in which connections or requests failed.
type Failure struct {
	Phase  string // dns, connect, tls, write, read, protocol, timeout, expect or check
	Kind   string // such as "refused"
	Detail string // of the first
	Count  int64
}

// Met reports whether all objectives were met. It is true if there are none.
func (r *Result) Met() bool {
	for _, o := range r.Objectives {
		if !o.Met {
			return false
		}
	}
	return true
}

// String is the answer in one sentence: what the server did, and what speaks against the numbers.
func (r *Result) String() string {
	if r.of == nil {
		return "no load was made"
	}
	return report.RunAnswer(r.of).Sentence
}

// MarshalJSON is the result in the format dyno.result/1, whose schema "dyno schema result" prints.
// It has no secrets. The command's report, compare and import read it.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.of == nil {
		return nil, errors.New("this Result is not of a load")
	}
	var b bytes.Buffer
	err := result.Encode(&b, r.of)
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON, or the command's --json, wrote.
func (r *Result) UnmarshalJSON(b []byte) error {
	of, err := result.Decode(b)
	if err == nil {
		err = result.Check(of)
	}
	if err != nil {
		return err
	}
	*r = *newResult(of)
	return nil
}

func newResult(of *result.Result) *Result {
	r := &Result{Sent: of.Requests.Sent, Completed: of.Requests.Completed,
		Errors: of.Requests.Errors, Unfinished: of.Requests.Unfinished, Rate: of.Rate.Completed,
		Latency: newDistribution(of.Latency), Service: newDistribution(of.Service),
		Status: map[int]int64{}, Measured: time.Duration(of.Window.MeasuredS * 1e9), Ended: of.Ended,
		Generator: Verdict(of.Generator.Verdict), Reasons: of.Generator.Reasons,
		Warnings: of.Warnings, of: of}
	if of.Rate.Offered != nil {
		r.Offered = *of.Rate.Offered
	}
	for code, n := range of.Status {
		number, _ := strconv.Atoi(strings.TrimLeft(code, "0")) // checked: three digits
		r.Status[number] = n
	}
	for _, e := range of.Errors {
		r.Failures = append(r.Failures, Failure{e.Phase, e.Kind, e.Detail, e.Count})
	}
	for _, o := range of.Objectives {
		r.Objectives = append(r.Objectives, Outcome{o.Expr, o.Met, o.Value, o.Unit, o.Note})
	}
	return r
}

func newDistribution(of *result.Distribution) Distribution {
	if of == nil {
		return Distribution{}
	}
	us := microseconds
	return Distribution{Count: of.Count, Min: us(of.Min), Mean: us(of.Mean), Stdev: us(of.Stdev),
		P50: us(of.P50), P75: us(of.P75), P90: us(of.P90), P95: us(of.P95), P99: us(of.P99),
		P999: us(of.P999), Max: us(of.Max), of: of}
}

func microseconds(us float64) time.Duration { return time.Duration(us * 1e3) }
