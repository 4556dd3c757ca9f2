package fairness

import (
	"time"

	"dyno/internal/engine/stream"
)

// Streams of events are compared by how many events and tokens they have and by how they end. Their
// text is not: models answer differently each time, with other identifiers and times, and how many
// bytes there are follows from that.

// A Stream is what answers were as streams of events.
type Stream struct {
	Events Span   `json:"events"`           // that count; 0: they are told apart by time alone
	Tokens *Span  `json:"tokens,omitempty"` // that the server told; nil: none
	Fault  string `json:"fault,omitempty"`  // of the first that has one, a kind of stream.Fault
}

// How a server with streams is asked: each takes as long as a stream does.
const (
	streamTimes = 2 // exchanges on fresh connections, and on one; in brief one, on a fresh one
	maxAskOf    = 5 // times maxAsk
)

// A taking reads a stream for as long as the load's users stay.
type taking struct {
	events int64 // that are counted, 0: any number
	long   time.Duration
	state  stream.State
	read   int // bytes of the body
	had    int64
	first  time.Time // of the first event
}

// isOver reports whether a user has left a stream by now, of which this has come.
func (t *taking) isOver(r *stream.Reader, body []byte) bool {
	if t.events == 0 && t.long == 0 {
		return false
	}
	if t.read == 0 {
		t.state.Begin()
	}
	t.had += int64(r.Read(&t.state, body[t.read:]).Counted)
	if t.read = len(body); t.had > 0 && t.first.IsZero() {
		t.first = time.Now()
	}
	return t.events > 0 && t.had >= t.events ||
		t.long > 0 && t.had > 0 && time.Since(t.first) >= t.long
}

// addStream reads the body of a response as a stream.
func (t *answerTally) addStream(r *response) {
	var s stream.State
	s.Begin()
	n := t.reader.Read(&s, r.body)
	counted := n.Counted
	if !r.cut && !r.left { // else nobody knows the rest of the last event
		counted += t.reader.Finish(&s).Counted
		t.reader.Judge(&s, int64(counted))
	}
	if t.answer.Stream == nil {
		t.answer.Stream = &Stream{Fault: string(s.Fault)}
	}
	all := t.answer.Stream
	if all.Fault == "" {
		all.Fault = string(s.Fault)
	}
	if most := int32(t.taken.events); most > 0 {
		counted = min(counted, most) // several come at once
	}
	if !t.reader.ByArrival() && t.taken.long == 0 {
		all.Events.add(int64(counted), t.answer.Exchanges)
	}
	if s.Tokens >= 0 {
		if all.Tokens == nil {
			all.Tokens = new(Span)
		}
		all.Tokens.add(s.Tokens, t.told)
		t.told++
	}
}

// add adds a number to a span of so many.
func (s *Span) add(n int64, had int) {
	if had == 0 {
		*s = Span{n, n, 0}
	}
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
	s.Mean += (float64(n) - s.Mean) / float64(had+1)
}

// isWhole reports whether answers are compared by their bodies.
func (a *Answer) isWhole() bool { return a.Stream == nil }

// hasEvents reports whether answers are compared by their events.
func (a *Answer) hasEvents() bool { return a.Stream != nil && a.Stream.Events.Max > 0 }

// hasTokens likewise by their tokens.
func (a *Answer) hasTokens() bool { return a.Stream != nil && a.Stream.Tokens != nil }

// leaves reports whether users leave streams before their end, and with them the connection.
func (q *Question) leaves() bool { return q.Stream != nil && q.Stream.Take != "" }

// events are those of answers; none of answers that are no streams.
func (a *Answer) events() Span {
	if a.Stream == nil {
		return Span{}
	}
	return a.Stream.Events
}

func showEvents(a *Answer) string { return a.events().String() }

func judgeEvents(ref, a *Answer, _ allowed) State {
	return equalityState(ref.events().overlapsWith(a.events()))
}

func showTokens(a *Answer) string {
	if !a.hasTokens() {
		return "not told"
	}
	return a.Stream.Tokens.String()
}

func judgeTokens(ref, a *Answer, _ allowed) State {
	if !ref.hasTokens() || !a.hasTokens() {
		return equalityState(ref.hasTokens() == a.hasTokens())
	}
	return equalityState(ref.Stream.Tokens.overlapsWith(*a.Stream.Tokens))
}

func showEnd(a *Answer) string {
	if a.Stream == nil || a.Stream.Fault == "" {
		return "complete"
	}
	return a.Stream.Fault
}
