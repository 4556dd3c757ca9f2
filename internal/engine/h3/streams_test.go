package h3

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/quic-go/quic-go"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
)

// What streams of its own a server may open, and what each costs it: the connection, the stream, or
// nothing. The sections are RFC 9114's, and with Q before them RFC 9204's.
func TestStreamsOfServer(t *testing.T) {
	control := string([]byte{streamControl}) + frame(frameSettings, "")
	const encoder, decoder = "\x02", "\x03"
	for name, tc := range map[string]struct {
		streams []string
		how     string // of the last: "" it goes on, "end" or "reset"
		ends    code   // the connection; 0: it goes on
		stopped code   // or the last stream; 0: it is not
	}{
		"6.2 the three that there are":      {streams: []string{control, encoder, decoder}},
		"6.2 one of an unknown type":        {streams: []string{control, "\x40\x40abc"}, stopped: codeStreamCreation},
		"6.2.3 one of a reserved type":      {streams: []string{control, "\x21abc"}, stopped: codeStreamCreation},
		"6.2 one that ends at once":         {streams: []string{control, ""}, how: "end"},
		"6.2 one that ends in its type":     {streams: []string{control, "\x40"}, how: "end"},
		"6.2 one that is reset in that":     {streams: []string{control, "\x40"}, how: "reset"},
		"4.6 a push":                        {streams: []string{control, "\x01\x00"}, ends: codeID},
		"6.2.1 two control streams":         {streams: []string{control, control}, ends: codeStreamCreation},
		"6.2.1 the control stream ends":     {streams: []string{control}, how: "end", ends: codeClosedCritical},
		"6.2.1 the control stream, at once": {streams: []string{"\x00"}, how: "end", ends: codeClosedCritical},
		"6.2.1 no SETTINGS":                 {streams: []string{"\x00" + frame(frameGoAway, "\x00")}, ends: codeMissingSettings},
		"Q 4.2 two encoders":                {streams: []string{encoder, encoder}, ends: codeStreamCreation},
		"Q 4.2 two decoders":                {streams: []string{decoder, decoder}, ends: codeStreamCreation},
		"Q 4.2 the encoder ends":            {streams: []string{encoder}, how: "end", ends: codeClosedCritical},
		"Q 3.2.3 no room in the table":      {streams: []string{encoder + "\x20"}},
		"Q 3.2.3 room in the table":         {streams: []string{encoder + "\x21"}, ends: codeEncoder},
		"Q 4.4.3 an increment":              {streams: []string{decoder + "\x01"}, ends: codeDecoder},
	} {
		heard, over := make(chan error, 1), make(chan struct{})
		addr := servePlain(t, nil, func(c *quic.Conn) {
			defer c.CloseWithError(quic.ApplicationErrorCode(codeNoError), "")
			defer func() { <-over }()
			var last *quic.SendStream
			for _, text := range tc.streams {
				var err error
				if last, err = c.OpenUniStream(); err != nil {
					heard <- err
					return
				}
				io.WriteString(last, text)
			}
			switch tc.how {
			case "end":
				last.Close()
			case "reset":
				last.CancelWrite(quic.StreamErrorCode(codeInternal))
			}
			switch {
			case tc.ends > 0:
				<-c.Context().Done()
				heard <- context.Cause(c.Context())
			case tc.stopped > 0:
				<-last.Context().Done()
				heard <- context.Cause(last.Context())
			default: // then a request is still answered
				for _, s := range accept(c, 1) {
					io.WriteString(s, headers(":status", "200"))
					s.Close()
				}
				heard <- nil
			}
		})
		k := dialTalk(t, addr, []proto.Request{get}, proto.Want{})
		var last proto.Event
		for k.codec.Room() == 0 && last.Kind != proto.Broken {
			k.listen(func(ev proto.Event) { last = ev })
		}
		if tc.ends == 0 && tc.stopped == 0 {
			if status, last := k.exchange(proto.Message{}, 0); status != 200 || last.Kind != proto.Done {
				t.Errorf("%s: status %d, %+v", name, status, last)
			}
		}
		err := <-heard
		close(over)
		var closed *quic.ApplicationError
		var reset *quic.StreamError
		switch {
		case tc.ends > 0 && (!errors.As(err, &closed) || code(closed.ErrorCode) != tc.ends):
			t.Errorf("%s: the connection ends with %v; want %v", name, err, tc.ends)
		case tc.stopped > 0 && (!errors.As(err, &reset) || code(reset.ErrorCode) != tc.stopped):
			t.Errorf("%s: the stream is stopped with %v; want %v", name, err, tc.stopped)
		case tc.ends == 0 && tc.stopped == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server cannot open a stream as clients do (RFC 9114, 6.1): QUIC allows it none.
func TestNoRequestsByServer(t *testing.T) {
	heard := make(chan error, 1)
	addr := servePlain(t, nil, func(c *quic.Conn) {
		_, err := c.OpenStream()
		heard <- err
	})
	newTalk(t, addr, []proto.Request{get}, proto.Want{})
	var full *quic.StreamLimitReachedError
	if err := <-heard; !errors.As(err, &full) {
		t.Errorf("the server opens a stream: %v", err)
	}
}

// What a server may do to the stream of a request, and what the worker hears.
func TestResets(t *testing.T) {
	post := proto.Request{Method: "POST", Authority: "host", Path: "/", Body: make([]byte, 8<<20)}
	whole := headers(":status", "200")
	for name, tc := range map[string]struct {
		request proto.Request
		do      func(s *quic.Stream)
		status  uint16
		kind    proto.Kind
		fault   string
	}{
		"8.1 not processed": {get, func(s *quic.Stream) { resetStream(s, codeRejected) }, 0, proto.Refused, ""},
		"8.1 canceled":      {get, func(s *quic.Stream) { resetStream(s, codeCanceled) }, 0, proto.Failed, "rst-request-cancelled"},
		"8.1 an unknown code, as H3_NO_ERROR": {get, func(s *quic.Stream) { resetStream(s, 0x4040) }, 0,
			proto.Failed, "rst-unknown"},
		"4.1.1 answered, and the rest is not wanted": {post, func(s *quic.Stream) {
			s.CancelRead(quic.StreamErrorCode(codeNoError))
			io.WriteString(s, whole)
			s.Close()
		}, 200, proto.Done, ""},
		"4.1 ended without an answer": {get, func(s *quic.Stream) { s.Close() }, 0, proto.Failed, proto.FaultMalformed},
	} {
		addr := servePlain(t, nil, func(c *quic.Conn) {
			for _, s := range accept(c, 1) {
				tc.do(s)
			}
		})
		k := newTalk(t, addr, []proto.Request{tc.request}, proto.Want{})
		status, last := k.exchange(proto.Message{}, 0)
		var f *proto.Fault
		if errors.As(last.Err, &f); status != tc.status || last.Kind != tc.kind || (f == nil) != (tc.fault == "") ||
			f != nil && f.Kind != tc.fault {
			t.Errorf("%s: status %d, %+v; want %d, %d, %s", name, status, last, tc.status, tc.kind, tc.fault)
		}
	}
}

// A stream that must not end may not be reset either. The end of the connection is no fault of it.
func TestCriticalStreams(t *testing.T) {
	r, _ := open(t, ring.Addr{}, []proto.Request{get}, proto.Want{})
	reset := &quic.StreamError{ErrorCode: quic.StreamErrorCode(codeInternal), Remote: true}
	for why, want := range map[error]code{reset: codeClosedCritical, io.EOF: codeClosedCritical,
		&quic.ApplicationError{}: 0} {
		for name, read := range map[string]func(in io.Reader) error{
			"control": (&conn{ring: r}).readControl,
			"encoder": func(in io.Reader) error { return readInstructions(in, streamEncoder) },
			"decoder": func(in io.Reader) error { return readInstructions(in, streamDecoder) },
		} {
			var v *violation
			if err := read(iotest.ErrReader(why)); errors.As(err, &v) != (want > 0) || v != nil && v.code != want {
				t.Errorf("%s, %v: %v; want %v", name, why, err, want)
			}
		}
	}
}
