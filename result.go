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

// A Result is what one load measured, as Run returns it. It counts the requests that were due in
// the measured window, even if the answer came after it. Those of the warm-up are left out.
type Result struct {
	Sent       int64 // Completed + Errors + Unfinished
	Completed  int64 // answered as Load.Expect says, and accepted by Load.Scenario
	Errors     int64 // failed, answered with another status, or not accepted by Load.Scenario
	Unfinished int64 // without an answer at the end of the drain
	Unsent     int64 // of an open workload: due and never sent (with a Scenario: iterations)

	Offered float64 // of an open workload: Load.Rate; 0 of a closed one
	Rate    float64 // requests completed a second, which can be less than Load.Rate

	// Latency is the time from the intended start of a request to the end of its answer. Service is
	// the time from its actual sending to the same end. Both are of completed requests only.
	Latency, Service Distribution

	Status   map[int]int64 // answers by status code
	Failures []Failure     // the most frequent first

	Steps      []StepResult // by the order of Load.Steps; none if there are fewer than two
	Iterations Iterations   // of a Load with a Scenario; zero of others

	Measured time.Duration // the length of the measured window
	// Ended is why the load ended: "duration" (For was over), "requests" (all were sent and
	// answered), "interrupted" (ctx), "unreachable" (no connection could be opened), "gone" (all
	// connections were lost and none could be opened again) or "faulted" (Scenario did what Steps
	// does not allow). A Result of the command can also have "aborted", "stopped" or "lost".
	Ended string
	Seed  uint64 // of what was random: Load.Seed, or the one that Run drew; 0: nothing was

	Objectives []Outcome // one for each condition of Load.Objectives, in their order
	Generator  Verdict   // whether dyno trusts its own numbers; it says nothing of Objectives
	Reasons    []string  // why Generator is not OK, or that the load was too short to judge
	Warnings   []string  // what else a reader must know

	of *result.Result
}

// A Verdict is dyno's judgement of its own numbers.
type Verdict string

// The verdicts, from good to bad.
const (
	OK          Verdict = "ok"           // no doubt, or a load of less than 1 s: too short to judge
	Suspect     Verdict = "suspect"      // there are doubts: see Result.Reasons
	ClientBound Verdict = "client-bound" // the numbers show the limit of dyno, not of the server
)

// A Distribution is a distribution of durations, to three significant digits. All fields are 0 if
// there were no durations.
type Distribution struct {
	Count                         int64         // how many durations there were
	Min, Mean, Stdev              time.Duration // Stdev is the standard deviation
	P50, P75, P90, P95, P99, P999 time.Duration // percentiles; P999 is the 99.9th
	Max                           time.Duration
	of                            *result.Distribution
}

// Percentile is the duration that so many percent of all durations do not exceed. percent is from 0
// to 100, such as 99.99. Percentile is 0 if there are no durations, or if the Result came from JSON
// without histograms.
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

// A StepResult is the requests of one of Load.Steps. Percentiles are to two significant digits.
type StepResult struct {
	Name              string
	Completed, Errors int64         // as Result.Completed and Result.Errors
	Mean              time.Duration // of latency, as Result.Latency; 0 if nothing was completed
	P50, P90, P99     time.Duration
	Max               time.Duration
}

// Iterations are the iterations of a Scenario that were due in the measured window and begun.
// Started is Completed + Failed + Unfinished. Requests that failed do not make an iteration fail,
// unless the Scenario returned an error for it.
type Iterations struct {
	Started    int64
	Completed  int64        // the Scenario returned nil as the next request
	Failed     int64        // the Scenario returned an error, or a request that cannot be sent
	Unfinished int64        // not over at the end of the drain
	Rate       float64      // completed a second
	Time       Distribution // from the intended start to the end, of those completed
}

// An Outcome says whether one condition of Load.Objectives was met.
type Outcome struct {
	Objective string // the condition, as it was given
	Met       bool
	Value     *float64 // what was measured, in Unit; nil: nothing was measured
	Unit      string   // of Value: "us" (microseconds), "percent", "per_s", or "" for a count
	Note      string   // what Value leaves out, such as time without a server; often ""
}

// A Failure is one way in which connections or requests failed, and how often they did. The Counts
// do not add up to Result.Errors: a connection that could not be opened (dns, connect, tls) is no
// request, and neither is one that a Scenario could not make (check, kind "value").
type Failure struct {
	// Phase is what failed: "dns", "connect", "tls", "write", "read", "protocol", "timeout",
	// "expect" or "check". "expect" is for answers with a status that was not expected, and "check"
	// for what a Scenario did not accept.
	Phase  string
	Kind   string // of the failure, within Phase: such as "refused"
	Detail string // more about the first of them; of "check" the text of the Scenario's error
	Count  int64  // how many failed so
}

// Met reports whether all of Objectives were met. It is true if there are none.
func (r *Result) Met() bool {
	for _, o := range r.Objectives {
		if !o.Met {
			return false
		}
	}
	return true
}

// String is one sentence: what the server did, and why to doubt the numbers, if there is a doubt.
func (r *Result) String() string {
	if r.of == nil {
		return "no load was made"
	}
	return report.RunAnswer(r.of).Sentence
}

// MarshalJSON writes r in the format dyno.result/1, whose schema "dyno schema result" prints. The
// JSON has no secrets. The command's report, compare and import read it. It is an error if r is not
// of a load.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.of == nil {
		return nil, errors.New("this Result is not of a load")
	}
	var b bytes.Buffer
	err := result.Encode(&b, r.of)
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON or the command's --json wrote. Other JSON is an error, which
// leaves r as it is.
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
		Seed: of.Plan.Seed, Warnings: of.Warnings, of: of}
	if offered := of.Offered(); offered != nil {
		r.Offered = *offered
	}
	r.Unsent, _, _ = of.Backlog()
	if i := of.Iterations; i != nil {
		r.Iterations = Iterations{Started: i.Started, Completed: i.Completed, Failed: i.Failed,
			Unfinished: i.Unfinished, Rate: i.Rate.Completed, Time: newDistribution(i.Time)}
	}
	us := microseconds
	for _, s := range of.Routes {
		r.Steps = append(r.Steps, StepResult{Name: s.Name, Completed: s.Completed, Errors: s.Errors,
			Mean: us(s.Mean), P50: us(s.P50), P90: us(s.P90), P99: us(s.P99), Max: us(s.Max)})
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
