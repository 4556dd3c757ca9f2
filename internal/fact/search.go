package fact

// The kinds below say what came of a search for a rate, of its probes, and of points of a sweep.

// SearchEnded says how a search ended. The facts behind it say why, if that is known.
type SearchEnded struct {
	How    Ending  `json:"how"`
	Low    float64 `json:"low_per_s,omitempty"`  // met, if a rate was
	High   float64 `json:"high_per_s,omitempty"` // not met, or where it ended
	HeldUp bool    `json:"held_up,omitempty"`    // the generator; else: it was the limit
	Open   bool    `json:"open,omitempty"`       // whether High is met

	// Axis is what was searched if it is no rate: connections or users. Then these are Low and High.
	Axis      string `json:"axis,omitempty"`
	LowCount  int64  `json:"low,omitempty"`
	HighCount int64  `json:"high,omitempty"`
}

// An Ending is how a search ended.
type Ending string

// The endings of a search.
const (
	EndFound       Ending = "found"
	EndLimited     Ending = "limited"     // by the generator, above a rate that is met
	EndNeverFree   Ending = "never-free"  // the generator was the limit at each rate
	EndNoMore      Ending = "no-more"     // the highest rate that dyno offers is met
	EndMissed      Ending = "missed"      // at the lowest rate that was tried and above
	EndMissedOpen  Ending = "missed-open" // likewise, but a higher rate was undecided
	EndUndecided   Ending = "undecided"   // at the lowest rate
	EndUnconfirmed Ending = "unconfirmed" // no longer run met the objectives again
	EndUnreachable Ending = "unreachable" // from the start
	EndLost        Ending = "lost"        // the server was, at High
	EndInterrupted Ending = "interrupted"
)

// Kind is the kind's name.
func (SearchEnded) Kind() Kind { return "search-ended" }

// GivenUp says that a probe was given up, because a second of arrivals waited.
type GivenUp struct {
	AfterS float64 `json:"after_s"`
	Shortage
}

// Kind is the kind's name.
func (GivenUp) Kind() Kind { return "given-up" }

// LatencyGrowing says that latency grew until the end.
type LatencyGrowing struct{}

// Kind is the kind's name.
func (LatencyGrowing) Kind() Kind { return "latency-growing" }

// TooFewToBound says that a measure has no bounds, because requests were too few.
type TooFewToBound struct {
	Requests  int64  `json:"requests"`
	Objective string `json:"objective"`
}

// Kind is the kind's name.
func (TooFewToBound) Kind() Kind { return "too-few-to-bound" }

// NothingAnswered says that no request was answered, and why, if something failed.
type NothingAnswered struct {
	Wrong   bool    `json:"wrong,omitempty"` // some were, but none as it should be
	Why     string  `json:"why,omitempty"`
	WithinS float64 `json:"within_s,omitempty"` // if nothing failed
}

// Kind is the kind's name.
func (NothingAnswered) Kind() Kind { return "nothing-answered" }

// AnsweredLate says that nothing was completed in a window, and how many answers came after it.
type AnsweredLate struct {
	WindowS float64 `json:"window_s"`
	Later   int64   `json:"later"`
}

// Kind is the kind's name.
func (AnsweredLate) Kind() Kind { return "answered-late" }

// OnlyErrors says that each answer was an error.
type OnlyErrors struct {
	Of []ErrorCount `json:"of"`
}

// An ErrorCount is how many answers were an error.
type ErrorCount struct {
	What  string `json:"what"`            // a status, or a check that failed
	Check bool   `json:"check,omitempty"` // it is that
	Count int64  `json:"count"`
}

// Kind is the kind's name.
func (OnlyErrors) Kind() Kind { return "only-errors" }

// MostErrors says what most errors of a load were.
type MostErrors struct {
	ErrorCount
	Of int64 `json:"of"` // requests
}

// Kind is the kind's name.
func (MostErrors) Kind() Kind { return "most-errors" }

// LoadStopped says why a load could not go on, in the words of what failed.
type LoadStopped struct {
	Why  string `json:"why"`
	Gone bool   `json:"gone,omitempty"` // the server was, after it had answered
}

// Kind is the kind's name.
func (LoadStopped) Kind() Kind { return "load-stopped" }

// NoLaw says that the law of scalability was not fitted: it takes so many levels.
type NoLaw struct {
	Needs int `json:"needs"`
}

// Kind is the kind's name.
func (NoLaw) Kind() Kind { return "no-law" }

// AnswersMissing says what had no answer, so that a measure does not cover it.
type AnswersMissing struct {
	Count      int64    `json:"count,omitempty"`
	Of         int64    `json:"of,omitempty"`
	Iterations bool     `json:"iterations,omitempty"` // are what is counted, not requests
	By         Deadline `json:"by,omitempty"`
	DeadlineUS float64  `json:"deadline_us,omitempty"`
	Waited     float64  `json:"waited_percent,omitempty"` // of the time, instead: by connections
}

// A Deadline is when something was not answered yet.
type Deadline string

// The deadlines.
const (
	ByTimeout Deadline = "timeout" // DeadlineUS after it was sent
	ByDrain   Deadline = "drain"   // DeadlineUS after the window
	WhenGone  Deadline = "gone"    // when the server was gone
)

// Kind is the kind's name.
func (AnswersMissing) Kind() Kind { return "answers-missing" }

// StreamsUnended says how many streams had begun and did not end, which a measure does not cover.
type StreamsUnended struct {
	Cut     int64 `json:"cut"`
	Stalled int64 `json:"stalled"`
}

// Kind is the kind's name.
func (StreamsUnended) Kind() Kind { return "streams-unended" }

// LoadNotApplied says that a server went away, and how much of the load was not applied.
type LoadNotApplied struct {
	Percent float64 `json:"percent"`
}

// Kind is the kind's name.
func (LoadNotApplied) Kind() Kind { return "load-not-applied" }
