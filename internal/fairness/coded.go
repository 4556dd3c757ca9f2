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

// protocolNames are the versions of answers, by the names that loadplan has for the protocols.
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

// codecs are what connections need besides HTTP/1.
type codecs struct {
	make func(proto.Sink) proto.Codec
	reqs []proto.Request
}

// wanted is what the codecs are asked for. A byte more than maxBody shows that there is more.
var wanted = proto.Want{AllFields: true, Body: maxBody + 1}

// makeCodecs compiles the request, and fails if the protocol cannot send it.
func (a *asker) makeCodecs() (err error) {
	a.codecs.reqs = []proto.Request{a.q.Request}
	a.codecs.make, err = a.Protocol(a.speaks)(a.codecs.reqs, wanted)
	return err
}

// openCoded opens a connection for a codec.
func (a *asker) openCoded(ctx context.Context) (session, error) {
	s := &codedSession{asker: a}
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
		if is && t.ConnectionState().NegotiatedProtocol != a.speaks {
			c.Close()
			return nil, fmt.Errorf("the server did not choose %s (ALPN %s): does it speak it?",
				protocolNames[a.speaks], a.speaks)
		}
		s.line = newStreamLine(c)
	}
	s.codec = a.codecs.make(&s.got)
	return s, nil
}

// A codedSession speaks HTTP/2, HTTP/3 or FastCGI by a codec.
type codedSession struct {
	*asker
	codec proto.Codec
	line  line
	in    []byte // received and not yet decoded
	eof   bool   // nothing follows in
	lost  error  // why, unless the server closed
	out   []byte // being sent
	busy  bool   // out is
	ended bool   // the connection takes no more requests

	got  collector
	wire int64 // bytes decoded in this exchange
}

func (s *codedSession) close() {
	s.line.close()
	s.codec.Decode(nil, true)
}

// exchange sends the request once the codec has room, and then everything that the codec owes.
func (s *codedSession) exchange(ctx context.Context, q *Question, body []byte) (*response, error) {
	began := time.Now()
	until := began.Add(s.timeout())
	if by, has := ctx.Deadline(); has && by.Before(until) {
		until = by
	}
	s.got, s.wire = collector{body: body}, 0
	request, asked := q.Request, false
	for {
		if err := s.decode(asked); err != nil {
			return nil, err
		}
		if len(s.got.body) > maxBody || s.got.done && (s.ended || !s.busy && !s.borrows()) {
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
func (s *codedSession) begun() int64 {
	if s.got.status == 0 {
		return 0
	}
	return s.wire
}

// borrows reports whether parts of a request that was answered are still to be sent.
func (s *codedSession) borrows() bool {
	b, can := s.codec.(proto.Borrower)
	return can && b.Borrows(onlyTag)
}

// flush begins to send what there is to send, unless something is being sent.
func (s *codedSession) flush() {
	if s.busy {
		return
	}
	s.out = s.codec.Flush(s.out)
	if s.busy = len(s.out) > 0; s.busy {
		s.line.send(s.out)
	}
}

// take keeps what the line reports.
func (s *codedSession) take(a arrival) {
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
func (s *codedSession) decode(asked bool) error {
	for !s.ended {
		n, ev := s.codec.Decode(s.in, s.eof)
		s.in = s.in[n:]
		s.wire += int64(n)
		switch ev.Kind {
		case proto.More:
			if s.eof {
				s.ended = true
			}
			return s.endError(asked)
		case proto.Head:
			s.got.status = int(ev.Status)
		case proto.Done:
			s.got.done = true
		case proto.Refused:
			if s.codec.Room() == 0 {
				return s.withReason(fmt.Errorf("%w: %w", errLeaving, cmp.Or(ev.Err, errUnprocessed)))
			}
			return fmt.Errorf("the server refused the request: %w", cmp.Or(ev.Err, errUnprocessed))
		case proto.Failed, proto.Broken:
			return s.faultError(ev.Err)
		case proto.Closing:
			s.ended = true
		}
	}
	return s.endError(asked)
}

var errUnprocessed = errors.New("it did not process it, and gave no reason")

// endError is the error of a connection that has ended before the response has.
func (s *codedSession) endError(asked bool) error {
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
func (s *codedSession) withReason(err error) error {
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
func (s *codedSession) faultError(err error) error {
	err = s.withReason(err)
	if s.lost != nil {
		err = fmt.Errorf("%w: %w", err, s.lost)
	}
	var f *proto.Fault
	if errors.As(err, &f) && f.Kind == proto.FaultClosed {
		return fmt.Errorf("%w: %w", errClosed, err)
	}
	return err
}

// response is what has been collected.
func (s *codedSession) response(q *Question) *response {
	g := &s.got
	r := &response{version: protocolNames[s.speaks], status: g.status, fields: g.fields,
		trailer: g.trailer, framing: ByFrames, body: g.body[:min(len(g.body), maxBody)],
		cut: len(g.body) > maxBody, closes: s.ended && !s.eof}
	if s.speaks == loadplan.FastCGI {
		r.framing, r.wire = ByRecords, s.wire
	}
	if q.Request.Method == "HEAD" || r.status == 204 || r.status == 304 {
		r.framing = NoBody
	}
	return r
}

// A collector is the sink of one exchange, and what else is known of it.
type collector struct {
	status          int
	done            bool
	fields, trailer []Line
	body            []byte // maxBody bytes, and one more if there is more
}

// Field keeps a field.
func (g *collector) Field(_ uint32, name, value []byte, trailer bool) {
	l := Line{Name: string(name), Value: string(value), Bytes: len(name) + len(value)}
	if trailer {
		g.trailer = append(g.trailer, l)
	} else {
		g.fields = append(g.fields, l)
	}
}

// Body keeps the next bytes of the body.
func (g *collector) Body(_ uint32, b []byte) { g.body = append(g.body, b...) }
