package lab

import "dyno/internal/stats"

// A Frontier is what a request costs at rising rates: CPU time against latency and requests in
// flight. Its figures are the cells of its levels.
type Frontier struct {
	Levels []string  `json:"levels"` // by rate
	Rates  []float64 `json:"rates_per_s"`
	Queues []Queue   `json:"queues,omitempty"`
}

// A Queue is a pair of arms at a level of which the cheaper one has more requests in flight: what
// it saves it may save because requests wait, and are handled many at a time.
type Queue struct {
	Level    string         `json:"level"`
	Arm      string         `json:"arm"` // the cheaper one
	Than     string         `json:"than"`
	CPU      stats.Interval `json:"cpu_ratio"` // of Arm to Than, each
	InFlight stats.Interval `json:"in_flight_ratio"`
}
