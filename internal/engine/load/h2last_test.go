package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto/h2/conform"
	"dyno/internal/engine/ring"
)

// A server that is wrong and does not read is not told, nor waited for.
func TestHTTP2Unheard(t *testing.T) {
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) { // the preface, and that is all that comes
		p.Reply(0, frame(h2Settings, 0, 0))
		p.Reply(10*ms, frame(h2Settings, 0, 1))
	}}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Requested, p.Streams = 20, 10 }),
		clog{sim, map[int]bool{}})
	if r.Ended != loadresult.ByRequests || r.Total.Failed != 20 || r.Opened != 2 || sim.Now() != 20*ms {
		t.Errorf("ended by %s after %d ns, %d failed on %d connections: %+v", r.Ended, sim.Now(),
			r.Total.Failed, r.Opened, r.Failures)
	}
}

// On every ring, and through TLS, a server that is wrong hears why before the connection
// ends. The portable ring's user may not know yet that the requests are sent, and then
// must not send anything: it tries again.
func TestHTTP2LastWord(t *testing.T) {
	for _, kind := range ring.Kinds {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %v", kind, secure), func(t *testing.T) {
				at, heard := serveLast(t, secure, rude)
				for try := 1; ; try++ {
					last := provoke(t, kind, at, secure, heard)
					if last == [2]string{"PROTOCOL_ERROR", "PROTOCOL_ERROR"} {
						return
					}
					if kind != "portable" || try == 10 {
						t.Fatalf("at last the server hears %q", last)
					}
				}
			})
		}
	}
}

// provoke loads a rude server by two connections, and returns what it heard at last.
func provoke(t *testing.T, kind string, at netip.AddrPort, secure bool, heard <-chan string) [2]string {
	t.Helper()
	p := lastPlan(at, secure)
	p.Ring = kind
	r, err := Run(t.Context(), p, nil)
	if errors.Is(err, ring.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != loadresult.ByRequests || r.Total.Failed != 6 || r.Opened != 2 {
		t.Fatalf("ended by %s: %d failed on %d connections: %+v", r.Ended, r.Total.Failed,
			r.Opened, r.Failures)
	}
	return [2]string{<-heard, <-heard}
}

// A server whose certificate is not accepted hears that by an alert of TLS.
func TestCertificateAlert(t *testing.T) {
	at, heard := serveLast(t, true, func(c net.Conn) string {
		return fmt.Sprint(c.(*tls.Conn).Handshake())
	})
	p := lastPlan(at, true)
	p.TLS.Insecure = false
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != loadresult.Unreachable || len(r.Failures) != 1 || r.Failures[0].Kind != "certificate" {
		t.Fatalf("ended by %s: %+v", r.Ended, r.Failures)
	}
	if last := <-heard; !strings.HasPrefix(last, "remote error: tls:") {
		t.Errorf("the server hears %q", last)
	}
}

// lastPlan is six requests, three at once, of a server of HTTP/2.
func lastPlan(at netip.AddrPort, secure bool) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "h2c://" + at.String() + "/", H2C: true, Host: at.Addr().String(),
		Port: at.Port()}
	if secure {
		p.Target.URL, p.Target.H2C, p.Target.TLS = "https://"+at.String()+"/", false, true
		p.HTTP, p.TLS.Insecure = "2", true
	}
	p.Requests = []loadplan.Request{{Request: conform.Requests()[0]}}
	p.Connections, p.Threads, p.Streams, p.Requested, p.Duration = 1, 1, 3, 6, 0
	return p
}

// serveLast has a server, with TLS or not, that says of each connection what it heard.
func serveLast(t *testing.T, secure bool, hear func(net.Conn) string) (netip.AddrPort, <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	if secure {
		s := httptest.NewTLSServer(nil)
		s.Close()
		config := s.TLS.Clone()
		config.NextProtos = []string{loadplan.HTTP2}
		l = tls.NewListener(l, config)
	}
	heard := make(chan string, 10)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(2 * time.Minute))
				heard <- hear(c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return at, heard
}

// rude answers the first request of a connection by a PING on a stream, and returns the
// client's last word.
func rude(c net.Conn) string {
	b := make([]byte, h2Preface)
	io.ReadFull(c, b)
	c.Write(frame(h2Settings, 0, 0))
	for kind := byte(0); kind != h2Headers; { // frames, up to a request
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			return err.Error()
		}
		io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2]))
		kind = head[3]
	}
	time.Sleep(10 * time.Millisecond) // the client may have to learn that its requests are sent
	c.Write(frame(h2Ping, 0, 1, []byte("12345678")...))
	said, _ := io.ReadAll(c)
	const goAway = 17
	return conform.GoAwayCode(said[max(len(said)-goAway, 0):])
}
