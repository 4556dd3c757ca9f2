package result

import (
	"time"

	"dyno/internal/engine/metric"
	"dyno/internal/result/durations"
)

// An Outcome is how a result meets an objective: it is met, missed or undecided. Value is absent if
// there is nothing to judge; then the objective is missed.
type Outcome struct {
	Expr  string   `json:"expr"`
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"` // us, percent, per_s; none of a count
	Met   bool     `json:"met"`
	Over  bool     `json:"over,omitempty"` // the value is only known to be higher
	Note  string   `json:"note,omitempty"` // what the value does not cover, or lacks

	// Undecided is why the objective is neither met nor missed: FewValues or NoAnswers.
	Undecided string `json:"undecided,omitempty"`

	// Needs is how many values the percentile takes, of FewValues. Value is only the longest of them.
	Needs int64 `json:"needs,omitempty"`

	Aborted *float64 `json:"aborted_s,omitempty"` // it ended the run at that time of the window
}

// Why an objective is undecided.
const (
	FewValues = "few-values" // its percentile takes more

	// Requests had no answer, and what they add to the value is not known.
	NoAnswers = "no-answers"
)

// IsUndecided reports whether the objective is neither met nor missed.
func (o Outcome) IsUndecided() bool {
	return o.Undecided != "" || o.Needs > 0 // results from before Undecided have Needs
}

// IsMissed reports whether the objective is neither met nor undecided.
func (o Outcome) IsMissed() bool { return !o.Met && !o.IsUndecided() }

// A Measured is what was measured in a span of time. Its histograms are Fine, in ns.
type Measured struct {
	Took             time.Duration
	Requests         Requests
	Early            int64             // answers to requests that were due in the warm-up
	Latency, Service *metric.Histogram // of completed requests
	Iterations       *metric.Histogram // time of those that completed
	Checks           []CheckCount
}

// Provisional is the part of a result that objectives need, for a span of time.
func Provisional(m Measured) *Result {
	r := &Result{Requests: m.Requests}
	r.Rate.Completed = perSecond(m.Requests.Completed+m.Early, m.Took)
	r.Checks = m.Checks
	if m.Iterations.Count > 0 {
		r.Iterations = &Iterations{Completed: m.Iterations.Count, Time: durations.New(m.Iterations)}
	}
	if m.Latency.Count > 0 {
		r.Latency, r.Service = durations.New(m.Latency), durations.New(m.Service)
	}
	return r
}
