package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// A quicServer speaks QUIC as it should, and above it whatever a test wants.
type quicServer struct {
	port     uint16
	answer   func(p *quicPeer) // called for each request, once all of it has come
	requests atomic.Int64
}

// A quicPeer is the server's end of one request.
type quicPeer struct {
	*quic.Stream
	conn    *quic.Conn
	control *quic.SendStream
	n       int  // which request of its connection it is, from 1
	gone    bool // the server had said before that it takes no more
	leave   func()
	left    <-chan struct{} // closed when the packets with that are under way
}

// Frames and streams of HTTP/3, as far as the tests need them.
var (
	h3Settings = []byte{0, 4, 0}          // the control stream's type, and a frame without settings
	h3Status   = []byte{1, 3, 0, 0, 0xd9} // HEADERS with the 25th of QPACK's static table, :status 200
	h3Continue = []byte{1, 4, 0, 0, 0xff, 0}
	h3Nine     = []byte{1, 6, 0, 0, 0xd9, 0x54, 1, '9'} // likewise, and content-length: 9
	// :status 200, and 200,000 references to the static table's strict-transport-security: 19 MB.
	qpackBomb  = append([]byte{1, 0x80, 3, 0x0d, 0x43, 0, 0, 0xd9}, strings.Repeat("\xfa", 200_000)...)
	h3Rejected = quic.StreamErrorCode(http3.ErrCodeRequestRejected)
)

// serveQUIC answers by a function what comes on each stream.
func serveQUIC(t *testing.T, config *tls.Config, answer func(p *quicPeer)) *quicServer {
	t.Helper()
	if config == nil {
		pair, _ := selfSigned(t)
		config = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{loadplan.HTTP3}}
	}
	socket, port := udp(t)
	s := &quicServer{port: port, answer: answer}
	listener, err := quic.Listen(socket, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var conns sync.Map
	group.Go(func() {
		for {
			c, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			conns.Store(c, true)
			group.Go(func() { s.serve(c, &group) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		for c := range conns.Range {
			c.(*quic.Conn).CloseWithError(0, "")
		}
		socket.Close()
		group.Wait()
	})
	return s
}

func (s *quicServer) serve(c *quic.Conn, group *sync.WaitGroup) {
	control, err := c.OpenUniStream()
	if err != nil {
		return
	}
	control.Write(h3Settings)
	var gone atomic.Bool
	left := make(chan struct{})
	for n := 1; ; n++ {
		stream, err := c.AcceptStream(context.Background())
		if err != nil {
			return
		}
		s.requests.Add(1)
		p := &quicPeer{Stream: stream, conn: c, control: control, n: n, gone: gone.Load(), left: left}
		p.leave = func() { // no stream after this one
			gone.Store(true)
			// The frame of no known type is longer than a packet. So Write returns after the first was sent.
			control.Write(append([]byte{7, 1, byte(stream.StreamID()) + 4, 0x21, 0x48, 0}, make([]byte, 2048)...))
			close(left)
		}
		group.Go(func() {
			io.Copy(io.Discard, stream)
			s.answer(p)
		})
	}
}

// reject refuses a request once the client has been told that none is taken: quic-go sends a reset
// before what was written earlier, and who is refused twice without a reason gives up.
func (p *quicPeer) reject() {
	<-p.left
	p.CancelWrite(h3Rejected)
}

// say writes frames, and ends the stream.
func (p *quicPeer) say(frames ...[]byte) {
	for _, f := range frames {
		p.Write(f)
	}
	p.Close()
}

// open begins a stream of the server's own, and ends it if it says no more.
func (p *quicPeer) open(b []byte, ends bool) {
	if s, err := p.conn.OpenUniStream(); err == nil {
		s.Write(b)
		if ends {
			s.Close()
		}
	}
}

// A server that misbehaves at the second request of a connection, of ten: each fault has its
// name, and what can be sent again is.
func TestHTTP3BadServers(t *testing.T) {
	literal := func(status string) []byte { // :status, spelled out
		return append([]byte{1, byte(5 + len(status)), 0, 0, 0x5f, 10, byte(len(status))}, status...)
	}
	closed := func(code http3.ErrCode) func(p *quicPeer) {
		return func(p *quicPeer) { p.conn.CloseWithError(quic.ApplicationErrorCode(code), "so") }
	}
	for name, tc := range map[string]struct {
		second func(p *quicPeer)
		phase  loadresult.Phase // "": nothing fails
		kind   string
		each   bool // it happens on each of several connections
	}{
		"reset": {func(p *quicPeer) { p.CancelWrite(0x102) }, loadresult.Protocol, "rst-internal-error", false},
		"reset, without a name": {func(p *quicPeer) { p.CancelWrite(0x4711) }, loadresult.Protocol,
			"rst-unknown", false},
		"reset inside the response": {func(p *quicPeer) { p.Write(h3Status); p.CancelWrite(0x10c) },
			loadresult.Protocol, "rst-request-cancelled", false},
		"no response": {func(p *quicPeer) { p.Close() }, loadresult.Protocol, proto.FaultMalformed, false},
		"a short response": {func(p *quicPeer) { p.say(h3Nine, []byte{0, 2, 'a', 'b'}) }, loadresult.Protocol,
			proto.FaultFraming, false},
		"a long response": {func(p *quicPeer) { p.say(h3Nine, []byte{0, 11}, []byte("abcdefghijk")) },
			loadresult.Protocol, proto.FaultFraming, false},
		"204 with a body": {func(p *quicPeer) { p.say(literal("204"), []byte{0, 2, 'a', 'b'}) },
			loadresult.Protocol, proto.FaultUnasked, false},
		"304 with a body": {func(p *quicPeer) { p.say(literal("304"), []byte{0, 2, 'a', 'b'}) },
			loadresult.Protocol, proto.FaultUnasked, false},
		"no status":                         {func(p *quicPeer) { p.say([]byte{1, 2, 0, 0}) }, loadresult.Protocol, proto.FaultMalformed, false},
		"status 1000":                       {func(p *quicPeer) { p.say(literal("1000")) }, loadresult.Protocol, proto.FaultMalformed, false},
		"status -200":                       {func(p *quicPeer) { p.say(literal("-200")) }, loadresult.Protocol, proto.FaultMalformed, false},
		"status 99":                         {func(p *quicPeer) { p.say(literal("099")) }, loadresult.Protocol, proto.FaultMalformed, false},
		"bad QPACK":                         {func(p *quicPeer) { p.say([]byte{1, 3, 0, 0, 0x80}) }, loadresult.Protocol, proto.FaultCompression, true},
		"QPACK: a short block that is long": {func(p *quicPeer) { p.say(qpackBomb) }, loadresult.Protocol, proto.FaultOversized, false},
		"QPACK: the dynamic table": {func(p *quicPeer) {
			p.open(append([]byte{2, 0x3f, 0xe1, 0xff, 0xff, 0x7f}, // the stream of the encoder
				strings.Repeat("\x41a\x7f\x21"+strings.Repeat("v", 160), 10_000)...), false)
			p.say([]byte{1, 4, 0, 2, 0, 0x80})
		}, loadresult.Protocol, proto.FaultCompression, true},
		"QPACK: an insert": {func(p *quicPeer) { p.open([]byte{2, 0x41, 'a', 1, 'b'}, false) }, loadresult.Protocol,
			proto.FaultCompression, true},
		"QPACK: an acknowledgement": {func(p *quicPeer) { p.open([]byte{3, 0x81}, false) }, loadresult.Protocol,
			proto.FaultCompression, true},
		"QPACK: no table, no stream": {func(p *quicPeer) {
			p.open([]byte{2, 0x20}, false)
			p.open([]byte{3, 0x44}, false)
			p.say(h3Status)
		}, "", "", false},
		"the encoder's stream ends": {func(p *quicPeer) { p.open([]byte{2}, true) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"a frame is cut": {func(p *quicPeer) { p.say(h3Status, []byte{0, 2, 'a'}) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"only interim": {func(p *quicPeer) { p.say([]byte(strings.Repeat(string(h3Continue), 99))) }, loadresult.Protocol, proto.FaultOversized, false},
		"interim":      {func(p *quicPeer) { p.say(h3Continue, h3Continue, h3Status) }, "", "", false},
		"an unknown frame": {func(p *quicPeer) { p.say([]byte{0x21, 2, 1, 2}, h3Status, []byte{0x21, 0}) },
			"", "", false},
		"a trailer": {func(p *quicPeer) { p.say(h3Nine, []byte{0, 9}, []byte("123456789"), []byte{1, 2, 0, 0}) },
			"", "", false},
		"rejected once": {func(p *quicPeer) { p.CancelWrite(h3Rejected) }, "", "", false},
		"DATA first": {func(p *quicPeer) { p.say([]byte{0, 1, 'x'}) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"SETTINGS on a request": {func(p *quicPeer) { p.say([]byte{4, 0}) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"a push": {func(p *quicPeer) { p.say(h3Status, []byte{5, 1, 0}) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"a second SETTINGS": {func(p *quicPeer) { p.control.Write([]byte{4, 0}) }, loadresult.Protocol,
			proto.FaultViolation, true},
		"a second control stream": {func(p *quicPeer) {
			p.open(h3Settings, false)
		}, loadresult.Protocol, proto.FaultViolation, true},
		"a stream of no known type": {func(p *quicPeer) {
			p.open([]byte{0x21, 1, 2, 3}, false)
			p.say(h3Status)
		}, "", "", false},
		"DATA behind the trailer": {func(p *quicPeer) { p.say(h3Status, []byte{1, 2, 0, 0}, []byte{0, 1, 'x'}) },
			loadresult.Protocol, proto.FaultViolation, true},
		"the control stream ends": {func(p *quicPeer) { p.control.Close() }, loadresult.Protocol,
			proto.FaultViolation, true},
		"the connection is closed for a reason": {closed(http3.ErrCodeInternalError), loadresult.Protocol,
			"close-internal-error", true},
		"the connection is closed":    {closed(http3.ErrCodeNoError), "", "", true},
		"the connection is closed, 0": {closed(0), "", "", true},
		"the server leaves it out": {func(p *quicPeer) { p.control.Write([]byte{7, 1, byte(p.StreamID())}) },
			"", "", true},
		"the server leaves": {func(p *quicPeer) { p.leave(); p.say(h3Status) }, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveQUIC(t, nil, func(p *quicPeer) {
				switch {
				case p.gone:
					p.reject()
				case p.n == 2:
					tc.second(p)
				default:
					p.say(h3Status)
				}
			})
			r := measure(t, http3Plan(s.port, func(p *loadplan.Plan) { p.Requested, p.Streams = 10, 1 }))
			failed := int64(0)
			for _, f := range r.Failures {
				failed += f.Count
				if f.Phase != tc.phase || f.Kind != tc.kind {
					t.Errorf("%+v; want %s, %s", f, tc.phase, tc.kind)
				}
			}
			if r.Total.Completed+failed != 10 || (failed > 0) != (tc.phase != "") ||
				(r.Opened > 1) != tc.each || r.Ended != loadresult.ByRequests {
				t.Errorf("%d completed and %d failed on %d connections: %v", r.Total.Completed, failed,
					r.Opened, r.Failures)
			}
		})
	}
}

// What is under way when the server leaves is finished, and what it has not taken goes to the
// next connection, with several streams as with one. A client that has little of the CPU may read
// late that the server leaves, and then the rejection alone tells it nothing.
func TestHTTP3Leaves(t *testing.T) {
	for _, body := range []string{"", "a body"} {
		patiently(t, 5*time.Millisecond, func(pause time.Duration) error {
			s := serveQUIC(t, nil, func(p *quicPeer) {
				if p.gone {
					time.Sleep(pause)
					p.reject()
					return
				}
				if p.n == 5 {
					p.leave()
				}
				p.say(h3Status)
			})
			r := measure(t, http3Plan(s.port, func(p *loadplan.Plan) {
				p.Requested, p.Connections, p.Streams = 200, 2, 8
				p.Requests[0].Body = []byte(body)
			}))
			if r.Total.Completed != 200 || r.Opened < 10 || len(r.Failures) > 0 {
				return fmt.Errorf("%d completed on %d connections: %v", r.Total.Completed, r.Opened, r.Failures)
			}
			return nil
		})
	}
}

// A server that stops answering is given up with all that it has: first the exchanges, and
// then, for it does not even acknowledge that, the connection.
func TestHTTP3Silence(t *testing.T) {
	for name, answers := range map[string]int64{"from the first": 0, "later": 5} {
		patiently(t, 300*time.Millisecond, func(timeout time.Duration) error {
			var n atomic.Int64
			hush, port := udp(t)
			s := serveQUIC(t, nil, func(p *quicPeer) { n.Add(1); p.say(h3Status) })
			relay := newRelay(t, hush, s.port, func() bool { return n.Load() < answers })
			r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
				p.Requested, p.Duration = 0, loadplan.Seconds(time.Minute)
				p.Timeout, p.Connecting, p.Streams = loadplan.Seconds(timeout), loadplan.Seconds(3*timeout), 1
			}))
			relay()
			want := map[bool]loadresult.Phase{true: loadresult.Connect, false: loadresult.Timeout}[answers == 0]
			ended := map[bool]loadresult.Ending{true: loadresult.Unreachable, false: loadresult.Gone}[answers == 0]
			if !slices.ContainsFunc(r.Failures, func(f loadresult.Failure) bool { return f.Phase == want }) || r.Ended != ended {
				return fmt.Errorf("%s: ended %s after %d answers: %v; want %s, %s", name, r.Ended, r.Total.Completed,
					r.Failures, ended, want)
			}
			return nil
		})
	}
}

// newRelay passes on what one client sends to a socket, and the answers while they are wanted.
func newRelay(t *testing.T, near *net.UDPConn, port uint16, wanted func() bool) (wait func()) {
	t.Helper()
	far, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
	if err != nil {
		t.Fatal(err)
	}
	var client atomic.Pointer[net.UDPAddr]
	var group sync.WaitGroup
	group.Go(func() {
		b := make([]byte, 2048)
		for {
			n, from, err := near.ReadFromUDP(b)
			if err != nil {
				return
			}
			client.Store(from)
			if wanted() {
				far.Write(b[:n])
			}
		}
	})
	group.Go(func() {
		b := make([]byte, 2048)
		for {
			n, err := far.Read(b)
			if err != nil {
				return
			}
			if wanted() {
				near.WriteToUDP(b[:n], client.Load())
			}
		}
	})
	return func() {
		near.Close()
		far.Close()
		group.Wait()
	}
}

// Where nobody listens is refused at once, and so is a server that has died.
func TestHTTP3Dead(t *testing.T) {
	socket, port := udp(t)
	socket.Close()
	r := measure(t, http3Plan(port, nil))
	if r.Ended != loadresult.Unreachable || len(r.Failures) != 1 || r.Failures[0].Phase != loadresult.Connect ||
		r.Failures[0].Kind != "refused" ||
		!has[fact.HTTP3Unanswered](r) {
		t.Errorf("ended %s: %v, %+v", r.Ended, r.Failures, r.Notices)
	}
	patiently(t, time.Second, func(connecting time.Duration) error { return dies(t, connecting) })
}

// dies has a server end amid a load. A machine that is busy may give connections up before that.
func dies(t *testing.T, connecting time.Duration) error {
	socket, port := udp(t)
	pair, _ := selfSigned(t)
	s := &http3.Server{TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}})}
	var n atomic.Int64
	s.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 50 {
			socket.Close()
		}
	})
	var group sync.WaitGroup
	group.Go(func() { s.Serve(socket) })
	defer func() { s.Close(); group.Wait() }()
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) { p.Connecting = loadplan.Seconds(connecting) }))
	if r.Ended != loadresult.Gone || r.Failures[0].Kind != "refused" || r.Total.Completed == 0 ||
		r.Total.Completed > 50 {
		return fmt.Errorf("ended %s after %d: %v", r.Ended, r.Total.Completed, r.Failures)
	}
	return nil
}

// A server that does not speak HTTP/3 above QUIC says so.
func TestHTTP3ALPN(t *testing.T) {
	pair, _ := selfSigned(t)
	s := serveQUIC(t, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"doq"}}, nil)
	r := measure(t, http3Plan(s.port, func(p *loadplan.Plan) { p.Requested = 1 }))
	if r.Ended != loadresult.Unreachable || r.Failures[0].Phase != loadresult.TLSPhase || r.Failures[0].Kind != proto.FaultALPN {
		t.Errorf("ended %s: %v", r.Ended, r.Failures)
	}
}
