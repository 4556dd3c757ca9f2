package h3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/ring"
)

// servePlain is the address of a server of QUIC that does with a connection what a test wants. It
// has to return once the connection has ended.
func servePlain(t *testing.T, config *quic.Config, serve func(c *quic.Conn)) ring.Addr {
	t.Helper()
	socket := listenUDP(t)
	l, err := quic.Listen(socket, &tls.Config{Certificates: selfSigned(t), NextProtos: []string{Name}}, config)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		c, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		serve(c)
		<-c.Context().Done()
	})
	t.Cleanup(func() { l.Close(); socket.Close(); group.Wait() })
	return ring.Addr{TCP: socket.LocalAddr().(*net.UDPAddr).AddrPort()}
}

// accept is the next n streams of a client; nil if the connection ends before.
func accept(c *quic.Conn, n int) (all []*quic.Stream) {
	for range n {
		s, err := c.AcceptStream(context.Background())
		if err != nil {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// begin asks for so many exchanges at once.
func (k *talk) begin(n uint32) {
	var out []byte
	for tag := range n {
		out = k.codec.Encode(out, proto.Message{}, tag)
	}
	k.ring.Send(k.fd, out)
}

// pieces are a text that is read in pieces of one length.
type pieces struct {
	text string
	size int
	each func()
}

func (p *pieces) Read(b []byte) (int, error) {
	p.each()
	n := copy(b, p.text[:min(p.size, len(p.text))])
	if p.text = p.text[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A response takes one large buffer at most, however it is cut into packets, and what it keeps of a
// header counts until that has ended.
func TestMemoryOfResponse(t *testing.T) {
	for _, size := range []int{1000, fewBytes - 1, fewBytes, fewBytes + 1, bodyPiece} {
		r, _ := open(t, ring.Addr{}, []proto.Request{get}, proto.Want{})
		buffers, most := 0, int64(0)
		r.buffers.New = func() any { buffers++; return new([bodyPiece]byte) }
		c := &conn{ring: r}
		x := &exchange{conn: c}
		x.want = &r.want
		x.beginResponse(0, false)
		from := &pieces{size: size, each: func() { most = max(most, c.held.Load()) },
			text: headers(":status", "200", "a", strings.Repeat("{", 100_000)) + frame(0, strings.Repeat("x", 1<<20))}
		if err := x.readResponse(from); err != nil || x.Got != 1<<20 {
			t.Errorf("%d bytes at a time: %v, %d", size, err, x.Got)
		}
		if most < 50_000 || most > 100_100 || c.held.Load() != 0 {
			t.Errorf("%d bytes at a time: %d bytes of a header are held, %d in the end", size, most, c.held.Load())
		}
		if want := min(1, size/fewBytes); buffers != want {
			t.Errorf("%d bytes at a time: %d large buffers; want %d", size, buffers, want)
		}
		if n := cap(x.frames.kept) + cap(x.section.text) + cap(x.section.name); n > 3*keptMost {
			t.Errorf("%d bytes at a time: %d bytes are kept in the end", size, n)
		}
	}
}

// A server that begins a long header on each of many streams loses its connection.
func TestUnfinishedHeaders(t *testing.T) {
	const n = 40
	begun := frame(frameHeaders, strings.Repeat("x", fields.MaxHead))[:fields.MaxHead]
	addr := servePlain(t, nil, func(c *quic.Conn) {
		for _, s := range accept(c, n) {
			io.WriteString(s, begun)
		}
	})
	k := newTalk(t, addr, []proto.Request{get}, proto.Want{})
	k.begin(n)
	var last proto.Event
	for last.Kind == proto.More {
		k.listen(func(ev proto.Event) { last = ev })
	}
	var f *proto.Fault
	if !errors.As(last.Err, &f) || f.Kind != proto.FaultOversized || !strings.Contains(f.Detail, "(H3_EXCESSIVE_LOAD)") {
		t.Errorf("%+v", last)
	}
}

// What the server's GOAWAY leaves out is refused at once, and its streams are reset. The rest goes on.
func TestLeftOut(t *testing.T) {
	codes := make(chan code, 2)
	addr := servePlain(t, nil, func(c *quic.Conn) {
		all := accept(c, 3)
		control, err := c.OpenUniStream()
		if len(all) < 3 || err != nil {
			return
		}
		io.WriteString(control, "\x00"+frame(frameSettings, "")+frame(frameGoAway, "\x04"))
		for _, s := range all[1:] { // as they were opened
			_, err := io.Copy(io.Discard, s)
			if err == nil { // that was the request
				<-s.Context().Done()
				err = context.Cause(s.Context())
			}
			var reset *quic.StreamError
			if !errors.As(err, &reset) {
				reset = &quic.StreamError{}
			}
			codes <- code(reset.ErrorCode)
		}
		io.WriteString(all[0], headers(":status", "200"))
		all[0].Close()
	})
	k := newTalk(t, addr, []proto.Request{get}, proto.Want{})
	k.begin(3)
	var heard []string
	for len(heard) < 4 {
		k.listen(func(ev proto.Event) { heard = append(heard, fmt.Sprintf("%d %d", ev.Tag, ev.Kind)) })
	}
	slices.Sort(heard)
	want := fmt.Sprintf("[0 %d 0 %d 1 %d 2 %d]", proto.Head, proto.Done, proto.Refused, proto.Refused)
	if got := fmt.Sprint(heard); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	for range 2 {
		if got := <-codes; got != codeCanceled {
			t.Errorf("a stream is reset with %v", got)
		}
	}
}

// A request whose stream opens as the server's GOAWAY comes is refused, and not sent, even if the
// GOAWAY does not leave it out.
func TestOpenedLate(t *testing.T) {
	_, c, _ := dialed(t, 1)
	stream, err := c.quic.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	x := c.takeExchange(&record{what: ask, id: id(1, 0)})
	c.stopTaking(uint64(stream.StreamID()) + 4)
	x.startOn(stream)
	var reset *quic.StreamError
	if why := context.Cause(stream.Context()); !errors.As(why, &reset) || code(reset.ErrorCode) != codeCanceled {
		t.Errorf("the stream has ended for %v", why)
	}
	if n := c.exchanges(); n > 0 {
		t.Errorf("%d exchanges are under way", n)
	}
	leaves := record{what: leaving, n: everything}
	if want := speech(leaves, leaves, record{what: refused, id: id(1, 0)}); string(c.out) != string(want) {
		t.Errorf("the codec is told %x; want %x", c.out, want)
	}
}

// A server that answers a long request without reading it, and does not say so, is told that no
// more of it comes.
func TestAnsweredUnread(t *testing.T) {
	answered, ended := make(chan struct{}), make(chan error, 1)
	addr := servePlain(t, nil, func(c *quic.Conn) {
		for _, s := range accept(c, 1) {
			io.WriteString(s, headers(":status", "413"))
			s.Close()
			select {
			case <-answered:
			case <-c.Context().Done():
			}
			_, err := io.Copy(io.Discard, s)
			ended <- err
		}
	})
	post := proto.Request{Method: "POST", Authority: "host", Path: "/", Body: make([]byte, 8<<20)}
	k := newTalk(t, addr, []proto.Request{post}, proto.Want{})
	status, last := k.exchange(proto.Message{}, 0)
	close(answered)
	var reset *quic.StreamError
	if err := <-ended; status != 413 || last.Kind != proto.Done || !errors.As(err, &reset) ||
		code(reset.ErrorCode) != codeNoError {
		t.Errorf("status %d, %+v; the server hears %v", status, last, err)
	}
}

// The fault of a server that allows no stream for our SETTINGS says so.
func TestNoStreamOfOurs(t *testing.T) {
	addr := servePlain(t, &quic.Config{MaxIncomingUniStreams: -1}, func(*quic.Conn) {})
	k := dialTalk(t, addr, []proto.Request{get}, proto.Want{})
	var last proto.Event
	for last.Kind != proto.Broken {
		k.listen(func(ev proto.Event) { last = ev })
	}
	const want = "(H3_GENERAL_PROTOCOL_ERROR) it allows us no stream of our own"
	if got := last.Err.Error(); !strings.Contains(got, want) {
		t.Errorf("%s; want %s", got, want)
	}
}

// A response that is beyond a limit of ours is canceled, as in HTTP/2, for it need not be wrong. One
// that is wrong is called so (RFC 9114, 4.1.1 and 4.1.2).
func TestResetCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		says string
		kind string
		want code
	}{
		"a long header": {frame(frameHeaders, strings.Repeat("x", fields.MaxHead+1))[:100],
			proto.FaultOversized, codeCanceled},
		"a long list": {frame(frameHeaders, "\x00\x00\xd9"+strings.Repeat("\xfa", 10_000)),
			proto.FaultOversized, codeCanceled},
		"interim without end": {strings.Repeat(headers(":status", "103"), fields.MaxInterim+1),
			proto.FaultOversized, codeCanceled},
		"no status":             {headers("a", "b"), proto.FaultMalformed, codeMessage},
		"a long body":           {headers(":status", "200", "content-length", "1") + frame(0, "ab"), proto.FaultFraming, codeMessage},
		"a body that cannot be": {headers(":status", "204") + frame(0, "ab"), proto.FaultUnasked, codeMessage},
	} {
		heard := make(chan error, 1)
		addr := servePlain(t, nil, func(c *quic.Conn) {
			for _, s := range accept(c, 1) {
				io.WriteString(s, tc.says)
				<-s.Context().Done()
				heard <- context.Cause(s.Context())
			}
		})
		k := newTalk(t, addr, []proto.Request{get}, proto.Want{})
		_, last := k.exchange(proto.Message{}, 0)
		var f *proto.Fault
		if !errors.As(last.Err, &f) || last.Kind != proto.Failed || f.Kind != tc.kind {
			t.Errorf("%s: %+v", name, last)
		}
		var reset *quic.StreamError
		if err := <-heard; !errors.As(err, &reset) || code(reset.ErrorCode) != tc.want {
			t.Errorf("%s: the server hears %v; want %v", name, err, tc.want)
		}
	}
}
