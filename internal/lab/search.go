package lab

import "dyno/internal/lab/experiment"

// A Search is what a trial at a level with find: found.
type Search struct {
	// Certified is the highest rate, a second, that met the objectives, and did so again in a longer
	// run; 0: none did. Low and High are the bracket: met at Low, not at High; 0: not known.
	Certified float64 `json:"certified_per_s,omitempty"`
	Low       float64 `json:"low_per_s,omitempty"`
	High      float64 `json:"high_per_s,omitempty"`

	Start  float64  `json:"start_per_s,omitempty"` // the first rate that was tried
	Known  int      `json:"known,omitempty"`       // rounds before whose rates it began with
	End    string   `json:"end"`                   // as of dyno find: found, missed, client-bound …
	Reason string   `json:"reason"`
	Probes []Probed `json:"probes"`

	Axis  string  `json:"axis,omitempty"` // connections or users; "": the rate
	Count Counted `json:"count,omitzero"` // of these, in place of the rates
}

// A Counted is of a search for a number of connections or users what a Search is of rates.
type Counted struct {
	Certified int `json:"certified,omitempty"`
	Low       int `json:"low,omitempty"`
	High      int `json:"high,omitempty"`
	Start     int `json:"start,omitempty"`
}

// A Probed is one load of a search.
type Probed struct {
	Purpose     string  `json:"purpose"`
	Rate        float64 `json:"rate_per_s,omitempty"`
	Connections int     `json:"connections,omitempty"` // in place of Rate, if that is the axis
	Users       int     `json:"users,omitempty"`       // likewise
	Measured    float64 `json:"measured_s"`
	Outcome     string  `json:"outcome"`
}

// Highest is what is certified, on the axis; 0: nothing is.
func (s *Search) Highest() float64 {
	if s.Axis != "" {
		return float64(s.Count.Certified)
	}
	return s.Certified
}

// metric is the measure that the search has found.
func (s *Search) metric() string { return string(experiment.CapacityOf(s.Axis)) }

// ClientBound is the End of a search that the generator limited: what it certified is less than the
// server can take, or as much.
const ClientBound = "client-bound"
