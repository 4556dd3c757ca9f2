package load

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// selfSigned is a certificate for 127.0.0.1, and the file of it.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		Subject:   pkix.Name{CommonName: "the test's own"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cert.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// pairFiles are the files of a certificate and its key, for --cert and --key.
func pairFiles(t *testing.T) (cert, key string) {
	t.Helper()
	pair, cert := selfSigned(t)
	der, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	key = filepath.Join(filepath.Dir(cert), "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(key, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// udp is a socket on loopback, and its port.
func udp(t *testing.T) (*net.UDPConn, uint16) {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, c.LocalAddr().(*net.UDPAddr).AddrPort().Port()
}

// serveHTTP3 serves a handler by quic-go's own server, and returns its port and what ends it.
func serveHTTP3(t *testing.T, h http.HandlerFunc, change func(c *tls.Config)) (uint16, *http3.Server) {
	t.Helper()
	pair, _ := selfSigned(t)
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if change != nil {
		change(config)
	}
	socket, port := udp(t)
	s := &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(config)}
	var group sync.WaitGroup
	group.Go(func() { s.Serve(socket) })
	t.Cleanup(func() { s.Close(); socket.Close(); group.Wait() })
	return port, s
}

// http3Plan is a plan for a server of HTTP/3 on loopback.
func http3Plan(port uint16, change func(p *loadplan.Plan)) loadplan.Plan {
	return simPlan(func(p *loadplan.Plan) {
		p.HTTP, p.TLS.Insecure = "3", true
		p.Target = loadplan.Target{URL: "https://127.0.0.1/", TLS: true, Host: "127.0.0.1", Port: port}
		p.Requested, p.Duration, p.Streams = 200, 0, 4
		if change != nil {
			change(p)
		}
	})
}

// measure runs a plan and checks what must be true of every result.
func measure(t *testing.T, p loadplan.Plan) *loadresult.Result {
	t.Helper()
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounts(t, r)
	return r
}

// echo answers with what it was sent, and the path's status.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/404" {
		w.WriteHeader(http.StatusNotFound)
	}
	io.Copy(w, r.Body)
}

// Several requests with weights, bodies both ways, all of it exactly as often as asked for.
func TestHTTP3(t *testing.T) {
	var mu sync.Mutex
	got := map[string]int{}
	port, _ := serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got[r.Method+" "+r.RequestURI]++
		mu.Unlock()
		echo(w, r)
	}, nil)
	body := []byte(strings.Repeat("0123456789abcdef", 1<<12)) // 64 KiB
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Connections, p.Threads, p.Expect = 4, 2, []loadplan.Statuses{loadplan.AnyStatus()}
		p.Requests = []loadplan.Request{
			{Request: proto.Request{Method: "GET", Authority: "host", Path: "/a?b=%41&c"}, Name: "a", Weight: 3},
			{Request: proto.Request{Method: "HEAD", Authority: "host", Path: "//x"}, Name: "b", Weight: 1},
			{Request: proto.Request{Method: "GET", Authority: "host", Path: "/404"}, Name: "c", Weight: 2},
			{Request: proto.Request{Method: "POST", Authority: "host", Path: "/", Body: body}, Name: "d", Weight: 2},
		}
	}))
	mu.Lock() // an answer may be here before its handler has ended
	defer mu.Unlock()
	for request, want := range map[string]int{"GET /a?b=%41&c": 75, "HEAD //x": 25, "GET /404": 50, "POST /": 50} {
		if got[request] < want-1 || got[request] > want+1 {
			t.Errorf("%s: %d times; want %d", request, got[request], want)
		}
	}
	if r.Total.Completed != 200 || r.Ended != loadresult.ByRequests {
		t.Errorf("%d completed, ended %s, %v", r.Total.Completed, r.Ended, r.Failures)
	}
	if n := r.Total.Status[404]; n != int64(got["GET /404"]) || r.Total.Status[200] != 200-n {
		t.Errorf("status: %v", r.Total.ByStatus())
	}
	if len(r.Routes) != 4 || r.Routes[3].Completed != int64(got["POST /"]) {
		t.Errorf("routes: %+v", r.Routes)
	}
	if r.Ring != loadplan.HTTP3Ring || r.Protocols[loadplan.HTTP3] != 4 || r.Opened != 4 || r.Served != 4 || r.Room != 4 {
		t.Errorf("%s: %v, %d opened, %d served, room for %d", r.Ring, r.Protocols, r.Opened, r.Served,
			r.Room)
	}
	if r.TLSFull != 4 || r.FullTLS.Count != 4 || r.Connect.Count != 0 || r.FirstByte.Count != 200 {
		t.Errorf("handshakes: %d, timed %d; %d connects; %d first bytes", r.TLSFull, r.FullTLS.Count,
			r.Connect.Count, r.FirstByte.Count)
	}
	for terms, n := range r.Terms {
		if terms.Version != "1.3" || terms.Cipher == "" || terms.Group == "" || n != 4 {
			t.Errorf("%d of %+v", n, terms)
		}
	}
	least := int64(got["POST /"] * len(body))
	for what, n := range map[string]int64{"received": r.Total.Received, "sent": r.Total.Written} {
		if n < least || n > 2*least {
			t.Errorf("%d bytes %s, of %d bytes of bodies", n, what, least)
		}
	}
	if !has[fact.HTTP3Costs](r) {
		t.Errorf("nobody says who did the work: %+v", r.Notices)
	}
}

// What a server sees is what was asked for, and no more.
func TestHTTP3SendsNothingElse(t *testing.T) {
	var seen atomic.Pointer[http.Request]
	port, _ := serveHTTP3(t, func(_ http.ResponseWriter, r *http.Request) { seen.Store(r) }, nil)
	for name, tc := range map[string]struct {
		request proto.Request
		host    string
		want    http.Header
	}{
		"plain": {proto.Request{Method: "GET", Authority: "a:1", Path: "/"}, "a:1",
			http.Header{"User-Agent": {"dyno/" + loadplan.Version}}},
		"its own": {proto.Request{Method: "OPTIONS", Authority: "a", Path: "*", Header: []proto.Field{
			{Name: "host", Value: " b "}, {Name: "User-agent", Value: "me"}, {Name: "X", Value: "1"},
			{Name: "x", Value: "2"}}}, "b", http.Header{"User-Agent": {"me"}, "X": {"1", "2"}}},
		"a body": {proto.Request{Method: "PUT", Authority: "a", Path: "/", Body: []byte("12345")}, "a",
			http.Header{"User-Agent": {"dyno/" + loadplan.Version}, "Content-Length": {"5"}}},
	} {
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Requests, p.Requested = []loadplan.Request{{Request: tc.request}}, 1
		}))
		got := seen.Swap(nil)
		if r.Total.Completed != 1 || got == nil {
			t.Errorf("%s: %v", name, r.Failures)
			continue
		}
		same := len(got.Header) == len(tc.want)
		for k, v := range tc.want {
			same = same && slices.Equal(got.Header[k], v)
		}
		if !same || got.Host != tc.host || got.RequestURI != tc.request.Path ||
			got.Method != tc.request.Method {
			t.Errorf("%s: host %s, %s, %v", name, got.Host, got.RequestURI, got.Header)
		}
	}
}

// An open loop counts from the instant at which a request was due: while the server is stuck
// at the first of them, the others wait, and their latency has it.
func TestHTTP3OpenLoop(t *testing.T) {
	var n atomic.Int64
	port, _ := serveHTTP3(t, func(_ http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			time.Sleep(300 * time.Millisecond)
		}
	}, nil)
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Rate, p.Streams = loadplan.RatePerSecond(1000), 1
		p.Requested, p.Duration, p.Drain = 0, loadplan.Seconds(500*time.Millisecond), loadplan.Seconds(time.Minute)
	}))
	if r.Total.Sent != 500 || r.Total.Completed != 500 || r.Waiting != 0 {
		t.Errorf("%d sent, %d completed, %d waiting", r.Total.Sent, r.Total.Completed, r.Waiting)
	}
	latency, service := r.Total.Latency.Mean(), r.Total.Service.Mean()
	if latency < 2*service || r.Total.Service.Count != 500 {
		t.Errorf("latency %v, service %v, and both have a stall that hit one request of 500",
			time.Duration(latency), time.Duration(service))
	}
}

// Every so many exchanges there is another connection, and sessions are resumed if asked for.
func TestHTTP3Reconnect(t *testing.T) {
	port, _ := serveHTTP3(t, echo, nil)
	for _, tc := range []struct {
		reconnect, streams int
		resume             bool
		least, most        int64 // after the last there may be one for which no request is left
	}{{1, 1, false, 60, 62}, {1, 1, true, 60, 62}, {7, 3, false, 9, 11}} {
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Connections, p.Requested, p.Streams = 2, 60, tc.streams
			p.Reconnect, p.TLS.Resume = tc.reconnect, tc.resume
		}))
		if r.Total.Completed != 60 || r.Opened < tc.least || r.Opened > tc.most ||
			r.Reconnects != r.Opened-2 ||
			len(r.Failures) > 0 {
			t.Errorf("%+v: %d completed, %d opened, %d again, %v", tc, r.Total.Completed, r.Opened,
				r.Reconnects, r.Failures)
		}
		if r.TLSFull+r.TLSResumed != r.Opened || (r.TLSResumed > 0) != tc.resume ||
			r.FullTLS.Count+r.ResumedTLS.Count != r.Opened {
			t.Errorf("%+v: %d full, %d resumed, %d and %d timed", tc, r.TLSFull, r.TLSResumed,
				r.FullTLS.Count, r.ResumedTLS.Count)
		}
	}
}

// When the load ends while connections are being opened, the handshakes that settled terms are
// those that are counted.
func TestHTTP3HandshakesAtTheEnd(t *testing.T) {
	port, _ := serveHTTP3(t, echo, nil)
	for range 8 {
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Connections, p.Reconnect, p.Streams = 20, 1, 1
			p.Requested, p.Duration = 0, loadplan.Seconds(40*time.Millisecond)
		}))
		settled := int64(0)
		for _, n := range r.Terms {
			settled += n
		}
		if settled != r.TLSFull+r.TLSResumed {
			t.Errorf("%d handshakes settled terms, and %d were counted", settled, r.TLSFull+r.TLSResumed)
		}
	}
}

// patiently tries what takes a timeout or a pause, with longer and longer ones: a machine that is
// busy may spoil the first. It fails as the last does.
func patiently(t *testing.T, long time.Duration, try func(long time.Duration) error) {
	t.Helper()
	var err error
	for range 4 {
		if err = try(long); err == nil {
			return
		}
		t.Logf("with %v: %v", long, err)
		long *= 4
	}
	t.Error(err)
}

// An exchange that takes too long is reset alone, and its connection goes on: the last
// request is answered once the server has seen that.
func TestHTTP3Timeout(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		patiently(t, 400*time.Millisecond, func(timeout time.Duration) error {
			return timesOut(t, method, timeout)
		})
	}
}

// timesOut has a server never answer one request of 60.
func timesOut(t *testing.T, method string, timeout time.Duration) error {
	t.Helper()
	var n atomic.Int64
	reset := make(chan bool)
	port, _ := serveHTTP3(t, func(_ http.ResponseWriter, r *http.Request) {
		switch k := n.Add(1); {
		case k == 20:
			<-r.Context().Done()
			close(reset)
		case k == 60:
			select {
			case <-reset:
			case <-r.Context().Done():
			}
		case k > 20: // so that there is a last one yet
			time.Sleep(timeout / 25)
		}
	}, nil)
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Requested, p.Timeout = 60, loadplan.Seconds(timeout)
		if p.Requests[0].Method = method; method == "POST" {
			p.Requests[0].Body = []byte("a body")
		}
	}))
	if r.Total.Completed != 59 || r.Opened != 1 || len(r.Failures) != 1 ||
		r.Failures[0].Phase != loadresult.Timeout || r.Failures[0].Count != 1 {
		return fmt.Errorf("%s: %d completed on %d connections, %v", method, r.Total.Completed, r.Opened,
			r.Failures)
	}
	return nil
}

// A connection on which nothing is answered any more goes on while the server acknowledges.
func TestHTTP3Stuck(t *testing.T) {
	patiently(t, 300*time.Millisecond, func(timeout time.Duration) error {
		var n atomic.Int64
		port, _ := serveHTTP3(t, func(_ http.ResponseWriter, r *http.Request) {
			if n.Add(1) > 1 {
				<-r.Context().Done()
			}
		}, nil)
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Requested, p.Streams, p.Timeout = 6, 1, loadplan.Seconds(timeout)
		}))
		if r.Total.Completed != 1 || r.Total.Failed != 5 || r.Opened != 1 || r.Failures[0].Phase != loadresult.Timeout {
			return fmt.Errorf("%d completed, %d failed on %d connections: %v", r.Total.Completed,
				r.Total.Failed, r.Opened, r.Failures)
		}
		return nil
	})
}

// A server that answers without reading the body has answered.
func TestHTTP3EarlyAnswer(t *testing.T) {
	port, _ := serveHTTP3(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}, nil)
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Requested, p.Requests[0].Method = 20, "POST"
		p.Requests[0].Body = make([]byte, 8<<20)
	}))
	if r.Total.Status[413] != 20 || r.Opened != 1 {
		t.Errorf("%v on %d connections, %v", r.Total.ByStatus(), r.Opened, r.Failures)
	}
}

// A status that is not welcome is an error; a run that is interrupted says what it had; what
// is before the window is not counted.
func TestHTTP3Window(t *testing.T) {
	var n atomic.Int64
	var most atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	port, _ := serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == most.Load() {
			cancel()
		}
		echo(w, r)
	}, nil)
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Requests[0].Path, p.Expect = "/404", []loadplan.Statuses{{From: 200, To: 299}}
	}))
	if r.Total.Failed != 200 || len(r.Failures) != 1 || r.Failures[0].Phase != loadresult.Expect {
		t.Errorf("%d failed: %v", r.Total.Failed, r.Failures)
	}
	patiently(t, 100*time.Millisecond, func(window time.Duration) error {
		n.Store(0)
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Warmup, p.Duration, p.Requested = loadplan.Seconds(window), loadplan.Seconds(window), 0
		}))
		if r.Ended != loadresult.ByDuration || r.Total.Completed == 0 || r.Total.Sent >= n.Load() ||
			r.Total.Received < 20*r.Total.Completed {
			return fmt.Errorf("ended %s: %d sent of %d, %d bytes", r.Ended, r.Total.Sent, n.Load(),
				r.Total.Received)
		}
		return nil
	})
	most.Store(n.Load() + 100) // of which some have been answered by then
	r, err := Run(ctx, http3Plan(port, func(p *loadplan.Plan) { p.Requested, p.Duration = 0, loadplan.Seconds(time.Minute) }), nil)
	if err != nil || r.Ended != loadresult.Interrupted || r.Total.Completed == 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	checkAccounts(t, r)
}

// What keeps a handshake from succeeding is named, and so is what makes it succeed.
func TestHTTP3TLS(t *testing.T) {
	pair, ca := selfSigned(t)
	cert, key := pairFiles(t)
	ours := func(c *tls.Config) { c.Certificates = []tls.Certificate{pair} }
	logFile := filepath.Join(t.TempDir(), "keys")
	for name, tc := range map[string]struct {
		server func(c *tls.Config)
		client loadplan.TLS
		phase  loadresult.Phase // "": it goes well
		kind   string
	}{
		"not trusted":  {ours, loadplan.TLS{}, loadresult.TLSPhase, proto.FaultCertificate},
		"trusted":      {ours, loadplan.TLS{CAFile: ca}, "", ""},
		"another name": {ours, loadplan.TLS{CAFile: ca, ServerName: "example.org"}, loadresult.TLSPhase, proto.FaultCertificate},
		"logged":       {ours, loadplan.TLS{Insecure: true, KeyLogFile: logFile}, "", ""},
		"it wants a certificate": {func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert },
			loadplan.TLS{Insecure: true}, loadresult.Protocol, proto.FaultAlert},
		"it gets one": {func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert },
			loadplan.TLS{Insecure: true, CertFile: cert, KeyFile: key}, "", ""},
	} {
		port, _ := serveHTTP3(t, echo, tc.server)
		patiently(t, 300*time.Millisecond, func(window time.Duration) error {
			r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
				p.TLS, p.Requested, p.Duration = tc.client, 0, loadplan.Seconds(window)
			}))
			if tc.phase == "" && (r.Total.Completed == 0 || len(r.Failures) > 0) ||
				tc.phase != "" && (len(r.Failures) == 0 || r.Failures[0].Phase != tc.phase ||
					r.Failures[0].Kind != tc.kind) {
				return fmt.Errorf("%s: %d completed, %+v; want %s, %s", name, r.Total.Completed, r.Failures,
					tc.phase, tc.kind)
			}
			return nil
		})
	}
	if b, err := os.ReadFile(logFile); err != nil || !strings.Contains(string(b), "CLIENT_TRAFFIC_SECRET_0") {
		t.Errorf("%v, %q", err, b)
	}
}

// Connections come from the addresses that are asked for.
func TestHTTP3Source(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have no 127.0.0.2 by themselves")
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	port, _ := serveHTTP3(t, func(_ http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		mu.Lock()
		seen[host] = true
		mu.Unlock()
	}, nil)
	r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
		p.Connections, p.Source = 2, []loadplan.Source{{Range: netip.MustParsePrefix("127.0.0.2/31")}}
	}))
	mu.Lock() // an answer may be here before its handler has ended
	defer mu.Unlock()
	if r.Total.Completed != 200 || len(seen) != 2 || !seen["127.0.0.2"] || !seen["127.0.0.3"] {
		t.Errorf("%d completed, from %v", r.Total.Completed, seen)
	}
}

// With HTTP/3 most of what is about threads and sockets is another's, and refused.
func TestHTTP3Flaws(t *testing.T) {
	for setting, change := range map[string]func(p *loadplan.Plan){
		"HTTP":       func(p *loadplan.Plan) { p.Target.TLS, p.Target.URL = false, "http://sim/"; p.TLS = loadplan.TLS{} },
		"Pipeline":   func(p *loadplan.Plan) { p.Pipeline = 2 },
		"Ring":       func(p *loadplan.Plan) { p.Ring = "portable" },
		"Spin":       func(p *loadplan.Plan) { p.Spin = true },
		"CPUs":       func(p *loadplan.Plan) { p.CPUs = []int{0} },
		"MaxVersion": func(p *loadplan.Plan) { p.TLS.MaxVersion = "1.2" },
		"ALPN":       func(p *loadplan.Plan) { p.TLS.ALPN = loadplan.NoALPN },
	} {
		p := http3Plan(1, change)
		err := p.Check()
		if err == nil || !strings.HasPrefix(err.Error(), setting+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", setting, err)
		}
	}
	good := http3Plan(1, func(p *loadplan.Plan) { p.TLS.ALPN, p.TLS.MinVersion = loadplan.HTTP3, "1.3" })
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	auto := http3Plan(1, func(p *loadplan.Plan) { p.HTTP = loadplan.Auto })
	if names, _ := auto.OfferedProtocols(); slices.Contains(names, loadplan.HTTP3) {
		t.Errorf("nobody asked for HTTP/3: %v", names)
	}
	p := http3Plan(1, func(p *loadplan.Plan) { p.Requests[0].Header = []proto.Field{{Name: "Upgrade", Value: "x"}} })
	if _, err := Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "HTTP/3 forbid it") {
		t.Errorf("a header of HTTP/1.1: %v", err)
	}
}
