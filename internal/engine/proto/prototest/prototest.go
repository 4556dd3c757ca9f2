// Package prototest checks what every Codec promises, so that a new protocol
// is tested by one call.
package prototest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"dyno/internal/engine/proto"
)

// A Transcript is what one connection's codec is asked to do and what its peer
// says, over and over. Every exchange has tag 0.
type Transcript struct {
	Protocol proto.Protocol
	Requests []proto.Request
	Fill     *proto.Fill   // of the one request that is sent, if it has holes
	Hello    string        // the peer's bytes before any exchange
	Replies  []byte        // the peer's bytes for one exchange
	Patch    func([]byte)  // makes Replies fit the next exchange, if they differ
	Ends     bool          // the peer closes after Replies: a connection for each exchange
	Want     []proto.Event // the events of one exchange; nil: they are not compared
	Wanted   proto.Want    // of its response, by a sink
	Given    string        // what the sink is given of it: see Record
}

// Run checks that the transcript's events do not depend on how the peer's bytes
// are split, nor what a sink is given; that every byte is taken and none is looked at again; that
// Room comes back unless the connection ends; and that an exchange allocates nothing.
func Run(t *testing.T, tr Transcript) {
	t.Helper()
	mk, err := tr.Protocol(tr.Requests, tr.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	for chunk := 1; chunk <= len(tr.Replies); chunk++ {
		s := startSession(t, tr, mk)
		for i := range 3 {
			if tr.Ends && i > 0 {
				s = startSession(t, tr, mk)
			}
			if got := s.runExchange(chunk); tr.Want != nil && !slices.Equal(got, tr.Want) {
				t.Fatalf("in pieces of %d: got %+v, want %+v", chunk, got, tr.Want)
			}
			if got := s.record.String(); got != tr.Given {
				t.Fatalf("in pieces of %d: the sink was given %q, want %q", chunk, got, tr.Given)
			}
		}
	}
	const runs = 100
	sessions := []*session{startSession(t, tr, mk)}
	for i := 0; tr.Ends && i < runs; i++ { // and the one run that AllocsPerRun does first
		sessions = append(sessions, startSession(t, tr, mk))
	}
	n := testing.AllocsPerRun(runs, func() {
		sessions[0].runExchange(len(tr.Replies))
		if tr.Ends {
			sessions = sessions[1:]
		}
	})
	if n != 0 {
		t.Errorf("%v allocations an exchange", n)
	}
}

// A session is one connection on which exchanges are made.
type session struct {
	t   *testing.T
	tr  Transcript
	c   proto.Codec
	out []byte
	in  []byte
	got []proto.Event

	record Record
}

// A Record is a sink that keeps what it is given as text: "tag name: value;" of a field,
// "tag name: value (trailer);" of one of a trailer, and "tag body;" of the pieces of a body that
// were given one after another.
type Record struct {
	text []byte
	body uint32 // the tag, and 1, of the body that text ends with
}

// Field keeps a field.
func (r *Record) Field(tag uint32, name, value []byte, trailer bool) {
	r.endBody()
	r.text = append(append(append(r.appendTag(tag), name...), ": "...), value...)
	if trailer {
		r.text = append(r.text, " (trailer)"...)
	}
	r.text = append(r.text, ';')
}

// Body keeps a piece of a body.
func (r *Record) Body(tag uint32, b []byte) {
	if r.body != tag+1 {
		r.endBody()
		r.text = r.appendTag(tag)
	}
	r.text, r.body = append(r.text, b...), tag+1
}

func (r *Record) appendTag(tag uint32) []byte {
	return append(strconv.AppendUint(r.text, uint64(tag), 10), ' ')
}

func (r *Record) endBody() {
	if r.body > 0 {
		r.text, r.body = append(r.text, ';'), 0
	}
}

// String is what was given since the last Reset.
func (r *Record) String() string {
	r.endBody()
	return string(r.text)
}

// Reset forgets all.
func (r *Record) Reset() { r.text, r.body = r.text[:0], 0 }

func startSession(t *testing.T, tr Transcript, mk func(proto.Sink) proto.Codec) *session {
	tr.Replies = slices.Clone(tr.Replies)
	n := len(tr.Hello) + len(tr.Replies)
	s := &session{t: t, tr: tr, in: make([]byte, 0, n), got: make([]proto.Event, 0, 8)}
	s.record.text = make([]byte, 0, 2*n)
	if s.c = mk(nil); !tr.Wanted.IsEmpty() {
		s.c = mk(&s.record)
	}
	s.out = s.c.Flush(make([]byte, 0, 128<<10))
	s.decodeChunk([]byte(tr.Hello), false)
	return s
}

func (s *session) runExchange(chunk int) []proto.Event {
	s.record.Reset()
	if s.got = s.got[:0]; s.c.Room() < 1 {
		s.t.Fatal("no room")
	}
	s.out = s.c.Encode(s.out[:0], proto.Message{Fill: s.tr.Fill}, 0)
	for sent := true; sent; sent = len(s.out) > 0 {
		s.out = s.c.Flush(s.out[:0])
	}
	for p := s.tr.Replies; len(p) > 0; p = p[min(chunk, len(p)):] {
		s.decodeChunk(p[:min(chunk, len(p))], false)
	}
	switch {
	case s.tr.Ends:
		s.decodeChunk(nil, true)
		s.decodeChunk(nil, true) // the last call: it must do no harm
		if s.c.Room() > 0 {
			s.t.Fatal("room on a connection that has ended")
		}
	case s.tr.Patch != nil:
		s.tr.Patch(s.tr.Replies)
	}
	if len(s.in) > 0 {
		s.t.Fatalf("%d bytes left over", len(s.in))
	}
	return s.got
}

// decodeChunk is the worker's half of the contract: bytes not taken come back with more.
func (s *session) decodeChunk(p []byte, eof bool) {
	s.in = append(s.in, p...)
	n := 0
	for {
		k, ev := s.c.Decode(s.in[n:], eof)
		if n += k; ev.Kind == proto.More {
			break
		}
		if ev.Err != nil {
			s.t.Fatalf("broken: %v", ev.Err)
		}
		s.got = append(s.got, ev)
	}
	kept := copy(s.in, s.in[n:])
	poison := s.in[kept:]
	for i := range poison { // what was lent is no longer there
		poison[i] = 0xAA
	}
	s.in = s.in[:kept]
}

// Events feeds c a peer's whole speech, in pieces of chunk bytes, and then that
// the peer has closed. It returns the events, and an error if c claims bytes
// that it was not given, does not come to an end, or goes on after Broken.
func Events(c proto.Codec, speech []byte, chunk int) (got []proto.Event, err error) {
	most := 4*len(speech) + 8192 // events: beyond it the codec is in a circle
	for given, used := 0, 0; ; {
		given = min(given+chunk, len(speech))
		eof := given == len(speech)
		for {
			in := speech[used:given:given]
			n, ev := c.Decode(in, eof)
			if n < 0 || n > len(in) {
				return got, fmt.Errorf("used %d of %d bytes", n, len(in))
			}
			if used += n; ev.Kind == proto.More {
				break
			}
			if got = append(got, ev); len(got) > most {
				return got, errors.New("events without end")
			}
		}
		if eof {
			break
		}
	}
	for _, ev := range got[:max(len(got)-1, 0)] {
		if ev.Kind == proto.Broken {
			return got, errors.New("events after Broken")
		}
	}
	if _, ev := c.Decode(nil, true); ev.Kind != proto.More {
		return got, fmt.Errorf("an event, %+v, after the end", ev)
	}
	return got, nil
}

// Holed is a request with holes in all its parts, whose values are three. The last one stands
// neither in the path nor in the host, so that it can have spaces and the like.
func Holed() proto.Request {
	return proto.Request{Method: "POST", Authority: "x:81", Path: "/items/?q=",
		Header: []proto.Field{{Name: "X-Id", Value: "a-z"}, {Name: "Accept", Value: "*/*"},
			{Name: "X-Two", Value: "="}, {Name: "Host", Value: "h"}, {Name: "x-id", Value: "="}},
		Body: []byte(`{"id": ""}`),
		Holes: []proto.Hole{{In: proto.InPath, At: 7}, {In: proto.InPath, At: 10, Value: 1},
			{In: proto.InHeader, At: 2}, {In: proto.InHeader, Field: 2, At: 0, Value: 2},
			{In: proto.InHeader, Field: 2, At: 1}, {In: proto.InHeader, Field: 3, At: 1, Value: 1},
			{In: proto.InHeader, Field: 4, At: 1, Value: 2}, {In: proto.InBody, At: 8, Value: 2},
			{In: proto.InBody, At: 9, Value: 1}}}
}

// Fits reports whether values may stand in all holes of r that they fill.
func Fits(r proto.Request, values ...string) bool {
	return !slices.ContainsFunc(r.Holes, func(h proto.Hole) bool {
		return proto.CheckValue(h.In, []byte(values[h.Value])) != nil
	})
}

// Filled is the request without holes that says what a message of r with these values does, and
// the message's Fill.
func Filled(r proto.Request, values ...string) (proto.Request, *proto.Fill) {
	fill := &proto.Fill{}
	for _, v := range values {
		fill.Values = append(fill.Values, []byte(v))
	}
	if r.HasHoles(proto.InBody) {
		fill.Body = proto.AppendFilled([]byte{}, r.Body, r.BodyHoles(), fill.Values)
	}
	return r.Filled(fill), fill
}
