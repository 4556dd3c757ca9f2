package lab

import (
	"slices"
	"time"

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

// A Grade is what a trial is worth: A without a doubt, B with one that the
// reader must know, F not to be relied on.
type Grade string

// The grades.
const (
	GradeA Grade = "A"
	GradeB Grade = "B"
	GradeF Grade = "F"
)

// A Reason is why a trial is not of grade A.
type Reason struct {
	Grade Grade  `json:"grade"`
	Says  string `json:"says"`
	// Passing reasons lie in the machine, not in the server: the trial may come
	// out better when it is run again.
	Passing bool `json:"passing,omitempty"`
}

// Served is what a server counted of a load, beside the requests that all its clients sent
// together, each once. Of both it is the whole load, from before the window to after it.
type Served struct {
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// Agreement is what servers and clients counted of all loads of an experiment of which both are
// known.
type Agreement struct {
	Trials  int   `json:"trials"`
	Alike   int   `json:"alike"` // of them: to the request
	Off     int   `json:"off"`   // and by more than what failed or was sent again
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// A Transient is what MSER-5 finds at the beginning of the measured window. It is said and
// never cut: the trial's figures are those of the whole window.
type Transient struct {
	CutS    float64 `json:"cut_s"`   // of the window, that it would leave out; 0: nothing
	Settled bool    `json:"settled"` // false: half of the window or more
	Change  float64 `json:"change"`  // by which share throughput would be higher, without
	// Errors is how far what it would leave out lies below the rest, in standard errors.
	Errors float64 `json:"standard_errors"`
}

// The window is called not warm when what MSER-5 would leave out lowers throughput by more than
// this share, half the margin that counts by default, and lies so many standard errors below
// the rest. Of ten seconds of pure noise MSER-5 alone cuts some in half of all trials; with
// both, at a noise of 2 %, in 1 to 2 %, while two seconds that are 10 % slow are found in nine
// of ten (a test counts both).
const (
	transientShare  = 0.01
	transientErrors = 3
)

// IsCold reports whether the window still contains warm-up.
func (c *Transient) IsCold() bool {
	return c != nil && c.Change > transientShare && c.Errors > transientErrors
}

// Rates is the throughput of each second of the window.
func (t *Trial) Rates() (all []float64) {
	last := 0.0
	for _, p := range t.Result.Series {
		if length := p.T - last; length > 0.9 && t.isInWindow(p) {
			all = append(all, float64(p.Completed)/length)
		}
		last = p.T
	}
	return all
}

// isInWindow reports whether a point of the series lies in the window, and not after it.
func (t *Trial) isInWindow(p result.Point) bool { return p.T <= t.Result.Window.MeasuredS+0.01 }

// CountInWindow are the answers that came in the window, errors too, as far as the series tells,
// and the bytes received meanwhile. Answers of the result has those that came after it, too, and
// Bytes has not.
func (t *Trial) CountInWindow() (answers, received int64) {
	for _, p := range t.Result.Series {
		if t.isInWindow(p) {
			answers += p.Answers()
			received += p.Received
		}
	}
	return answers, received
}

// FirstReason is the first reason of a kind.
func (t *Trial) FirstReason(kind func(Reason) bool) string {
	i := slices.IndexFunc(t.Reasons, kind)
	if i < 0 {
		return "no reason is stored"
	}
	return t.Reasons[i].Says
}

// SpoiledByMachine reports whether all that makes a trial an F lies in the machine.
func (t *Trial) SpoiledByMachine() bool {
	return t.Grade == GradeF && !slices.ContainsFunc(t.Reasons, func(why Reason) bool {
		return why.Grade == GradeF && !why.Passing
	})
}

// Summary is the trial as a record lists it.
func (t *Trial) Summary() TrialSummary {
	b := TrialSummary{ID: t.ID, Slot: t.Slot, Attempt: t.Attempt, Started: t.Started, Grade: t.Grade,
		Reasons: t.Reasons, Served: t.Served, Failure: t.Failure, Values: map[string]float64{}}
	for _, m := range Measures {
		if v, ok := m.Value(t); ok {
			b.Values[m.Name] = v
		}
	}
	return b
}
