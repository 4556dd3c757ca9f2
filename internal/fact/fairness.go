package fact

// The kinds below are of the check whether servers answer alike.

// Matters says why a difference in an aspect of answers, or of servers, matters.
type Matters struct {
	Aspect string `json:"aspect"`
	Header bool   `json:"header,omitempty"` // it is the value of a header
}

// Kind is the kind's name.
func (Matters) Kind() Kind { return "matters" }

// OpensUnknown says why it is not known how many connections a server opens for a request.
type OpensUnknown struct {
	Why     Unasked `json:"why"`
	Text    string  `json:"text,omitempty"`        // of the system
	Noise   float64 `json:"noise,omitempty"`       // connections of others, per request
	Counted float64 `json:"per_request,omitempty"` // with those of others
}

// An Unasked is why something was not asked of a server, or could not be.
type Unasked string

// Why something is not known of a server.
const (
	InBrief    Unasked = "in-brief"
	OfStreams  Unasked = "of-streams"
	Elsewhere  Unasked = "elsewhere" // the server is on another machine
	Unreadable Unasked = "unreadable"
	OthersOpen Unasked = "others-open" // as many connections
)

// Kind is the kind's name.
func (OpensUnknown) Kind() Kind { return "opens-unknown" }
