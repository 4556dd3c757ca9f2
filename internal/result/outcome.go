package result

import (
	"time"

	"dyno/internal/engine/metric"
)

// An Outcome is how a result meets an objective. Value is absent if there is nothing to judge; then
// the objective is missed.
type Outcome struct {
	Expr  string   `json:"expr"`
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"` // us, percent, per_s; none of a count
	Met   bool     `json:"met"`
	Note  string   `json:"note,omitempty"` // what the value does not cover, or lacks

	Aborted *float64 `json:"aborted_s,omitempty"` // it ended the run at that time of the window
}

// Provisional is the part of a result that objectives need, for a span of time. An error means that
// a histogram could not be encoded, a fault of dyno.
func Provisional(q Requests, latency, service *metric.Histogram, took time.Duration) (*Result,
	error) {
	r := &Result{Requests: q, Rate: Rate{Completed: perSecond(q.Completed, took)}}
	if latency.Count == 0 {
		return r, nil
	}
	var err error
	if r.Latency, err = newDistribution(latency); err == nil {
		r.Service, err = newDistribution(service)
	}
	return r, err
}
