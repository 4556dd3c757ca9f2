package fact

// The kinds below are the reasons of the generator's self-check, beside Steal, StoodStill,
// CPUQuota and NoServer. An Error of them makes the load's numbers those of the generator.

// Ended says that the load did not end as planned, or that nothing was answered.
type Ended struct {
	How        string  `json:"how,omitempty"` // as in the result's ended; "": nothing was answered
	Why        string  `json:"why,omitempty"`
	MeasuredUS float64 `json:"measured_us"`
	Peer       Peer    `json:"peer,omitempty"`
}

// Kind is the kind's name.
func (Ended) Kind() Kind { return "ended" }

// Outage says that for some of the window no connection could be opened.
type Outage struct {
	OutageUS float64 `json:"outage_us"`
	Why      string  `json:"why,omitempty"`
	Open     bool    `json:"open,omitempty"` // the workload: what was due meanwhile waited
}

// Kind is the kind's name.
func (Outage) Kind() Kind { return "outage" }

// NeverSent says that of what was due some was never sent.
type NeverSent struct {
	Iterations bool    `json:"iterations,omitempty"` // are what is counted, not requests
	Percent    float64 `json:"percent"`              // of what was due
}

// Kind is the kind's name.
func (NeverSent) Kind() Kind { return "never-sent" }

// Unserved says that connections that were asked for took no part in the load.
type Unserved struct {
	Missing  int64 `json:"missing"`
	Of       int64 `json:"of"`
	Unopened bool  `json:"unopened,omitempty"` // else: they never completed a request
}

// Kind is the kind's name.
func (Unserved) Kind() Kind { return "unserved" }

// Busy says that the generator was near its limit, or at it.
type Busy struct {
	Percent float64 `json:"percent"` // of the time of the busiest thread
	AtQuota bool    `json:"at_quota,omitempty"`
	AllCPUs bool    `json:"all_cpus,omitempty"` // have a thread of the generator
}

// Kind is the kind's name.
func (Busy) Kind() Kind { return "busy" }

// ScenarioBusy is Busy with most of the time in what users do, or in filling requests and checking
// answers.
type ScenarioBusy struct {
	Busy
	Scenario float64 `json:"scenario_percent"` // of the time
	Steps    bool    `json:"steps,omitempty"`  // it has steps
}

// Kind is the kind's name.
func (ScenarioBusy) Kind() Kind { return "scenario" }

// SendLag says that requests were sent late, which is part of their latency.
type SendLag struct {
	P99US  float64 `json:"p99_us"`
	MeanUS float64 `json:"latency_mean_us"`
}

// Kind is the kind's name.
func (SendLag) Kind() Kind { return "send-lag" }

// ProbeLag is SendLag of the probe.
type ProbeLag struct{ SendLag }

// Kind is the kind's name.
func (ProbeLag) Kind() Kind { return "probe-lag" }

// Unscheduled says that a thread of the generator waited for a CPU on which other programs ran.
type Unscheduled struct {
	Percent float64 `json:"percent"` // of the window
}

// Kind is the kind's name.
func (Unscheduled) Kind() Kind { return "unscheduled" }

// Scheduling says that goroutines waited for a CPU, which is part of latency.
type Scheduling struct {
	P99US  float64 `json:"p99_us"`
	MeanUS float64 `json:"latency_mean_us"`
}

// Kind is the kind's name.
func (Scheduling) Kind() Kind { return "scheduling" }

// Arrivals says that requests did not leave when they should: A2 is how far a Poisson process was
// from one, and Off how far from each other evenly spaced requests were.
type Arrivals struct {
	Spans int64   `json:"spans"`
	A2    float64 `json:"a2,omitempty"`
	Off   float64 `json:"off_p95_percent,omitempty"` // of a span
}

// Kind is the kind's name.
func (Arrivals) Kind() Kind { return "arrivals" }

// NoPort says that there was no local port for a connection.
type NoPort struct {
	Times int64 `json:"times"`
}

// Kind is the kind's name.
func (NoPort) Kind() Kind { return "ports" }

// NoFile says that there was no file descriptor for a connection.
type NoFile struct {
	Times int64 `json:"times"`
}

// Kind is the kind's name.
func (NoFile) Kind() Kind { return "files" }

// TimeWait says that local ports nearly ran out.
type TimeWait struct {
	Sockets int64 `json:"sockets"` // in TIME_WAIT
	Ports   int64 `json:"ports"`
}

// Kind is the kind's name.
func (TimeWait) Kind() Kind { return "time-wait" }

// Dropped says that a server's queue of connections was full.
type Dropped struct {
	Times int64 `json:"times"`
}

// Kind is the kind's name.
func (Dropped) Kind() Kind { return "dropped" }

// Resent says that this machine sent TCP segments again.
type Resent struct {
	Segments int64 `json:"segments"`
	Answers  int64 `json:"answers"` // meanwhile
}

// Kind is the kind's name.
func (Resent) Kind() Kind { return "resent" }

// Little says that rate times mean latency is not what a closed workload has in flight.
type Little struct {
	Ratio       float64 `json:"ratio"` // to what all connections can have in flight
	Connections int64   `json:"connections"`
	Unanswered  bool    `json:"unanswered,omitempty"` // there were requests without an answer
}

// Kind is the kind's name.
func (Little) Kind() Kind { return "little" }

// GCPause says that garbage collection stopped the generator.
type GCPause struct {
	LongestUS float64 `json:"longest_us"`
}

// Kind is the kind's name.
func (GCPause) Kind() Kind { return "gc-pause" }

// RuntimeStop says that the Go runtime stopped the generator, for other reasons.
type RuntimeStop struct {
	LongestUS float64 `json:"longest_us"`
}

// Kind is the kind's name.
func (RuntimeStop) Kind() Kind { return "stop" }

// TooShort says that too little was measured for the generator, or for percentiles, to be judged.
type TooShort struct {
	Answers       int64   `json:"answers"`
	Failures      int64   `json:"failures,omitempty"`
	WindowUS      float64 `json:"window_us"`
	LeastAnswers  int64   `json:"least_answers"`
	LeastWindowUS float64 `json:"least_window_us"`
}

// Kind is the kind's name.
func (TooShort) Kind() Kind { return "too-short" }
