package fact

// The kinds below say which requests latency tells nothing of, and which were never sent.

// ErrorAnswers says that answers were errors.
type ErrorAnswers struct {
	Count   int64    `json:"count"`
	Percent float64  `json:"percent"` // of the answers
	All     bool     `json:"all,omitempty"`
	Of      []string `json:"of"` // statuses, and how streams ended; an older dyno's: checks, too

	Checks []CheckMissed `json:"checks,omitempty"`

	ProxyRefuses bool `json:"proxy_refuses,omitempty"` // it wants a user that it knows
}

// A CheckMissed is a check that answers of a status did not pass.
type CheckMissed struct {
	Name   string `json:"name"`
	Status int    `json:"status,omitempty"` // 0: it is not known
}

// Kind is the kind's name.
func (ErrorAnswers) Kind() Kind { return "error-answers" }

// RequestsFailed says that requests failed without an answer.
type RequestsFailed struct {
	Percent float64 `json:"percent"` // of those sent
}

// Kind is the kind's name.
func (RequestsFailed) Kind() Kind { return "requests-failed" }

// RequestsUnanswered says that requests had no answer when the drain ended.
type RequestsUnanswered struct {
	Percent float64 `json:"percent"` // of those sent
}

// Kind is the kind's name.
func (RequestsUnanswered) Kind() Kind { return "requests-unanswered" }

// RequestsRefused says that requests were not sent because of their values, or for want of rows.
type RequestsRefused struct {
	Count int64  `json:"count"`
	Why   string `json:"why"`
}

// Kind is the kind's name.
func (RequestsRefused) Kind() Kind { return "requests-refused" }

// RowsLeft says that rows were not sent, of which each was to be sent once.
type RowsLeft struct {
	Left int64  `json:"left"`
	Of   int64  `json:"of"`
	File string `json:"file"`
}

// Kind is the kind's name.
func (RowsLeft) Kind() Kind { return "rows-left" }
