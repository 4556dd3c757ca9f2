package session

import (
	"slices"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/stream"
	"dyno/internal/fact"
)

// This file is about entries whose answers are streams of events: # dyno: stream openai. All of a
// load have one format, because each worker reads them with one reader.

// compileStream compiles what a comment before an entry says of its answer.
func (s *scope) compileStream(h *hurl.Entry, e *entry) {
	if h.Stream == nil {
		return
	}
	at, format := h.Stream.Pos, h.Stream.Format
	switch {
	case !slices.Contains(stream.Formats, format):
		s.wrong(at, fact.InScenario{Of: fact.FormatUnknown, Value: format, Has: stream.Formats})
	case s.stream != "" && s.stream != format:
		s.wrong(at, fact.InScenario{Of: fact.FormatsMixed, Value: format, Other: s.stream})
	case e.method == "HEAD":
		s.wrong(at, fact.InScenario{Of: fact.NoBodyToStream})
	case e.compressed:
		s.wrong(at, fact.InScenario{Of: fact.StreamCompressed})
	}
	s.stream, e.stream = format, true
	s.streamed = append(s.streamed, s.Steps[e.route])
}

// StreamFormat is the format of the answers that are streams, as entries say; "": none says so.
func (m *Maker) StreamFormat() string { return m.stream }
