package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os/exec"
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

// nginx counts what it was asked for, and not the questions.
func TestNginx(t *testing.T) {
	if _, err := exec.LookPath("nginx"); err != nil {
		if _, err := exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("nginx is not installed; Debian's package is nginx")
		}
	}
	s, err := startNginx(t.Context(), nil, t.TempDir(), load{tls: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.stopServer()
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
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}

// Caddy counts what it was asked for, and not the questions.
func TestCaddy(t *testing.T) {
	if _, err := exec.LookPath("caddy"); err != nil {
		t.Skip("Caddy is not installed; Debian's package is caddy")
	}
	s, err := startCaddy(t.Context(), nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.stopServer()
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
		if body, err := io.ReadAll(r.Body); string(body) != "hello world" || r.StatusCode != 200 {
			t.Errorf("%d, %q, %v", r.StatusCode, body, err)
		}
		r.Body.Close()
	}
	if _, err := parseCaddyMetrics([]byte("<html>"), 0); err == nil {
		t.Error("a page is no metrics")
	}
}
