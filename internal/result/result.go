// Package result is the form in which what a run measured is kept: one JSON
// object, format dyno.result/1, whose keys others rely on. Its schema is in
// schema.json. A quantity that does not apply is absent, never 0.
package result

import (
	"cmp"
	"slices"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/metric"
	"dyno/internal/observe/probe"
)

// Format is what every result says of itself.
const Format = "dyno.result/1"

// The models of load.
const (
	ClosedLoop = "closed" // a connection's next request is due when it has the answer to the last
	OpenLoop   = "open"   // requests are due at instants of their own
)

// The generator's verdicts on itself, from good to bad.
const (
	OK          = "ok"           // nothing speaks against the numbers
	Suspect     = "suspect"      // something does: see the reasons
	ClientBound = "client-bound" // the numbers are the generator's, not the server's
)

// A Result is what one run measured.
type Result struct {
	Format string    `json:"format"`
	ID     string    `json:"id,omitempty"` // under which it is stored
	Dyno   string    `json:"dyno"`         // version that measured
	Plan   load.Plan `json:"plan"`
	Model  string    `json:"model"`           // ClosedLoop or OpenLoop
	Ended  string    `json:"ended"`           // why: one of load's endings
	Cause  string    `json:"cause,omitempty"` // of "gone" and "unreachable"
	Host   Host      `json:"host"`
	Window Window    `json:"window"`

	Requests Requests      `json:"requests"`
	Rate     Rate          `json:"rate"`
	Latency  *Distribution `json:"latency,omitempty"` // of completed exchanges
	Service  *Distribution `json:"service,omitempty"`

	// ErrorLatency is the latency of answers that were errors by their status: each is one of
	// Requests.Errors, and none is in Latency or Service.
	ErrorLatency *Distribution `json:"error_latency,omitempty"`

	Probe       *Probe           `json:"probe,omitempty"`
	Phases      Phases           `json:"phases"`
	Status      map[string]int64 `json:"status"`
	Errors      []Error          `json:"errors"`
	Bytes       Bytes            `json:"bytes"`
	Connections Connections      `json:"connections"`
	Series      []Point          `json:"series"`
	Routes      []Route          `json:"routes,omitempty"`
	Generator   Generator        `json:"generator"`
	FCGIStderr  *Stderr          `json:"fcgi_stderr,omitempty"`
	Fleet       *Fleet           `json:"fleet,omitempty"`   // where several machines made the load
	Server      *Server          `json:"server,omitempty"`  // where it was watched
	Profile     *Profile         `json:"profile,omitempty"` // of the server, where one was taken
	Objectives  []Outcome        `json:"objectives,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"` // what a reader must know besides

	missing []string `json:"-"` // what it was read from lacks; see Check
}

// A Host is the machine that made the load.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	CPU    string `json:"cpu,omitempty"`
	CPUs   int    `json:"cpus"` // that the process may use
	Go     string `json:"go"`
}

// A Window is when was measured.
type Window struct {
	Started   time.Time `json:"started"` // of the load, warm-up included
	WarmupS   float64   `json:"warmup_s"`
	MeasuredS float64   `json:"measured_s"`
	DrainedS  float64   `json:"drained_s"`          // spent after it on what was due in it
	OutageS   float64   `json:"outage_s,omitempty"` // of it in which no connection could be opened

	// Closed: for how much of it the connections were gone and could not be opened again, on
	// average of all, and when the longest such time began, after the window's start.
	UnavailableS     float64  `json:"unavailable_s,omitempty"`
	UnavailableFromS *float64 `json:"unavailable_from_s,omitempty"`
}

// Requests are the exchanges due in the window. Sent is Completed + Errors +
// Unfinished. Completed are those with a right answer (see load.Plan.Expect); a
// request sent again after its connection closed counts once in Sent and once in
// Retried.
type Requests struct {
	Sent       int64  `json:"sent"`
	Completed  int64  `json:"completed"`
	Errors     int64  `json:"errors"`
	Unfinished int64  `json:"unfinished"` // given up at the end, without an answer
	Retried    int64  `json:"retried"`
	Warmup     int64  `json:"warmup,omitempty"`      // due before the window and sent, each once
	WarmupLost int64  `json:"warmup_lost,omitempty"` // of those: failed, or without an answer
	Due        *int64 `json:"due,omitempty"`         // open: in the window, Sent + Waiting
	Waiting    *int64 `json:"waiting,omitempty"`     // open: of Due, never sent
	Late       *int64 `json:"late,omitempty"`        // open: sent more than 1 ms after they were due
	SentAfter  *int64 `json:"sent_after,omitempty"`  // open: due in the window and sent after it

	LateMax *float64 `json:"late_max_us,omitempty"` // open: longest from due to sent
}

// InTime is the share, 0 to 1, of the requests due in the window that were sent in it. It asks
// what was drawn and not what was offered, which Poisson arrivals only have on average. It is not
// ok of a closed loop, and of a load of which nothing was due.
func (q Requests) InTime() (share float64, ok bool) {
	if q.Waiting == nil || q.SentAfter == nil {
		return 0, false
	}
	due := q.Sent + *q.Waiting // results from before Due have these
	return float64(q.Sent-*q.SentAfter) / float64(max(due, 1)), due > 0
}

// OwnDelay reports whether the generator is to blame for most of the longest delay from due to sent
// of an open loop: a connection was free.
func (r *Result) OwnDelay() bool {
	lag, worst := r.Generator.SendLagMax, r.Requests.LateMax
	return lag != nil && worst != nil && *lag > *worst/2
}

// A Rate is in requests a second of the window, without those of Requests.SentAfter:
// what a server works off later is not what it could do in the time.
type Rate struct {
	Offered   *float64 `json:"offered,omitempty"` // open: asked for; Requests.Due were drawn
	Sent      float64  `json:"sent"`
	Completed float64  `json:"completed"`

	// ErrorAnswers are answers that were errors by their status, where there were some.
	ErrorAnswers *float64 `json:"error_answers,omitempty"`

	Handshakes *float64 `json:"handshakes,omitempty"` // TLS with Plan.Reconnect: full and resumed
}

// A Distribution is of durations. HDR is a HdrHistogram of nanoseconds, V2
// compressed, base64.
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
}

// Phases are parts of an exchange's or a connection's time.
type Phases struct {
	DNS        *Distribution `json:"dns,omitempty"`
	Connect    *Distribution `json:"connect,omitempty"`     // of connections, but for the warm-up's
	TLS        *Distribution `json:"tls,omitempty"`         // handshakes, likewise
	TLSFull    *Distribution `json:"tls_full,omitempty"`    // of them
	TLSResumed *Distribution `json:"tls_resumed,omitempty"` // and the others
	FirstByte  *Distribution `json:"first_byte,omitempty"`  // sent to the response's first byte
}

// An Error is one way in which things failed. Failures before a request was
// sent (dns, connect, tls) are not among Requests.Errors.
type Error struct {
	Phase   string `json:"phase"` // dns connect tls write read protocol timeout expect
	Kind    string `json:"kind"`
	Address string `json:"address,omitempty"`
	Detail  string `json:"detail"` // of the first
	Count   int64  `json:"count"`
}

// Bytes are those on the wire in the window, below HTTP and TLS, above TCP.
type Bytes struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
}

// Connections are those of the whole run, warm-up included.
type Connections struct {
	Asked      int    `json:"asked"`
	Opened     int64  `json:"opened"`     // each time one was
	Served     int    `json:"served"`     // of those asked, that completed an exchange
	Reconnects int64  `json:"reconnects"` // opened again after a close, for whatever reason
	TLSFull    *int64 `json:"tls_full,omitempty"`
	TLSResumed *int64 `json:"tls_resumed,omitempty"`

	TLS []Terms `json:"tls,omitempty"` // what handshakes settled, the most frequent first

	Protocols map[string]int64 `json:"protocols,omitempty"` // of Opened, by what each spoke
	Streams   *int             `json:"streams,omitempty"`   // HTTP/2: at once on each, as allowed
}

// Terms are what so many TLS handshakes settled, as IANA names it.
type Terms struct {
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	Group   string `json:"group,omitempty"` // of the key exchange, where there was one
	Count   int64  `json:"count"`
}

func sortTerms(all []Terms) {
	slices.SortFunc(all, func(a, b Terms) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Cipher, b.Cipher), cmp.Compare(a.Group, b.Group))
	})
}

// A Stderr is what FastCGI applications wrote to stderr.
type Stderr struct {
	Text  string `json:"text"`  // the first of it, up to 4 KiB of each thread's
	Bytes int64  `json:"bytes"` // all of it
}

// A Point is an interval of the run, of one second but for the last.
type Point struct {
	T         float64 `json:"t_s"` // its end, after the window's start
	Sent      int64   `json:"sent"`
	Completed int64   `json:"completed"`
	Errors    int64   `json:"errors"`
	Mean      float64 `json:"mean_us,omitempty"`
	P50       float64 `json:"p50_us,omitempty"`
	P99       float64 `json:"p99_us,omitempty"`
	Max       float64 `json:"max_us,omitempty"`
	InFlight  int64   `json:"in_flight"`
	Received  int64   `json:"bytes_received"`
	Written   int64   `json:"bytes_sent"`

	Status map[string]int64 `json:"status,omitempty"` // answers by code
	Heat   metric.Heat      `json:"heat,omitempty"`   // of latency

	// Of Completed, by each of several generators that loaded at once, in the order of their
	// parts of the plan; nil of one that said nothing of this time.
	ByPart []*int64 `json:"completed_by_part,omitempty"`
}

// A Route is one of several requests, or those of one name.
type Route struct {
	Name      string  `json:"name"`
	Completed int64   `json:"completed"`
	Errors    int64   `json:"errors"`
	Mean      float64 `json:"mean_us,omitempty"`
	P50       float64 `json:"p50_us,omitempty"`
	P90       float64 `json:"p90_us,omitempty"`
	P99       float64 `json:"p99_us,omitempty"`
	Max       float64 `json:"max_us,omitempty"`
}

// A Generator is what dyno says of itself. Of another Program that made the load
// only what the server and the kernel know of it is there: requests, rate and CPU.
type Generator struct {
	Program       string   `json:"program,omitempty"`            // "": dyno
	CPUPerRequest float64  `json:"cpu_us_per_request,omitempty"` // that was answered, errors too
	CPUPercent    float64  `json:"cpu_percent,omitempty"`        // of one core
	BusyPercent   float64  `json:"busy_percent"`                 // of the busiest thread
	SendLagP50    *float64 `json:"send_lag_p50_us,omitempty"`    // open: sent later than it could be
	SendLagP99    *float64 `json:"send_lag_p99_us,omitempty"`
	SendLagP999   *float64 `json:"send_lag_p99_9_us,omitempty"`
	SendLagMax    *float64 `json:"send_lag_max_us,omitempty"`
	GCPauseMax    float64  `json:"gc_pause_max_us"`
	StopMax       float64  `json:"stop_max_us,omitempty"`           // of the runtime, whatever for
	SchedulingP99 float64  `json:"scheduling_p99_us,omitempty"`     // a goroutine's wait until it ran
	Unscheduled   float64  `json:"runqueue_wait_percent,omitempty"` // of the worst thread
	CPUWait       float64  `json:"runqueue_wait_us,omitempty"`      // on average, until it ran
	LocalPorts    int      `json:"local_ports,omitempty"`           // for connections to one address
	Ring          string   `json:"ring"`
	Threads       int      `json:"threads"`
	Little        *float64 `json:"little,omitempty"` // closed: 1 if no connection ever idled

	Arrivals *Arrivals      `json:"arrivals,omitempty"` // open
	Machine  *probe.HostUse `json:"machine,omitempty"`  // while it measured, if it was watched

	Verdict string   `json:"verdict"` // OK, Suspect or ClientBound
	Reasons []string `json:"reasons"`
	Doubts  []Doubt  `json:"doubts,omitempty"` // of Reasons, one for each
}

// Arrivals are how the instants at which requests left compare with the law that was
// asked for, over spans of 1 ms at least: see load.Law. Of a poisson law there is A², of
// a constant one OffP95.
type Arrivals struct {
	Spans  int64    `json:"spans"`
	A2     *float64 `json:"a2,omitempty"`              // Anderson and Darling's statistic
	OffP95 *float64 `json:"off_p95_percent,omitempty"` // by which 19 of 20 spans were off, at most
}
