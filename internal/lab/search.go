package lab

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
}

// A Probed is one load of a search.
type Probed struct {
	Purpose  string  `json:"purpose"`
	Rate     float64 `json:"rate_per_s"`
	Measured float64 `json:"measured_s"`
	Outcome  string  `json:"outcome"`
}

// ClientBound is the End of a search that the generator limited: what it certified is less than the
// server can take, or as much.
const ClientBound = "client-bound"
