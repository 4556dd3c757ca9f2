package lab

import (
	"slices"
	"time"

	"dyno/internal/fact"
	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// TrialFormat is the format of a stored trial.
const TrialFormat = "dyno.trial/1"

// A Trial is what one trial measured, or how it failed. It is stored once, in a file of its own.
// The trial is the statistical unit.
type Trial struct {
	Format  string `json:"format"`
	ID      string `json:"id"`
	Attempt int    `json:"attempt"` // 2: repeated, after a grade of F that was not the server's fault
	Slot
	Started time.Time `json:"started"`
	TookS   float64   `json:"took_s"`

	Failure *Failure       `json:"failure,omitempty"` // absent: it was measured
	ReadyS  float64        `json:"ready_s,omitempty"` // from the start to the first expected answer
	Warmup  *Warmup        `json:"warmup,omitempty"`
	Result  *result.Result `json:"result,omitempty"`     // of a search, its last confirmation
	Search  *Search        `json:"search,omitempty"`     // absent: the level has no find
	Wire    float64        `json:"wire_bytes,omitempty"` // of an answer, from the check before
	Served  *Served        `json:"served,omitempty"`     // absent: the server does not count

	Meanwhile  *probe.Recording      `json:"meanwhile,omitempty"` // in the file only: it is large
	Changed    []fairness.Difference `json:"changed,omitempty"`   // in the answers, after the load
	Steadiness stats.Steadiness      `json:"steadiness,omitempty"`
	Transient  *Transient            `json:"transient,omitempty"` // absent: too few seconds
	Programs   []Program             `json:"programs,omitempty"`  // executed by the server's processes
	Killed     []string              `json:"killed,omitempty"`    // did not stop on request
	Objectives []result.Outcome      `json:"objectives,omitempty"`
	Grade      Grade                 `json:"grade"`
	Reasons    []Reason              `json:"reasons,omitempty"`
}

// A Failure is why a trial measured nothing. It is a result too, not a fault of the laboratory.
type Failure struct {
	Phase   string `json:"phase"` // start, verify, warm or measure
	Process string `json:"process,omitempty"`
	Reason  string `json:"reason"`
	Output  string `json:"output,omitempty"` // the process's last lines
}

// A Warmup is the load before the measured one.
type Warmup struct {
	TookS  float64   `json:"took_s"`
	Steady Answer    `json:"steady,omitempty"`
	CoV    float64   `json:"cov,omitempty"`   // variation of the last seconds' throughput
	Rates  []float64 `json:"rates,omitempty"` // completed requests of each second

	Throughput float64 `json:"throughput,omitempty"` // completed requests a second, of all of it
}

// An Answer is yes, no or unknown.
type Answer string

// The answers.
const (
	Unknown Answer = ""
	Yes     Answer = "yes"
	No      Answer = "no"
)

// A Grade is the quality of a trial: A without doubts, B with doubts that the reader must know, F
// unreliable.
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
	// Passing reasons lie in the machine, not in the server. The trial may be better when it is
	// repeated.
	Passing bool `json:"passing,omitempty"`

	// Fact is the reason; nil of an older dyno, which had it as a text alone.
	Fact *fact.Fact `json:"fact,omitempty"`

	Server  bool  `json:"server,omitempty"`                     // it lies in the server
	Starved int64 `json:"connections_without_answer,omitempty"` // of Asked
	Asked   int64 `json:"connections,omitempty"`
}

// IsOfGenerator reports whether a reason is one of the generator's self-check. Of some reasons of
// an older dyno that is not known.
func (r Reason) IsOfGenerator() bool { return r.Fact != nil && !fact.IsOfTrial(r.Fact.Args) }

// SpoiledByServer is the reason of grade F that lies in the server; nil if there is none.
// Connections without an answer come first, because the others follow from them.
func (t TrialSummary) SpoiledByServer() (why *Reason) {
	for i, r := range t.Reasons {
		if r.Grade == GradeF && r.Server && t.Failure == nil && (why == nil || r.Starved > 0) {
			why = &t.Reasons[i]
		}
	}
	return why
}

// IsDisturbed reports whether a reason of grade F lies in the machine.
func (t TrialSummary) IsDisturbed() bool {
	return slices.ContainsFunc(t.Reasons, func(r Reason) bool {
		return r.Grade == GradeF && r.Passing
	})
}

// Served compares what a server counted during a load with the requests that all its clients sent,
// each once. Both count the whole load, from before the window to after it.
type Served struct {
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// Agreement compares the counts of servers and clients over all loads of an experiment that have
// both.
type Agreement struct {
	Trials  int   `json:"trials"`
	Alike   int   `json:"alike"` // trials in which both are equal
	Off     int   `json:"off"`   // trials that differ by more than failures and retries
	Server  int64 `json:"server"`
	Clients int64 `json:"clients"`
}

// A Transient is the beginning of the measured window that MSER-5 would leave out. It is reported,
// but not cut: the trial's figures are those of the whole window.
type Transient struct {
	CutS    float64 `json:"cut_s"`   // length that it would leave out; 0: nothing
	Settled bool    `json:"settled"` // false: half of the window or more
	Change  float64 `json:"change"`  // how much higher throughput would be without it, as a share
	// Errors is by how many standard errors that beginning lies below the rest.
	Errors float64 `json:"standard_errors"`
}

// The window counts as cold if the beginning that MSER-5 would leave out lowers throughput by more
// than transientShare, half the default margin, and lies at least transientErrors standard errors
// below the rest. In ten seconds of pure noise MSER-5 alone leaves something out in half of all
// trials. With both conditions, at a noise of 2 %, this happens in 1 to 2 %. Two seconds that are
// 10 % slow are found in nine of ten trials. A test counts both.
const (
	transientShare  = 0.01
	transientErrors = 3
)

// IsCold reports whether the window still contains warm-up.
func (c *Transient) IsCold() bool {
	return c != nil && c.Change > transientShare && c.Errors > transientErrors
}

// Rates is the throughput of each second of the window; of streams it is that of their events, for
// few of them end in a second.
func (t *Trial) Rates() (all []float64) {
	last := 0.0
	for _, p := range t.Result.Series {
		if length := p.T - last; length > 0.9 && t.isInWindow(p) {
			n := p.Answered()
			if t.Result.Stream != nil {
				n = p.Events
			}
			all = append(all, float64(n)/length)
		}
		last = p.T
	}
	return all
}

// isInWindow reports whether a point of the series lies in the window, and not after it.
func (t *Trial) isInWindow(p result.Point) bool { return p.T <= t.Result.Window.MeasuredS+0.01 }

// CountInWindow counts the answers that arrived in the window, from the series, and the bytes
// received in it. Errors are included, and answers to requests that had waited since the warm-up.
// Answers of the result also counts answers that arrived later, while Bytes does not.
func (t *Trial) CountInWindow() (answers, received int64) {
	for _, p := range t.Result.Series {
		if t.isInWindow(p) {
			answers += p.Answers()
			received += p.Received
		}
	}
	if answers > 0 {
		answers += t.Result.Requests.WarmupInWindow
	}
	return answers, received
}

// FirstReason is the text of the first reason for which kind holds.
func (t *Trial) FirstReason(kind func(Reason) bool) string {
	i := slices.IndexFunc(t.Reasons, kind)
	if i < 0 {
		return "no reason is stored"
	}
	return t.Reasons[i].Says
}

// SpoiledByMachine reports whether all reasons for a grade of F lie in the machine.
func (t *Trial) SpoiledByMachine() bool { return isSpoiled(t.Grade, t.Reasons) }

// SpoiledByMachine is that of the trial.
func (t TrialSummary) SpoiledByMachine() bool { return isSpoiled(t.Grade, t.Reasons) }

func isSpoiled(g Grade, reasons []Reason) bool {
	return g == GradeF && !slices.ContainsFunc(reasons, func(why Reason) bool {
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
		if m.IsOver(t) {
			b.Over = append(b.Over, m.Name)
		}
	}
	return b
}
