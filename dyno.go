// Package dyno loads HTTP servers from a Go program, as the command dyno does from a terminal.
//
//	r, err := dyno.Run(ctx, dyno.Load{URL: "http://127.0.0.1:8080/", Rate: 500,
//		For: 10 * time.Second, Objectives: []string{"p99<20ms", "errors<0.1%"}})
//	if err != nil {
//		return err // a field of the Load is wrong, for example
//	}
//	fmt.Println(r)       // one sentence: how many requests a second, and the p99 latency
//	fmt.Println(r.Met()) // true if both objectives were met
//
// With Load.Rate the workload is open: requests are due on a schedule, and latency counts from the
// time when a request was due. So a stall of the server shows in Result.Latency.
//
// Without Rate the workload is closed: each connection sends its next request after the response to
// its last one. A server that stalls then receives fewer requests, and Result.Latency does not show
// those that were not sent.
//
// Result.Generator says whether dyno trusts its own numbers.
//
// Run stores nothing, prints nothing, and changes no setting of the process. There are two
// exceptions: Load.OwnProcess lets it change settings, and with HTTP/3 a library may log a warning
// (see Load.HTTP). Package dynotest has what tests and benchmarks need.
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

// A Load says what Run sends, how much of it, and for how long. Only URL is required. The comment
// of each field gives its default. A field without one is off while it is zero.
//
// Run sends no header fields but those of Header, Host, User-Agent (dyno/VERSION), Authorization
// if URL has credentials, and Content-Length with a Body or the Method POST, PUT or PATCH. So it
// does not ask for compression without AcceptEncoding, and a Body has no Content-Type unless Header
// gives one. Run follows no redirect without Follow, keeps no cookie and fills no template: "{{" is
// sent as it stands.
//
// # A server can receive a request twice
//
// A server may close a connection, on which it has answered before, just when Run sends the next
// request. If no byte of a response arrives, the server may have carried the request out. Run sends
// it once more if its method is idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE), or with
// RetryUnsafe. Others count as errors. A request that was sent twice counts once, and its latency
// counts from when it was first due.
type Load struct {
	// URL is where requests go. Its scheme is http, https, h2c (HTTP/2 without TLS), or http+unix
	// for a socket: http+unix:///path/to.sock:/uri. Credentials in it become the header field
	// Authorization of requests that have none.
	URL    string
	Method string // "": GET, or POST if Body is not nil

	// Header is sent sorted by name. A Host in it replaces the host of URL in the request.
	// Connections still go to the host of URL.
	Header http.Header
	Body   []byte // nil: none

	// Expect lists the statuses that count as completed: "200,204", "2xx,404" or "any". A request
	// with another status is one of Result.Errors. "": those below 400 are expected.
	Expect string

	// Scenario makes the requests, if it is not nil: a login and then a search, for example.
	// Method, Header and Body must be zero then.
	Scenario Scenario
	// Steps are the names of the requests of Scenario, such as []string{"login", "search"}. An
	// iteration sends them in any order, and each as often as it likes.
	//
	// A Scenario that sends more than one request in an iteration needs Steps. Without, the second
	// request ends the run with an error, and so does a name that is not in Steps. With two names
	// or more, Result.Steps has the numbers of each.
	Steps []string
	// Logins are those that each user of Scenario needs, one after the other: a login, and then the
	// refresh of its token, for example. A request with a status of Again needs the last of them that
	// has it, and a login one before it.
	Logins []Login
	// Users is how many users follow Scenario, at most 4,194,304. A user has one request in flight
	// at most. With more users than connections, a request waits for a free connection, and its
	// latency includes the wait. With fewer, some connections stay idle. Users must not be fewer
	// than Threads, if both are given. 0: as many as Connections.
	Users int

	// Rate is how many requests are due a second, over all connections, from 0.001 to 100,000,000.
	// With a Scenario it is how many iterations. The workload is open: requests are due on a
	// schedule that does not wait for responses. If all connections (or users) are busy, a request
	// waits for a free one, and its latency includes the wait. A request that still waits at the
	// end of the drain is never sent, and Result.Unsent counts it.
	//
	// 0: the workload is closed. Each connection sends its next request after the response to its
	// last one. With a Scenario, each user begins its next iteration at the end of its last one.
	Rate    float64
	Poisson bool // requests of Rate are due at random times (a Poisson process); false: evenly spaced

	// Connections is how many connections there are in all, 1 to 1,048,576. Run opens all before
	// the first request, within 5 s each. A connection has one request in flight at most, with
	// HTTP/2 and 3 too. 0: 50, or Requests if that is less.
	Connections int

	// Requests is how many requests to send in all, besides those of Warmup. With a Scenario it is
	// how many iterations to begin. It must not be less than Connections. 0: no limit.
	Requests int64
	// For is how long to measure, from 1 ms to 366 days. If Requests is given too, whichever is
	// reached first ends the run. 0: until all Requests have been sent, or 10 s if Requests is 0.
	For    time.Duration
	Warmup time.Duration // how long to load before measuring, at most 366 days; 0: not at all
	// Drain is how long Run waits for the last responses when For is over, at most 366 days. This
	// time is the drain. If Requests is given without For, Run waits for all responses, and Drain
	// changes nothing. 0: 2 s.
	Drain time.Duration
	// Timeout is how long a request may take, from its sending to the end of its response: 1 ms to
	// 366 days. A request that takes longer is one of Result.Errors. 0: 10 s.
	Timeout time.Duration

	// RetryUnsafe sends requests of any method again if their connection is lost before an answer.
	// The server may have carried them out. Without it, only requests of idempotent methods are sent
	// again: GET, HEAD, OPTIONS, TRACE, PUT and DELETE.
	RetryUnsafe bool

	// Follow is how many redirects (301, 302, 303, 307, 308) of one request Run follows on the server
	// of URL, at most 100. The request counts once: from when it was due to its last response, whose
	// status is judged. It has Timeout with all its redirects. One redirect more, and one to another
	// scheme, host or port, is one of Result.Errors. 0: a redirect is a response. A Scenario is given
	// every response, so the two exclude each other.
	Follow int

	// ProxyProtocol is the version of the header of the PROXY protocol with which each connection
	// begins, before TLS: "v1" or "v2". The header has the connection's own addresses. HTTP/3 has
	// none. "": connections begin without one.
	ProxyProtocol string
	// Proxy is the URL of a proxy that connections lead to, http://[USER:PASSWORD@]HOST:PORT. It
	// forwards requests of http:// URLs, and opens a tunnel for others. "": there is none, whatever
	// the environment says.
	Proxy string

	// Auth is how requests that have no header field Authorization say who sends them: "digest"
	// answers the challenges of a server (RFC 7616), "sigv4:REGION/SERVICE" signs requests for AWS.
	// "": as Header or URL says.
	Auth string
	// User is who sends them with Auth: "USER:PASSWORD", or "KEY:SECRET". Result does not have it.
	User string

	// AcceptEncoding is the header field Accept-Encoding of requests that have none, such as "gzip" or
	// "br,gzip;q=0.5". Result counts the bytes as they come. "": none is sent.
	AcceptEncoding string
	// ChunkSize is how many bytes of a body a chunk has: bodies are sent with Transfer-Encoding:
	// chunked, by HTTP/1.1. 0: bodies have a Content-Length, unless Header has Transfer-Encoding.
	ChunkSize int

	// ResolveEvery is after how long Run looks the host of URL up again, 100 ms or more: further
	// connections go to the addresses that it then has. 0: never.
	ResolveEvery time.Duration

	// HTTP is the version: "1.0", "1.1", "2" or "3". "3" needs https. "2" without https is HTTP/2
	// from the first byte, as with h2c. "": the server's choice of 2 and 1.1 with https, 2 with
	// h2c, and 1.1 with http.
	//
	// The library quic-go makes HTTP/3. It writes a warning to the standard logger of package log, if
	// the system gives its sockets small buffers, and OwnProcess is not set.
	HTTP     string
	Insecure bool   // accept any certificate of the server; not together with RootCAs
	RootCAs  []byte // certificates in PEM, trusted in place of the system's; nil: the system's

	// Objectives are conditions, such as "p99<20ms", "errors<0.1%" or "rps>=10k". One string can
	// have several, separated by commas. A condition is a measure, one of < <= > >=, and a limit.
	//
	// These measures are times, with limits such as 20ms. In place of p99 there can be min, mean,
	// max, stdev (standard deviation), and any percentile above 0 and below 100, such as p99.95:
	//
	//	p99                    of Result.Latency
	//	service.p99            of Result.Service
	//	error_latency.p99      latency of the responses that count as errors
	//	connect.p99            opening a TCP connection
	//	tls.p99                the TLS handshake after it; with HTTP/3 both at once
	//	first_byte.p99         from the sending of a request to the first byte of its response
	//	iteration.p99          of Iterations.Time
	//	failed_iteration.p99   the same of failed iterations
	//	route.NAME.p99         latency of the step NAME, if Steps has two names or more; also mean,
	//	                       p50, p90 and max, but nothing else
	//
	// The other measures:
	//
	//	rps      requests completed a second; the limit is a number, such as 10000 or 10k
	//	errors   Result.Errors + Unfinished + Unsent + requests that Scenario could not make; the
	//	         limit is a number, or a share of all that were due, such as 0.1%
	//	checks   responses for which Scenario returned no error; the limit is a share, such as 99%
	//
	// Latency and service are of completed requests alone. So use an objective of errors too.
	//
	// An objective is missed if its measure has no value, as when the server could not be reached.
	// In a closed workload, rps, errors and checks are also missed if there was no server, or it
	// answered nothing until the end, for more than 1 % of the window. A missed objective is no error
	// of Run: see Result.Met.
	Objectives []string

	// Each is called once a second with the numbers of that second, always from the same goroutine.
	// The run does not wait for it. If Each is slow, up to 3,600 calls wait, and Run drops further
	// ones. Run returns after the last call. nil: nothing is called.
	Each func(Interval)

	// Threads is how many threads make the load, 1 to 1,024. More than Connections are not used.
	// Keep it below GOMAXPROCS: see OwnProcess. 0: half of GOMAXPROCS, but at least one, and no
	// more than Connections or Users.
	Threads int
	// Seed makes what is random the same in each run: the times of Poisson, and User.Rand.
	// 0: Run draws a seed, which is Result.Seed.
	Seed uint64

	// OwnProcess lets Run change three settings of the process, as the command does: GOMAXPROCS,
	// the limit of open files, and the environment variable that keeps quic-go from its warning
	// (see HTTP). Run does not restore them.
	//
	// Without OwnProcess, the Threads of all concurrent runs, added up, should be less than
	// GOMAXPROCS. Otherwise Run uses the network poller of Go, which is slower, and one of
	// Result.Warnings says so. If Connections + Threads + 16 is above the limit of open files, Run
	// returns a FieldError of Connections.
	OwnProcess bool
}

// Run makes the load l and returns what it measured. If a field is wrong, Run sends nothing: the
// Result is nil, and the error joins a FieldError for each fault.
//
// In these cases the Result is not nil, and the error is nil:
//
//   - The server could not be reached. Ended is "unreachable", and Failures says why. Errors is 0,
//     because no request was sent, but all objectives are missed.
//   - All responses were errors.
//   - ctx ended. Ended is "interrupted", and the Result has what was measured until then. Run waits
//     about 0.1 s for responses in flight.
//
// If l.Scenario returns a request that l.Steps does not allow, the run ends early, and Run returns
// both a Result, whose Ended is "faulted", and a FieldError of the field Scenario. If l.Scenario
// panics, the Result is nil, and the error has the panic.
//
// Several goroutines may call Run at once. Their loads share the processors, and may distort the
// numbers of one another.
func Run(ctx context.Context, l Load) (*Result, error) {
	p, faults := l.plan()
	var goals []objective.Objective
	for _, text := range l.Objectives {
		some, err := objective.ParseList(text)
		if goals = append(goals, some...); err != nil {
			faults = append(faults, FieldError{"Objectives", err.Error()})
		}
		for _, o := range some {
			if lacks := o.Lacks(&p); lacks != nil { // and a Load cannot have it
				faults = append(faults, FieldError{"Objectives", lacks.Problem})
			}
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
	objective.NoteUnjudged(r)
	if r.Ended == string(loadresult.Faulted) {
		err = FieldError{"Scenario", r.Cause}
	}
	return newResult(r), err
}

// An Interval has the numbers of one second of a run. The first begins with the measured window,
// and the last can be shorter. There are Intervals during the drain, too, while something happens.
//
// An Interval counts what happened in it: a request that was sent in one and answered in the next
// is in Sent of the first and in Completed of the second. It counts only requests that were due in
// the window. So Sent, Completed and Errors of all Intervals add up to those of the Result, unless
// calls of Load.Each were dropped.
type Interval struct {
	From, To      time.Duration // since the window's start
	Sent          int64         // requests sent, each once: see Load for those that are sent twice
	Completed     int64         // as Result.Completed
	Errors        int64         // as Result.Errors
	InFlight      int64         // requests without a response at the end of the Interval
	P50, P99, Max time.Duration // of latency, as Result.Latency; 0 if nothing was completed
}

func newInterval(iv loadresult.Interval) Interval {
	return Interval{From: iv.From, To: iv.To, Sent: iv.Sent, Completed: iv.Completed,
		Errors: iv.Failed, InFlight: iv.InFlight, P50: microseconds(iv.P50),
		P99: microseconds(iv.P99), Max: microseconds(iv.Max)}
}
