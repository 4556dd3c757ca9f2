package fact

// NotCompared says how many of an experiment's variants can be compared, and why the others cannot.
type NotCompared struct {
	Comparable int             `json:"comparable"`
	Variants   int             `json:"variants"`
	NotTested  []NotTested     `json:"not_tested,omitempty"`
	Failed     []FailedVariant `json:"failed,omitempty"`
	Unpaired   bool            `json:"unpaired,omitempty"` // no two measured anything in one round
}

// A NotTested is a variant that was not loaded: something is missing here, or it was refused.
type NotTested struct {
	Variant string   `json:"variant"`
	Missing []string `json:"missing,omitempty"`
	Why     string   `json:"why,omitempty"`
	Remedy  string   `json:"remedy,omitempty"`
}

// A FailedVariant is one that failed in each of its trials, with the first reason.
type FailedVariant struct {
	Variant string `json:"variant"`
	Trials  int    `json:"trials"`
	Phase   string `json:"phase"`
	Why     string `json:"why"`
}

// Kind is the kind's name.
func (NotCompared) Kind() Kind { return "not-compared" }

// SelfDiffers says that the baseline, measured twice, differs from itself.
type SelfDiffers struct {
	Change
	Before bool `json:"before,omitempty"` // in an experiment that is compared with others
}

// Kind is the kind's name.
func (SelfDiffers) Kind() Kind { return "self-differs" }

// SharedCPUs says that the generator and the servers share CPUs.
type SharedCPUs struct {
	Why string `json:"why"`
}

// Kind is the kind's name.
func (SharedCPUs) Kind() Kind { return "shared-cpus" }

// CellsInSequence says that the trials of a cell ran before those of the next.
type CellsInSequence struct{}

// Kind is the kind's name.
func (CellsInSequence) Kind() Kind { return "cells-in-sequence" }

// ServersKept says that servers were started once for all rounds.
type ServersKept struct{}

// Kind is the kind's name.
func (ServersKept) Kind() Kind { return "servers-kept" }

// FewRounds says that so many rounds cannot decide anything.
type FewRounds struct {
	Rounds int     `json:"rounds"`
	Least  float64 `json:"least_p_percent"`
	Needs  int     `json:"needs"`
}

// Kind is the kind's name.
func (FewRounds) Kind() Kind { return "few-rounds" }

// RoundsAdded says after how many rounds verdicts had been seen before more were run.
type RoundsAdded struct {
	After []int `json:"after"`
}

// Kind is the kind's name.
func (RoundsAdded) Kind() Kind { return "rounds-added" }

// CheaperByQueue says that a variant, at the level at which it queues most, is cheaper than another
// because it has more requests in flight.
type CheaperByQueue struct {
	Than     string  `json:"than"`
	Less     float64 `json:"less_cpu_percent"` // CPU time per request
	InFlight float64 `json:"in_flight_ratio"`
	Low      float64 `json:"low"` // of its 95 % interval
	High     float64 `json:"high"`
}

// Kind is the kind's name.
func (CheaperByQueue) Kind() Kind { return "cheaper-by-queue" }

// GeneratorChoice says how much settings of the generator move a metric of a cell.
type GeneratorChoice struct {
	Metric  string  `json:"metric"`
	Open    Open    `json:"open,omitempty"`    // why that is not known
	Rounds  int     `json:"rounds,omitempty"`  // if they are too few
	Setting string  `json:"setting,omitempty"` // that moves it most; "": none is shown to
	Percent float64 `json:"percent,omitempty"` // by which; never negative
	Low     float64 `json:"low_percent,omitempty"`
	High    float64 `json:"high_percent,omitempty"` // if none is shown to: it may be so much
}

// An Open is why something is not decided; "": it is.
type Open string

// Why something is not decided.
const (
	TooFewRounds Open = "too-few-rounds"
	RoundsDiffer Open = "rounds-differ" // by too much
)

// Kind is the kind's name.
func (GeneratorChoice) Kind() Kind { return "generator-choice" }

// GradeF says that trials are of grade F: those of an experiment, of a variant, or runs of a group.
type GradeF struct {
	Trials int    `json:"trials"`
	Of     int    `json:"of"`
	Why    string `json:"why,omitempty"` // of the first, if they are a variant's or a group's
	// Lasting is set if trials do not count for which the machine is the only reason.
	Lasting bool `json:"lasting,omitempty"`
}

// Kind is the kind's name.
func (GradeF) Kind() Kind { return "grade-f" }

// TrialsLost says that trials that were planned are not stored.
type TrialsLost struct {
	Trials int          `json:"trials"`
	Cells  []CellTrials `json:"cells"`
}

// A CellTrials is a cell with a number of trials.
type CellTrials struct {
	Variant string `json:"variant"`
	Level   string `json:"level"`
	Trials  int    `json:"trials,omitempty"`
}

// Kind is the kind's name.
func (TrialsLost) Kind() Kind { return "trials-lost" }

// ProfilesShared says of which cells the profiles were written to one file.
type ProfilesShared struct {
	Cells []CellTrials `json:"cells"`
}

// Kind is the kind's name.
func (ProfilesShared) Kind() Kind { return "profiles-shared" }

// Miscounted says in how many trials of a variant the server counted other requests than its
// clients, with the numbers of the first.
type Miscounted struct {
	Trials  int   `json:"trials"`
	Of      int   `json:"of"`
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// Kind is the kind's name.
func (Miscounted) Kind() Kind { return "miscounted" }

// MachineBusy says that the machine was busy in too many trials to repeat these.
type MachineBusy struct {
	Trials int `json:"trials"`
	Of     int `json:"of"`
}

// Kind is the kind's name.
func (MachineBusy) Kind() Kind { return "machine-busy" }

// FairnessOff says that nobody looked whether the servers answer alike.
type FairnessOff struct{}

// Kind is the kind's name.
func (FairnessOff) Kind() Kind { return "fairness-off" }

// ServersUnlike says that servers were compared that do not answer alike.
type ServersUnlike struct{}

// Kind is the kind's name.
func (ServersUnlike) Kind() Kind { return "servers-unlike" }

// Unsteady says of which variants a trial never became steady.
type Unsteady struct {
	Variants []string `json:"variants"`
}

// Kind is the kind's name.
func (Unsteady) Kind() Kind { return "unsteady" }

// ProgramChanged says that a program of a variant was replaced between trials.
type ProgramChanged struct {
	Program string `json:"program"`
}

// Kind is the kind's name.
func (ProgramChanged) Kind() Kind { return "program-changed" }

// FrequencyUneven says that the CPUs' frequency differed between trials.
type FrequencyUneven struct {
	LowMHz  float64 `json:"low_mhz"`
	HighMHz float64 `json:"high_mhz"`
}

// Kind is the kind's name.
func (FrequencyUneven) Kind() Kind { return "frequency-uneven" }

// NoiseUnusual says that a pair of the baseline and itself varies by far more or less than in
// earlier runs of the experiment on this machine.
type NoiseUnusual struct {
	Metric string  `json:"metric"`
	Now    float64 `json:"now_percent"`
	Usual  float64 `json:"usual_percent"` // median of the earlier runs
	Others int     `json:"others"`        // earlier runs
}

// Kind is the kind's name.
func (NoiseUnusual) Kind() Kind { return "noise-unusual" }

// Told is a caution of an older dyno, which stored it as a text alone.
type Told struct {
	Text string `json:"text"`
}

// Kind is the kind's name.
func (Told) Kind() Kind { return "told" }

// WeakDesign says what a design, which was not yet run, cannot show, or with which limits.
type WeakDesign struct {
	By       Weakness `json:"by"`
	Rounds   int      `json:"rounds,omitempty"`
	Baseline string   `json:"baseline,omitempty"`
	GivenS   float64  `json:"given_s,omitempty"` // the window, or the budget
	NeedsS   float64  `json:"needs_s,omitempty"` // which that should be, at least
}

// A Weakness is what makes a design weak.
type Weakness string

// What makes a design weak.
const (
	InSequence  Weakness = "sequential"
	NoControl   Weakness = "no-control"
	NotIsolated Weakness = "not-isolated"
	ShortProbes Weakness = "short-probes" // of a search
	CPUShared   Weakness = "cpu-shared"
	OnlyOne     Weakness = "only-one" // variant
	SmallBudget Weakness = "small-budget"
)

// Kind is the kind's name.
func (WeakDesign) Kind() Kind { return "weak-design" }
