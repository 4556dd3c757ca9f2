package load

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// askFrom loads a server from the sources, on a ring, and returns how many connections came
// from each address.
func askFrom(t *testing.T, ring string, sources ...string) (map[string]int, error) {
	t.Helper()
	var mu sync.Mutex
	from := map[string]int{}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			mu.Lock()
			defer mu.Unlock()
			host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
			from[host]++
		}
	}
	server.Start()
	defer server.Close()
	at := netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://"))
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Authority: at.String(),
		Path: "/"}}}
	p.Connections, p.Threads, p.Ring, p.Spin = 12, 2, ring, true
	p.Requested, p.Duration, p.Expect = 120, 0, []loadplan.Statuses{loadplan.AnyStatus()}
	for _, s := range sources {
		from, err := loadplan.ParseSource(s)
		if err != nil {
			t.Fatal(err)
		}
		p.Source = append(p.Source, from)
	}
	r, err := Run(t.Context(), p, nil)
	if err == nil && r.Total.Completed != 120 {
		t.Errorf("%s from %v: %d of 120 were answered", ring, sources, r.Total.Completed)
	}
	mu.Lock()
	defer mu.Unlock()
	return from, err
}

func TestSources(t *testing.T) {
	for _, kind := range []string{"epoll", "auto", "portable"} {
		from, err := askFrom(t, kind, "127.0.0.2/32", "127.0.1.4/31")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []string{"127.0.0.2", "127.0.1.4", "127.0.1.5"} {
			if from[a] != 4 {
				t.Errorf("%s: %d of 12 connections are from %s: %v", kind, from[a], a, from)
			}
		}
	}
}

func TestSourcesThatAreNone(t *testing.T) {
	for source, says := range map[string]string{
		"198.51.100.1/32": "198.51.100.1 is no address of this machine",
		"198.51.100.0/30": "this machine has no address in 198.51.100.0/30",
		"::1/128":         "one is IPv4 and the other IPv6",
		"10.0.0.0/8":      "16777216 addresses; at most 4096",
		"2001:db8::/32":   "addresses; at most 4096",
	} {
		_, err := askFrom(t, "auto", source)
		flaw, is := errors.AsType[loadplan.Flaw](err)
		if !is || flaw.Setting != "Source" || !strings.Contains(flaw.Problem, says) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
