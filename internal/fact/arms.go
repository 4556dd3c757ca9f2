package fact

// The kinds below are of variants that cannot be tested, and of what is not tried with them.

// ArmUnavailable says why a variant cannot be loaded here.
type ArmUnavailable struct {
	Why Unavailable `json:"why"`
}

// An Unavailable is why a variant cannot be loaded.
type Unavailable string

// Why variants cannot be loaded.
const (
	NotThen      Unavailable = "not-then" // when the servers were checked
	OwnKernel    Unavailable = "own-kernel"
	OwnGenerator Unavailable = "own-generator"
)

// Kind is the kind's name.
func (ArmUnavailable) Kind() Kind { return "arm-unavailable" }

// SessionFailed says why the session of a Hurl file failed with one user.
type SessionFailed struct {
	Failures []string      `json:"failures,omitempty"` // the first; none: no response came
	Status   []StatusCount `json:"status,omitempty"`   // of the responses, if that may be why
}

// A StatusCount is how many answers had a status code.
type StatusCount struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
}

// Kind is the kind's name.
func (SessionFailed) Kind() Kind { return "session-failed" }

// ArmMend says what to do about a variant that could not be asked, or whose answers differ.
type ArmMend struct {
	By      Mend     `json:"by"`
	At      string   `json:"at,omitempty"`      // the address at which it listens
	File    string   `json:"file,omitempty"`    // of the session, or the server's output
	Aspects []string `json:"aspects,omitempty"` // which to allow, and all that are allowed then
	Allowed []string `json:"allowed,omitempty"`
}

// A Mend is what to do.
type Mend string

// What to do about a variant.
const (
	ListenThere Mend = "listen-there" // where dyno wants it
	StartIt     Mend = "start-it"
	SeeOutput   Mend = "see-output"
	NoOutput    Mend = "no-output" // there is nothing to see
	SeeSession  Mend = "see-session"
	AllowThem   Mend = "allow" // the aspects
	AllowAll    Mend = "allow-all"
)

// Kind is the kind's name.
func (ArmMend) Kind() Kind { return "arm-mend" }

// SettingSkipped says why a setting of the generator was not tried.
type SettingSkipped struct {
	Setting     Tried   `json:"setting"`
	Why         Untried `json:"why"`
	Threads     int     `json:"threads,omitempty"` // that it has
	Connections int     `json:"connections,omitempty"`
}

// A Tried is a setting of the generator.
type Tried string

// The settings of the generator that are tried.
const (
	HalfThreads   Tried = "half-threads"
	DoubleThreads Tried = "double-threads"
	OtherRing     Tried = "ring"
	WithWrk       Tried = "wrk"
)

// An Untried is why a setting was not tried.
type Untried string

// Why settings are not tried.
const (
	ForConnections Untried = "connections" // their number
	RingUnknown    Untried = "unknown"
	RingOnly       Untried = "only" // there is no other
	NotInstalled   Untried = "not-installed"
	NoServed       Untried = "no-served"
	NoSuchLoad     Untried = "no-such-load"
	MoreThanGET    Untried = "more-than-get"
	OfThisMachine  Untried = "of-this-machine"
)

// Kind is the kind's name.
func (SettingSkipped) Kind() Kind { return "setting-skipped" }

// CPUInBoth says that the file gives a CPU to the generator and to the servers.
type CPUInBoth struct {
	CPU int `json:"cpu"`
}

// Kind is the kind's name.
func (CPUInBoth) Kind() Kind { return "cpu-in-both" }
