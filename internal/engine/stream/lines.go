package stream

import "bytes"

// Read reads the next bytes of a body. What it returns does not depend on how the body is split,
// but of Chunks.
func (r *Reader) Read(s *State, b []byte) (n Count) {
	if r.framing == byArrival {
		if len(b) > 0 {
			n.Events, n.Counted = 1, 1
			r.tell(b, true)
		}
		return n
	}
	feed := -1 // place of the next line feed; before the present place: it must be looked for
	for at := 0; at < len(b); {
		if s.skipLF {
			if s.skipLF = false; b[at] == '\n' {
				at++
				continue
			}
		}
		if feed < at {
			if feed = bytes.IndexByte(b[at:], '\n'); feed < 0 {
				feed = len(b)
			} else {
				feed += at
			}
		}
		end := feed
		if r.framing == bySSE {
			if cr := bytes.IndexByte(b[at:feed], '\r'); cr >= 0 {
				end = at + cr
			}
		}
		if end == len(b) {
			r.keepLine(s, b[at:])
			break
		}
		line := b[at:end]
		s.skipLF = b[end] == '\r'
		at = end + 1
		if len(s.line) > 0 {
			r.keepLine(s, line)
			line = s.line
		}
		if s.Fault == Oversized { // what follows is a part of it
			s.line = s.line[:0]
			continue
		}
		r.readLine(s, line, &n)
		s.line = s.line[:0]
	}
	return n
}

// Finish reads the end of a body that is complete. What stands behind the last line feed is an
// event of NDJSON, and of SSE it is none.
func (r *Reader) Finish(s *State) (n Count) {
	if r.framing == byLine && len(s.line) > 0 {
		r.readLine(s, s.line, &n)
	}
	s.line, s.data = s.line[:0], s.data[:0]
	return n
}

// Judge sets the Fault of a body that is complete, of which so many events were counted.
func (r *Reader) Judge(s *State, counted int64) {
	switch {
	case s.Fault != "":
	case counted == 0:
		s.Fault = NoEvent
	case r.judge.wantsEnd() && !s.Ended:
		s.Fault = NoEnd
	}
}

// keepLine keeps a part of a line until the rest has come.
func (r *Reader) keepLine(s *State, b []byte) {
	if s.Fault == Oversized || len(s.line)+len(s.data)+len(b) > r.most {
		s.outgrow()
		return
	}
	s.line = append(s.line, b...)
}

// readLine reads a whole line.
func (r *Reader) readLine(s *State, line []byte, n *Count) {
	if r.framing == byLine {
		if len(line) > r.most {
			s.outgrow()
			return
		}
		r.readEvent(s, bytes.TrimSpace(line), n)
		return
	}
	if !s.begun {
		s.begun, line = true, bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) == 0 {
		r.dispatch(s, n)
		return
	}
	name, value, _ := bytes.Cut(line, colon)
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch {
	case len(name) == 0 && len(line) > 0: // a comment
		n.KeepAlives++
	case string(name) == "data":
		if len(s.data)+len(value) > r.most {
			s.outgrow()
			return
		}
		s.data = append(append(s.data, value...), '\n')
		s.hasData = true
	case string(name) == "event":
		s.isError = string(value) == "error"
	}
}

var (
	colon         = []byte(":")
	byteOrderMark = []byte("\xef\xbb\xbf")
)

// outgrow ends the reading of a stream with an event that is too long.
func (s *State) outgrow() {
	s.Fail(Oversized, nil)
	s.line, s.data, s.hasData = s.line[:0], s.data[:0], false
}

// dispatch ends an event of SSE. One without a line of data is none.
func (r *Reader) dispatch(s *State, n *Count) {
	if s.hasData && len(s.data) > 0 {
		r.readEvent(s, s.data[:len(s.data)-1], n)
	}
	s.data, s.hasData, s.isError = s.data[:0], false, false
}

// readEvent judges an event.
func (r *Reader) readEvent(s *State, data []byte, n *Count) {
	before := n.Counted
	r.judge.event(s, data, n)
	if len(data) > 0 {
		r.tell(data, n.Counted > before)
	}
}

func (r *Reader) tell(data []byte, counted bool) {
	if r.See != nil {
		r.See(data, counted)
	}
}
