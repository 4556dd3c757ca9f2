package fact

// The kinds below say why a trial of an experiment is in doubt.

// TrialFailed says that a trial measured nothing.
type TrialFailed struct {
	Phase string `json:"phase"`
	Why   string `json:"why"`
}

// Kind is the kind's name.
func (TrialFailed) Kind() Kind { return "trial-failed" }

// A MachineEvent says how often something happened on the machine in a window.
type MachineEvent struct {
	Of    Event `json:"of"`
	Count int64 `json:"count"`
}

// An Event is what the system counts.
type Event string

// What the system counts.
const (
	QueueFull     Event = "queue-full"     // a connection was dropped by a listener
	PacketDropped Event = "packet-dropped" // by the kernel
	SegmentResent Event = "segment-resent" // of TCP
	SlowedByHeat  Event = "slowed-by-heat" // a CPU
)

// Kind is the kind's name.
func (MachineEvent) Kind() Kind { return "machine-event" }

// A MachineShare says of how much of a window, or of the CPUs' time in it, something deprived the
// trial.
type MachineShare struct {
	By      Deprived `json:"by"`
	Percent float64  `json:"percent"`
	Periods int64    `json:"periods,omitempty"` // of the quota, in which it was used up
}

// A Deprived is what deprived a trial.
type Deprived string

// What may deprive a trial.
const (
	ByHost   Deprived = "host"   // of virtual machines
	ByOthers Deprived = "others" // other programs, which took so much at least
	ByQuota  Deprived = "quota"  // of the cgroup
	ByMemory Deprived = "memory" // tasks waited for it
)

// Kind is the kind's name.
func (MachineShare) Kind() Kind { return "machine-share" }

// AnswersLacking says how many requests had no answer, or a wrong one.
type AnswersLacking struct {
	Failed     int64         `json:"failed"`
	Sent       int64         `json:"sent"`
	Unanswered int64         `json:"unanswered"` // at the end
	Checks     []CheckFailed `json:"checks,omitempty"`
}

// A CheckFailed is a check that answers did not pass.
type CheckFailed struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Kind is the kind's name.
func (AnswersLacking) Kind() Kind { return "answers-lacking" }

// AnswerChanged says that the server answered otherwise after a load than before it.
type AnswerChanged struct {
	Aspect string `json:"aspect"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Kind is the kind's name.
func (AnswerChanged) Kind() Kind { return "answer-changed" }

// SizeDiffers says that answers of a load had another size than the one that was checked.
type SizeDiffers struct {
	Bytes   float64 `json:"bytes"` // of an answer, on average
	Checked float64 `json:"checked_bytes"`
}

// Kind is the kind's name.
func (SizeDiffers) Kind() Kind { return "size-differs" }

// SentInTime says how much of what an open workload had due was sent in time, and why no more.
type SentInTime struct {
	Percent    float64 `json:"percent"`
	Iterations bool    `json:"iterations,omitempty"` // are what is counted, not requests
	OwnDelay   bool    `json:"own_delay,omitempty"`  // the generator was late
	Shortage
}

// Kind is the kind's name.
func (SentInTime) Kind() Kind { return "sent-in-time" }

// NotSteady says that a trial did not become steady in its warm-up.
type NotSteady struct {
	WarmupS float64 `json:"warmup_s"`
	Varied  float64 `json:"varied_percent,omitempty"` // throughput; 0: it is not known
}

// Kind is the kind's name.
func (NotSteady) Kind() Kind { return "not-steady" }

// SecondsShow says what the seconds of a trial show.
type SecondsShow struct {
	What string `json:"what"` // a stats.Steadiness
}

// Kind is the kind's name.
func (SecondsShow) Kind() Kind { return "seconds-show" }

// ColdWindow says that a window began before the warm-up had ended.
type ColdWindow struct {
	CutS   float64 `json:"cut_s"`
	Higher float64 `json:"higher_percent"` // throughput, without that
}

// Kind is the kind's name.
func (ColdWindow) Kind() Kind { return "cold-window" }

// LoadLacking says how much of a closed workload could not be applied.
type LoadLacking struct {
	Percent float64 `json:"percent"`
}

// Kind is the kind's name.
func (LoadLacking) Kind() Kind { return "load-lacking" }

// ConnectionsLacking says that connections took no part in a load.
type ConnectionsLacking struct {
	Missing  int64 `json:"missing"`
	Of       int64 `json:"of"`
	Unopened bool  `json:"unopened,omitempty"` // else: they never completed a request
}

// Kind is the kind's name.
func (ConnectionsLacking) Kind() Kind { return "connections-lacking" }

// CountsDiffer says that a server counted other requests than its clients sent.
type CountsDiffer struct {
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// Kind is the kind's name.
func (CountsDiffer) Kind() Kind { return "counts-differ" }

// ServerKilled says that a process of a server did not stop when it was asked to.
type ServerKilled struct {
	Process string `json:"process"`
}

// Kind is the kind's name.
func (ServerKilled) Kind() Kind { return "server-killed" }

// IsOfTrial reports whether arguments are those of a doubt about a trial. The others that a trial
// has are doubts of its generator about itself.
func IsOfTrial(a Args) bool {
	switch a.(type) {
	case TrialFailed, MachineEvent, MachineShare, AnswersLacking, RequestsRefused, AnswerChanged,
		SizeDiffers, SentInTime, NotSteady, SecondsShow, ColdWindow, LoadLacking, ConnectionsLacking,
		CountsDiffer, ServerKilled:
		return true
	}
	return false
}
