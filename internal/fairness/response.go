package fairness

import (
	"bytes"
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// maxBody is how much of a body is read.
const maxBody = 16 << 20

// A response is one, as it came.
type response struct {
	version string
	status  int
	reason  string
	interim []int
	head    []byte // of HTTP/1: status line to empty line
	fields  []Line
	trailer []Line // not of HTTP/1
	framing Framing
	body    []byte // without transfer coding
	wire    int64  // bytes of all of it
	cut     bool   // there is more body than was read
	left    bool   // likewise, as users of a stream left it
	closes  bool   // the connection ends with it
	asks    bool   // it is a challenge, and its connection takes no answer
}

// challenges are its fields that ask who sends the request.
func (r *response) challenges() (all []string) {
	for _, f := range r.fields {
		if strings.EqualFold(f.Name, "WWW-Authenticate") {
			all = append(all, f.Value)
		}
	}
	return all
}

// headerSize is the bytes of the header as its protocol counts them: HTTP/1's as they came, and
// without its lines the names and values.
func (r *response) headerSize() (n int64) {
	if r.head != nil {
		return int64(len(r.head))
	}
	for _, f := range r.fields {
		n += int64(f.Bytes)
	}
	return n
}

// splitHead fills in what a head of HTTP/1 says of itself. The codec has judged it: the head is a
// status line of 12 bytes at least, fields and an empty line.
func (r *response) splitHead() {
	line, rest, _ := bytes.Cut(r.head, newline)
	line = bytes.TrimSuffix(line, carriage)
	r.version, r.reason = string(line[:8]), string(bytes.TrimPrefix(line[12:], space))
	for {
		before := len(rest)
		line, rest, _ = bytes.Cut(rest, newline)
		name, value, found := bytes.Cut(bytes.TrimSuffix(line, carriage), colon)
		if !found {
			return
		}
		r.fields = append(r.fields, Line{string(bytes.TrimRight(name, " \t")),
			string(bytes.Trim(value, " \t")), before - len(rest)})
	}
}

var newline, carriage, space, colon = []byte("\n"), []byte("\r"), []byte(" "), []byte(":")

// statusOf is the status of a head of HTTP/1.
func statusOf(head []byte) int {
	n, _ := strconv.Atoi(string(head[9:12]))
	return n
}

// A collector is the sink of one exchange, and what else is known of it.
type collector struct {
	response
	done bool
}

// Field keeps a field. HTTP/1's are in its head.
func (g *collector) Field(_ uint32, name, value []byte, trailer bool) {
	l := Line{Name: string(name), Value: string(value), Bytes: len(name) + len(value)}
	if trailer {
		g.trailer = append(g.trailer, l)
	} else {
		g.fields = append(g.fields, l)
	}
}

// Body keeps the next bytes of the body: maxBody of them, and one more if there is more.
func (g *collector) Body(_ uint32, b []byte) { g.body = append(g.body, b...) }

// framings are how the codec of HTTP/1 says what ends a body.
var framings = map[fact.End]Framing{fact.ByLength: ByLength, fact.ByChunk: ByChunks,
	fact.ByClose: ByClose}

// tapped notes what a codec of HTTP/1 has just taken of the bytes of a header, and what it made of
// them. It alone knows what it took, so nothing in it is spent on this.
func (g *collector) tapped(b []byte, kind proto.Kind, codec proto.Codec) {
	g.head = append(g.head, b...)
	switch kind {
	case proto.Interim:
		g.interim, g.head = append(g.interim, statusOf(g.head)), g.head[:0]
	case proto.Head:
		g.splitHead()
		g.framing = framings[codec.(proto.Progressor).Progress(onlyTag).End]
	}
}
