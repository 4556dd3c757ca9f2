package h3

import (
	"crypto/tls"
	"encoding/binary"
	"math"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// Records are the messages between a codec and its ring: a byte for the kind, and then
// numbers, the highest byte first. An exchange is named by its tag and, because tags are
// used again, by which exchange of the connection it is.
const (
	ask    byte = iota + 1 // to the ring: begin exchange ID with request N
	askOwn                 // begin exchange ID: a request follows as its stream has it; N: see ownN
	giveUp                 // give up exchange ID

	shaken  // to the codec: the handshake is over, and N says how: see shakenRecord
	head    // exchange ID: the final status is N
	done    // exchange ID is over; N bytes of body came
	refused // exchange ID: the server did not process it
	failed  // exchange ID came to no good: a fault follows
	leaving // no more requests on this connection: those begun after the N-th were not taken
	alive   // the server has been heard of
	broken  // lost, a fault follows; if N > 0, those begun after the N-th are refused; the rest fail
	field   // exchange ID: a field of the header follows, of whose text N bytes are the name
	trailer // likewise of the trailer
	piece   // exchange ID: the next bytes of the body follow
)

// A record is one of them.
type record struct {
	what  byte
	id    uint64 // the exchange's place in the connection, and its tag in the low half
	n     uint64
	fault proto.Fault // its Kind, Detail and Mend
	text  []byte      // the rest of it; where it was read from bytes, a part of them
}

// shakenRecord is shaken for a handshake. Its N has a bit that says whether a session was resumed,
// and above it the numbers of the key exchange's group, the cipher and the version.
func shakenRecord(s tls.ConnectionState) record {
	n := uint64(s.Version)<<33 | uint64(s.CipherSuite)<<17 | uint64(s.CurveID)<<1
	if s.DidResume {
		n |= 1
	}
	return record{what: shaken, n: n}
}

// handshakeOf is the handshake of shakenRecord's N.
func handshakeOf(n uint64) tls.ConnectionState {
	return tls.ConnectionState{Version: uint16(n >> 33), CipherSuite: uint16(n >> 17),
		CurveID: tls.CurveID(n >> 1), DidResume: n&1 != 0}
}

// everything is the N of leaving if all that were begun have been taken.
const everything = math.MaxUint32

// parts say what follows the first byte of a record.
var parts = [...]struct{ id, n, fault, text bool }{
	ask: {id: true, n: true}, askOwn: {id: true, n: true, text: true}, giveUp: {id: true},
	shaken: {n: true}, head: {id: true, n: true}, done: {id: true, n: true}, refused: {id: true},
	failed: {id: true, fault: true}, leaving: {n: true}, alive: {}, broken: {n: true, fault: true},
	field: {id: true, n: true, text: true}, trailer: {id: true, n: true, text: true},
	piece: {id: true, text: true},
}

// Lengths of what a fault says, at most, in bytes.
const (
	kindMost   = 1<<8 - 1
	detailMost = 1<<16 - 1
)

// appendTo appends the record to b.
func (r record) appendTo(b []byte) []byte {
	b = append(b, r.what)
	has := parts[r.what]
	if has.id {
		b = binary.BigEndian.AppendUint64(b, r.id)
	}
	if has.n {
		b = binary.BigEndian.AppendUint64(b, r.n)
	}
	if has.fault {
		kind := r.fault.Kind[:min(len(r.fault.Kind), kindMost)]
		detail := r.fault.Detail[:min(len(r.fault.Detail), detailMost)]
		b = append(append(b, byte(len(kind))), kind...)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(detail))), detail...)
		b = append(b, byte(len(r.fault.Mend))) // few, with short texts: package tls and mends have them
		for _, m := range r.fault.Mend {
			b = append(append(b, byte(len(m.Setting))), m.Setting...)
			b = append(append(b, byte(len(m.Value))), m.Value...)
		}
	}
	if has.text {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(r.text))), r.text...)
	}
	return b
}

// setLength sets the length of the text that ends b and begins at from, where a record was
// appended without its text.
func setLength(b []byte, from int) {
	binary.BigEndian.PutUint64(b[from-8:], uint64(len(b)-from))
}

// parseRecord takes a record off the front of b, and says how long it is: 0 if b has not all of
// it, and -1 if it is none.
func parseRecord(b []byte) (r record, n int) {
	if len(b) == 0 {
		return r, 0
	}
	if r.what = b[0]; r.what == 0 || int(r.what) >= len(parts) {
		return r, -1
	}
	has, rest := parts[r.what], b[1:]
	number := func() (v uint64, ok bool) {
		if len(rest) < 8 {
			return 0, false
		}
		v, rest = binary.BigEndian.Uint64(rest), rest[8:]
		return v, true
	}
	ok := true
	if has.id {
		r.id, ok = number()
	}
	if has.n && ok {
		r.n, ok = number()
	}
	if has.fault && ok {
		r.fault, rest, ok = parseFault(rest)
	}
	if has.text && ok {
		var size uint64
		if size, ok = number(); ok && size <= uint64(len(rest)) {
			r.text, rest = rest[:size], rest[size:]
		} else {
			ok = false
		}
	}
	switch {
	case !ok:
		return r, 0
	case (r.what == field || r.what == trailer) && r.n > uint64(len(r.text)):
		return r, -1
	}
	return r, len(b) - len(rest)
}

// parseFault takes a fault off the front of b, and reports false if b has not all of it.
func parseFault(b []byte) (f proto.Fault, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0])+2 {
		return f, nil, false
	}
	kind, rest := b[1:1+int(b[0])], b[1+int(b[0]):]
	size := int(binary.BigEndian.Uint16(rest))
	if rest = rest[2:]; len(rest) < size+1 {
		return f, nil, false
	}
	f.Kind, f.Detail = string(kind), string(rest[:size])
	n, rest := int(rest[size]), rest[size+1:]
	for range n {
		var m fact.Remedy
		for _, to := range []*string{&m.Setting, &m.Value} {
			if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
				return f, nil, false
			}
			*to, rest = string(rest[1:1+int(rest[0])]), rest[1+int(rest[0]):]
		}
		f.Mend = append(f.Mend, m)
	}
	return f, rest, true
}
