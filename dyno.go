// Package dyno loads HTTP servers from a Go program, as the command dyno does from a terminal. It
// measures latency from each request's intended start time, so that a server that stalls cannot
// hide the delay, and it judges whether its own numbers can be trusted.
//
//	r, err := dyno.Run(ctx, dyno.Load{URL: "http://127.0.0.1:8080/", Rate: 500,
//		For: 10 * time.Second, Objectives: []string{"p99<20ms", "errors<0.1%"}})
//	if err != nil {
//		return err // the load was never made
//	}
//	fmt.Println(r) // the answer in a sentence
//
// Run prints nothing, stores nothing, reads no environment and changes nothing of the process,
// unless Load.OwnProcess allows that. Package dynotest has what tests and benchmarks need.
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

// A Load is what Run does. Only URL is required; a field that is zero has the default that its
// comment names.
type Load struct {
	// URL is where requests go: http, https, h2c (HTTP/2 without TLS), or a socket, as
	// http+unix:///path/to.sock:/uri. Credentials in it become the header Authorization.
	URL    string
	Method string      // GET, or POST if there is a Body
	Header http.Header // sent in the order of their names
	Body   []byte

	Scenario Scenario // says what to send, in place of Method, Header and Body; nil: there is none
	Steps    []string // names of the requests of an iteration of Scenario; none: it has one request
	Users    int      // of Scenario; 0: one for each request that can be in flight

	// Rate makes an open workload: so many requests a second in all (with Steps: iterations) start
	// on a schedule, whether or not earlier ones are answered. 0: a closed workload, in which each
	// connection sends its next request when it has the answer to the last.
	Rate    float64
	Poisson bool // the requests of Rate start at random instants, and not evenly spaced

	Connections int           // of all threads together, 1 to 1,048,576; 0: 50, or Requests if less
	Requests    int64         // exactly so many (with Steps: iterations); 0: until For
	For         time.Duration // how long to measure, at least 1 ms; 0: 10 s, or until Requests
	Warmup      time.Duration // load before measuring
	Drain       time.Duration // to wait at the end for the last answers; 0: 2 s
	Timeout     time.Duration // of a request, from when it was sent; 0: 10 s

	HTTP     string // "1.0", "1.1", "2" or "3"; "": over TLS the server's choice of 2 and 1.1
	Insecure bool   // accept any certificate
	RootCAs  []byte // PEM, trusted in place of the system's; none: the system's

	// Objectives are conditions such as "p99<20ms", "errors<0.1%" or "rps>=10k". Result.Objectives
	// says which were met.
	Objectives []string

	// Each is called once a second with what was measured meanwhile, from one goroutine. The load
	// does not wait for it; Run returns after its last call. nil: it is not called.
	Each func(Interval)

	Threads int    // that make the load; 0: one, if GOMAXPROCS is 2 or less, else half of it
	Seed    uint64 // of what is random: the same seed, the same load; 0: one is drawn

	// OwnProcess lets Run change what belongs to the whole process, as the command does: raise
	// GOMAXPROCS, so that threads leave a processor to other goroutines, raise the limit of open
	// files, and set the environment variable that silences quic-go. Without it a load for which
	// GOMAXPROCS is too low takes a slower way, and one for which there are too few files fails.
	OwnProcess bool
}

// Run makes the load and returns what it measured. If ctx ends, the load ends too, and the result
// has what was measured until then. A server that cannot be reached, or answers with errors only,
// is a result too.
//
// The error of a load that cannot be made, before anything is sent, joins a FieldError for each
// fault. A Scenario that cannot go on is a FieldError too, with the result until then.
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

// An Interval is a second of the measured window, or the rest of one.
type Interval struct {
	From, To      time.Duration // after the window's start
	Sent          int64
	Completed     int64 // answered as expected
	Errors        int64
	InFlight      int64         // at its end
	P50, P99, Max time.Duration // of latency; 0 if nothing was completed
}

func newInterval(iv loadresult.Interval) Interval {
	return Interval{From: iv.From, To: iv.To, Sent: iv.Sent, Completed: iv.Completed,
		Errors: iv.Failed, InFlight: iv.InFlight, P50: iv.P50, P99: iv.P99, Max: iv.Max}
}
