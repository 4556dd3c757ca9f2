package fact

// NotInTime says that of what an open workload had due, some was never sent, or only after the
// window.
type NotInTime struct {
	Iterations bool  `json:"iterations,omitempty"` // are what is counted, not requests
	Never      int64 `json:"never"`
	After      int64 `json:"after"`
	Shortage
}

// Kind is the kind's name.
func (NotInTime) Kind() Kind { return "not-in-time" }

// IterationsCut says that an open workload began its iterations in time, and that so many had not
// ended with the drain: they take that long.
type IterationsCut struct {
	Unfinished int64   `json:"unfinished"`
	Started    int64   `json:"started"`
	TimeUS     float64 `json:"time_us,omitempty"` // median of those that ended; 0: none did
	DrainUS    float64 `json:"drain_us"`
}

// Kind is the kind's name.
func (IterationsCut) Kind() Kind { return "iterations-cut" }

// NoServer says that connections of a closed workload had no server for so much of the window that
// the window does not show the load that was asked for. Of several streams or pipelined requests on
// a connection, each counts as one.
type NoServer struct {
	Of         int64   `json:"of"`                   // connections, streams or requests, in all
	Streams    bool    `json:"streams,omitempty"`    // there are several on a connection
	Held       int64   `json:"held,omitempty"`       // that had no answer in the whole window
	Unanswered int64   `json:"unanswered,omitempty"` // that had none any more when it ended
	Why        string  `json:"why,omitempty"`        // what failed, if that is what there was
	SinceS     float64 `json:"since_s"`              // when the longest such time of one began
	LongestUS  float64 `json:"longest_us,omitempty"` // that time; 0: an older dyno did not count it
	LostUS     float64 `json:"lost_us"`              // on average of all
	OutageUS   float64 `json:"outage_us,omitempty"`  // in which no connection could be opened
	WindowUS   float64 `json:"window_us"`
	Peer       Peer    `json:"peer,omitempty"` // of which there was none
}

// Kind is the kind's name.
func (NoServer) Kind() Kind { return "no-server" }

// ErrorsUnjudged says that many requests failed, and that none of the objectives counts failures.
type ErrorsUnjudged struct {
	Percent float64 `json:"percent"` // of the requests
}

// Kind is the kind's name.
func (ErrorsUnjudged) Kind() Kind { return "errors-unjudged" }

// A Shortage is why no more could be sent.
type Shortage struct {
	Of          Short   `json:"short_of"`
	Connections int     `json:"connections"`
	Users       int     `json:"users,omitempty"`     // of a scenario
	OutageUS    float64 `json:"outage_us,omitempty"` // in which no connection could be opened
}

// A Short is what there was too little of.
type Short string

// What there may be too little of.
const (
	OfConnections Short = "connections"
	OfUsers       Short = "users" // who have a request each at most, and were fewer
	OfEither      Short = "users-or-connections"
	OfServer      Short = "server" // it was gone
)

// Remedies are the settings that would change it: none brings back a server.
func (s Shortage) Remedies() []Remedy {
	lower := Remedy{"rate", Lower}
	switch s.Of {
	case OfConnections:
		return []Remedy{{"connections", Higher}, lower}
	case OfUsers:
		return []Remedy{{"users", Higher}, lower}
	case OfEither:
		return []Remedy{{"users", Higher}, {"connections", Higher}, lower}
	}
	return nil
}
