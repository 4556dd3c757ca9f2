package lab

import (
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// TrialFormat is what every trial says of itself.
const TrialFormat = "dyno.trial/1"

// A Trial is what one trial measured, or how it failed: a file of its own that
// is written once. The trial is the statistical unit.
type Trial struct {
	Format  string `json:"format"`
	ID      string `json:"id"`
	Attempt int    `json:"attempt"` // 2: again, after a grade of F that was not the server's
	Slot
	Started time.Time `json:"started"`
	TookS   float64   `json:"took_s"`

	Failure *Failure       `json:"failure,omitempty"` // absent: it was measured
	ReadyS  float64        `json:"ready_s,omitempty"` // from the start to the first right answer
	Warmup  *Warmup        `json:"warmup,omitempty"`
	Result  *result.Result `json:"result,omitempty"`
	Wire    float64        `json:"wire_bytes,omitempty"` // of an answer, as it was checked before
	Served  *Served        `json:"served,omitempty"`     // absent: the server does not tell

	Meanwhile  *probe.Recording      `json:"meanwhile,omitempty"` // in the file only: it is large
	Changed    []fairness.Difference `json:"changed,omitempty"`   // of the answers, by the load
	Steadiness stats.Steadiness      `json:"steadiness,omitempty"`
	Transient  *Transient            `json:"transient,omitempty"` // absent: too few seconds to say
	Programs   []Program             `json:"programs,omitempty"`  // that the server's processes were
	Killed     []string              `json:"killed,omitempty"`    // did not stop when told to
	Objectives []result.Outcome      `json:"objectives,omitempty"`
	Grade      Grade                 `json:"grade"`
	Reasons    []Reason              `json:"reasons,omitempty"`

	kept load.Plan // of the result, as it is stored
}

// A Failure is why a trial measured nothing: a result too, and never a fault of
// the laboratory.
type Failure struct {
	Phase   string `json:"phase"` // start, verify, warm or measure
	Process string `json:"process,omitempty"`
	Reason  string `json:"reason"`
	Output  string `json:"output,omitempty"` // the process's last lines
}

// A Warmup is the load before the measuring.
type Warmup struct {
	TookS  float64   `json:"took_s"`
	Steady Answer    `json:"steady,omitempty"`
	CoV    float64   `json:"cov,omitempty"`   // of the last seconds' throughput, if there was one
	Rates  []float64 `json:"rates,omitempty"` // completed, each second
}

// An Answer to a question that may have none.
type Answer string

// The answers.
const (
	Unknown Answer = ""
	Yes     Answer = "yes"
	No      Answer = "no"
)
