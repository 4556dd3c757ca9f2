package fact

// The kinds below are what a load did otherwise than one would take it to.

// notices are the severities of these kinds.
var notices = map[Kind]Severity{
	FewerThreads{}.Kind(): Note, FewerStreams{}.Kind(): Note, SlowerRing{}.Kind(): Note,
	PortableRing{}.Kind(): Note, FilesRaised{}.Kind(): Note, SourcesSpread{}.Kind(): Note,
	HTTP1Offered{}.Kind(): Note, HTTP3Costs{}.Kind(): Note, SecretsWritten{}.Kind(): Note,
	OwnerAllows{}.Kind(): Note, HTTP3Unanswered{}.Kind(): Warning, ShareLate{}.Kind(): Warning,
	ThreadsLost{}.Kind(): Warning, ConnectionsEnded{}.Kind(): Warning, NearCeiling{}.Kind(): Warning,
	CalibrationUnread{}.Kind(): Warning,
}

// Noticed is the fact of such a kind.
func Noticed(args Args, remedies ...Remedy) Fact {
	return Fact{Severity: notices[args.Kind()], Args: args, Remedies: remedies}
}

// IsNotice reports whether a fact is of such a kind.
func (f Fact) IsNotice() bool { return notices[f.Kind()] != "" }

// FewerThreads says that a load has only as many threads as connections.
type FewerThreads struct {
	Threads int `json:"threads"`
	Asked   int `json:"asked"`
}

// Kind is the kind's name.
func (FewerThreads) Kind() Kind { return "fewer-threads" }

// FewerStreams says that a server allows fewer streams at once on a connection than were asked for.
type FewerStreams struct {
	Streams int `json:"streams"`
	Asked   int `json:"asked"`
}

// Kind is the kind's name.
func (FewerStreams) Kind() Kind { return "fewer-streams" }

// SlowerRing says that the system refused a faster ring.
type SlowerRing struct {
	Ring string `json:"ring"` // that the load is on
	Why  string `json:"why"`
}

// Kind is the kind's name.
func (SlowerRing) Kind() Kind { return "slower-ring" }

// PortableRing says that a load is on the portable ring, because GOMAXPROCS is so low that its
// threads would leave no processor to the rest of the program.
type PortableRing struct {
	Procs   int `json:"gomaxprocs"`
	Threads int `json:"threads"`
}

// Kind is the kind's name.
func (PortableRing) Kind() Kind { return "portable-ring" }

// FilesRaised says that the limit of open files was raised.
type FilesRaised struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Kind is the kind's name.
func (FilesRaised) Kind() Kind { return "files-raised" }

// SourcesSpread says that connections leave from several addresses of this machine.
type SourcesSpread struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Connections int    `json:"connections"`
}

// Kind is the kind's name.
func (SourcesSpread) Kind() Kind { return "sources-spread" }

// HTTP1Offered says that HTTP/2 was not offered to a server, and why.
type HTTP1Offered struct {
	Over    NoHTTP2 `json:"because_of"`
	Request int     `json:"request,omitempty"` // from 1, which HTTP/2 cannot carry
	Why     string  `json:"why,omitempty"`     // it cannot
}

// A NoHTTP2 is why HTTP/2 is not offered.
type NoHTTP2 string

// Why HTTP/2 is not offered.
const (
	NoPipelining NoHTTP2 = "pipeline"
	NoChunks     NoHTTP2 = "chunk-size"
	OldTLS       NoHTTP2 = "tls-max"
	OneRequest   NoHTTP2 = "request"
)

// Kind is the kind's name.
func (HTTP1Offered) Kind() Kind { return "http1-offered" }

// HTTP3Costs says what HTTP/3 costs the generator.
type HTTP3Costs struct{}

// Kind is the kind's name.
func (HTTP3Costs) Kind() Kind { return "http3-costs" }

// HTTP3Unanswered says that nobody answered over UDP.
type HTTP3Unanswered struct{}

// Kind is the kind's name.
func (HTTP3Unanswered) Kind() Kind { return "http3-unanswered" }

// SecretsWritten says that the secrets of TLS sessions were written to a file.
type SecretsWritten struct {
	File string `json:"file"`
}

// Kind is the kind's name.
func (SecretsWritten) Kind() Kind { return "secrets-written" }

// OwnerAllows says that requests that were late or to be sent again waited, because the machine's
// owner allows no higher rate.
type OwnerAllows struct {
	Rate float64 `json:"rate_per_s"`
}

// Kind is the kind's name.
func (OwnerAllows) Kind() Kind { return "owner-allows" }

// ShareLate says that a thread took over another share of the rate only after that was due.
type ShareLate struct{}

// Kind is the kind's name.
func (ShareLate) Kind() Kind { return "share-late" }

// ThreadsLost says that threads lost all their connections and had no answer on new ones.
type ThreadsLost struct {
	Threads int `json:"threads"`
	Of      int `json:"of"`
}

// Kind is the kind's name.
func (ThreadsLost) Kind() Kind { return "threads-lost" }

// ConnectionsEnded says how many connections the server ended with a reason.
type ConnectionsEnded struct {
	Count int64  `json:"count"`
	Why   string `json:"why"`
}

// Kind is the kind's name.
func (ConnectionsEnded) Kind() Kind { return "connections-ended" }

// NearCeiling says how near a load came to what dyno itself reaches on this machine.
type NearCeiling struct {
	Percent     float64 `json:"percent"`
	Ceiling     float64 `json:"ceiling_per_s"`
	Connections int     `json:"connections"`
	Threads     int     `json:"threads"`
	Calibrated  string  `json:"calibrated"` // day
}

// Kind is the kind's name.
func (NearCeiling) Kind() Kind { return "near-ceiling" }

// CalibrationUnread says that the machine's calibration is there and cannot be read.
type CalibrationUnread struct {
	Why string `json:"why"`
}

// Kind is the kind's name.
func (CalibrationUnread) Kind() Kind { return "calibration-unread" }

// The kinds below are of what was to be done beside a load, or with its result.

// ProfileLacking says that there is no profile of the server, or that it is not kept.
type ProfileLacking struct {
	Taken bool   `json:"taken,omitempty"`
	Why   string `json:"why"`
}

// Kind is the kind's name.
func (ProfileLacking) Kind() Kind { return "profile-lacking" }

// ProfileInStep says that a profile was taken under evenly spaced requests, which can keep step
// with the profiler.
type ProfileInStep struct{}

// Kind is the kind's name.
func (ProfileInStep) Kind() Kind { return "profile-in-step" }

// NotWatched says that a server was to be watched and was not.
type NotWatched struct {
	Why string `json:"why"`
}

// Kind is the kind's name.
func (NotWatched) Kind() Kind { return "not-watched" }

// NotStored says that a result is not stored.
type NotStored struct {
	Why string `json:"why"`
}

// Kind is the kind's name.
func (NotStored) Kind() Kind { return "not-stored" }

// PartsApart says that the generators of one load began apart.
type PartsApart struct {
	ApartUS float64 `json:"apart_us"`
}

// Kind is the kind's name.
func (PartsApart) Kind() Kind { return "parts-apart" }

// RoutesUntimed says that the latency of some routes is not known, because a generator could not
// tell another machine that of all.
type RoutesUntimed struct {
	Routes int `json:"routes"`
	Of     int `json:"of"`
}

// Kind is the kind's name.
func (RoutesUntimed) Kind() Kind { return "routes-untimed" }

// IterationsUnknown says that some of the generators of a load did not say what became of their
// iterations.
type IterationsUnknown struct {
	Parts int `json:"parts"`
	Of    int `json:"of"`
}

// Kind is the kind's name.
func (IterationsUnknown) Kind() Kind { return "iterations-unknown" }
