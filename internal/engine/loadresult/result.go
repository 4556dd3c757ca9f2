// Package loadresult has what a load measured: a Result, its Intervals and Totals, and how those of
// several workers or generators add up. It measures nothing itself.
//
// Package result turns a Result into what is stored.
//
//	arrivallaw.go       did requests leave when the law of arrivals wanted?
//	counttext.go        counts as people read them: 1,234
//	failurelist.go      lists of failures: merged, sorted, the most frequent
//	join.go             makes one result of those of several generators
//	rain.go             some streams, with when their events came: the rain of a picture
//	reported.go         what a process tells another of its result, within limits
//	result.go           the types: Result, Interval, Failure, Phase
//	retries.go          counts of requests that were sent again, by reason and method
//	routes.go           counts and times of each route: the requests of one name
//	sample.go           samples of requests, failed or to be shown, and of streams their events
//	scenariototals.go   counts of iterations and checks
//	tally.go            the sum of a generator's intervals
//	times.go            what a second shows of its latencies and of its streams
//	together.go         intervals of several generators
//	totals.go           what all workers counted: adds it up
//	unanswered.go       waits for answers that did not come
//	viewer.go           intervals for whoever watches
package loadresult

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto/tls"
	"dyno/internal/fact"
)

// A Result is what one run of a plan measured, as it was counted. Package result converts it to the
// form that is stored and read. Its JSON is for the process that ordered the load, which has the
// plan and the intervals: see Together.
type Result struct {
	Plan loadplan.Plan `json:"-"`
	Generators
	Ring    string    // of the ring that was used
	Started time.Time // when the load began, warm-up included, on the monotonic clock
	Ended   Ending
	Cause   string // of Faulted: the fault; of Gone and Unreachable: the most frequent failure

	DNS       time.Duration // of the look-up; 0 when there was none
	Warmed    time.Duration // before the window: the planned warm-up, or until it was interrupted
	Measured  time.Duration // length of the window
	Drained   time.Duration // spent after it
	StartLate time.Duration // from the start until the last thread was running

	Total     *metric.Counters `json:",omitempty"` // of the window
	Probe     *Result          // of the probe; nil: there was none
	Intervals []Interval       `json:"-"`
	Totals

	Routes     []Route       // in the plan's order; one for each name
	Samples    []Sample      // of Failures, in the order in which they happened
	CPU        time.Duration // of this process, in the window
	Busy       float64       // share of the window in which the busiest worker had something to do
	GCPauseMax time.Duration // in the window

	Delays
	Ports int // local ports that connections to one address can have

	Notices []fact.Fact // what was done otherwise than one would take it to (Fact.IsNotice)
}

// Delays are of what else may have delayed a generator in the window; 0 where unknown.
type Delays struct {
	Unscheduled   float64       // share of it in which the worst worker was runnable without a CPU
	CPUWait       time.Duration // of the worst worker: mean wait until it ran
	GoroutineWait time.Duration // p99 of the waits of runnable goroutines
	StopMax       time.Duration // longest stop of all goroutines by the runtime
}

// Generators are who made a load, and what is known of them.
type Generators struct {
	Host    *Host     `json:"-"` // nil: this one
	Parts   []*Result `json:"-"` // of which a result is the sum, in the order of their plans: see Join
	Partial bool      `json:"-"` // it is the sum of its intervals, and nothing else is known

	// Proxy is the variable of the environment that names a proxy for a target that was unreachable,
	// where Host is another machine.
	Proxy string `json:",omitempty"`
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

// A LostAddress is an address of the target to which no connection could be opened, until the end
// of the run or for some time. Meanwhile its share of the connections went to the others.
type LostAddress struct {
	Address     string
	Why         string        // the kind of failure
	Since, Back time.Duration // after the window's start; Since may be before it
	IsBack      bool          // a connection was opened to it at Back; Since is of the first time
	Times       int           // how often it was lost
	For         time.Duration // how long in all, if it is back
	Addresses   int           // of the target
	Others      int           // of those, not lost at the end
}

// An Ending is why a run ended.
type Ending string

// The endings of a run.
const (
	ByDuration  Ending = "duration"
	ByRequests  Ending = "requests"
	Interrupted Ending = "interrupted"
	Aborted     Ending = "aborted"     // by ErrAborted
	Stopped     Ending = "stopped"     // by the scenario, before the planned end
	Faulted     Ending = "faulted"     // the scenario could not go on
	Gone        Ending = "gone"        // no connection could be opened any more
	Unserved    Ending = "unserved"    // connections opened, and each ended without an answer
	Unreachable Ending = "unreachable" // none could ever be opened
	Lost        Ending = "lost"        // a machine that made a part of the load stopped answering
)

// ErrAborted is the cause of a context that ends a run because of what it measured.
var ErrAborted = errors.New("what was measured ends the run")

// An Interval is a second of the run, of all workers together. The last one may be shorter; it
// covers the time after the window.
type Interval struct {
	Index                   int
	From, To                time.Duration // after the window's start
	Sent, Completed, Failed int64
	InFlight                int64
	Iterations              int64 // of Plan.CountsIterations: completed, due in the window
	IterationsFailed        int64
	Received, Written       int64
	LatencyTimes
	Latency metric.Sparse // of completed requests; not in a Result
	Heat    metric.Heat   // of Latency; kept in a Result too
	Service metric.Sparse // likewise; empty where it equals Latency, see Served
	Apart
	IterationTime metric.Sparse // likewise, of Iterations

	// Checks of a scenario, in the plan's order; not in a Result.
	Checks []metric.Outcomes `json:",omitempty"`

	Status   map[uint16]int64 // answers by status code; nil when there were none
	Failures []Failure        // of connections and requests, the most frequent first
	Busy     float64          // share of the time in which the busiest worker had something to do
	LagMax   time.Duration    // open workload: the longest send lag
}

// Apart is what an interval's other counts and distributions do not have.
type Apart struct {
	metric.EarlyCounts
	metric.GoodCounts
	Events      int64 // of streams: counted, that came in it
	StreamTimes       // what Stream shows; 0: answers are no streams, or it is not known of all
	// Stream is what was counted of streams; nil: answers are none. Not in a Result.
	Stream       *metric.StreamsSparse `json:",omitempty"`
	Bodies       int64                 // bytes of the bodies of answers to the window's requests
	ErrorLatency metric.Sparse         // of such answers that were errors; not in a Result

	// ByPart divides Completed by the Parts of a Result; nil for one that told nothing of this time.
	ByPart []*int64 `json:"-"`
}

// Answered is how many right answers came in the interval, as rates count them: also to requests
// that were due in the warm-up.
func (iv *Interval) Answered() int64 { return iv.Completed + iv.Early }

// Passed is how many iterations completed in the interval, likewise.
func (iv *Interval) Passed() int64 { return iv.Iterations + iv.EarlyIterations }

// A Failure is a way in which connections or requests failed, and how often.
type Failure struct {
	Phase   Phase
	Kind    string // from a fixed small set, such as "refused" or "timeout"
	Address string
	Detail  string // of the first
	Count   int64
	Status  uint16 `json:",omitempty"` // of Check: of the first answer

	Remedies []fact.Remedy `json:",omitempty"` // what would change it

	// Unfinished is of a timeout behind the beginning of an answer: how far the first had come. Its
	// Count is not set.
	Unfinished *fact.AnswerUnfinished `json:",omitempty"`
}

// CauseText describes the failure as the reason of an ending.
func (f Failure) CauseText() string {
	return fmt.Sprintf("%s %s: %s", f.Phase, f.Address, f.Detail)
}

// A Phase is the part of the life of a connection or request in which it failed.
type Phase string

// The phases, in the order in which they happen.
const (
	DNS      Phase = "dns"
	Connect  Phase = "connect"
	TLSPhase Phase = "tls"
	Write    Phase = "write"
	Read     Phase = "read"
	Protocol Phase = "protocol"
	Timeout  Phase = "timeout"
	Expect   Phase = "expect"
	Check    Phase = "check" // of a scenario
	Stream   Phase = "stream"
	Shown    Phase = "shown" // of a Sample that is no error: see Plan.Show
)

// Phases are all of them.
var Phases = []Phase{DNS, Connect, TLSPhase, Write, Read, Protocol, Timeout, Expect, Stream, Check}

// A RedirectTotals is how many redirects were followed. A request and its redirects count once.
type RedirectTotals struct {
	Redirects       int64 `json:"redirects,omitempty"`        // of requests of the window
	WarmupRedirects int64 `json:"warmup_redirects,omitempty"` // of those before it
	// RedirectsTo are those to other origins: to each of the plan's FollowTo.
	RedirectsTo []OriginTotals `json:"redirects_to,omitempty"`
}

// An OriginTotals is how many requests of the window redirects led to an origin, and how many
// connections to it were opened, also for others.
type OriginTotals struct {
	Origin      string `json:"origin"`
	Redirects   int64  `json:"redirects"`
	Connections int64  `json:"connections"`
}

// CountRedirect counts one of a request that is counted, or that was due before the window.
func (t *RedirectTotals) CountRedirect(counted bool) {
	if counted {
		t.Redirects++
	} else {
		t.WarmupRedirects++
	}
}

// AddRedirects adds the counts of another worker or part.
func (t *RedirectTotals) AddRedirects(from RedirectTotals) {
	t.Redirects += from.Redirects
	t.WarmupRedirects += from.WarmupRedirects
	for _, o := range from.RedirectsTo {
		t.CountOrigin(o.Origin, o.Redirects, o.Connections)
	}
}

// CountOrigin adds to the counts of an origin.
func (t *RedirectTotals) CountOrigin(origin string, redirects, connections int64) {
	i := slices.IndexFunc(t.RedirectsTo, func(o OriginTotals) bool { return o.Origin == origin })
	if i < 0 {
		i = len(t.RedirectsTo)
		t.RedirectsTo = append(t.RedirectsTo, OriginTotals{Origin: origin})
	}
	t.RedirectsTo[i].Redirects += redirects
	t.RedirectsTo[i].Connections += connections
}

// A StderrTotals is what FastCGI applications wrote to stderr.
type StderrTotals struct {
	Stderr      []byte // up to 4 KiB a worker
	StderrBytes int64  // all of it
}

// A Totals is what a worker counts over the whole run and reports at its end. Totals add up.
type Totals struct {
	ConnectionTotals
	TLSTotals
	OutageTotals
	StandstillTotals

	RetryTotals
	RedirectTotals
	Warmup         int64 // requests due before the window and sent, each once
	WarmupLost     int64 // of those: failed, or without an answer at the end
	Held           int64 // closed workload: slots that waited for one of Warmup for the whole window
	Unfinished     int64 // requests of the window without an answer at the end
	Unanswered     Unanswered
	Late           int64 // open workload: sent more than lateAfter after they were due
	SentAfter      int64 // open workload: due in the window and sent after it
	CompletedAfter int64 // right answers that were counted and came after the window
	ErrorsAfter    int64 // answers that were errors, likewise
	LateMax        int64 // ns after due, of all that were sent
	Lingered       int64 // ns, in sum, for which answers that were counted gathered
	WaitingTotals
	StderrTotals

	BegunTotals

	FirstByte *metric.Histogram // Coarse
	Lag       *metric.Histogram // Fine; open workload: send lag
	Law       Law               // open workload
	Failures  []Failure

	Scenario *ScenarioTotals // nil: the plan has none
}

// BegunTotals are of answers that had begun.
type BegunTotals struct {
	Cut  *fact.AnswerUnfinished // of Totals.Unfinished; nil: none
	Rain []StreamSample         // of streams of events
}

// WaitingTotals are of requests of an open workload that were due in the window and never sent. If
// the server ended the load, Waited counts them by how long they had been due then: element i those
// of 2ⁱ ns to twice as much.
type WaitingTotals struct {
	Waiting int64
	Waited  [63]int64
}

// AddressTotals are what went to each address of the target.
type AddressTotals struct {
	// Addresses are those of a name that has several, or is looked up again (Plan.ResolveEvery).
	Addresses []AddressCount `json:"addresses,omitempty"`
	Lookups   int64          `json:"lookups,omitempty"`        // besides the first
	Unlooked  int64          `json:"lookups_failed,omitempty"` // of those: what was known stays
}

// An AddressCount is what went to an address, warm-up and drain included.
type AddressCount struct {
	Address     string `json:"address"`
	Connections int64  `json:"connections"` // opened
	Answers     int64  `json:"answers"`
	Errors      int64  `json:"errors"` // of connections and requests, as errors has them
}

// CountAddress adds what went to an address.
func (t *AddressTotals) CountAddress(n AddressCount) {
	i := slices.IndexFunc(t.Addresses, func(a AddressCount) bool { return a.Address == n.Address })
	if i < 0 {
		t.Addresses = append(t.Addresses, n)
		return
	}
	a := &t.Addresses[i]
	a.Connections += n.Connections
	a.Answers += n.Answers
	a.Errors += n.Errors
}

// WithErrors is what went to each address, with the failures there.
func (t *Totals) WithErrors() AddressTotals {
	all := t.AddressTotals
	all.Addresses = slices.Clone(all.Addresses)
	for i := range all.Addresses {
		for _, f := range t.Failures {
			if a := &all.Addresses[i]; f.Address == a.Address {
				a.Errors += f.Count
			}
		}
	}
	return all
}

// ConnectionTotals are counts of connections of the whole run.
type ConnectionTotals struct {
	AddressTotals
	Opened, Reconnects int64
	Served             int               // connections that completed a request
	Protocols          map[string]int64  // of Opened, what each spoke: HTTP11 and the like
	Room               int               // requests that a connection could have in flight at most
	Connect            *metric.Histogram // Coarse; ns until connected, but for the warm-up's
}

// TLSTotals are counts of TLS handshakes.
type TLSTotals struct {
	TLSFull, TLSResumed int64 // whole run
	Handshakes          int64 // of them in the window
	Terms               map[tls.Terms]int64
	FullTLS, ResumedTLS *metric.Histogram // Coarse; ns, but for the warm-up's
}

// OutageTotals are times of the window in which connections were not available, in ns.
type OutageTotals struct {
	Outage           int64 // in which no connection could be opened
	Unavailable      int64 // sum of the times in which each connection was unavailable
	UnavailableMost  int64 // the longest time of one connection
	UnavailableSince int64 // after the window's start, when the longest began

	Lost []LostAddress // of a Result; a worker's are added elsewhere
}

// StandstillTotals are of times of the window and the drain in which a thread of the generator was
// stopped, in ns. A stop of the whole process is one of each thread, so these are those of the
// worst thread, but for Delayed.
type StandstillTotals struct {
	StoodStill      int64 // sum
	StoodStillMost  int64 // the longest
	StoodStillSince int64 // after the window's start, when the longest began
	Delayed         int64 // requests that were in flight or due meanwhile, of all threads
}

// AddStandstill counts a standstill of length ns that began since ns after the window's start.
func (t *StandstillTotals) AddStandstill(since, length int64) {
	t.StoodStill += length
	if length > t.StoodStillMost {
		t.StoodStillMost, t.StoodStillSince = length, since
	}
}

// AddWorst adds the standstills of another thread, or of another generator.
func (t *StandstillTotals) AddWorst(from StandstillTotals) {
	t.StoodStill = max(t.StoodStill, from.StoodStill)
	if from.StoodStillMost > t.StoodStillMost {
		t.StoodStillMost, t.StoodStillSince = from.StoodStillMost, from.StoodStillSince
	}
	t.Delayed += from.Delayed
}

// WorseEnding is the ending that is reported for threads that ended differently.
func WorseEnding(a, b Ending) Ending {
	order := []Ending{ByRequests, Stopped, ByDuration, Unreachable, Interrupted}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

// LeaveOutEarly leaves the answers to requests of the warm-up out of the rate where the window's
// last answer ends it. Such a window is as long as its own requests took: with the others it would
// have up to one more for each connection.
func (r *Result) LeaveOutEarly() {
	if r.Ended != ByRequests && r.Ended != Stopped {
		return
	}
	t, early := &r.Totals, r.Total.EarlyCounts
	t.CompletedAfter += early.Early
	t.ErrorsAfter += early.EarlyErrors
	if t.Scenario != nil {
		t.Scenario.CompletedAfter += early.EarlyIterations
	}
}

// SetUnresolved makes r the result of a run whose target has no address.
func (r *Result) SetUnresolved(err error, interrupted bool) {
	kind, detail := "unknown-host", err.Error()
	var dns *net.DNSError
	if errors.As(err, &dns) {
		if detail = dns.Err; dns.IsTimeout {
			kind = "timeout"
		}
	}
	if r.Ended = Unreachable; interrupted {
		r.Ended = Interrupted
	}
	r.Totals, r.Total = NewTotals(), metric.NewCounters()
	host, _ := r.Plan.Dialed()
	f := Failure{Phase: DNS, Kind: kind, Address: host, Detail: detail, Count: 1}
	r.Failures, r.Cause = []Failure{f}, f.CauseText()
}

// NoteHTTP3 adds a notice about an HTTP/3 target that does not answer: few servers support HTTP/3.
func (r *Result) NoteHTTP3() {
	if r.Ended == Unreachable && len(r.Failures) > 0 && r.Failures[0].Phase == Connect {
		r.Notices = append(r.Notices, fact.Noticed(fact.HTTP3Unanswered{},
			fact.Remedy{Setting: "http", Value: "2"}, fact.Remedy{Setting: "http", Value: "1.1"}))
	}
}
