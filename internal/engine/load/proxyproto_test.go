package load

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/proxyproto/proxytest"
	"dyno/internal/engine/ring"
)

// Each life of a connection begins with the header of the PROXY protocol, with its own addresses,
// and has it once. A unix socket has none.
func TestProxyProtocol(t *testing.T) {
	to := netip.MustParseAddrPort("192.0.2.9:80")
	for _, version := range proxyproto.Versions {
		for _, addr := range []ring.Addr{{TCP: to}, {Unix: "simulated"}} {
			begins := map[int][]byte{}
			sim := &ring.Sim{}
			sim.Server = func(p *ring.Peer, b []byte) {
				if before, known := begins[p.N]; !known || len(before) == 0 {
					begins[p.N] = bytes.Clone(b)
					return
				} else if bytes.Contains(b, []byte("PROXY")) || bytes.Contains(b, []byte("QUIT")) {
					t.Errorf("connection %d has it again: %q", p.N, b)
				}
				p.Reply(10*ms, hello)
			}
			p := simPlan(func(p *loadplan.Plan) {
				p.ProxyProtocol, p.Requested, p.Duration, p.Connections, p.Reconnect = version, 6, 0, 2, 2
			})
			r := simulateAt(t, p, []ring.Addr{addr}, func(*gate) ring.Ring { return sim })
			if r.Total.Completed != 6 || len(begins) < 3 {
				t.Errorf("%d completed on %d connections", r.Total.Completed, len(begins))
			}
			for n, got := range begins {
				want := proxyproto.Append(nil, version, sim.LocalAddr(n), addr.TCP)
				if !bytes.Equal(got, want) {
					t.Errorf("%s to %v: connection %d begins with %q, want %q", version, addr, n, got, want)
				}
			}
		}
	}
}

// On every ring, and before TLS, the server hears the addresses of each connection.
func TestProxyProtocolOnRings(t *testing.T) {
	for _, kind := range ring.Kinds {
		for _, version := range proxyproto.Versions {
			for _, secure := range []bool{false, true} {
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				server.EnableHTTP2 = true
				l := proxytest.Wrap(t, server.Listener, version)
				server.Listener = l
				if secure {
					server.StartTLS()
				} else {
					server.Start()
				}
				at := server.Listener.Addr().(*net.TCPAddr).AddrPort()
				r := measure(t, simPlan(func(p *loadplan.Plan) {
					p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port(), TLS: secure}
					p.TLS.Insecure, p.ProxyProtocol, p.Ring = secure, version, kind
					p.Requested, p.Duration, p.Connections, p.Reconnect = 40, 0, 4, 5
				}))
				if r.Total.Completed != 40 || l.Accepted.Load() < 8 {
					t.Errorf("%s, %s, TLS %v: %d completed on %d connections: %+v", kind, version, secure, r.Total.Completed,
						l.Accepted.Load(), r.Failures)
				}
				server.Close()
			}
		}
	}
}
