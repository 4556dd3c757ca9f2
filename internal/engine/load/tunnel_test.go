package load

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto/tunnel/tunneltest"
	"dyno/internal/engine/ring"
)

// A proxy that forwards is sent absolute URLs and the user; one that tunnels is asked once for each
// life of a connection, and the time that takes is the connection's.
func TestProxyInTime(t *testing.T) {
	proxy := []ring.Addr{{TCP: netip.MustParseAddrPort("192.0.2.9:3128")}}
	const user, absolute = "Proxy-Authorization: Basic dTpw\r\n", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: sim\r\n"
	const connect = "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"
	for url, tunnels := range map[string]bool{"http://127.0.0.1/": false, "http://elsewhere/": true} {
		said, asked, tunneled := 0, 0, map[int]bool{}
		sim := &ring.Sim{Accept: func(int) (int64, error) { return 3 * ms, nil }}
		sim.Server = func(p *ring.Peer, b []byte) {
			switch s := string(b); {
			case strings.HasPrefix(s, connect) && strings.Contains(s, user) && !tunneled[p.N]:
				tunneled[p.N] = true
				p.Reply(20*ms, []byte("HTTP/1.1 200 OK\r\n\r\n"))
				asked++
			case !tunnels && strings.HasPrefix(s, absolute) && strings.Contains(s, user),
				tunneled[p.N] && strings.HasPrefix(s, "GET / HTTP/1.1\r\nHost: sim\r\n") && !strings.Contains(s, user):
				p.Reply(10*ms, hello)
				said++
			default:
				t.Errorf("%s: connection %d was sent %q", url, p.N, s)
			}
		}
		r := simulateAt(t, simPlan(func(p *loadplan.Plan) {
			p.Target.URL, p.Proxy = url, "http://u:p@192.0.2.9:3128"
			p.Requested, p.Duration, p.Connections, p.Reconnect = 6, 0, 2, 2
		}), proxy, func(*gate) ring.Ring { return sim })
		opening, lives := 3*ms, 0
		if tunnels {
			opening, lives = 23*ms, int(r.Totals.Opened)
		}
		if r.Total.Completed != 6 || said != 6 || asked != lives || lives == 1 {
			t.Errorf("%s: %d completed, %d answered, %d tunnels for %d lives: %+v", url, r.Total.Completed, said, asked, r.Totals.Opened, r.Failures)
		}
		if low, high := r.Totals.Connect.Min, r.Totals.Connect.Max; low != opening || high != opening {
			t.Errorf("%s: connections took %d to %d ns, want %d", url, low, high, opening)
		}
	}
}

// Why a proxy is of no use is a failure to connect, which names the proxy.
func TestProxyFails(t *testing.T) {
	proxy := []ring.Addr{{TCP: netip.MustParseAddrPort("192.0.2.9:3128")}}
	for name, c := range map[string]struct {
		refuses      error
		says         string
		hangs        bool
		kind, detail string
	}{
		"not there":      {refuses: syscall.ECONNREFUSED, kind: "refused", detail: "the proxy 192.0.2.9:3128: connection refused"},
		"wants a user":   {says: "HTTP/1.1 407 Who\r\n\r\n", kind: "proxy-407", detail: "answered 407 to CONNECT"},
		"cannot connect": {says: "HTTP/1.1 502 Bad\r\n\r\n", kind: "proxy-502", detail: "it could not connect there"},
		"silent":         {kind: "timeout", detail: "the proxy 192.0.2.9:3128: no answer in time: the proxy has not answered CONNECT"},
		"endless":        {says: "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 256<<10), kind: "proxy-oversized", detail: "longer than 256 KiB"},
		"gone":           {hangs: true, kind: "reset", detail: "the proxy 192.0.2.9:3128: connection reset"},
	} {
		for _, secure := range []bool{true, false} {
			sim := &ring.Sim{Accept: func(int) (int64, error) { return ms, c.refuses }}
			sim.Server = func(p *ring.Peer, _ []byte) {
				if c.says != "" {
					p.Reply(ms, []byte(c.says))
				} else if c.hangs {
					p.Hangup(ms, syscall.ECONNRESET)
				}
			}
			r := simulateAt(t, simPlan(func(p *loadplan.Plan) {
				p.Proxy, p.Duration, p.Connecting = "http://192.0.2.9:3128", loadplan.Seconds(time.Second), loadplan.Seconds(300*time.Millisecond)
				p.Target.TLS, p.TLS.Insecure = secure, secure
			}), proxy, func(*gate) ring.Ring { return sim })
			if len(r.Failures) == 0 || r.Total.Completed > 0 {
				t.Errorf("%s, TLS %v: %+v", name, secure, r.Failures)
				continue
			}
			if f := r.Failures[0]; f.Phase != loadresult.Connect || f.Kind != c.kind || !strings.Contains(f.Detail, c.detail) {
				t.Errorf("%s, TLS %v: %+v", name, secure, f)
			}
		}
	}
}

// A real proxy forwards and tunnels each protocol that passes, on every ring, with the user or not.
func TestProxyOnRings(t *testing.T) {
	for _, kind := range ring.Kinds {
		for _, user := range []string{"", "u:p w%"} {
			proxy := tunneltest.Start(t, user)
			url := strings.Replace(proxy.URL, "u:p w%", "u:p%20w%25", 1)
			for _, secure := range []bool{false, true} {
				s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				s.EnableHTTP2, s.Config.ErrorLog = true, log.New(io.Discard, "", 0)
				if secure {
					s.StartTLS()
				} else {
					s.Start()
				}
				at := netip.MustParseAddrPort(s.Listener.Addr().String())
				before := proxy.Tunnels.Load()
				r := measure(t, simPlan(func(p *loadplan.Plan) {
					p.Target = loadplan.Target{URL: s.URL, Host: at.Addr().String(), Port: at.Port(), TLS: secure}
					p.TLS.Insecure, p.Proxy, p.Ring = secure, url, kind
					p.Requested, p.Duration, p.Connections, p.Reconnect = 40, 0, 4, 5
					p.Drain, p.Timeout = loadplan.Seconds(time.Minute), loadplan.Seconds(time.Minute)
				}))
				tunnels, forwarded := proxy.Tunnels.Load()-before, proxy.Forwarded.Load()
				if r.Total.Completed != 40 || secure && (tunnels < 8 || tunnels < int64(r.Totals.Opened)) || !secure && (tunnels > 0 || forwarded != 40) {
					t.Errorf("%s, %q, TLS %v: %d completed, %d tunnels, %d forwarded: %+v", kind, user, secure, r.Total.Completed, tunnels, forwarded, r.Failures)
				}
				s.Close()
			}
			if proxy.Refused.Load() > 0 {
				t.Errorf("%s, %q: %d refused", kind, user, proxy.Refused.Load())
			}
		}
	}
}
