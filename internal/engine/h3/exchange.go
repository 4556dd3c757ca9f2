package h3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/proto"
)

// An exchange is a request under way, and a goroutine.
type exchange struct {
	conn *conn
	id   uint64

	// Of conn.under.
	givenUp bool
	stream  *http3.RequestStream // of a request without a body, once it is open
	cancel  context.CancelFunc   // of one with a body, or of waiting for a stream
}

// maxInterim is how many 1xx responses to one request are borne, as for HTTP/2. Where a request
// has a body it is quic-go that counts, and bears 5.
const maxInterim = 64

// Why an exchange ends that came to nothing.
var (
	errUnsent  = errors.New("the server takes no more requests on this connection")
	errInterim = fmt.Errorf("more than %d interim responses", maxInterim)
)

// beginRequest notes an exchange, so that it can be given up from now on. It is nil if none is
// taken any more.
func (c *conn) beginRequest(id uint64) *exchange {
	c.under.Lock()
	defer c.under.Unlock()
	if c.over {
		return nil
	}
	x := &exchange{conn: c, id: id}
	c.running[id], c.taken = x, id>>32
	return x
}

// finishRequest forgets an exchange of which all has been reported.
func (c *conn) finishRequest(x *exchange) {
	c.under.Lock()
	defer c.under.Unlock()
	if delete(c.running, x.id); len(c.running) == 0 {
		c.none.Signal()
	}
}

// postRefused reports that a request was not processed, and whether no later one will be.
func (c *conn) postRefused(id uint64, leaves bool) {
	if leaves {
		c.postRecord(record{what: leaving, n: everything})
	}
	c.postRecord(record{what: refused, id: id})
}

// isLeaving reports whether the server has said that it takes no more requests (GOAWAY), or
// says so in a moment: it does that on another stream than it rejects them.
func (c *conn) isLeaving() bool {
	never, cancel := context.WithCancel(context.Background())
	cancel() // so nothing is opened
	for range 10 {
		if _, err := c.http.OpenRequestStream(never); !errors.Is(err, context.Canceled) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// cancelRequest resets the stream of an exchange, or sees to it that it is never opened.
func (c *conn) cancelRequest(id uint64) {
	c.under.Lock()
	defer c.under.Unlock()
	x := c.running[id]
	if x == nil {
		return
	}
	x.givenUp = true
	if x.stream != nil {
		resetStream(x.stream)
	}
	if x.cancel != nil {
		x.cancel()
	}
}

// resetStream resets a stream in both directions.
func resetStream(s *http3.RequestStream) {
	s.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	s.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
}

// runRequest is the life of an exchange. Of one that was given up nothing is told: it would pass
// for a sign of life of the server.
func (x *exchange) runRequest(m *message) {
	c := x.conn
	defer c.finishRequest(x)
	do := x.sendWithoutBody
	if len(m.body) > 0 {
		do = x.sendWithBody
	}
	n, err := do(x.canceledContext(), m)
	switch {
	case !x.isWanted():
	case err == nil:
		c.postRecord(record{what: done, id: x.id, n: uint64(n)})
	case err == errUnsent:
		c.postRefused(x.id, true)
	case isRejected(err):
		c.postRefused(x.id, c.isLeaving())
	case isConnectionEnd(err) || c.quic.Context().Err() != nil: // which is reported by itself
	default:
		c.postRecord(record{what: failed, id: x.id, fault: *streamFault(err)})
	}
}

// runText is the life of an exchange whose request is a text: see readMessage.
func (x *exchange) runText(text []byte, n uint64) {
	m, err := x.conn.ring.readMessage(text, n)
	if err == nil {
		x.runRequest(m)
		return
	}
	defer x.conn.finishRequest(x)
	if x.isWanted() {
		x.conn.postRecord(record{what: failed, id: x.id, fault: proto.Fault{Kind: proto.FaultMalformed,
			Detail: "the request cannot be sent: " + err.Error()}})
	}
}

// canceledContext ends when the exchange is given up. The connection's end needs none: it ends
// whatever is under way there.
func (x *exchange) canceledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	x.conn.under.Lock()
	defer x.conn.under.Unlock()
	if x.cancel = cancel; x.givenUp {
		cancel()
	}
	return ctx
}

// isWanted reports whether the exchange has not been given up.
func (x *exchange) isWanted() bool {
	x.conn.under.Lock()
	defer x.conn.under.Unlock()
	return !x.givenUp
}

// sendWithoutBody is an exchange whose request has no body. It returns the length of the
// response's.
func (x *exchange) sendWithoutBody(ctx context.Context, m *message) (int64, error) {
	stream, err := x.conn.http.OpenRequestStream(ctx)
	if err != nil {
		return 0, errUnsent
	}
	if !x.attachStream(stream) {
		resetStream(stream)
		return 0, errUnsent
	}
	if stream.SendRequestHeader(m.request) == nil {
		stream.Close()
	}
	var n int64
	response, answered := finalResponse(stream) // also where the server has not read the request
	if answered == nil {
		n, answered = x.readResponse(m.request.Method, response)
	}
	if answered != nil {
		resetStream(stream)
	}
	return n, answered
}

// finalResponse is the response after those of 1xx.
func finalResponse(stream *http3.RequestStream) (*http.Response, error) {
	for range maxInterim {
		response, err := stream.ReadResponse()
		if err != nil || response.StatusCode/100 != 1 {
			return response, err
		}
	}
	return nil, errInterim
}

// attachStream notes the stream, and reports false if the exchange has been given up meanwhile.
func (x *exchange) attachStream(s *http3.RequestStream) bool {
	x.conn.under.Lock()
	defer x.conn.under.Unlock()
	x.stream = s
	return !x.givenUp
}

// A body is that of one exchange's request.
type body struct {
	bytes.Reader
	begun atomic.Bool // it is sent
}

func (b *body) Read(p []byte) (int, error) {
	b.begun.Store(true)
	return b.Reader.Read(p)
}

func (b *body) Close() error { return nil }

// sendWithBody is an exchange whose request has a body.
func (x *exchange) sendWithBody(ctx context.Context, m *message) (int64, error) {
	content := &body{}
	content.Reset(m.body)
	request := m.request.WithContext(ctx)
	request.Body, request.ContentLength = content, int64(len(m.body))
	response, err := x.conn.http.RoundTrip(request)
	if err != nil {
		defer x.cancel()
		var reset *quic.StreamError
		if !content.begun.Load() && !errors.As(err, &reset) {
			err = errUnsent
		}
		return 0, err
	}
	n, err := x.readResponse(m.request.Method, response)
	if err != nil {
		x.cancel() // else the rest of the body goes its way, and what is left of ctx is garbage
	}
	return n, err
}

// readResponse reports the status and what is wanted besides, and reads the body to its end.
func (x *exchange) readResponse(method string, response *http.Response) (n int64, err error) {
	if status := response.StatusCode; status < 200 || status > 999 {
		return 0, fmt.Errorf("its status is %d", status)
	}
	want := &x.conn.ring.want
	if want.WantsFields() {
		x.postFields(field, response.Header)
	}
	x.conn.postRecord(record{what: head, id: x.id, n: uint64(response.StatusCode)})
	bare := method == http.MethodHead || slices.Contains([]int{204, 304}, response.StatusCode)
	b := x.conn.ring.buffers.Get().(*[bodyPiece]byte)
	defer x.conn.ring.buffers.Put(b)
	for {
		k, err := response.Body.Read(b[:])
		if wanted := want.Cut(n, b[:k]); len(wanted) > 0 {
			x.conn.postRecord(record{what: piece, id: x.id, text: wanted})
		}
		n += int64(k)
		if err == io.EOF {
			if want.WantsFields() {
				x.postFields(trailer, response.Trailer)
			}
			return n, nil
		}
		var reset *http3.Error
		if err != nil && bare && !errors.As(err, &reset) && !isConnectionEnd(err) {
			return n, proto.ForbiddenBody(uint16(response.StatusCode), nil) // http3 reads none of it
		}
		if err != nil {
			return n, err
		}
	}
}

// isRejected reports whether err means that the server did not process the request.
func isRejected(err error) bool {
	var said *http3.Error
	return errors.As(err, &said) && said.Remote && said.ErrorCode == http3.ErrCodeRequestRejected
}

// streamFault is what was wrong with one exchange.
func streamFault(err error) *proto.Fault {
	var said *http3.Error
	var known *proto.Fault
	switch {
	case errors.As(err, &said) && said.Remote:
		return &proto.Fault{Kind: proto.FaultReset + codeName(said.ErrorCode), Err: err,
			Detail: fmt.Sprintf("the server reset the stream (%v)", said.ErrorCode),
			Mend:   mends[said.ErrorCode]}
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &proto.Fault{Kind: proto.FaultMalformed, Err: err,
			Detail: "malformed response: its stream ended before it was whole"}
	}
	return &proto.Fault{Kind: proto.FaultMalformed, Err: err,
		Detail: "malformed response: " + plainText(err)}
}
