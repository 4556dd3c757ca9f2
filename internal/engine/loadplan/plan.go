// Package loadplan says what is to be done, before any of it is: a Plan, and what follows from it
// alone. It opens no connection and sends nothing. Of the machine it reads only the number of CPUs
// and the files that TLS needs.
//
//	auth.go             who sends requests: digest, sigv4
//	coding.go           codings of bodies: Accept-Encoding, chunks
//	filling.go          rows, variables, script and checks of a plan
//	flaw.go             a mistake in a plan
//	followto.go         other origins that redirects may lead to
//	linger.go           for how long answers gather: --linger (package batching follows the
//	                    latency)
//	offered.go          which protocols connections may speak; dyno's version and User-Agent
//	pack.go             a plan for another process
//	part.go             cuts a plan for several generators and threads
//	plan.go             the settings, their defaults (DefaultPlan) and limits, Check
//	probe.go            the plan of --probe
//	profile.go          a rate that changes: stages
//	proxy.go            proxies: how they are asked, and is one set in the environment? --resolve
//	replay.go           requests with times of their own
//	requestdata.go      requests as a file of their own beside the result
//	requestjson.go      requests in a result's JSON
//	resend.go           what is sent again on another connection: --retry-unsafe
//	samples.go          what is kept of requests that fail or are shown, and how much of it
//	scenario.go         users, steps and checks of a plan
//	schedule.go         intended start times
//	schedulechange.go   two schedules, one after the other
//	sequence.go         the order of requests
//	source.go           where to connect from: --source
//	stream.go           answers that are streams of events
//	statuses.go         statuses, as people write them: 2xx,404
//	tls.go              settings of TLS, and the files they name
//	userstages.go       how many users there are when
//	way.go              how connections are made, apart from what is sent on them
//
// An intended start time is in ns after the start of the load, warm-up included.
package loadplan

import (
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"dyno/internal/engine/machine"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/reqlog"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/template"
)

// A Plan is all that decides a run: flags set its fields, files decode into
// it, results store it. Run changes nothing in it.
type Plan struct {
	Target Target `json:"target"`
	// Addresses are those that somebody has resolved the host of Dialed to and approved. Run connects
	// to no others, whatever it resolves to now. None: Run resolves it.
	Addresses []netip.Addr `json:"addresses,omitempty"`
	Requests  []Request    `json:"requests"`
	Data      *Data        `json:"data,omitempty"` // nil: JSON holds all Requests

	// What the holes of Requests are filled from, besides functions. A variable's value is in the
	// Requests already.
	Variables []Param `json:"variables,omitempty"`
	Rows      *Rows   `json:"rows,omitempty"` // nil: no data
	// Environment are the values that templates took from the environment. They are secrets.
	Environment []string `json:"-"`

	// Scenario is what users do: it sends the Requests, or requests of its own if there are none.
	// What becomes due is then an iteration, and Requested is a number of iterations. nil: the
	// Requests are sent in turn.
	Scenario scenario.Maker `json:"-"`
	Steps    []string       `json:"steps,omitempty"`  // of an iteration; none: it is a request
	Checks   []string       `json:"checks,omitempty"` // names of its checks, by number
	Users    int            `json:"users,omitempty"`  // in all threads together; 0: one for each slot

	// UserStages are how the number of users of a closed workload changes in the window, from Users
	// at its start; there it can be 0. The parts of a load all have the whole load's.
	UserStages []UserStage `json:"user_stages,omitempty"`

	// Hurl are the files that the Scenario was compiled of; none: it is no session.
	Hurl []Script `json:"hurl,omitempty"`
	// Script is the Lua script that the Scenario runs; nil: there is none.
	Script *Script `json:"script,omitempty"`

	HTTP      string `json:"http"`              // "1.0", "1.1", "2", "3", or Auto
	Pipeline  int    `json:"pipeline"`          // requests of HTTP/1.1 in flight on a connection
	Streams   int    `json:"streams,omitempty"` // likewise, of HTTP/2 or 3
	Reconnect int    `json:"reconnect"`         // requests that a connection carries; 0: no limit
	Resend    string `json:"resend,omitempty"`  // ResendUnsafe and the like
	Follow    int    `json:"follow,omitempty"`  // redirects of one request at most; 0: none
	// FollowTo are origins that redirects may lead to, besides the server.
	FollowTo []Target `json:"follow_to,omitempty"`
	Params   []Param  `json:"fcgi_params,omitempty"`
	// ProxyProtocol is the version of the PROXY protocol that the header has which each connection
	// begins with: one of proxyproto.Versions; "": there is none.
	ProxyProtocol string `json:"proxy_protocol,omitempty"`
	Stream        Stream `json:"stream,omitzero"` // how answers are streams; zero: they are not
	// Proxy is the URL of a proxy that connections lead to in place of the server:
	// http://[USER:PASSWORD@]HOST:PORT; "": there is none.
	Proxy string `json:"proxy,omitempty"`
	// ResolveEvery is after how long the host of Dialed is looked up again; 0: never.
	ResolveEvery Seconds `json:"resolve_every_s,omitempty"`
	// AcceptEncoding is that of requests without one of their own; "": they have none.
	AcceptEncoding string `json:"accept_encoding,omitempty"`
	// ChunkSize is how many bytes a chunk has of all bodies with HTTP/1.1; 0: only requests whose
	// header asks for it are sent in chunks, of h1.DefaultChunk.
	ChunkSize int `json:"chunk_size,omitempty"`

	// Auth is how requests say who sends them: Digest, or as SigV4 has it; "": as their headers do.
	Auth string `json:"auth,omitempty"`
	User string `json:"-"` // then, who: USER:PASSWORD, or KEY:SECRET

	TLS     TLS    `json:"tls,omitzero"`
	Goodput string `json:"goodput,omitempty"` // limits of single requests, see package goodput

	Connections int     `json:"connections"` // in all threads together
	Threads     int     `json:"threads"`
	Rate        Rate    `json:"rate,omitempty"`         // arrivals a second; 0: closed loop
	Stages      []Stage `json:"stages,omitempty"`       // how the rate changes in the window
	Arrival     string  `json:"arrival,omitempty"`      // Even or Poisson, in an open loop
	Replay      Seconds `json:"replay_s,omitempty"`     // At of the last request; 0: no replay
	Seed        uint64  `json:"seed,omitempty"`         // of what is random; 0: one is drawn
	Values      uint64  `json:"values,omitempty"`       // seed of values, see SeedOfValues; 0: Seed
	Probe       Rate    `json:"probe,omitempty"`        // of a light open load at the same time
	Cap         Rate    `json:"cap,omitempty"`          // of a closed workload: at most, a second
	Requested   int64   `json:"requested,omitempty"`    // exactly so many requests; 0: until Duration
	ConnectRate Rate    `json:"connect_rate,omitempty"` // connections opened a second; 0: at once

	// OwnerLimit is what the owner of this machine allows, in requests a second of an open workload.
	// Requests sent late and retries count too. 0: none.
	OwnerLimit Rate `json:"-"`

	Duration   Seconds `json:"duration_s,omitempty"` // of the measured window; 0: until Requested
	Warmup     Seconds `json:"warmup_s"`             // load before the window, not counted
	Drain      Seconds `json:"drain_s"`              // after the window, for what was due in it
	Timeout    Seconds `json:"timeout_s"`            // of a request, from when it was sent
	Connecting Seconds `json:"connect_timeout_s"`    // of a connection, TLS included

	Expect []Statuses `json:"expect,omitempty"` // all others are errors; none: 400 and above are
	Expectations

	// SaveErrors keeps samples of all kinds of errors (loadresult.Sample), with requests and whole
	// responses. It costs the threads a copy of each response, and the memory that SampledShare says.
	SaveErrors bool `json:"-"`
	// Show keeps samples of the first requests of the window, this many, whatever becomes of them
	// (loadresult.Shown); 0 to ShowMost. Until they are kept it costs as much.
	Show int `json:"-"`
	// Log returns the ring that a thread adds the window's requests to; nil: there is no log. It
	// does not go to other processes.
	Log func(thread int) *reqlog.Ring `json:"-"`

	// Guest is set if the process is not dyno's own: then Run changes neither GOMAXPROCS, nor the
	// limit of open files, nor the environment.
	Guest bool `json:"-"`

	Ring string `json:"ring"` // one of ring.Kinds, or "auto"
	CPUs []int  `json:"cpus,omitempty"`
	Spin bool   `json:"spin,omitempty"` // threads never sleep
	// Linger is for how long a thread of a closed loop lets answers gather before it looks at them:
	// a time, as 100us, or NoLinger; "": so that they wait about 1 % of the median latency.
	Linger string `json:"linger,omitempty"`

	// Source are the local addresses to connect from, in turn; of a range, those that the machine has.
	// None: the system's choice, or several of loopback where one has too few ports.
	Source []Source `json:"source,omitempty"`

	// Part is the number of this generator, from 0, of Parts generators that load at once. It sends
	// its share of the arrivals of Rate and Stages, of ConnectRate and of UserStages. Connections,
	// Requested and, without UserStages, Users are its own. 0 or 1 Parts: the whole load.
	Part    int   `json:"part,omitempty"`
	Parts   int   `json:"parts,omitempty"`
	Weights []int `json:"weights,omitempty"` // of the parts; none: all are equal
	// Before is how many of the whole load's Requested belong to the parts before, and UsersBefore
	// how many of its Users.
	Before      int64 `json:"requests_before,omitempty"`
	UsersBefore int64 `json:"users_before,omitempty"`
}

// A Target is where requests go.
type Target struct {
	URL     string `json:"url"` // as the user wrote it, without credentials
	TLS     bool   `json:"tls"`
	H2C     bool   `json:"h2c,omitempty"`     // HTTP/2 without TLS, from the first byte
	FastCGI bool   `json:"fastcgi,omitempty"` // and not HTTP at all
	Host    string `json:"host,omitempty"`    // host name or address to dial
	Port    uint16 `json:"port,omitempty"`
	Unix    string `json:"unix,omitempty"` // path of a socket to dial instead
}

// A Param is a parameter of every FastCGI request. It replaces dyno's own of that name, or is
// added.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Request is one of those a run sends, and how often it does.
type Request struct {
	proto.Request
	Name   string // of its route in the result
	Weight int    // of 1 or more: its share of what is sent
	// At is when a replay (see SetReplay) sends it, after the start of the load. Otherwise 0.
	At Seconds

	// Template is the request as it was written, if it has {{: with its holes and the names of
	// variables. The Request above then has the values of the variables, and Holes, which Sources
	// fill. nil: the Request is as it was written.
	Template *proto.Request
	Sources  []template.Source
	Raw      bool // Body has {{, which is no hole

	Expect  *OwnExpectations // of its responses, in place of the plan's; nil: those of the plan
	Timeout Seconds          // from when it was sent; 0: the plan's

	digest digest // of a Body that JSON did not hold
}

// Written is the request as the user wrote it.
func (r *Request) Written() *proto.Request {
	if r.Template != nil {
		return r.Template
	}
	return &r.Request
}

// TLS is how the server is authenticated, and we to it. Files are PEM.
type TLS struct {
	Insecure   bool   `json:"insecure,omitempty"` // accept any certificate
	CAFile     string `json:"cacert,omitempty"`   // trusted instead of the system's
	CertFile   string `json:"cert,omitempty"`     // ours, for servers that ask
	KeyFile    string `json:"key,omitempty"`
	ServerName string `json:"sni,omitempty"` // asked for and verified; "": the URL's host

	MinVersion string `json:"tls_min,omitempty"` // "1.0" to "1.3"; "": 1.2, or a lower MaxVersion
	MaxVersion string `json:"tls_max,omitempty"` // likewise; "": 1.3
	Resume     bool   `json:"resume,omitempty"`  // sessions of earlier connections of the thread
	ALPN       string `json:"alpn,omitempty"`    // what to offer, comma-separated, or NoALPN; "": all
	KeyLogFile string `json:"keylog,omitempty"`  // to which the secrets of all sessions are added

	// What the files hold, in place of their names: see Enclose.
	CA, Cert, Key string `json:"-"`
}

// Seconds is a duration that JSON shows in seconds.
type Seconds time.Duration

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Seconds())
}

// UnmarshalJSON reads seconds.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	err := json.Unmarshal(b, &f)
	*s = Seconds(math.Round(f * 1e9))
	return err
}

// String is the duration as Go writes it.
func (s Seconds) String() string { return time.Duration(s).String() }

// A Rate is a number of events a second, in thousandths so that schedules can
// be exact. JSON shows events a second.
type Rate int64

// RatePerSecond is a rate of f events a second, to the nearest thousandth.
func RatePerSecond(f float64) Rate { return Rate(math.Round(f * 1000)) }

// PerSecond is the rate in events a second.
func (r Rate) PerSecond() float64 { return float64(r) / 1000 }

// String is how many events a second, as a decimal number without an exponent: 2500000, 0.5.
func (r Rate) String() string { return strconv.FormatFloat(r.PerSecond(), 'f', -1, 64) }

// MarshalJSON writes events a second.
func (r Rate) MarshalJSON() ([]byte, error) { return json.Marshal(r.PerSecond()) }

// UnmarshalJSON reads events a second.
func (r *Rate) UnmarshalJSON(b []byte) error {
	var f float64
	err := json.Unmarshal(b, &f)
	*r = RatePerSecond(f)
	return err
}

// Statuses is a range of status codes.
type Statuses struct {
	From uint16 `json:"from"`
	To   uint16 `json:"to"` // included
}

// AnyStatus has every status code that an answer can have.
func AnyStatus() Statuses { return Statuses{From: 100, To: 999} }

// leastError is the lowest status that is an error unless the plan says otherwise: 4xx
// and 5xx are.
const leastError = 400

// ownThreads is how many threads a load has that says nothing of them. The machine says it in some
// twenty files, which are read once.
var ownThreads = sync.OnceValue(machine.Threads)

// DefaultPlan is a plan of which only Target and Requests are missing. It has a drain, because
// without one the slowest answers are missing from the percentiles.
func DefaultPlan() Plan {
	return Plan{
		HTTP: Auto, Pipeline: 1, Streams: 1, Connections: 50, Threads: ownThreads(), Ring: "auto",
		Duration: Seconds(10 * time.Second), Drain: Seconds(2 * time.Second),
		Timeout: Seconds(10 * time.Second), Connecting: Seconds(5 * time.Second),
	}
}

// The arrivals of an open loop.
const (
	Even    = "constant" // as evenly spaced as can be
	Poisson = "poisson"  // independent of one another
)

// Limits of a plan, each far above what one machine can do.
const (
	MaxConnections = 1 << 20
	MaxThreads     = 1 << 10
	MaxPipeline    = 1 << 10
	MaxStreams     = fields.MaxStreams
	MaxRate        = 100_000_000 // a second
	MaxRequested   = 1 << 50
	MaxTime        = 366 * 24 * time.Hour
	MaxStages      = 10_000
	MaxUsers       = 1 << 22
	MaxFollow      = 100
)

// Flaws are those of the plan, which is not changed. Nothing outside of it is looked at: what this
// machine cannot do is found when the load begins.
func (p *Plan) Flaws() (all []Flaw) {
	flaw := findIn(&all)
	within := func(n, low, high int64, setting string) {
		flaw(n < low || n > high, setting, "%d is not within %d to %d", n, low, high)
	}
	period := func(d Seconds, low time.Duration, setting string) {
		t := time.Duration(d)
		flaw(t < low || t > MaxTime, setting, "%v is not within %v to %v", t, low, MaxTime)
	}
	within(int64(p.Connections), 1, MaxConnections, "Connections")
	within(int64(p.Threads), 1, MaxThreads, "Threads")
	within(int64(p.Pipeline), 1, MaxPipeline, "Pipeline")
	within(int64(p.Streams), 1, MaxStreams, "Streams")
	within(int64(p.Reconnect), 0, math.MaxInt32, "Reconnect")
	within(int64(p.Follow), 0, MaxFollow, "Follow")
	within(p.Requested, 0, MaxRequested, "Requested")
	flaw(!slices.Contains([]string{ResendIdempotent, ResendUnsafe, ResendSafe, ResendNever}, p.Resend),
		"Resend", "%q is not %s, %s or %s", p.Resend, ResendUnsafe, ResendSafe, ResendNever)
	p.checkArrivals(flaw)
	p.checkUserStages(flaw)
	p.checkReplay(flaw)
	p.checkPart(flaw)
	checkRate(p.ConnectRate, "ConnectRate", flaw)
	checkRate(p.Probe, "Probe", flaw)
	checkRate(p.Cap, "Cap", flaw)
	flaw(p.Cap > 0 && (p.Open() || p.OwnerLimit > 0), "Cap", "is of a closed workload without an "+
		"owner's limit")
	flaw(p.Probe > RatePerSecond(probeMost), "Probe", "%v a second is no light load; at most %d",
		p.Probe, probeMost)
	period(p.Warmup, 0, "Warmup")
	period(p.Drain, 0, "Drain")
	period(p.Timeout, time.Millisecond, "Timeout")
	period(p.Connecting, time.Millisecond, "Connecting")
	if p.Requested == 0 || p.Duration != 0 {
		period(p.Duration, time.Millisecond, "Duration")
	}
	flaw(p.Requested > 0 && p.Requested < int64(p.Connections), "Requested",
		"%d requests cannot use %d connections",
		p.Requested, p.Connections).Mend = "lower {Connections} or raise {Requested}"
	p.checkProtocol(flaw)
	p.checkStream(flaw)
	p.checkLinger(flaw)
	p.checkSource(flaw)
	flaw(p.Target.Host == "" && p.Target.Unix == "", "URL", "has no host")
	flaw(p.Asks() == 0 && p.Scenario == nil, "Requests", "has no request")
	flaw(!p.Whole(), "Requests", "of %d requests the first %d are known", p.Asks(),
		len(p.Requests))
	p.checkScenario(flaw)
	p.checkTLS(flaw)
	flaw(!areRanges(p.Expect), "Expect", "%v is not a list of ranges of status codes", p.Expect)
	for i := range p.Requests {
		if own := p.Requests[i].Expect; own != nil && !areRanges(own.Status) {
			flaw(true, "Requests", "request %d expects what is no range of status codes", i+1)
			break
		}
	}
	return all
}

// checkArrivals is Check of what makes an open loop.
func (p *Plan) checkArrivals(flaw finder) {
	checkRate(p.Rate, "Rate", flaw)
	flaw(len(p.Stages) > MaxStages, "Stages", "%d are given; %d are possible",
		len(p.Stages), MaxStages)
	top := p.Rate
	for _, s := range p.Stages {
		flaw(s.Duration < 0 || time.Duration(s.Duration) > MaxTime, "Stages",
			"%v is not within 0s to %v", s.Duration, MaxTime)
		checkRate(s.Rate, "Stages", flaw)
		top = max(top, s.Rate)
	}
	if len(p.Stages) > 0 {
		flaw(top == 0, "Stages", "no stage has a rate above 0")
		p.checkStagesLength(flaw)
		flaw(p.Rate == 0 && p.Warmup > 0, "Warmup",
			"needs {Rate}, which is the rate before the first stage")
	}
	flaw(p.Arrival != "" && p.Arrival != Even && p.Arrival != Poisson, "Arrival",
		"%q is not %s or %s", p.Arrival, Even, Poisson)
	flaw(p.Arrival == Poisson && !p.Open(), "Arrival",
		"%s arrivals need a rate", Poisson).Mend = "give {Rate} or {Stages}"
}

func checkRate(r Rate, setting string, flaw finder) {
	flaw(r < 0 || r > MaxRate*1000, setting, "%v/s is not within 0.001/s to %d/s", r,
		MaxRate)
}

// Open reports whether arrivals follow a schedule of their own (an open loop)
// and not the answers (a closed loop).
func (p *Plan) Open() bool { return p.Rate > 0 || len(p.Stages) > 0 || p.Replay > 0 }

// Depth is how many requests a connection can have in flight, 1 at least.
func (p *Plan) Depth() int { return max(p.Pipeline, p.Streams, 1) }

// LiteralAddress is the target's address; ok is false if a name has to be looked up.
func (t Target) LiteralAddress() (at netip.AddrPort, ok bool) {
	a, err := netip.ParseAddr(t.Host)
	return netip.AddrPortFrom(a, t.Port), err == nil
}

// Expects reports whether an answer of that status is right for a request without statuses of its
// own. Any other is an error.
func (p *Plan) Expects(status uint16) bool {
	if len(p.Expect) == 0 {
		return status < leastError
	}
	return hasStatus(p.Expect, status)
}
