// Package dyno loads HTTP servers from a Go program, as the command dyno does from a terminal. It
// measures latency from each request's intended start time, so that a server that stalls cannot
// hide the delay, and it judges whether its own numbers can be trusted.
//
//	r, err := dyno.Run(ctx, dyno.Load{URL: "http://127.0.0.1:8080/", Rate: 500,
//		For: 10 * time.Second, Objectives: []string{"p99<20ms", "errors<0.1%"}})
//	if err != nil {
//		return err // such as what is wrong with a field
//	}
//	fmt.Println(r) // the answer in a sentence
//
// Run prints nothing and stores nothing. It reads no environment and changes nothing of the
// process, unless Load.OwnProcess is set. Package dynotest has what tests and benchmarks need.
package dyno

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/objective"
	"dyno/internal/redact"
	"dyno/internal/result"
)

// A Load is what Run does. Only URL is required. A field that is zero has the default
// in its comment. If there is none, it is off.
//
// Run follows no redirect and keeps no cookie. It fills no template: "{{" is sent as it stands.
type Load struct {
	// URL is where requests go. Its scheme is http, https, h2c (HTTP/2 without TLS), or http+unix
	// for a socket: http+unix:///path/to.sock:/uri. Credentials in it become the header
	// Authorization, unless the request has its own.
	URL    string
	Method string // "": GET, or POST if Body is not nil

	// Header is sent sorted by name. A Host in it replaces that of URL on the wire; connections
	// still go to the host of URL.
	Header http.Header
	Body   []byte // nil: none

	// Expect are the statuses that count as completed, such as "200,204", "2xx,404" or "any". All
	// others count as errors. "": those below 400 are expected.
	Expect string

	// Scenario decides what to send; Method, Header and Body must be zero then. nil: every request
	// is the one that they describe.
	Scenario Scenario
	// Steps are the names that requests of Scenario can have. An iteration sends them in any order
	// and each as often as it likes. Without Steps, an iteration sends only one request, which needs
	// no name. A request that Steps does not allow ends the load with an error. With two names or
	// more, Result.Steps has the numbers of each.
	Steps []string
	Users int // how many follow Scenario, at most 4,194,304; 0: as many as Connections

	// Rate is how many requests are due a second, in all (with Scenario: iterations), from 0.001 to
	// 100,000,000. It makes an open workload: they are due on a schedule, whether or not earlier
	// ones are answered. One that finds all connections (or users) busy waits for the next that is
	// free, and Latency includes the wait. None is dropped before the drain ends; Result.Unsent
	// counts those that were never sent.
	//
	// 0 makes a closed workload: each connection sends its next request when it has the answer to
	// the last.
	Rate    float64
	Poisson bool // requests of Rate are due at random instants; false: evenly spaced

	// Connections is how many there are in all, 1 to 1,048,576. Each has one request in flight at
	// most, with HTTP/2 and 3 too. 0: 50, or Requests if that is less.
	Connections int

	// Requests is how many to send in all (with Scenario: how many iterations to begin), besides
	// those of Warmup, at least as many as Connections. If For ends first, fewer are sent. 0: as many
	// as For allows.
	Requests int64
	For      time.Duration // how long to measure, at least 1 ms; 0: 10 s, or until Requests
	Warmup   time.Duration // how long to load before measuring; 0: not at all
	Drain    time.Duration // how long to wait at the end for the last answers; 0: 2 s
	Timeout  time.Duration // of a request, from its sending, at least 1 ms; 0: 10 s

	// HTTP is the version: "1.0", "1.1", "2" or "3", which needs https. "": 2 for h2c, 1.1 for other
	// URLs without TLS, and the server's choice of 2 and 1.1 over TLS.
	HTTP     string
	Insecure bool   // accept any certificate of the server
	RootCAs  []byte // PEM, trusted in place of the system's; nil: the system's

	// Objectives are conditions, such as "p99<20ms", "errors<0.1%" or "rps>=10k". One string can
	// have several, separated by commas. Each is a measure, one of < <= > >=, and a limit:
	//
	//	min mean stdev max p50 p99.9 …   a statistic or any percentile of Latency, as 20ms
	//	service.p99 …                    of Service
	//	connect.p99 tls.p99 …            of opening a connection; first_byte.p99: to the first byte
	//	error_latency.p99 …              of requests among Errors that were answered
	//	rps                              requests completed a second, as 10000 or 10k
	//	errors                           failed, unanswered or never sent: a number, or a share as 1%
	//	iteration.p95 …                  of the time of iterations, as 2s; also failed_iteration
	//	checks                           the share of answers that Scenario accepted, as 99%
	//	route.NAME.p99                   of a step; also mean, p50, p90 and max
	//
	// Latency and Service are of completed requests alone, so a condition on them needs one on errors
	// beside it.
	//
	// Result.Objectives says which were met. One whose measure has no value is missed. A missed one
	// is not an error of Run.
	Objectives []string

	// Each is called once a second, from one goroutine, with what was measured in that second. The
	// load does not wait for it: if it is slow, up to 3,600 calls wait, and Run drops further ones.
	// Run returns after its last call. nil: nothing is called.
	Each func(Interval)

	Threads int    // that make the load; 0: up to half of GOMAXPROCS, at least one
	Seed    uint64 // of what is random; 0: Run draws one, which is in Result.Seed

	// OwnProcess lets Run change the whole process, as the command does. Run may raise GOMAXPROCS,
	// so that its threads leave a processor to other goroutines. It may raise the limit of open
	// files, and it may set the environment variable that silences quic-go. Run undoes none of that.
	//
	// Without OwnProcess, a load that needs a higher GOMAXPROCS is made in a slower way. A load
	// that needs more open files fails.
	OwnProcess bool
}

// Run makes the load and returns what it measured. If ctx ends, the load ends too: the error is
// nil, the result has what was measured until then, and its Ended is "interrupted". If ctx had
// ended before, nothing was measured. A server that cannot be reached is a result and not an error,
// and so is one that answers with errors only.
//
// If the load cannot be made, Run sends nothing. The result is nil then, and the error joins a
// FieldError for each field at fault. If l.Scenario returns a request that l.Steps does not allow,
// the load ends early. The error is a FieldError then, and the result has what was measured so far.
// If l.Scenario panics, the load ends too, and the error has the panic; the result is nil.
//
// Several goroutines may call Run at once. Their loads share the processors, so that each may
// measure the others too.
func Run(ctx context.Context, l Load) (*Result, error) {
	p, faults := l.plan()
	var goals []objective.Objective
	for _, text := range l.Objectives {
		some, err := objective.ParseList(text)
		if goals = append(goals, some...); err != nil {
			faults = append(faults, FieldError{"Objectives", err.Error()})
		}
	}
	if err := p.Check(); err != nil {
		faults = append(faults, fieldErrors(err)...)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	var each func(loadresult.Interval)
	if l.Each != nil {
		each = func(iv loadresult.Interval) { l.Each(newInterval(iv)) }
	}
	measured, err := load.Run(ctx, p, each)
	if err != nil {
		return nil, errors.Join(fieldErrors(err)...)
	}
	r, err := result.From(measured, loadplan.Version)
	if err == nil {
		err = r.RestorePlan(p, redact.PlainMark)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range goals {
		r.Objectives = append(r.Objectives, o.Judge(r))
	}
	if r.Ended == string(loadresult.Faulted) {
		err = FieldError{"Scenario", r.Cause}
	}
	return newResult(r), err
}

// An Interval is a second of the measured window. The last can be shorter, or be the time after the
// window. An Interval counts what happened in it: a request that was sent in one and answered in
// the next is in Sent of the first and in Completed of the second. All requests counted were due in
// the window, so that the sums of Sent, Completed and Errors are those of the
// Result.
type Interval struct {
	From, To      time.Duration // since the window's start
	Sent          int64         // requests sent; one that is sent again counts once
	Completed     int64         // answered as expected, as Result.Completed
	Errors        int64         // failed or answered otherwise, as Result.Errors
	InFlight      int64         // at the end of the Interval
	P50, P99, Max time.Duration // of latency, as Result.Latency; 0 if nothing was completed
}

func newInterval(iv loadresult.Interval) Interval {
	return Interval{From: iv.From, To: iv.To, Sent: iv.Sent, Completed: iv.Completed,
		Errors: iv.Failed, InFlight: iv.InFlight, P50: iv.P50, P99: iv.P99, Max: iv.Max}
}
