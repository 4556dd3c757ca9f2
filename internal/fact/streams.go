package fact

// ReadLag says that events of streams lay unread in the generator.
type ReadLag struct {
	P99US   float64 `json:"p99_us"`
	GapUS   float64 `json:"gap_us"`                   // the median gap
	FirstUS float64 `json:"first_event_us,omitempty"` // the median, where there are no gaps
}

// Kind is the kind's name.
func (ReadLag) Kind() Kind { return "read-lag" }

// EventsGathered says that most events came together with others.
type EventsGathered struct {
	Percent float64 `json:"percent"` // of the counted events
}

// Kind is the kind's name.
func (EventsGathered) Kind() Kind { return "events-gathered" }

// GapsBunched says that most gaps are as long as a delayed acknowledgement.
type GapsBunched struct {
	Percent float64 `json:"percent"` // of the gaps
}

// Kind is the kind's name.
func (GapsBunched) Kind() Kind { return "gaps-bunched" }

// WarmupShort says that streams last longer than the warm-up, so that the first ones begin together
// in the window.
type WarmupShort struct {
	WarmupUS float64 `json:"warmup_us"`
	StreamUS float64 `json:"stream_us"` // the median stream
}

// Kind is the kind's name.
func (WarmupShort) Kind() Kind { return "warmup-short" }

// TokensUntold says that streams end without the server's number of tokens.
type TokensUntold struct {
	Streams int64 `json:"streams"`
	Of      int64 `json:"of"`
}

// Kind is the kind's name.
func (TokensUntold) Kind() Kind { return "tokens-untold" }

// TokensLeft says that users left streams whose server had told no number of tokens until then,
// where a limit is of token times.
type TokensLeft struct {
	Streams int64 `json:"streams"`
	Of      int64 `json:"of"`
}

// Kind is the kind's name.
func (TokensLeft) Kind() Kind { return "tokens-left" }
