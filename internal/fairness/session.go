package fairness

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// This file asks by the engine's codecs, as the load does. Of HTTP/1 what it got keeps the bytes
// too, because names and framing can differ there.

// protocolNames are the versions of answers, by the names that loadplan has for the protocols;
// HTTP/1's says the server.
var protocolNames = map[string]string{loadplan.HTTP2: "HTTP/2", loadplan.HTTP3: "HTTP/3",
	loadplan.FastCGI: "FastCGI"}

// errLeaving is a server that ends a connection in the way that its protocol has for it.
var errLeaving = errors.New("the server takes no more requests on this connection")

// over is the protocol for errors, as " over HTTP/2"; "" for HTTP/1.
func (a *asker) over() string {
	if a.isPlain() {
		return ""
	}
	return " over " + protocolNames[a.speaks]
}

// codecs make the codecs of connections.
type codecs struct {
	make func(proto.Sink) proto.Codec
	reqs []proto.Request
}

// wanted is what the codecs are asked for; of HTTP/1, whose header is kept as it came, no fields. A
// byte more than maxBody shows that there is more.
func (a *asker) wanted() proto.Want {
	return proto.Want{AllFields: !a.isPlain(), Body: maxBody + 1}
}

// makeCodecs compiles the request, and fails if the protocol cannot send it.
func (a *asker) makeCodecs() (err error) {
	a.codecs.reqs = []proto.Request{a.q.Request}
	a.codecs.make, err = a.Protocol(a.speaks)(a.codecs.reqs, a.wanted())
	return err
}

// open opens a connection.
func (a *asker) open(ctx context.Context) (*session, error) {
	s := &session{asker: a}
	if a.speaks == loadplan.HTTP3 {
		l, err := a.dialQUIC(ctx)
		if err != nil {
			return nil, err
		}
		s.line = l
	} else {
		c, err := a.dialStream(ctx)
		if err != nil {
			return nil, err
		}
		t, is := c.(*tls.Conn)
		if is && !a.isPlain() && t.ConnectionState().NegotiatedProtocol != a.speaks {
			c.Close()
			return nil, fmt.Errorf("the server did not choose %s (ALPN %s): does it speak it?",
				protocolNames[a.speaks], a.speaks)
		}
		s.line = newStreamLine(c)
	}
	s.codec = a.codecs.make(&s.got)
	return s, nil
}

// A session is an open connection on which one exchange follows another.
type session struct {
	*asker
	codec     proto.Codec
	line      line
	in        []byte // received and not yet decoded
	eof       bool   // nothing follows in
	lost      error  // why, unless the server closed
	out       []byte // being sent
	busy      bool   // out is
	ended     bool   // the connection takes no more requests
	announced bool   // the server, or the request, had said so

	got  collector
	wire int64 // bytes decoded in this exchange
}

func (s *session) close() {
	s.line.close()
	s.codec.Decode(nil, true)
}

// exchange sends the request of q once the codec has room, and then everything that the codec owes.
// The response's body is appended to body. After an error the session is of no more use.
func (s *session) exchange(ctx context.Context, q *Question, body []byte) (*response, error) {
	began := time.Now()
	until := began.Add(s.timeout())
	if by, has := ctx.Deadline(); has && by.Before(until) {
		until = by
	}
	s.got, s.wire = collector{response: response{body: body}}, 0
	request, asked, taken := s.sender.Signed(q.Request), false, s.tally.taken
	for {
		if err := s.decode(asked); err != nil {
			return nil, err
		}
		s.got.left = s.tally.reader != nil && taken.isOver(s.tally.reader, s.got.body)
		if len(s.got.body) > maxBody || s.heads && s.got.status != 0 || s.got.left ||
			s.got.done && (s.ended || !s.busy && !s.borrows()) {
			return s.response(q), nil
		}
		if !asked && !s.busy && s.codec.Room() > 0 { // what is being sent may not change
			fill := &proto.Fill{Own: &request}
			s.out, asked = s.codec.Encode(s.out, proto.Message{Fill: fill}, onlyTag), true
		}
		s.flush()
		arrived, err := s.line.wait(ctx, until)
		switch {
		case err != nil && ctx.Err() != nil && contextCause(ctx) != context.DeadlineExceeded:
			return nil, externalEnd(ctx.Err())
		case err != nil && !asked:
			return nil, fmt.Errorf("%w: connected, but the server has not allowed a request",
				timeoutError(ctx, until.Sub(began), 0))
		case err != nil && s.got.done:
			return nil, errors.New("it answered and keeps the connection, but did not take all of the " +
				"request")
		case err != nil:
			return nil, timeoutError(ctx, until.Sub(began), s.begun())
		}
		s.take(arrived)
	}
}

// onlyTag is the tag of every exchange, for there is one at a time.
const onlyTag = 0

// begun is how many bytes came of a response that has begun; 0 of one that has not.
func (s *session) begun() int64 {
	switch {
	case s.isPlain():
		return s.wire + int64(len(s.in))
	case s.got.status == 0:
		return 0
	}
	return s.wire
}

// borrows reports whether parts of a request that was answered are still to be sent.
func (s *session) borrows() bool {
	b, can := s.codec.(proto.Borrower)
	return can && b.Borrows(onlyTag)
}

// flush begins to send what there is to send, unless something is being sent.
func (s *session) flush() {
	if s.busy {
		return
	}
	s.out = s.codec.Flush(s.out)
	if s.busy = len(s.out) > 0; s.busy {
		s.line.send(s.out)
	}
}

// take keeps what the line reports.
func (s *session) take(a arrival) {
	if a.sent {
		s.out, s.busy = nil, false
	}
	s.in = append(s.in, a.data...)
	if a.err != nil {
		if s.eof = true; !errors.Is(a.err, io.EOF) {
			s.lost = a.err
		}
	}
}

// decode takes all events that there are.
func (s *session) decode(asked bool) error {
	for !s.ended {
		ev := s.next(false)
		atEnd := ev.Kind == proto.More && s.eof
		if atEnd {
			ev = s.next(true)
		}
		switch ev.Kind {
		case proto.More:
			s.ended = s.ended || atEnd
			return s.endError(asked)
		case proto.Head:
			s.got.status = int(ev.Status)
		case proto.Done:
			if s.got.done = true; s.isPlain() && len(s.in) > 0 {
				return s.excessError()
			}
		case proto.Refused:
			if s.codec.Room() == 0 {
				return s.withReason(fmt.Errorf("%w: %w", errLeaving, cmp.Or(ev.Err, errUnprocessed)))
			}
			return fmt.Errorf("the server refused the request: %w", cmp.Or(ev.Err, errUnprocessed))
		case proto.Failed, proto.Broken:
			if !asked && s.isPlain() {
				return s.excessError()
			}
			return s.faultError(ev.Err)
		case proto.Closing:
			s.ended, s.announced = true, !atEnd
		}
	}
	return s.endError(asked)
}

// next is the codec's next event.
func (s *session) next(eof bool) proto.Event {
	n, ev := s.codec.Decode(s.in, eof)
	if s.isPlain() && s.got.status == 0 {
		s.got.tapped(s.in[:n], ev.Kind, s.codec)
	}
	s.in = s.in[n:]
	s.wire += int64(n)
	return ev
}

// excessError is the error of bytes that belong to no response.
func (s *session) excessError() error {
	return fmt.Errorf("%d bytes came behind the end of the response, %.40q: its Content-Length is "+
		"too small, or the server answers what nobody asked", len(s.in), s.in)
}

var errUnprocessed = errors.New("it did not process it, and gave no reason")

// endError is the error of a connection that has ended before the response has.
func (s *session) endError(asked bool) error {
	switch {
	case !s.ended || s.got.done:
		return nil
	case s.eof && s.lost != nil:
		return fmt.Errorf("%w: %w", errClosed, s.lost)
	case s.eof:
		return errClosed
	case asked:
		return s.withReason(fmt.Errorf("%w, and did not answer", errLeaving))
	}
	return s.withReason(errLeaving)
}

// withReason adds the server's reason for the end of the connection, if it gave one and err does
// not have it.
func (s *session) withReason(err error) error {
	d, can := s.codec.(proto.Dismisser)
	if !can {
		return err
	}
	why := d.Dismissed()
	if why == nil || strings.Contains(err.Error(), why.Detail) {
		return err
	}
	return fmt.Errorf("%w; the connection was %w", err, why)
}

// faultError is the error of what the peer did.
func (s *session) faultError(err error) error {
	err = s.withReason(err)
	if s.lost != nil {
		err = fmt.Errorf("%w: %w", err, s.lost)
	}
	var f *proto.Fault
	switch closed := errors.As(err, &f) && f.Kind == proto.FaultClosed; {
	case closed && s.isPlain() && s.lost == nil: // its words are the same
		return errClosed
	case closed:
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return err
}

// errClosed is a connection that ended before the first byte of a response,
// which a server may do to a connection that is not new.
var errClosed = errors.New("the server closed the connection and did not answer")

// response is what has been collected.
func (s *session) response(q *Question) *response {
	r := &s.got.response
	r.wire, r.closes = s.wire, s.announced
	if r.cut = len(r.body) > maxBody; r.cut {
		r.body = r.body[:maxBody]
	}
	switch {
	case s.speaks == loadplan.FastCGI:
		r.framing = ByRecords
	case !s.isPlain():
		r.framing, r.wire = ByFrames, 0
	case r.cut && !s.got.done && r.framing == ByLength: // what is still to come
		p := s.codec.(proto.Progressor).Progress(onlyTag)
		r.wire += p.Length - p.Body
	}
	if !s.isPlain() {
		r.version = protocolNames[s.speaks]
	}
	if q.Request.Method == "HEAD" || r.status == 204 || r.status == 304 {
		r.framing = NoBody
	}
	return r
}
