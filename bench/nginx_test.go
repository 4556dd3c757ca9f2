package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

func TestStubStatus(t *testing.T) {
	const page = "Active connections: 3 \nserver accepts handled requests\n 12 12 3456 \n" +
		"Reading: 0 Writing: 1 Waiting: 2 \n"
	if n, err := parseStubStatus([]byte(page), 6); n != 3450 || err != nil {
		t.Errorf("%v, %v", n, err)
	}
	for _, bad := range []string{"", "hello", "server accepts handled requests\n 1 2"} {
		if n, err := parseStubStatus([]byte(bad), 1); err == nil {
			t.Errorf("%q: %v", bad, n)
		}
	}
}

// nginx and Caddy count what they were asked for, and not the questions.
func TestServersCount(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		start func() (*server, error)
	}{
		"nginx": {"/usr/sbin/nginx", func() (*server, error) {
			return startNginx(t.Context(), nil, t.TempDir(), load{tls: true})
		}},
		"caddy": {"caddy", func() (*server, error) { return startCaddy(t.Context(), nil, t.TempDir()) }},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				if _, err := exec.LookPath(c.path); err != nil {
					t.Skipf("%s is not installed; Debian's package has that name", name)
				}
			}
			s, err := c.start()
			if err != nil {
				t.Fatal(err)
			}
			defer s.stopServer()
			checkCounts(t, s)
		})
	}
}

// checkCounts makes three requests, each on a connection of its own.
func checkCounts(t *testing.T, s *server) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for i := range 3 {
		if n, _, err := s.requestsServed(context.Background()); n != float64(i) || err != nil {
			t.Errorf("%v served, %v; want %d", n, err, i)
		}
		r, err := client.Get(s.url)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.TLS.Version; v != tls.VersionTLS13 || r.TLS.DidResume {
			t.Errorf("TLS %x, resumed: %v", v, r.TLS.DidResume)
		}
		body, err := io.ReadAll(r.Body)
		if r.Body.Close(); !strings.HasPrefix(string(body), "hello world") || r.StatusCode != 200 {
			t.Errorf("%d, %q, %v", r.StatusCode, body, err)
		}
	}
}

func TestParseCaddyMetrics(t *testing.T) {
	const page = `# TYPE go_goroutines gauge
caddy_http_requests_total{handler="static_response",server="srv0"} 7
caddy_http_requests_total{handler="subroute",server="srv0"} 7
caddy_http_requests_total{handler="subroute",server="srv1"} 2
`
	if n, err := parseCaddyMetrics([]byte(page), 3); n != 7 || err != nil {
		t.Errorf("%v, %v; want 7", n, err)
	}
	for _, bad := range []string{"<html>", page + `caddy_http_requests_total{handler="subroute"} x`} {
		if n, err := parseCaddyMetrics([]byte(bad), 1); err == nil {
			t.Errorf("%q: %v", bad, n)
		}
	}
}
