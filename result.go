package dyno

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/report"
)

// A Result is what one run measured. The measured window begins after the warm-up. It ends when
// Load.For is over, or when the last of Load.Requests has its response. The drain comes after it.
//
// A Result counts the requests that were due in the window, even if the response came in the drain.
// Those of the warm-up are not counted.
type Result struct {
	Sent       int64 // Completed + Errors + Unfinished
	Completed  int64 // with a status of Load.Expect, and accepted by Load.Scenario
	Errors     int64 // failed, with another status, or not accepted by Load.Scenario
	Unfinished int64 // without a response at the end of the drain
	Unsent     int64 // of an open workload: due and never sent (with a Scenario: iterations)

	Offered float64 // of an open workload: Load.Rate (with a Scenario: iterations a second); else 0
	Rate    float64 // requests completed a second of Measured, without those sent in the drain

	// Latency is the time from when a request was due to the end of its response, and Service the
	// time from its sending. Both are of completed requests only. When is a request due?
	//
	//	open workload     at its time in the schedule
	//	closed workload   when the previous response on its connection has arrived
	//
	// With a Scenario the schedule is that of iterations. In a closed workload an iteration is due
	// when the previous one of its user is over. Its first request is due Request.Wait after that,
	// and each further one Request.Wait after the previous response.
	//
	// Latency is longer than Service if the request had to wait: for a free connection, or for one
	// that was opened anew.
	Latency, Service Distribution

	Status   map[int]int64 // how many responses had each status
	Failures []Failure     // the most frequent first; Unfinished and Unsent are not among them

	Steps      []StepResult // in the order of Load.Steps; none if there are fewer than two
	Iterations Iterations   // of a Load with a Scenario; else zero

	Measured time.Duration // the length of the measured window
	// Ended is why the run ended:
	//
	//	"duration"      For was over
	//	"requests"      all Requests were sent, and all responses had arrived
	//	"interrupted"   ctx ended
	//	"unreachable"   no connection could be opened
	//	"gone"          no connection was open for 5 s, and none could be opened again
	//	"unserved"      connections could be opened, and each ended without an answer, for 10 s
	//	"faulted"       Scenario returned a request that Steps does not allow
	//
	// A Result of the command can also have "aborted" (an objective was missed for certain),
	// "stopped" (its script ended the load) and "lost" (a machine of a fleet stopped answering).
	Ended string
	Seed  uint64 // of what was random: Load.Seed, or the one that Run drew; 0: nothing was

	Objectives []Outcome // one for each condition of Load.Objectives, in their order
	Generator  Verdict   // whether dyno trusts its own numbers; it says nothing of Objectives
	Reasons    []string  // why Generator is not OK, or that the run was too short to judge

	// Warnings say what may mislead in the numbers, such as that every response was a redirect.
	// What can be done about one names fields of Load.
	Warnings []string

	of *result.Result
}

// A Verdict is dyno's judgement of its own numbers. It is "" only in a Result that no run made.
type Verdict string

// The verdicts, from good to bad. A window of less than a second is too short for most checks, and
// usually OK: then Result.Reasons says that it was too short.
const (
	OK      Verdict = "ok"      // no check has found a doubt
	Suspect Verdict = "suspect" // there are doubts: see Result.Reasons
	// ClientBound means that the numbers do not show the server's limit: dyno, the Scenario or
	// other programs on this machine were the limit. See Result.Reasons.
	ClientBound Verdict = "client-bound"
)

// A Distribution describes durations. Its percentiles have three significant digits. All fields are
// 0 if there were no durations.
type Distribution struct {
	Count                         int64         // how many durations there were
	Min, Mean, Stdev              time.Duration // Stdev is the standard deviation
	P50, P75, P90, P95, P99, P999 time.Duration // percentiles; P999 is the 99.9th
	Max                           time.Duration
	of                            *result.Distribution
}

// Percentile returns the duration that so many percent of all durations do not exceed, such as
// Percentile(99.5). It returns Min for 0 or less, and Max for 100 or more.
//
// It returns 0 if there are no durations. It needs the histogram, which MarshalJSON writes. If that
// was taken out of the JSON, it knows the percentiles 50, 75, 90, 95, 99, 99.9 and 99.99, and
// returns 0 for others.
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

// A StepResult has the numbers of one of Load.Steps.
type StepResult struct {
	Name              string
	Completed, Errors int64         // as Result.Completed and Result.Errors
	Mean              time.Duration // of latency, as Result.Latency; 0 if nothing was completed
	P50, P90, P99     time.Duration // percentiles, to two significant digits
	Max               time.Duration
}

// Iterations has the numbers of the iterations of a Scenario that were due in the measured window
// and begun. A request that failed does not make its iteration fail, unless the Scenario returns an
// error for it.
type Iterations struct {
	Started    int64        // Completed + Failed + Unfinished
	Completed  int64        // the Scenario returned nil and no error
	Failed     int64        // the Scenario returned an error, or a request that cannot be sent
	Unfinished int64        // not over at the end of the drain
	Again      int64        // responses with a status of Login.Again, for which users log in again
	Rate       float64      // completed a second
	Time       Distribution // of those completed, from when each was due to its end
}

// An Outcome says whether one condition of Load.Objectives was met.
type Outcome struct {
	Objective string // the condition, such as "p99<20ms"
	Met       bool
	Value     *float64 // what was measured, in Unit; nil: nothing was measured
	Unit      string   // of Value: "us" (microseconds), "percent", "per_s", or "" for a count
	Note      string   // why to doubt Value: there was no server for a second, say; often ""

	// Undecided means that the condition is neither met nor missed. Either Needs is not 0, or requests
	// had no answer, and what they add to Value is not known; Note says how many.
	Undecided bool

	// Needs is not 0 if the condition is about a percentile that takes so many values, and there were
	// fewer. Value is only the longest of them.
	Needs int64
}

// A Failure is one way in which connections or requests failed, and how often they did. The Counts
// do not add up to Result.Errors: a connection that could not be opened is no request, and neither
// is one that a Scenario could not make.
type Failure struct {
	// Phase is what failed:
	//
	//	"dns", "connect", "tls"   opening a connection
	//	"write", "read"           the connection, during a request
	//	"protocol"                the response was not valid HTTP, or the server reset the request
	//	"timeout"                 the request took longer than Load.Timeout
	//	"expect"                  the status is not one of Load.Expect
	//	"check"                   the Scenario returned an error
	Phase string
	// Kind is what happened in that phase. Often it is "refused", "reset", "unreachable",
	// "timeout", "certificate", "closed" (before a response) or "truncated" (within one). In phase
	// "expect" it is "status". In phase "check" it is "scenario", or "value" if the Scenario could
	// not make a request.
	Kind string
	// Detail says more about the first of them. Others may differ. In phase "expect" it is the
	// status, and each status has a Failure of its own. In phase "check" it is the text of the
	// Scenario's error, in one line, of which 300 bytes are kept.
	Detail string
	Count  int64 // how many failed so
}

// Met reports whether all of Objectives were met. It returns true if there are none.
func (r *Result) Met() bool {
	for _, o := range r.Objectives {
		if !o.Met {
			return false
		}
	}
	return true
}

// String returns one sentence: what the server did, and a reason to doubt the numbers, if there is
// one.
func (r *Result) String() string {
	if r.of == nil {
		return "no run made this Result"
	}
	return report.RunAnswer(r.of).Sentence
}

// MarshalJSON returns r in the format dyno.result/1, which the command's report, compare and import
// read. "dyno schema result" prints its schema. A Result that no run made is an error.
//
// The JSON leaves out the secrets of the Load. Those are the credentials in URL, the values of
// Header but for harmless fields such as Accept, and a Body that is neither JSON nor a form. In
// JSON, forms and the query of URL, they are the fields whose name is that of a secret, such as
// token. dyno does not know the secrets of a Scenario: Failure.Detail keeps the text of its error.
func (r *Result) MarshalJSON() ([]byte, error) {
	if r.of == nil {
		return nil, errors.New("no run made this Result")
	}
	var b bytes.Buffer
	err := result.Encode(&b, r.of)
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON or the command's --json wrote. Other JSON is an error, and
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
		Seed: of.Plan.Seed, Warnings: of.WarningsIn(setting.Library), of: of}
	if offered := of.Offered(); offered != nil {
		r.Offered = *offered
	}
	r.Unsent, _, _ = of.Backlog()
	if i := of.Iterations; i != nil {
		r.Iterations = Iterations{Started: i.Started, Completed: i.Completed, Failed: i.Failed,
			Unfinished: i.Unfinished, Again: i.Again, Rate: i.Rate.Completed, Time: newDistribution(i.Time)}
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
		r.Failures = append(r.Failures, Failure{e.Phase, e.Kind, e.Text(setting.Library), e.Count})
	}
	for _, o := range of.Objectives {
		r.Objectives = append(r.Objectives, Outcome{Objective: o.Expr, Met: o.Met, Value: o.Value,
			Unit: o.Unit, Note: o.Note, Undecided: o.IsUndecided(), Needs: o.Needs})
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

func microseconds(us float64) time.Duration { return time.Duration(math.Round(us * 1e3)) }
