// Package lab holds the records of an experiment: Record, which is all of it, Trial, which is what
// one trial measured, and what both consist of. Folder reads and writes them.
//
// Package lab/run makes trials, package lab/judge computes what they say; both fill in records, and
// who shows an experiment needs nothing else. JSON keys and names of files are what others rely on:
// a key once released is never renamed.
//
//	advice.go        noise of earlier experiments
//	comparison.go    a Comparison: ratio, interval, verdict; a Rank, a Shift
//	environment.go   facts of the machine, as a result has them; how busy it is
//	frontier.go      CPU against latency at rising rates
//	halfnormal.go    effects of a screening, for its half-normal plot
//	imported.go      experiments that others wrote
//	lock_unix.go     one writer per folder; lock_other.go
//	measure.go       the measures of a trial: Measures
//	memoryunit.go    memory of old records
//	names.go         names of files, arms and the control
//	order.go         the random order of a round's trials; keys of trials and cells
//	program.go       which program ran
//	read.go          reads records and trials, older ones too; the heading alone
//	record.go        a Record and its parts: state, arms, cells, profiles, the outcome of a gate
//	routes.go        what a result has of a route's streams, and its goodput
//	search.go        a trial's search for a rate
//	sensitivity.go   trials with other settings of the generator
//	store.go         the folder: create, lock, write, read
//	streams.go       what a trial measured of streams of events, and goodput
//	summary.go       counts of a record: rounds, cells that were loaded, objectives that were
//	                 missed
//	tail.go          measures that are high percentiles
//	trial.go         a Trial: grade, reasons; does its window contain warm-up?
package lab

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"dyno/internal/fact"
	"dyno/internal/fairness"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
	"dyno/internal/stats"
)

// ExperimentFormat is the format of a record of an experiment.
const ExperimentFormat = "dyno.experiment/1"

// A Record is an experiment that was run: what it was, and what its trials show. Dyno can compute
// all of it again from the trials. In JSON the parts are one object, with the keys in this order.
type Record struct {
	Format string `json:"format"`
	Progress
	Definition
	Setup
	Preparation
	Findings
}

// A Progress is which dyno ran an experiment, with which seed, and how far it came.
type Progress struct {
	Dyno     string    `json:"dyno"` // version that ran it
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Sessions int       `json:"sessions,omitempty"` // 1 and its resumptions; 0: an older dyno
	WorkedS  float64   `json:"worked_s,omitempty"` // in all sessions; 0: not known
	Seed     int64     `json:"seed"`
	Quick    bool      `json:"quick,omitempty"`
	Rounds   int       `json:"rounds,omitempty"` // by --rounds; 0: as the file says

	// Looks are the numbers of rounds after which verdicts were shown before somebody asked for more
	// rounds than were planned. Each is one more chance to find a difference that does not exist.
	Looks []int `json:"looks,omitempty"`
}

// A Definition is the experiment's file, and where it and the record lie.
type Definition struct {
	File       string                 `json:"file,omitempty"` // "": it ships inside dyno
	Here       string                 `json:"here,omitempty"` // absolute path of the file's folder
	Dir        string                 `json:"-"`              // folder that the record was read from
	SHA256     string                 `json:"sha256"`         // of the file
	Plan       json.RawMessage        `json:"experiment"`     // as it was read, with its defaults
	Experiment *experiment.Experiment `json:"-"`              // the same; judge.Open reads it
}

// A Setup is the machines of an experiment, and how its CPUs are divided.
type Setup struct {
	Host    result.Host  `json:"host"`
	Machine []Fact       `json:"machine"` // what else of the machine may matter
	CPUs    server.Split `json:"cpus"`
	Fleet   *Fleet       `json:"fleet,omitempty"` // absent: this machine makes the loads
}

// A Preparation is what was found out before the trials, and of the servers while they ran.
type Preparation struct {
	Shown    bool            `json:"secrets_shown,omitempty"` // by --show-secrets
	Checked  bool            `json:"checked"`                 // built, compared, ceilings measured
	Arms     []Arm           `json:"arms"`
	Fairness *fairness.Table `json:"fairness,omitempty"`
	Ceilings []Ceiling       `json:"ceilings,omitempty"`
	Chosen   *ChosenRates    `json:"chosen_rates,omitempty"`    // absent: no level has a share
	Sampler  *float64        `json:"sampler_percent,omitempty"` // of a core, for the probes
	Programs []ArmProgram    `json:"programs,omitempty"`        // that the servers executed
	Served   *Agreement      `json:"served,omitempty"`          // absent: no server counts
	Scenario *Scenario       `json:"scenario,omitempty"`        // absent: one request, without data
}

// A Scenario is how large the files of a workload are: a session, and the data for its holes.
type Scenario struct {
	Steps int `json:"steps,omitempty"` // requests of an iteration; 0: an iteration is one request
	Rows  int `json:"rows,omitempty"`  // of the data; 0: there is none
}

// Findings are what the trials show. Package judge computes them.
type Findings struct {
	Verdicts   []Comparison      `json:"verdicts"`
	Shifts     []Shift           `json:"shifts,omitempty"` // of latency, where it was measured
	Ranks      []Rank            `json:"ranks"`
	Cells      []Cell            `json:"cells"`
	Parts      []ProcessUse      `json:"parts,omitempty"`
	SpentS     float64           `json:"spent_s"` // in trials
	Objectives []ObjectiveCount  `json:"objectives,omitempty"`
	Trials     []TrialSummary    `json:"trials"`           // in the order in which they ran
	Advice     *Advice           `json:"advice,omitempty"` // absent: too few trials
	Noise      []Noise           `json:"noise,omitempty"`  // compared with earlier runs
	Profiles   []TakenProfile    `json:"profiles,omitempty"`
	Published  []PublishedFigure `json:"published,omitempty"`
	Gate       *GateOutcome      `json:"gate,omitempty"`
	Frontier   *Frontier         `json:"frontier,omitempty"`    // absent: too few open levels
	Sensitive  *Sensitivity      `json:"sensitivity,omitempty"` // absent: it was not asked for
	Cautions   []string          `json:"cautions"`              // what a reader must know first
	Facts      []fact.Fact       `json:"facts,omitempty"`       // likewise
}

// A State is how far an experiment has come.
type State string

// The states.
const (
	Running     State = "running" // or it was killed
	Complete    State = "complete"
	OverBudget  State = "budget"      // its time budget was used up
	Interrupted State = "interrupted" // --resume continues it
	Failed      State = "failed"      // something could not be stored
)

// A Fleet is the machines that make an experiment's loads, and how to reach them. It contains all
// that is needed to resume the experiment, and no secret.
type Fleet struct {
	Agents      []string `json:"agents"` // their names
	OnAgentLoss string   `json:"on_agent_loss,omitempty"`
	Loose       bool     `json:"loose_start,omitempty"`
	NATS        string   `json:"nats,omitempty"`    // URL of the bus; absent: this machine's hub
	Creds       string   `json:"creds,omitempty"`   // path of the file
	CACert      string   `json:"nats_ca,omitempty"` // likewise
}

// String describes who makes the loads.
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

// An Arm is a variant that takes part in an experiment.
type Arm struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	Control     bool             `json:"control,omitempty"`  // the baseline a second time (A/A)
	Baseline    string           `json:"baseline,omitempty"` // the arm it is compared with
	Missing     []string         `json:"missing,omitempty"`  // why it is not available here
	Unfit       string           `json:"unfit,omitempty"`    // why it was not tested
	Remedy      string           `json:"remedy,omitempty"`   // what can be done about it
	LeftOut     bool             `json:"left_out,omitempty"` // by --quick
	Version     string           `json:"version,omitempty"`  // as the file's command printed it
	Answer      *fairness.Answer `json:"answer,omitempty"`
}

// A Ceiling is what the generator reaches on this machine against a server that does almost
// nothing. Throughput near a ceiling shows the generator's limit, not the server's.
type Ceiling struct {
	Level      string  `json:"level"`
	Throughput float64 `json:"throughput"` // req/s
}

// ChosenRates are the rates of levels that the file gives as shares of the smallest capacity, which
// is that of Arm.
type ChosenRates struct {
	Arm      string             `json:"arm"`
	Capacity float64            `json:"capacity_per_s"` // of a closed workload on as many connections
	Rates    map[string]float64 `json:"rates_per_s"`    // by level
}

// A Cell is an arm at a level: the median of its trials for one measure.
type Cell struct {
	Arm    string         `json:"arm"`
	Level  string         `json:"level"`
	Metric string         `json:"metric"`
	Unit   string         `json:"unit"`
	Median stats.Interval `json:"median"`
	Trials int            `json:"trials"`
	Over   bool           `json:"over,omitempty"`            // the median is only known to be higher
	Pooled int64          `json:"pooled_requests,omitempty"` // as in Comparison: Median is of all
}

// A ProcessUse is what a process of a variant's server used at a level, as medians of the trials.
type ProcessUse struct {
	Arm     string      `json:"arm"`
	Level   string      `json:"level"`
	Name    string      `json:"name"` // "": the sum of all
	CPU     probe.Value `json:"cpu_us_per_request"`
	User    probe.Value `json:"user_us_per_request"`
	System  probe.Value `json:"system_us_per_request"`
	Percent probe.Value `json:"cpu_percent"` // of one core
	Memory  probe.Value `json:"memory_bytes"`
}

// An ObjectiveCount is in how many of an arm's trials at a level an objective was met.
type ObjectiveCount struct {
	Expr   string `json:"expr"`
	Arm    string `json:"arm"`
	Level  string `json:"level"`
	Met    int    `json:"met"`
	Trials int    `json:"trials"`

	// Undecided says that the objective was met in all trials that tell. Open is how one of the others
	// came out, if it is undecided itself; nil: the machine spoiled too many of them.
	Undecided bool            `json:"undecided,omitempty"`
	Open      *result.Outcome `json:"open,omitempty"`
}

// IsMissed reports whether an objective was not met in every trial.
func (o ObjectiveCount) IsMissed() bool { return !o.Undecided && o.Met < o.Trials }

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
	Over    []string           `json:"over,omitempty"`   // Values that are only known to be higher
	Failure *Failure           `json:"failure,omitempty"`
}

// A TakenProfile is a profile in a file of the experiment's folder.
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

// A PublishedFigure compares a published figure with ours, both as ratios to the baseline.
type PublishedFigure struct {
	experiment.Figure
	Ours      *float64 `json:"ours,omitempty"` // median
	Ratio     *float64 `json:"ratio,omitempty"`
	OursRatio *float64 `json:"ours_ratio,omitempty"`
}

// A GateOutcome is the outcome of a gate, from which the exit code follows.
type GateOutcome struct {
	Verdict   string       `json:"verdict"` // passed, regression or inconclusive
	Missed    []Comparison `json:"missed,omitempty"`
	Confirmed bool         `json:"confirmed,omitempty"` // a second batch showed the same
	Why       string       `json:"why,omitempty"`       // in one line
	Open      []string     `json:"open,omitempty"`      // the items of Why; none in files from before
	Facts     []fact.Fact  `json:"facts,omitempty"`     // of Open; likewise
}

// CountSharing is how many of the profiles have the same file as t.
func CountSharing(all []TakenProfile, t TakenProfile) (n int) {
	for _, o := range all {
		if o.File == t.File {
			n++
		}
	}
	return n
}
