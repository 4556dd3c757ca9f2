package fact

// The kinds below say why a gate is not decided, or not for all that is compared. The scope of each
// is the variant.

// A Change is by how much a metric of a variant differs from that of its baseline.
type Change struct {
	Metric string  `json:"metric"`
	Ratio  float64 `json:"ratio"`
	Low    float64 `json:"low"` // of its 95 % interval
	High   float64 `json:"high"`
	Bound  string  `json:"bound,omitempty"`       // what is known of it: digits.Bound
	Alone  bool    `json:"no_interval,omitempty"` // there are too few rounds, or runs, for one
}

// Worse says that a variant is worse than its baseline, or seems to be.
type Worse struct {
	Change
	Unshown Unshown `json:"not_shown,omitempty"`
}

// An Unshown is what does not show that a variant is worse; "": it is shown.
type Unshown string

// What does not show that a variant is worse.
const (
	ByTrials      Unshown = "trials"       // too many are unreliable, or spoiled by the baseline
	ByMachine     Unshown = "machine"      // on which the baseline differs from itself
	BySecondBatch Unshown = "second-batch" // of trials, which was to confirm the first
)

// Kind is the kind's name.
func (Worse) Kind() Kind { return "worse" }

// LeftOpen says that an interval excludes too little for a verdict.
type LeftOpen struct {
	Change
	More   int  `json:"more,omitempty"`   // rounds, or runs of each, that would decide it, about
	Beyond bool `json:"beyond,omitempty"` // not even More would
	Apart  bool `json:"apart,omitempty"`  // they are runs, which were measured apart
}

// Kind is the kind's name.
func (LeftOpen) Kind() Kind { return "left-open" }

// MayHide says why metrics of a variant may hide that it is worse.
type MayHide struct {
	Metrics []string `json:"metrics"`
	By      Hiding   `json:"by"`
	Count   int      `json:"count,omitempty"` // of rounds, pairs or runs in which that was so
	// Against are the runs of the baseline, if they were measured apart; else these are pairs.
	Against int `json:"against,omitempty"`
}

// A Hiding is what may hide a difference.
type Hiding string

// What may hide a difference.
const (
	Unmeasured  Hiding = "unmeasured"
	TooFew      Hiding = "too-few"     // pairs or runs, for an interval
	ValueLacks  Hiding = "value-lacks" // in a round, or of a run
	AtItsLimit  Hiding = "at-its-limit"
	HeldUp      Hiding = "held-up" // the generator, as above
	AnotherLoad Hiding = "another-load"
)

// Kind is the kind's name.
func (MayHide) Kind() Kind { return "may-hide" }

// TrialsUnreliable says how many trials are of grade F, without those that failed, or that a server
// spoiled.
type TrialsUnreliable struct {
	Trials     int `json:"trials"`
	Unreliable int `json:"unreliable"`
}

// Kind is the kind's name.
func (TrialsUnreliable) Kind() Kind { return "trials-unreliable" }
