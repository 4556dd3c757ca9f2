// Package result is the form in which what a run measured is kept: one JSON
// object, format dyno.result/1, whose keys others rely on. Its schema is in
// schema.json. A quantity that does not apply is absent, never 0.
//
//	answered.go        how many answers, errors and refused requests
//	available.go       time without a server
//	conceal.go         secrets in what others said
//	decode.go          reads a result's JSON
//	encode.go          writes a result as JSON; its schema
//	fleet.go           agents
//	from.go            makes a result of what a load measured: rates, distributions, errors,
//	                   connections
//	host.go            the machine
//	iterations.go      what users of a scenario did
//	machinechecks.go   the self-check: its checks of the machine, and their limits
//	outcome.go         an objective's outcome; package objective judges
//	parts.go           a load of several generators
//	partial.go         why a run is not whole
//	probe.go           the light load beside: --probe
//	profile.go         profiles
//	ratesapart.go      results whose rates count other answers
//	restoreplan.go     gives a result its plan, without secrets
//	result.go          all other keys; schema.json describes them
//	runner.go          Runner: whoever makes a load
//	runverdict.go      the verdict on a run in a word: self-check, errors and objectives
//	samples.go         samples of requests that failed or were to be shown, without secrets
//	server.go          what the server's processes used
//	standstill.go      how long the threads of the load stood still
//	streammeasures.go  what a result, and each of its routes, has of streams and of goodput
//	unanswered.go      adds what was not answered to latencies
//	unread.go          how long answers lay unread in the generator, on purpose (--linger) or not
//	validate.go        may a stored result be believed? Its counts, rates and keys
//	verdict.go         the generator's self-check: the table of checks, causes and kinds of doubts
//	verdictchecks.go   the self-check: its checks of load and generator, and their limits
//	warn.go            warnings that need a finished number, such as the share of failed requests;
//	                   those that need only counts or times of the load are in package runfacts
//
// Package dynohome stores results as files.
package result

import (
	"cmp"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
	"dyno/internal/result/durations"
	"dyno/internal/result/streamed"
)

// Format is what every result says of itself.
const Format = "dyno.result/1"

// The kinds of workload.
const (
	ClosedLoop = "closed" // a connection's next request is due when the last one was answered
	OpenLoop   = "open"   // requests have intended start times of their own
)

// The words of the generator's self-check, from good to bad.
const (
	OK          = "ok"           // no doubt about the numbers
	Suspect     = "suspect"      // there are doubts: see the reasons
	ClientBound = "client-bound" // the numbers show the generator's limit, not the server's
)

// A Result is what one run measured.
type Result struct {
	Format string        `json:"format"`
	ID     string        `json:"id,omitempty"` // under which it is stored
	Dyno   string        `json:"dyno"`         // version that measured
	Plan   loadplan.Plan `json:"plan"`
	Model  string        `json:"model"`           // ClosedLoop or OpenLoop
	Ended  string        `json:"ended"`           // why: a loadresult.Ending
	Cause  string        `json:"cause,omitempty"` // of "gone", "unserved" and "unreachable"
	Host   Host          `json:"host"`
	Window Window        `json:"window"`

	Requests Requests      `json:"requests"`
	Rate     Rate          `json:"rate"`
	Latency  *Distribution `json:"latency,omitempty"` // of completed requests
	Service  *Distribution `json:"service,omitempty"`

	// ErrorLatency is the latency of answers that were errors by their status or a scenario's check.
	// Each is one of Requests.Errors. None is in Latency or Service.
	ErrorLatency *Distribution `json:"error_latency,omitempty"`

	Probe  *Probe `json:"probe,omitempty"`
	Phases Phases `json:"phases"`
	Traffic
	Series []Point `json:"series"`
	Routes []Route `json:"routes,omitempty"`
	Scenario
	Generator Generator `json:"generator"`
	Observed
	Objectives []Outcome `json:"objectives,omitempty"`
	Findings

	missing []string `json:"-"` // keys that the stored result lacks; see Check
}

// Findings are what a reader must know to read the figures rightly. Their keys are the result's
// own in JSON.
type Findings struct {
	Facts    []fact.Fact `json:"facts,omitempty"`    // of Reasons and Warnings, those that are facts
	Warnings []string    `json:"warnings,omitempty"` // about what was measured
}

// Traffic is what went over the connections. Its keys are the result's own in JSON.
type Traffic struct {
	Status      map[string]int64  `json:"status"` // answers of each status code
	Errors      []Error           `json:"errors"`
	Bytes       Bytes             `json:"bytes"`
	Connections Connections       `json:"connections"`
	Stream      *streamed.Stream  `json:"stream,omitempty"`
	Goodput     *streamed.Goodput `json:"goodput,omitempty"`

	Retries loadresult.Retries `json:"retries,omitempty"` // Requests.Retried, by method and reason
	// NotRetried are of Errors: likewise, with methods that the plan has not sent again.
	NotRetried loadresult.Retries `json:"not_retried,omitempty"`

	// Samples are of Errors, with requests and responses: see loadresult.Sample. They are not stored.
	Samples []loadresult.Sample `json:"-"`
}

// Observed is what others than the generator reported of a run. Its keys are the result's own in
// JSON.
type Observed struct {
	FCGIStderr *Stderr  `json:"fcgi_stderr,omitempty"`
	Fleet      *Fleet   `json:"fleet,omitempty"`   // where several machines made the load
	Server     *Server  `json:"server,omitempty"`  // where its processes were watched
	Profile    *Profile `json:"profile,omitempty"` // of the server, where one was taken
}

// A Host is the machine that made the load.
type Host = loadresult.Host

// A Window is the time in which was measured.
type Window struct {
	Started   time.Time `json:"started"` // of the load, warm-up included
	WarmupS   float64   `json:"warmup_s"`
	MeasuredS float64   `json:"measured_s"`
	DrainedS  float64   `json:"drained_s"`          // spent after the window on what was due in it
	OutageS   float64   `json:"outage_s,omitempty"` // of it, without any connection

	// Rates is RatesEnded: what Rate counts. "": an older version's, which left out what was due in
	// the warm-up, and counted answers after the window if their requests were sent in it.
	Rates string `json:"rates,omitempty"`

	// Closed: for how long connections were lost and could not be opened again, or waited until the
	// end for an answer, as a mean over all connections; the longest such time of one, and when that
	// began, after the window's start.
	UnavailableS        float64  `json:"unavailable_s,omitempty"`
	UnavailableLongestS float64  `json:"unavailable_longest_s,omitempty"`
	UnavailableFromS    *float64 `json:"unavailable_from_s,omitempty"`
}

// windowBegin is when the window began.
func (r *Result) windowBegin() time.Time {
	return r.Window.Started.Add(time.Duration(r.Window.WarmupS * 1e9))
}

// Requests are the requests due in the window. Sent is Completed + Errors + Unfinished. Completed
// are those with an expected answer (see loadplan.Plan.Expect). A request that was retried because
// its connection closed counts once in Sent and once in Retried. With a scenario they are its
// steps, and Iterations has what was due by the schedule: Due and Waiting.
type Requests struct {
	Sent       int64 `json:"sent"`
	Completed  int64 `json:"completed"`
	Errors     int64 `json:"errors"`
	Unfinished int64 `json:"unfinished"` // unanswered at the end of the drain
	Retried    int64 `json:"retried"`
	Warmup     int64 `json:"warmup,omitempty"`      // due before the window and sent, each once
	WarmupLost int64 `json:"warmup_lost,omitempty"` // of those: failed or unanswered

	// WarmupInWindow is how many of Warmup were answered in the window. Of all figures only rates,
	// what is divided by them, and the bytes received in the window have them.
	WarmupInWindow int64 `json:"warmup_in_window,omitempty"`

	// Held is how many slots of a closed workload waited through the whole window for the answer to a
	// request of Warmup.
	Held int64 `json:"held,omitempty"`
	loadresult.RedirectTotals

	// Unanswered are the waits that ended without an answer. Latency, Service and the first byte count
	// them as durations that are known to be longer.
	Unanswered loadresult.Unanswered `json:"unanswered,omitempty"`
	Waited     []durations.Bound     `json:"waited,omitempty"` // of Waiting; see unanswered.Waited

	Due       *int64 `json:"due,omitempty"`        // open: in the window, Sent + Waiting
	Waiting   *int64 `json:"waiting,omitempty"`    // open: of Due, never sent
	Late      *int64 `json:"late,omitempty"`       // open: sent more than 1 ms after it was due
	SentAfter *int64 `json:"sent_after,omitempty"` // open: due in the window and sent after it

	// StepsAfter is how many steps of the window's iterations were due after it. No other figure has
	// them, but that FailedAfter of them failed.
	StepsAfter  int64 `json:"steps_after,omitempty"`
	FailedAfter int64 `json:"failed_after,omitempty"`

	LateMax *float64 `json:"late_max_us,omitempty"` // open: longest from due to sent
}

// AddOutcomes adds what became of other requests.
func (q *Requests) AddOutcomes(part Requests) {
	q.Sent, q.Completed = q.Sent+part.Sent, q.Completed+part.Completed
	q.Errors, q.Unfinished = q.Errors+part.Errors, q.Unfinished+part.Unfinished
}

// InTime is the share, 0 to 1, of the requests due in the window that were sent in it. It counts
// arrivals that were drawn, not the offered rate, which Poisson arrivals only have on average. ok
// is false for a closed workload, and if nothing was due.
func (q Requests) InTime() (share float64, ok bool) {
	if q.Waiting == nil || q.SentAfter == nil {
		return 0, false
	}
	due := q.Sent + *q.Waiting // results from before Due have these two
	return float64(q.Sent-*q.SentAfter) / float64(max(due, 1)), due > 0
}

// OwnDelay reports whether the generator caused most of the longest delay from due to sent of an
// open workload: a connection was free.
func (r *Result) OwnDelay() bool {
	lag, worst := r.Generator.SendLagMax, r.Requests.LateMax
	return lag != nil && worst != nil && *lag > *worst/2
}

// RatesEnded is the Window.Rates of results whose rates count answers by when they came.
const RatesEnded = "ended"

// A Rate is in requests per second of the window. Sent counts requests that were due and sent in
// it. Completed and ErrorAnswers count answers that came in it, also to requests due in the
// warm-up: what a server works off later does not count as its rate.
type Rate struct {
	Offered   *float64 `json:"offered,omitempty"` // open: the requested rate; Requests.Due were drawn
	Sent      float64  `json:"sent"`
	Completed float64  `json:"completed"`

	// ErrorAnswers are answers that were errors by their status or a check, if there were any.
	ErrorAnswers *float64 `json:"error_answers,omitempty"`

	Handshakes *float64 `json:"handshakes,omitempty"` // TLS with Plan.Reconnect: full and resumed
}

// A Distribution is a distribution of durations. Package durations computes it.
type Distribution = durations.Distribution

// Phases are parts of the time of a request or a connection.
type Phases struct {
	DNS        *Distribution `json:"dns,omitempty"`
	Connect    *Distribution `json:"connect,omitempty"`     // without those of the warm-up
	TLS        *Distribution `json:"tls,omitempty"`         // handshakes, likewise
	TLSFull    *Distribution `json:"tls_full,omitempty"`    // full handshakes
	TLSResumed *Distribution `json:"tls_resumed,omitempty"` // resumed handshakes
	FirstByte  *Distribution `json:"first_byte,omitempty"`  // sent to the response's first byte
}

// An Error is a way in which requests or connections failed. Failures before a request was sent
// (dns, connect, tls) are not among Requests.Errors.
type Error struct {
	Phase   string `json:"phase"` // dns connect tls write read protocol timeout expect check
	Kind    string `json:"kind"`
	Address string `json:"address,omitempty"`
	Detail  string `json:"detail"` // of the first failure
	Count   int64  `json:"count"`
	Status  int    `json:"status,omitempty"` // of check: of the first answer

	Remedies []fact.Remedy `json:"remedies,omitempty"` // settings that would change it

	// Sample is the beginning of the body of the first such answer, where bodies were kept: 200 bytes
	// at most on one line, without secrets.
	Sample string `json:"sample,omitempty"`
}

// Bytes are those sent and received in the window, without the overhead of TCP, and those of the
// bodies of the window's answers, without headers and framing.
type Bytes struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Bodies   int64 `json:"bodies,omitempty"`
}

// Connections count connections in the whole run, warm-up included.
type Connections struct {
	Asked      int   `json:"asked"`
	Opened     int64 `json:"opened"`     // each time one was established
	Served     int   `json:"served"`     // of those requested, which completed a request
	Reconnects int64 `json:"reconnects"` // established again after a close, for any reason
	loadresult.AddressTotals
	TLSFull    *int64 `json:"tls_full,omitempty"`
	TLSResumed *int64 `json:"tls_resumed,omitempty"`

	TLS []Terms `json:"tls,omitempty"` // results of handshakes, the most frequent first

	Protocols map[string]int64 `json:"protocols,omitempty"` // of Opened, by protocol
	Streams   *int             `json:"streams,omitempty"`   // HTTP/2: as many as the server allows
}

// Terms are what TLS handshakes negotiated, by IANA's names, and how many did.
type Terms struct {
	Version string `json:"version"`
	Cipher  string `json:"cipher"`
	Group   string `json:"group,omitempty"` // of the key exchange, if there was one
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
	Text  string `json:"text"`  // its beginning, up to 4 KiB a thread
	Bytes int64  `json:"bytes"` // all of it
}

// A Point is an interval of the run: one second, except the last.
type Point struct {
	T         float64 `json:"t_s"` // its end, after the window's start
	Sent      int64   `json:"sent"`
	Completed int64   `json:"completed"`
	Errors    int64   `json:"errors"`

	loadresult.LatencyTimes

	InFlight int64 `json:"in_flight"`
	Users    int   `json:"users,omitempty"` // at its end, of a plan whose number of users changes
	Received int64 `json:"bytes_received"`
	Written  int64 `json:"bytes_sent"`

	Status map[string]int64 `json:"status,omitempty"` // answers by code
	Heat   metric.Heat      `json:"heat,omitempty"`   // of latency

	// ByPart divides Completed by the generators that loaded at once, in the order of their parts of
	// the plan; nil for one that reported nothing of this time.
	ByPart []*int64 `json:"completed_by_part,omitempty"`

	Iterations       int64 `json:"iterations,omitempty"` // completed, of those due in the window
	IterationsFailed int64 `json:"iterations_failed,omitempty"`
	Events           int64 `json:"events,omitempty"` // counted, that came in it
	loadresult.StreamTimes

	metric.EarlyCounts // that rates have besides
}

// A Route is one of several requests, or all requests of one name.
type Route struct {
	Name      string  `json:"name"`
	Completed int64   `json:"completed"`
	Errors    int64   `json:"errors"`
	Mean      float64 `json:"mean_us,omitempty"`
	P50       float64 `json:"p50_us,omitempty"`
	P90       float64 `json:"p90_us,omitempty"`
	P99       float64 `json:"p99_us,omitempty"`
	Max       float64 `json:"max_us,omitempty"`

	Over *durations.Over `json:"over,omitempty"` // as of a Distribution

	First *streamed.Times `json:"first_event,omitempty"` // of streams; nil: none began
	Gap   *streamed.Times `json:"gap,omitempty"`
	Token *streamed.Times `json:"token_time,omitempty"` // of each stream that told tokens

	Stalled int64          `json:"stalled,omitempty"` // of its streams
	Cut     int64          `json:"cut,omitempty"`     // likewise
	Rate    *streamed.Rate `json:"rate,omitempty"`    // likewise

	Goodput *streamed.Good `json:"goodput,omitempty"` // nil: the plan has no limits
}

// Known is Distribution.Known.
func (r *Route) Known() int64 {
	d := Distribution{Count: r.Completed, Over: r.Over}
	return d.Known()
}

// IsOver reports whether a percentile of r, or with 100 its maximum, which is us, is known only to
// be at least that. It may report so of one that Distribution.IsOver, which has the histogram, does
// not.
func (r *Route) IsOver(percent, us float64) bool { return r.Over.Reaches(r.Completed, percent, us) }

// A Generator is what dyno measured of itself. If another Program made the load, it has only what
// the server and the kernel reported: requests, rate and CPU.
type Generator struct {
	Program       string  `json:"program,omitempty"`            // "": dyno
	CPUPerRequest float64 `json:"cpu_us_per_request,omitempty"` // answered, errors included
	CPUPercent    float64 `json:"cpu_percent,omitempty"`        // of one core
	BusyPercent   float64 `json:"busy_percent"`                 // of the busiest thread

	// ScenarioPercent is the share of the window that the scenario itself took, of the thread in
	// which that was longest; nil without one. It is estimated from a sample of its calls.
	ScenarioPercent *float64 `json:"scenario_percent,omitempty"`

	SendLagP50  *float64 `json:"send_lag_p50_us,omitempty"` // open: sent later than possible
	SendLagP99  *float64 `json:"send_lag_p99_us,omitempty"`
	SendLagP999 *float64 `json:"send_lag_p99_9_us,omitempty"`
	SendLagMax  *float64 `json:"send_lag_max_us,omitempty"`
	Unread
	GCPauseMax    float64  `json:"gc_pause_max_us"`
	StopMax       float64  `json:"stop_max_us,omitempty"`           // of the runtime, for any reason
	SchedulingP99 float64  `json:"scheduling_p99_us,omitempty"`     // a goroutine's wait until it ran
	Unscheduled   float64  `json:"runqueue_wait_percent,omitempty"` // of the worst thread
	CPUWait       float64  `json:"runqueue_wait_us,omitempty"`      // mean, until it ran
	LocalPorts    int      `json:"local_ports,omitempty"`           // for connections to one address
	Ring          string   `json:"ring"`
	Threads       int      `json:"threads"`
	Little        *float64 `json:"little,omitempty"` // closed: 1 if no connection ever idled
	Standstill

	Arrivals *Arrivals      `json:"arrivals,omitempty"` // open
	Machine  *probe.HostUse `json:"machine,omitempty"`  // during the window, if it was watched

	Verdict string   `json:"verdict"` // OK, Suspect or ClientBound
	Reasons []string `json:"reasons"`
	Doubts  []Doubt  `json:"doubts,omitempty"` // one for each of Reasons
}

// A Standstill is the time of the window and the drain in which a thread of the generator was
// stopped, or had no CPU for 10 ms or longer. All values are those of the worst thread, but for
// Delayed. Their keys are the generator's own in JSON.
type Standstill struct {
	StoodStillS     float64  `json:"stood_still_s,omitempty"`       // sum
	StoodStillMax   float64  `json:"stood_still_max_us,omitempty"`  // the longest
	StoodStillFromS *float64 `json:"stood_still_from_s,omitempty"`  // since the window's start
	Delayed         int64    `json:"stood_still_delayed,omitempty"` // requests in flight or due then
}

// Arrivals compare the instants at which requests left with the distribution that was requested,
// over spans of at least 1 ms: see loadresult.Law. Poisson arrivals have A2, constant ones OffP95.
type Arrivals struct {
	Spans  int64    `json:"spans"`
	A2     *float64 `json:"a2,omitempty"`              // Anderson-Darling statistic
	OffP95 *float64 `json:"off_p95_percent,omitempty"` // error that 19 of 20 spans did not exceed
}
