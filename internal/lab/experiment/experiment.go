// Package experiment reads the file that describes an experiment, format
// dyno.lab/1: which servers are compared, under which loads, in which design.
//
// The types are the file: their json tags are its keys, other tags its limits
// and how it is written. One decoder and one encoder walk types and file
// together. The decoder reports every fault at once, each where it is, because
// a file is written by hand and its experiment takes hours: whatever can be
// known to fail is known before anything starts.
// schema.json says the same to editors, and a test holds the two together.
//
// What differs from trial to trial (ports, sockets, directories) is written as
// templates. Expand makes the variants, Render the concrete processes of one
// trial. Nothing here starts a process or opens a connection.
//
//	check.go           checks what the decoder cannot: cells, levels, factors, workload
//	checkcapitals.go   names that differ in capitals alone
//	checkdata.go       checks of data and variables; faults with a place
//	checktemplate.go   checks of templates
//	checkvariant.go    checks of variants: processes, addresses, protocols
//	command.go         a command as words
//	decode.go          YAML into the types, by their tags
//	defaults.go        what is not given (times, windows, how long a server may take to be ready),
//	                   and --quick
//	definition.go      types of a variant: processes, limits, readiness, when it is stopped,
//	                   generator
//	destinations.go    where loads go, which is no secret
//	encode.go          the types as YAML
//	entries.go         keys of a mapping: merged (<<), or unknown, and which one was probably meant
//	expand.go          variants and factors to all combinations
//	experiment.go      types of the file: Design, Workload, Level, Fairness, Gate, Request, Expect
//	fault.go           faults, sorted by place
//	folder.go          files and folders that servers get
//	metrics.go         names of measures, what each needs of the workload, objectives of levels
//	nearest.go         values that are names: which are allowed, or which was probably meant
//	needs.go           programs that are missing here, and the package to install
//	quantities.go      reads durations, sizes and rates
//	rates.go           levels by `rates:`
//	read.go            reads the file
//	references.go      names that must exist elsewhere in the file
//	render.go          the processes, addresses and commands of one trial, and when each process
//	                   is ready, with which statuses
//	requestenv.go      variables of the environment in requests
//	screen.go          which combinations a screening has
//	settings.go        settings of a load: from a level to a plan, and back; values that are known
//	                   only later (variables, stand-ins)
//	shipped.go         experiments in the binary, and the schema
//	template.go        {{...}} in the file
package experiment

import "cmp"

// Version is the only version of the format that is read, that of dyno.lab/1.
const Version = 1

// An Experiment is an experiment file, complete with its defaults. Its JSON is an experiment file
// with the same meaning.
type Experiment struct {
	Version     int                 `json:"version" required:"true"`
	Name        string              `json:"name" required:"true"`
	Description string              `json:"description,omitempty"`
	Published   *Published          `json:"published,omitempty"`
	Design      Design              `json:"design" text:"shown"`
	Workload    Workload            `json:"workload"`
	Levels      []Level             `json:"levels"`
	Factors     Mapping[[]string]   `json:"factors,omitempty"`
	Variants    Mapping[Definition] `json:"variants" required:"true"`
	Fairness    Fairness            `json:"fairness" text:"shown"`
	Objectives  []Objective         `json:"objectives,omitempty"`
	Gate        *Gate               `json:"gate,omitempty"`
	Profile     *Profile            `json:"profile,omitempty"` // nil: no profile is taken

	File   string `json:"-"` // the name it was read by
	Here   string `json:"-"` // absolute path of the file's folder; "" when it ships inside dyno
	Source []byte `json:"-"` // the file, byte for byte
}

// Published is what others measured, for comparison with our results.
type Published struct {
	Source  string   `json:"source" required:"true"`
	Note    string   `json:"note,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// A Figure is a published number, or the published failure in its place.
type Figure struct {
	Variant string   `json:"variant" required:"true"` // as in the file, or expanded
	Level   string   `json:"level,omitempty"`         // "": no level of this file
	Metric  string   `json:"metric" required:"true"`  // a Metric, or share:FUNCTION of a profile
	Value   *float64 `json:"value,omitempty"`         // in Unit
	Unit    string   `json:"unit,omitempty"`
	Failed  string   `json:"failed,omitempty"` // how, when there is no Value
}

// The orders of trials.
const (
	Interleaved = "interleaved-random" // each round is all cells, shuffled
	ABBA        = "abba"               // forwards and backwards in turn
	Sequential  = "sequential"         // each cell's trials together: drift looks like an effect
)

// The kinds of isolation of trials.
const (
	PerProcess = "process" // new server processes for each trial
	Shared     = "none"    // a server keeps running over the rounds
)

// A Design decides which trials are run, and when they suffice.
type Design struct {
	Order     string `json:"order" one:"interleaved-random,abba,sequential"`
	Rounds    int    `json:"rounds" range:"1,1000" text:"shown"`
	MaxRounds int    `json:"max_rounds,omitempty" range:"1,1000"` // with Precision only

	// Precision is the half width of the intervals of all primary ratios at which the rounds suffice;
	// 0: exactly Rounds.
	Precision Share    `json:"precision,omitzero"`
	Budget    Duration `json:"budget,omitzero"` // no round begins after it; 0: any time

	// Seed determines everything random; 0: the laboratory draws one.
	Seed int64 `json:"seed,omitempty" range:"1,9007199254740991"`

	// Screen runs a fraction of the combinations of factors, which have two values each.
	Screen bool `json:"screen,omitempty"`

	// Sensitivity measures one cell again with other settings of the generator.
	Sensitivity bool `json:"sensitivity,omitempty"`

	Baseline  string   `json:"baseline"` // the variant that others are compared with
	AA        bool     `json:"aa"`       // the baseline a second time, as a control
	Isolation string   `json:"isolation" one:"process,none"`
	Warmup    Warmup   `json:"warmup" text:"shown,flow"`
	Measure   Duration `json:"measure" text:"shown"`
	Cooldown  Duration `json:"cooldown" text:"shown"`
	Margin    Share    `json:"margin"` // smaller differences do not matter in practice
	Metrics   []Metric `json:"metrics" text:"shown,flow"`
	CPUs      CPUs     `json:"cpus,omitzero"` // zero: the laboratory divides them
	Clients   Clients  `json:"clients"`
	Quick     Short    `json:"quick"`
}

// A Short is what --quick reduces a design to: at most these rounds and windows, only these levels,
// and without these variants.
type Short struct {
	Rounds  int      `json:"rounds" range:"1,1000"`
	Measure Duration `json:"measure"` // of levels with requests, too
	Levels  []string `json:"levels,omitempty"`
	Without []string `json:"without,omitempty"`
}

// Warmup is load that is not measured: from Min until throughput is steady, and at most for Max.
type Warmup struct {
	Min Duration `json:"min" text:"shown"`
	Max Duration `json:"max" text:"shown"`
	CoV Share    `json:"cov"` // of the last seconds' throughput, below which it is steady
}

// CPUs are the CPUs of generator and server; none: the laboratory divides them.
type CPUs struct {
	Generator CPUList `json:"generator,omitempty"`
	Server    CPUList `json:"server,omitempty"`
}

// The isolations of clients.
const (
	NoNamespace = "none"
	NetNS       = "netns" // each has a network namespace, with an address and ports of its own
)

// Clients are how many generators load the server at once. A level is divided among them.
type Clients struct {
	Count   int    `json:"count" range:"1,64"`
	Isolate string `json:"isolate" one:"none,netns"`
}

// A Workload is the requests of an experiment: Request, or those in one of the files.
type Workload struct {
	Request      Request `json:"request,omitzero"`
	RequestsFile string  `json:"requests_file,omitempty"` // JSON lines, beside the experiment file
	URLs         string  `json:"urls,omitempty"`          // a file of one path or URL a line
	Hurl         string  `json:"hurl,omitempty"`          // a Hurl file: a session of several requests

	// A script in Lua with wrk's API, which makes requests from Request, and its arguments.
	Script     string   `json:"script,omitempty"`
	ScriptArgs []string `json:"script_args,omitempty"`

	// What the holes of requests are filled from, as {{name}}, besides functions.
	Variables Mapping[string] `json:"variables,omitempty"`
	Data      string          `json:"data,omitempty"` // CSV or JSON lines, beside the experiment file
	DataOrder string          `json:"data_order,omitempty"`
	Users     int             `json:"users,omitempty"` // 0: one for each slot

	Auth string `json:"auth,omitempty"` // how User says who sends requests; "": their headers do
	User string `json:"user,omitempty"` // USER:PASSWORD, or KEY:SECRET

	Expect Expect `json:"expect"`

	Stream  Stream `json:"stream,omitzero"`               // zero: answers are no streams
	Goodput Texts  `json:"goodput,omitempty" text:"flow"` // limits of a good request, all of them
}

// Order is in which order requests have the rows of Data.
func (w Workload) Order() string { return cmp.Or(w.DataOrder, InOrder) }

// Orders of rows that the laboratory treats specially.
const (
	InOrder = "in-order" // the default
	Once    = "once"     // each once in a trial
)

// A Request is the request that is sent repeatedly.
type Request struct {
	Method   string          `json:"method,omitempty"` // "": GET
	Path     string          `json:"path,omitempty"`   // with query; "": that of the variant's url
	Headers  Mapping[string] `json:"headers,omitempty"`
	Body     string          `json:"body,omitempty"`
	BodyFile string          `json:"body_file,omitempty"` // beside the experiment file
}

// Expect is the expected answer; any other is an error.
type Expect struct {
	Status Statuses    `json:"status,omitempty" text:"flow"`
	Body   BodyRules   `json:"body,omitempty"`   // all of them; none: any
	Header HeaderRules `json:"header,omitempty"` // likewise
}

// The protocol versions of a level.
const (
	HTTPAuto = "auto"
	HTTP10   = "1.0"
	HTTP11   = "1.1"
	HTTP2    = "2"
	HTTP3    = "3"
)

// A Level is one load. Without Rate it is closed: a connection sends its next request when the last
// one is answered.
type Level struct {
	Name string `json:"name"` // default: c100, or of an open one r5000

	// Requests is how many requests are measured, instead of design.measure.
	Requests Count `json:"requests,omitempty"`

	// Find makes each trial a search: for the most, along Axis, that meets these objectives.
	Find Objective `json:"find,omitempty"`
	Axis string    `json:"axis,omitempty" one:"rate,connections,users"` // "": rate

	Connections Count     `json:"connections" text:"shown"`
	Rate        Rate      `json:"rate,omitempty"`  // a second, in all; 0: closed
	Share       Share     `json:"share,omitzero"`  // or that share of the smallest capacity
	Rates       *Rates    `json:"rates,omitempty"` // or several; derive makes a level of each
	Arrival     string    `json:"arrival,omitempty"`
	Reconnect   Reconnect `json:"reconnect,omitzero"`
	RetryUnsafe bool      `json:"retry_unsafe,omitempty"` // not only idempotent methods
	Follow      int       `json:"follow,omitempty"`       // redirects of one request; 0: none
	HTTP        string    `json:"http"`
	Pipeline    int       `json:"pipeline"`
	Threads     int       `json:"threads,omitempty"` // 0: one a core
	Timeout     Duration  `json:"timeout"`           // of a request

	ProxyProtocol string `json:"proxy_protocol,omitempty"` // version; "": none
	Proxy         string `json:"proxy,omitempty"`          // its URL; "": none

	ResolveEvery Duration `json:"resolve_every,omitzero"` // of the url's host; 0: never

	AcceptEncoding string `json:"accept_encoding,omitempty"` // of requests without one; "": none
	ChunkSize      int    `json:"chunk_size,omitempty"`      // bytes; 0: bodies are not chunked
}

// Direct is l with connections that lead straight to the server, and begin with a request.
func (l Level) Direct() Level {
	l.ProxyProtocol, l.Proxy = "", ""
	return l
}

// IsOpen reports whether requests have intended start times of their own.
func (l Level) IsOpen() bool { return l.Rate > 0 || l.Share > 0 }

// IsSearch reports whether its trials search. Each has what CapacityOf says, and no other measure.
func (l Level) IsSearch() bool { return l.Find != "" }

// The axes of a search besides the rate, as dyno find has them.
const (
	Connections = "connections" // of a closed workload; those of the level are tried first
	Users       = "users"       // likewise, each with a connection; the workload's are tried first
)

// SearchesCount reports whether a level's trials search a number of connections or users.
func (l Level) SearchesCount() bool { return l.IsSearch() && CapacityOf(l.Axis) != Capacity }

// The modes of the fairness check.
const (
	Strict = "strict" // a variant whose answer differs from the reference is not tested
	Warn   = "warn"
	Off    = "off"
)

// Fairness is how similar the answers of all variants must be.
type Fairness struct {
	Mode      string `json:"mode" one:"strict,warn,off"`
	Reference string `json:"reference"` // a variant; default: the baseline

	// Allow are the headers and aspects that may differ, in lower case.
	Allow []string `json:"allow" text:"shown,flow"`
}

// A Gate turns verdicts into an exit code.
type Gate struct {
	Baseline string   `json:"baseline"`
	Metrics  []Metric `json:"metrics" text:"shown,flow"`
	Margin   Share    `json:"margin" text:"shown"`

	// Confirm has it fail only if a second batch shows the same.
	Confirm bool `json:"confirm" text:"shown"`
}

// The kinds of profile, and when perf is used.
const (
	CPU    = "cpu"
	Heap   = "heap"
	Allocs = "allocs"
	Mutex  = "mutex"
	Block  = "block"

	PerfAuto = "auto" // if there is perf and no pprof
	PerfOn   = "on"
	PerfOff  = "off"
)

// A Profile is taken in trials of its own, after the measured rounds.
type Profile struct {
	CPU       Duration `json:"cpu"` // how long
	Kinds     []string `json:"kinds" one:"cpu,heap,allocs,mutex,block"`
	Perf      string   `json:"perf" one:"auto,on,off"`
	Functions []string `json:"functions,omitempty"` // functions whose shares are reported
}
