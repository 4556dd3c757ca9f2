// Package stream reads the body of a response as a stream of events: server-sent events, lines of
// JSON, or whatever arrives. It has no clock, and does no I/O: bytes go in, and what they mean
// comes out. Package streams says when they came.
//
//	judge.go     what an event means: counted, the end, an error, a number of tokens
//	lines.go     parts a body into lines and events
//	preset.go    what the streams of known servers have
//	stream.go    the types: a Spec, a Reader, and the State of one body
package stream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/jsonpath"
)

// A Spec says how bodies are streams.
type Spec struct {
	Format string `json:"format"` // one of Formats
	// Count are paths in the JSON of an event: an event that has something at one of them is counted.
	// None: each that has data is, or the format's own.
	Count []string `json:"count,omitempty"`
	// Tokens is the path of the server's own number of tokens; the last one stands.
	Tokens string `json:"tokens,omitempty"`
	// End is what a stream must end with: the text of an event, or a path, which may have ==VALUE.
	End string `json:"end,omitempty"`
	// Error is the path of what says that the stream has failed.
	Error string `json:"error,omitempty"`
}

// The formats.
const (
	SSE       = "sse"       // server-sent events, of the WHATWG's HTML
	NDJSON    = "ndjson"    // a JSON value in each line
	Chunks    = "chunks"    // whatever arrives at once is an event
	OpenAI    = "openai"    // SSE of chat completions and completions
	Anthropic = "anthropic" // SSE of messages
	Ollama    = "ollama"    // NDJSON of chat and generate
)

// Formats are all of them.
var Formats = []string{SSE, NDJSON, Chunks, OpenAI, Anthropic, Ollama}

// Check calls flaw for each field that is wrong, with why.
func (s *Spec) Check(flaw func(field string, err error)) {
	if !slices.Contains(Formats, s.Format) {
		flaw("Format", fmt.Errorf("%q is not %s or %s", s.Format,
			strings.Join(Formats[:len(Formats)-1], ", "), Formats[len(Formats)-1]))
		return
	}
	if s.Format == Chunks && (len(s.Count) > 0 || s.Tokens+s.End+s.Error != "") {
		flaw("Format", errors.New("chunks have no JSON that could be looked at: use sse or ndjson"))
		return
	}
	check := func(field string, paths ...string) {
		if _, err := jsonpath.ParseSet(paths); err != nil {
			flaw(field, err)
		}
	}
	check("Count", s.Count...)
	if s.Tokens != "" {
		check("Tokens", s.Tokens)
	}
	if path, _, isPath := s.endPath(); isPath {
		check("End", path)
	}
	if s.Error != "" {
		check("Error", s.Error)
	}
	if len(s.Count) > countMost {
		flaw("Count", fmt.Errorf("%d paths are given; %d are possible", len(s.Count), countMost))
	}
}

// countMost is how many paths Count has at most: three others are looked up with them.
const countMost = jsonpath.MaxSet - 3

// endPath is the path of End, and its value; "": any that is set.
func (s *Spec) endPath() (path, value string, isPath bool) {
	if !strings.HasPrefix(s.End, "$") {
		return "", "", false
	}
	path, value, _ = strings.Cut(s.End, "==")
	return strings.TrimSpace(path), strings.Trim(strings.TrimSpace(value), `"`), true
}

// A Reader reads bodies. It has the memory of its searches, so it is of one goroutine.
type Reader struct {
	framing framing
	judge   judge
	most    int // bytes of an event

	// See is told of each event, and whether it is counted; nil: nobody is.
	See func(data []byte, counted bool)
}

// ByArrival reports whether what arrives at once is one event, in however many pieces.
func (r *Reader) ByArrival() bool { return r.framing == byArrival }

// A framing is how a body is parted into events.
type framing uint8

const (
	bySSE framing = iota
	byLine
	byArrival
)

// NewReader makes a Reader of a Spec, for streams of which so many can be read at once.
func NewReader(s Spec, streams int) (*Reader, error) {
	s, framing := s.filled()
	r := &Reader{framing: framing, most: max(min(MaxEvent, memory/max(streams, 1)), LeastEvent)}
	var err error
	r.judge, err = newJudge(s)
	return r, err
}

// A Fault is why a stream is an error; "": it is none.
type Fault string

// The faults. They are kinds of failures of the phase stream.
const (
	NoEnd      Fault = "no-end"      // it ended without what it must end with
	NoEvent    Fault = "no-event"    // it had no event that is counted
	ErrorEvent Fault = "error-event" // an event said that it has failed
	Malformed  Fault = "malformed"   // an event was not the JSON that it must be
	Oversized  Fault = "oversized"   // an event was longer than MaxEvent
	Compressed Fault = "compressed"  // it was compressed, which was not asked for
)

// MaxEvent is how many bytes an event can have. With more than 256 streams at once it is less: all
// that have not ended take 256 MiB together, or LeastEvent each.
const (
	MaxEvent   = 1 << 20
	LeastEvent = 16 << 10
	memory     = 256 << 20
)

// detailMost is how many bytes of an event a fault tells.
const detailMost = 200

// keptMost is how many bytes of memory a State keeps for the next stream.
const keptMost = 16 << 10

// A State is how far one body has been read. Its zero value is the beginning.
type State struct {
	line   []byte // of a line that has not ended: what came of it
	data   []byte // of an event that has not ended: its data, with a line feed behind each line
	detail []byte // what shows the Fault
	broken Broken
	Fault  Fault
	Tokens int64 // that the server has told; -1 before Begin has been called, or if it has told none

	hasData bool // the event has a line of data
	isError bool // the event is called error
	skipLF  bool // the last byte was a carriage return that ended a line
	begun   bool // a byte has come
	Ended   bool // what it must end with has come
}

// Begin makes s the state of a new body. It keeps some of its memory.
func (s *State) Begin() {
	*s = State{line: kept(s.line), data: kept(s.data), detail: kept(s.detail), Tokens: -1}
}

// kept is memory for the next stream.
func kept(b []byte) []byte {
	if cap(b) > keptMost {
		return nil
	}
	return b[:0]
}

// A Broken is why a stream is an error. It is that of a State, and changes with it.
type Broken struct {
	Fault
	shows []byte // what shows it
	kind  []byte // the Content-Type
}

// Broken is the error of a stream that has a Fault and that Content-Type.
func (s *State) Broken(contentType []byte) *Broken {
	s.broken = Broken{s.Fault, s.detail, contentType}
	return &s.broken
}

// Clone is an error that is what b is now, and stays so.
func (b *Broken) Clone() *Broken {
	return &Broken{b.Fault, bytes.Clone(b.shows), bytes.Clone(b.kind)}
}

// Error says what is wrong, with what the server sent.
func (b *Broken) Error() string {
	shows := strings.ToValidUTF8(string(b.shows), "�")
	switch b.Fault {
	case NoEnd:
		return "the stream ended without what it must end with"
	case NoEvent:
		if len(b.kind) == 0 {
			return "no event that counts; the answer has no Content-Type"
		}
		return "no event that counts; Content-Type: " + strings.ToValidUTF8(string(b.kind), "�")
	case ErrorEvent:
		return "an event said that the stream failed: " + shows
	case Malformed:
		return "an event was not the JSON that it must be: " + shows
	case Oversized:
		return fmt.Sprintf("an event was longer than dyno keeps, %d bytes at most", MaxEvent)
	case Compressed:
		return "the answer was compressed, which was not asked for: Content-Encoding: " + shows
	}
	return string(b.Fault)
}

// A Count is how many events some bytes ended.
type Count struct {
	Events     int32 // with data
	Counted    int32 // of those, the ones that are counted
	KeepAlives int32 // comments, and events and lines without a byte of data
}

// Fail notes the first fault of a stream, with the beginning of what shows it.
func (s *State) Fail(f Fault, shows []byte) {
	if s.Fault == "" {
		s.Fault = f
		s.detail = append(s.detail[:0], shows[:min(len(shows), detailMost)]...)
	}
}
