package loadresult

import "dyno/internal/engine/metric"

// LatencyTimes are of the requests that completed in an interval, in µs, under the keys of a
// result. 0: none did. Its fields are the list of the percentiles that a second of a run has, in
// JSON and in CSV (see metric.Percentiles).
type LatencyTimes struct {
	Mean float64 `json:"mean_us,omitempty"`
	P50  float64 `json:"p50_us,omitempty"`
	P99  float64 `json:"p99_us,omitempty"`
	Max  float64 `json:"max_us,omitempty"`
}

// StreamTimes are of what came in an interval, of streams that were due in the window: in µs, under
// the keys of a result. 0: no stream began, or there was no gap. Its fields are the list of the
// percentiles that a second has of streams, in JSON and in CSV.
type StreamTimes struct {
	FirstP50US float64 `json:"first_event_p50_us,omitempty"`
	FirstP99US float64 `json:"first_event_p99_us,omitempty"`
	GapP50US   float64 `json:"gap_p50_us,omitempty"`
	GapP99US   float64 `json:"gap_p99_us,omitempty"`
	Tokens     int64   `json:"tokens,omitempty"` // of all streams that ended in it
}

// timesOf are those of an interval; 0 if answers are no streams.
func timesOf(s *metric.StreamsSparse) StreamTimes {
	if s == nil {
		return StreamTimes{}
	}
	t := StreamTimes{Tokens: s.ReceivedTokens}
	of := map[string]metric.Sparse{"first_event": s.First(), "gap": s.Gap()}
	for _, p := range metric.Percentiles(&t) {
		*p.Value = micros(float64(of[p.Of].Quantile(p.Percent / 100)))
	}
	return t
}
