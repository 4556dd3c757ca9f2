package session

import (
	"slices"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/stream"
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
		s.fault(at, "%.40q is no format of a stream: write # dyno: stream and one of %s", format,
			strings.Join(stream.Formats, ", "))
	case s.stream != "" && s.stream != format:
		s.fault(at, "streams of %s and of %s cannot be in one load", s.stream, format)
	case e.method == "HEAD":
		s.fault(at, "the answer to HEAD has no body, so it is no stream")
	case e.compressed:
		s.fault(at, "the events of a compressed answer cannot be told apart as they come; leave the "+
			"option compressed out")
	}
	s.stream, e.stream = format, true
	s.streamed = append(s.streamed, s.Steps[e.route])
}

// MarksStreams reports whether entries say that their answers are streams.
func (m *Maker) MarksStreams() bool { return m.stream != "" }
