//go:build linux

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestNginx has the tests for which one real server is enough.
func TestNginx(t *testing.T) {
	t.Parallel()
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	server, tlsPort := nginx, freePort(t)
	server.files = maps.Clone(nginx.files)
	server.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\t\tlocation / {",
		fmt.Sprintf("\t\tlisten 127.0.0.1:%s ssl;\n\t\tssl_certificate %s;\n"+
			"\t\tssl_certificate_key %s;\n\t\tlocation / {", tlsPort, crt, key), 1)
	l := server.launchServer(t)
	t.Run("pipelined", l.testPipelined)
	t.Run("unix socket", l.testUnixSocket)
	t.Run("routes", l.testRoutes)
	t.Run("rate", l.testRate)
	secure := "https://127.0.0.1:" + tlsPort
	t.Run("TLS", func(t *testing.T) { l.testSecure(t, secure, "--cacert", crt) })
	t.Run("TLS, unverified", func(t *testing.T) { l.testSecure(t, secure, "--insecure") })
	t.Run("TLS, pipelined", func(t *testing.T) {
		l.testSecure(t, secure, "--insecure", "--pipeline", "8")
	})
	t.Run("TLS each time", func(t *testing.T) { l.testHandshakes(t, secure, crt) })
}

// testPipelined keeps sending while nginx closes after 100 requests. Unanswered requests are
// retried.
func (l *launched) testPipelined(t *testing.T) {
	r := runDyno(t, 0, "-n", "2000", "-c", "8", "--pipeline", "8", l.url+"/?piped=").result
	checkFlawless(t, r, 2000, "200")
	checkAgrees(t, r, l.servedSince(t, "/?piped=", 2000))
	checkReconnects(t, r, 100, 2000, 8)
}

func (l *launched) testUnixSocket(t *testing.T) {
	r := runDyno(t, 0, "-n", "2000", "-c", "8",
		"http+unix://"+filepath.Join(l.dir, "nginx.sock")+":/?unix=").result
	checkFlawless(t, r, 2000, "200")
	checkAgrees(t, r, l.servedSince(t, "/?unix=", 2000))
	checkReconnects(t, r, 100, 2000, 8)
}

// testRoutes checks that routes, and their statuses, are counted separately.
func (l *launched) testRoutes(t *testing.T) {
	urls := filepath.Join(t.TempDir(), "urls")
	lines := "/a?route=\n/missing?route=\n" + l.url + "/b?route=\n"
	if err := os.WriteFile(urls, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	o := runDyno(t, 0, "-n", "1999", "-c", "8", "--urls", urls, l.url)
	r := o.result
	checkBalanced(t, r, 1999)
	checkAgrees(t, r, l.servedSince(t, "route=", 1999))
	if want := map[string]int64{"200": 1333, "404": 666}; !maps.Equal(r.Status, want) {
		t.Errorf("statuses %v, want %v", r.Status, want)
	}
	if len(r.Routes) != 3 {
		t.Fatalf("routes %+v, want 3", r.Routes)
	}
	for i, want := range []struct{ completed, errors int64 }{{667, 0}, {0, 666}, {666, 0}} {
		n := r.Routes[i]
		if n.Completed != want.completed || n.Errors != want.errors ||
			(n.P50 > 0) != (want.completed > 0) {
			t.Errorf("route %d is %+v, want %+v", i+1, n, want)
		}
	}
	warning := regexp.MustCompile(`^666 answers \(33 %\) were errors, which the latency leaves out: .*404; .* --expect$`)
	if said := o.reportLines(); len(said) == 0 || !warning.MatchString(said[0]) {
		t.Errorf("said %q", said)
	}
}

func (l *launched) testRate(t *testing.T) {
	r := runDyno(t, 0, "-R", "2000", "-d", "1s", "--drain", "1m", "-c", "8", l.url+"/?rate=").result
	checkFlawless(t, r, 2000, "200")
	checkAgrees(t, r, l.servedSince(t, "/?rate=", 2000))
	checkReconnects(t, r, 100, 2000, 8)
}

func (l *launched) testSecure(t *testing.T, url string, args ...string) {
	word := "/?tls" + strings.Join(args[:1], "") + fmt.Sprint(len(args)) + "="
	r := runDyno(t, 0, append(args, "-n", "2000", "-c", "8", url+word)...).result
	checkFlawless(t, r, 2000, "200")
	checkAgrees(t, r, l.servedSince(t, word, 2000))
	checkReconnects(t, r, 100, 2000, 8)
	shakes := *r.Connections.TLSFull + *r.Connections.TLSResumed
	p := r.Phases.TLS
	if p == nil || p.Min <= 0 || p.Count != shakes || shakes != r.Connections.Opened {
		t.Errorf("%d handshakes, phase %+v; connections %+v", shakes, p, r.Connections)
	}
}

// testHandshakes makes one handshake for each request.
func (l *launched) testHandshakes(t *testing.T, url, crt string) {
	r := runDyno(t, 0, "--cacert", crt, "--reconnect", "always", "-n", "200", "-c", "4",
		url+"/?shake=").result
	checkFlawless(t, r, 200, "200")
	checkAgrees(t, r, l.servedSince(t, "/?shake=", 200))
	checkReconnects(t, r, 1, 200, 4)
	if p := r.Phases; p.TLS.Count < 200 || p.Connect.Count < 200 {
		t.Errorf("%d handshakes in %d connections", p.TLS.Count, p.Connect.Count)
	}
}
