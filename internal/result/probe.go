package result

import (
	"dyno/internal/engine/loadresult"
)

// A Probe is what the light load measured that ran together with the main one, on connections of
// its own, at random instants of the same window.
type Probe struct {
	Connections Connections      `json:"connections"`
	Requests    Requests         `json:"requests"`
	Rate        Rate             `json:"rate"`
	Latency     *Distribution    `json:"latency,omitempty"`
	Service     *Distribution    `json:"service,omitempty"`
	Status      map[string]int64 `json:"status"`
	Errors      []Error          `json:"errors"`
	SendLagP99  *float64         `json:"send_lag_p99_us,omitempty"`
	SendLagMax  *float64         `json:"send_lag_max_us,omitempty"`

	ErrorLatency *Distribution `json:"error_latency,omitempty"`
}

// newProbe is the stored form of a probe; nil if there was none.
func newProbe(r *loadresult.Result, version string) (*Probe, error) {
	if r == nil {
		return nil, nil
	}
	p, err := From(r, version)
	if err != nil {
		return nil, err
	}
	return &Probe{Connections: p.Connections, Requests: p.Requests, Rate: p.Rate,
		Latency: p.Latency, Service: p.Service, Status: p.Status, Errors: p.Errors,
		SendLagP99: p.Generator.SendLagP99, SendLagMax: p.Generator.SendLagMax,
		ErrorLatency: p.ErrorLatency}, nil
}
