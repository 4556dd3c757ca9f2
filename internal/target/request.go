package target

import "bytes"

// A reader takes requests off what a client sends, a line or a piece of body at
// a time: it needs no more of the past than the line that is not yet complete.
type reader struct {
	phase    phase
	req      request
	size     int64  // bytes of the request so far
	left     int64  // bytes of its body, or of the chunk, still to come
	section  int64  // bytes of the header or trailer section so far
	keepPath bool   // path is wanted
	path     []byte // of the request, with its query
	last     *known // read by this reader or by others of its thread; or nil
}

// known is a request that was read whole, and its bytes.
type known struct {
	bytes []byte
	req   request
	path  []byte
}

// A request is what of it decides the answer.
type request struct {
	bare    bool // HEAD: the answer has no body
	observe bool // it asks for the counts
	old     bool // HTTP/1.0
	close   bool // it is the last of its connection

	keepAlive, chunked, expect, sized bool
}

// An event is how far a request was read. From 400 on it is the status with
// which to refuse it; nothing after it can be understood.
type event int

const (
	more    event = iota // all that was given is used, but for a line begun
	proceed              // the client waits for a 100 before it sends the body
	whole                // a request has been read
)

type phase uint8

const (
	atLine    phase = iota // the request line
	atHeader               // a header line, or the empty one after it
	atContent              // a body whose length was told
	atSize                 // the size of a chunk
	atChunk                // its data
	atGap                  // the line end after the data
	atTrailer              // a trailer line, or the empty one after it
)

const (
	sectionMax   = 64 << 10 // bytes of a header or trailer section
	chunkLineMax = 4 << 10  // bytes of the line with a chunk's size
	knownMax     = 512      // bytes of a request that is worth knowing again
	watchPath    = "/.dyno/served"
)

// nextEvent reads on in in until there is something to tell, and says how much of it
// is used. What is not must be given again, with what followed.
//
// Clients ask for the same again and again: the bytes of the last request are
// the last request.
func (r *reader) nextEvent(in []byte) (n int, ev event) {
	if r.phase == atLine && r.last != nil && r.last.isPrefixOf(in) {
		r.recallRequest()
		return len(r.last.bytes), whole
	}
	for {
		var k int
		if r.phase == atContent || r.phase == atChunk {
			k, ev = r.skipBody(in[n:])
		} else {
			k, ev = r.takeLine(in[n:])
		}
		n += k
		r.size += int64(k)
		if ev == whole && r.last != nil && r.size <= min(knownMax, int64(n)) {
			r.rememberRequest(in[n-int(r.size) : n])
		}
		if ev != more || k == 0 {
			return n, ev
		}
	}
}

func (k *known) isPrefixOf(in []byte) bool {
	return len(k.bytes) > 0 && bytes.HasPrefix(in, k.bytes)
}

func (r *reader) recallRequest() {
	r.req, r.size = r.last.req, int64(len(r.last.bytes))
	if r.keepPath {
		r.path = append(r.path[:0], r.last.path...)
	}
}

func (r *reader) rememberRequest(in []byte) {
	r.last.req, r.last.bytes = r.req, append(r.last.bytes[:0], in...)
	r.last.path = append(r.last.path[:0], r.path...)
}

// skipBody drops bytes of a body.
func (r *reader) skipBody(in []byte) (int, event) {
	k := min(r.left, int64(len(in)))
	r.left -= k
	switch {
	case r.left > 0:
		return int(k), more
	case r.phase == atContent:
		r.phase = atLine
		return int(k), whole
	}
	r.phase = atGap
	return int(k), more
}

// takeLine takes one line, if it is complete.
func (r *reader) takeLine(in []byte) (int, event) {
	if r.phase == atLine {
		r.size, r.section = 0, 0
	}
	i := bytes.IndexByte(in, '\n')
	k := i + 1
	if i < 0 {
		k = len(in)
	}
	if r.phase == atSize && k > chunkLineMax {
		return k, 400
	}
	if r.section+int64(k) > sectionMax {
		return k, 431
	}
	if i < 0 {
		return 0, more
	}
	if i == 0 || in[i-1] != '\r' {
		return k, 400
	}
	if r.phase != atSize && r.phase != atGap {
		r.section += int64(k)
	}
	return k, r.readLine(in[:i-1])
}

// readLine reads one line, which is without its end.
func (r *reader) readLine(line []byte) event {
	switch r.phase {
	case atLine:
		if len(line) == 0 {
			return more // some clients send one after a body
		}
		r.phase = atHeader
		return r.readRequestLine(line)
	case atHeader:
		if len(line) == 0 {
			return r.endHeaders()
		}
		return r.readHeader(line)
	case atSize:
		return r.readChunkSize(line)
	case atGap:
		r.phase = atSize
		if len(line) > 0 {
			return 400
		}
	case atTrailer:
		if len(line) == 0 {
			r.phase = atLine
			return whole
		}
		if name, _, ok := bytes.Cut(line, colon); !ok || !isToken(name) {
			return 400
		}
	}
	return more
}

func (r *reader) readRequestLine(line []byte) event {
	i, j := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if i < 0 || j == i || !isToken(line[:i]) || !isTarget(line[i+1:j]) {
		return 400
	}
	method, path, version := line[:i], line[i+1:j], line[j+1:]
	if len(version) != 8 || string(version[:5]) != "HTTP/" || version[6] != '.' ||
		!isDigit(version[5]) || !isDigit(version[7]) {
		return 400
	}
	if version[5] != '1' {
		return 505
	}
	r.req = request{bare: string(method) == "HEAD", old: version[7] == '0'}
	r.req.observe = string(path) == watchPath && (r.req.bare || string(method) == "GET")
	r.left = 0
	if r.keepPath {
		r.path = append(r.path[:0], path...)
	}
	return more
}

var (
	colon            = []byte(":")
	comma            = []byte(",")
	semicolon        = []byte(";")
	connection       = []byte("connection")
	contentLength    = []byte("content-length")
	transferEncoding = []byte("transfer-encoding")
	expect           = []byte("expect")
)

// readHeader reads one header line, of which only four matter.
func (r *reader) readHeader(line []byte) event {
	name, value, ok := bytes.Cut(line, colon)
	if !ok || !isToken(name) {
		return 400
	}
	switch name[0] | 0x20 {
	case 'c', 't', 'e':
	default:
		return more
	}
	value = bytes.Trim(value, " \t")
	switch {
	case bytes.EqualFold(name, connection):
		r.readConnection(value)
	case bytes.EqualFold(name, contentLength):
		return r.readContentLength(value)
	case bytes.EqualFold(name, transferEncoding):
		if r.req.chunked {
			return 400
		}
		if !bytes.EqualFold(value, []byte("chunked")) {
			return 501
		}
		r.req.chunked = true
	case bytes.EqualFold(name, expect):
		if !bytes.EqualFold(value, []byte("100-continue")) {
			return 417
		}
		r.req.expect = true
	}
	return more
}

func (r *reader) readConnection(options []byte) {
	for len(options) > 0 {
		var option []byte
		option, options, _ = bytes.Cut(options, comma)
		option = bytes.Trim(option, " \t")
		switch {
		case bytes.EqualFold(option, []byte("close")):
			r.req.close = true
		case bytes.EqualFold(option, []byte("keep-alive")):
			r.req.keepAlive = true
		}
	}
}

func (r *reader) readContentLength(digits []byte) event {
	if len(digits) == 0 || len(digits) > 18 {
		return 400
	}
	var n int64
	for _, c := range digits {
		if !isDigit(c) {
			return 400
		}
		n = n*10 + int64(c-'0')
	}
	if r.req.sized && n != r.left {
		return 400
	}
	r.left, r.req.sized = n, true
	return more
}

// endHeaders ends the header section and says what follows it.
func (r *reader) endHeaders() event {
	q := &r.req
	if q.old {
		q.close = q.close || !q.keepAlive
	}
	switch {
	case q.chunked && (q.sized || q.old):
		return 400 // where the body ends would be a matter of opinion
	case q.chunked:
		r.phase = atSize
	case r.left > 0:
		r.phase = atContent
	default:
		r.phase = atLine
		return whole
	}
	r.section = 0
	if q.expect && !q.old {
		return proceed
	}
	return more
}

func (r *reader) readChunkSize(line []byte) event {
	digits, _, _ := bytes.Cut(line, semicolon)
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 {
		return 400
	}
	var n int64
	for _, c := range digits {
		switch {
		case isDigit(c):
			n = n<<4 | int64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 400
		}
	}
	r.left, r.phase = n, atChunk
	if n == 0 {
		r.phase = atTrailer
	}
	return more
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isTarget tells whether a request target is one word of visible characters.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}

// isToken tells whether b may be a method or the name of a header.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenChars[c] {
			return false
		}
	}
	return len(b) > 0
}

var tokenChars = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789" {
		is[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		is[c], is[c-'a'+'A'] = true, true
	}
	return is
}()
