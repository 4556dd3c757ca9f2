// Package lab holds the records of an experiment: Record, which is all of it, Trial, which is what
// one trial measured, and what both consist of. Folder reads and writes them.
//
// Package lab/run makes trials, package lab/judge computes what they say; both fill in records, and
// who shows an experiment needs nothing else. JSON keys and names of files are what others rely on:
// a key once released is never renamed.
package lab

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/stats"
)

// ExperimentFormat is what every record of an experiment says of itself.
const ExperimentFormat = "dyno.experiment/1"

// A Record is an experiment that was run: what it was, and what its trials allow
// one to say. All of it can be computed again from the trials.
type Record struct {
	Format     string                 `json:"format"`
	Dyno       string                 `json:"dyno"` // version that ran it
	Name       string                 `json:"name"`
	State      State                  `json:"state"`
	Started    time.Time              `json:"started"`
	Ended      time.Time              `json:"ended,omitzero"`
	Sessions   int                    `json:"sessions,omitempty"` // 1 and its resumptions; 0: older
	WorkedS    float64                `json:"worked_s,omitempty"` // in all of them; 0: not known
	Seed       int64                  `json:"seed"`
	Quick      bool                   `json:"quick,omitempty"`
	File       string                 `json:"file,omitempty"` // "": it ships inside dyno
	Here       string                 `json:"here,omitempty"`
	Dir        string                 `json:"-"`          // its folder, of one that was read
	SHA256     string                 `json:"sha256"`     // of the file
	Plan       json.RawMessage        `json:"experiment"` // as it was read, with its defaults
	Experiment *experiment.Experiment `json:"-"`          // the same; Open reads it from the file
	Host       result.Host            `json:"host"`
	Machine    []Fact                 `json:"machine"` // what else of it may matter
	CPUs       server.Split           `json:"cpus"`
	Fleet      *Fleet                 `json:"fleet,omitempty"` // absent: this machine makes the loads

	Shown    bool            `json:"secrets_shown,omitempty"` // by --show-secrets
	Checked  bool            `json:"checked"`                 // built, asked, and ceilings measured
	Arms     []Arm           `json:"arms"`
	Fairness *fairness.Table `json:"fairness,omitempty"`
	Ceilings []Ceiling       `json:"ceilings,omitempty"`
	Sampler  *float64        `json:"sampler_percent,omitempty"` // of a core, to watch
	Programs []ArmProgram    `json:"programs,omitempty"`        // that the servers were
	Served   *Agreement      `json:"served,omitempty"`          // absent: no server tells

	Verdicts   []Comparison      `json:"verdicts"`
	Shifts     []Shift           `json:"shifts,omitempty"` // of latency, where it was measured
	Ranks      []Rank            `json:"ranks"`
	Cells      []Cell            `json:"cells"`
	Parts      []ProcessUse      `json:"parts,omitempty"`
	SpentS     float64           `json:"spent_s"` // in trials
	Objectives []ObjectiveCount  `json:"objectives,omitempty"`
	Trials     []TrialSummary    `json:"trials"`           // in the order in which they ran
	Advice     *Advice           `json:"advice,omitempty"` // absent: too little to say
	Noise      []Noise           `json:"noise,omitempty"`  // beside that of earlier runs
	Profiles   []TakenProfile    `json:"profiles,omitempty"`
	Published  []PublishedFigure `json:"published,omitempty"`
	Gate       *GateOutcome      `json:"gate,omitempty"`
	Cautions   []string          `json:"cautions"` // what a reader must know before all else
}

// A State is how far an experiment has come.
type State string

// The states.
const (
	Running     State = "running" // or its end was never written
	Complete    State = "complete"
	OverBudget  State = "budget"      // the time it was given was over
	Interrupted State = "interrupted" // --resume goes on
	Failed      State = "failed"      // something could not be stored
)

// A Fleet is the machines that make an experiment's loads, and how they are found: what it
// takes to go on with them, and no secret.
type Fleet struct {
	Agents      []string `json:"agents"` // their names
	OnAgentLoss string   `json:"on_agent_loss,omitempty"`
	Loose       bool     `json:"loose_start,omitempty"`
	NATS        string   `json:"nats,omitempty"`    // URL of the bus; absent: this machine's hub
	Creds       string   `json:"creds,omitempty"`   // path of the file
	CACert      string   `json:"nats_ca,omitempty"` // likewise
}

// String says who makes the loads.
func (f *Fleet) String() string {
	if f == nil {
		return "this machine"
	}
	return "agent " + strings.Join(slices.Sorted(slices.Values(f.Agents)), ", agent ")
}

// A Fact is a property of the machine.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Arm is a variant as it takes part.
type Arm struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	Control     bool             `json:"control,omitempty"`  // the baseline a second time
	Baseline    string           `json:"baseline,omitempty"` // the arm it is compared with
	Missing     []string         `json:"missing,omitempty"`  // why it is not available here
	Unfit       string           `json:"unfit,omitempty"`    // why it was not loaded
	Remedy      string           `json:"remedy,omitempty"`   // what can be done about it
	LeftOut     bool             `json:"left_out,omitempty"` // by --quick
	Version     string           `json:"version,omitempty"`  // as the command in the file says
	Answer      *fairness.Answer `json:"answer,omitempty"`
}

// A Ceiling is what the generator reaches on this machine against a server that
// does next to nothing: what comes near it is the generator's and not a server's.
type Ceiling struct {
	Level      string  `json:"level"`
	Throughput float64 `json:"throughput"` // req/s
}

// A Cell is a variant at a level: the median of its trials by each measure.
type Cell struct {
	Arm    string         `json:"arm"`
	Level  string         `json:"level"`
	Metric string         `json:"metric"`
	Unit   string         `json:"unit"`
	Median stats.Interval `json:"median"`
	Trials int            `json:"trials"`
}

// A ProcessUse is what a process of a variant's server used at a level: medians of the
// trials.
type ProcessUse struct {
	Arm     string      `json:"arm"`
	Level   string      `json:"level"`
	Name    string      `json:"name"` // "" of all together
	CPU     probe.Value `json:"cpu_us_per_request"`
	User    probe.Value `json:"user_us_per_request"`
	System  probe.Value `json:"system_us_per_request"`
	Percent probe.Value `json:"cpu_percent"` // of one core
	Memory  probe.Value `json:"memory_bytes"`
}

// A ObjectiveCount objective is in how many of an arm's trials at a level it was met.
type ObjectiveCount struct {
	Expr   string `json:"expr"`
	Arm    string `json:"arm"`
	Level  string `json:"level"`
	Met    int    `json:"met"`
	Trials int    `json:"trials"`
}

// A TrialSummary is a trial in a list.
type TrialSummary struct {
	ID string `json:"id"`
	Slot
	Attempt int                `json:"attempt"`
	Started time.Time          `json:"started"`
	Grade   Grade              `json:"grade"`
	Reasons []Reason           `json:"reasons,omitempty"`
	Served  *Served            `json:"served,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"` // by measure
	Failure *Failure           `json:"failure,omitempty"`
}

// A TakenProfile profile lies in a file of the experiment's folder.
type TakenProfile struct {
	Arm       string                  `json:"arm"`
	Level     string                  `json:"level"`
	Kind      string                  `json:"kind"`
	By        string                  `json:"by"` // pprof or perf
	File      string                  `json:"file,omitempty"`
	Problem   string                  `json:"problem,omitempty"`  // why there is none
	Slowdown  float64                 `json:"slowdown,omitempty"` // of throughput, by it
	Shares    []profile.FunctionShare `json:"shares,omitempty"`
	Top       []profile.Line          `json:"top,omitempty"`
	Different []profile.Delta         `json:"different,omitempty"` // from the baseline's
}

// A PublishedFigure sets a published figure beside ours, both as ratios to the baseline's.
type PublishedFigure struct {
	experiment.Figure
	Ours      *float64 `json:"ours,omitempty"` // median
	Ratio     *float64 `json:"ratio,omitempty"`
	OursRatio *float64 `json:"ours_ratio,omitempty"`
}

// A GateOutcome is what a gate says to whoever waits for an exit code.
type GateOutcome struct {
	Verdict   string       `json:"verdict"` // passed, regression or inconclusive
	Missed    []Comparison `json:"missed,omitempty"`
	Confirmed bool         `json:"confirmed,omitempty"` // a second batch said the same
	Why       string       `json:"why,omitempty"`
}

// CountSharing is how many of the profiles have the file of t.
func CountSharing(all []TakenProfile, t TakenProfile) (n int) {
	for _, o := range all {
		if o.File == t.File {
			n++
		}
	}
	return n
}
