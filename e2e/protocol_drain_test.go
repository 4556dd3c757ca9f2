//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// A draining is a server that reloads its configuration while it works: it sends GOAWAY on its
// connections, finishes what it has begun, and accepts others.
type draining struct {
	server real
	again  func(l *launched) error
	loses  bool // it closes connections whose requests it had said that it would answer
	stays  bool // without TLS its connections go on as they were
}

// sendSignal returns a reload by a signal to the server's first process.
func sendSignal(sig syscall.Signal) func(l *launched) error {
	return func(l *launched) error { return syscall.Kill(l.pid, sig) }
}

// reloadNginx reloads Caddy, which has a command instead of a signal.
func reloadNginx(l *launched) error {
	return exec.Command(lookUpCommand("caddy"), "reload", "--force", "--adapter", "caddyfile",
		"--config", filepath.Join(l.dir, "Caddyfile"), "--address", "unix/"+l.dir+"/admin").Run()
}

// withReplaced returns the server with other words in its command and its file.
func (s real) withReplaced(old, new string) real {
	files := map[string]string{}
	for name, content := range s.files {
		files[name] = strings.Replace(content, old, new, 1)
	}
	s.start, s.files = strings.Replace(s.start, old, new, 1), files
	return s
}

// TestHTTP2Drains loads servers that reload meanwhile. Requests that they refuse by GOAWAY are
// retried on other connections, and none is lost.
func TestHTTP2Drains(t *testing.T) {
	for _, d := range []draining{
		{server: nginxHTTP2, again: sendSignal(syscall.SIGHUP)},
		{server: apacheHTTP2, again: sendSignal(syscall.SIGUSR1), loses: true},
		{server: haproxy.withReplaced("-db", "-W -db"), again: sendSignal(syscall.SIGUSR2)},
		{server: caddyHTTP2.withReplaced("admin off", "admin unix/DIR/admin"), again: reloadNginx, stays: true},
		{server: nodeHTTP2, again: sendSignal(syscall.SIGHUP)},
		{server: h2o.withReplaced("-c", "-m master -c"), again: sendSignal(syscall.SIGHUP)},
	} {
		t.Run(d.server.name, func(t *testing.T) {
			t.Parallel()
			for _, secure := range []bool{false, true} {
				const times = 2
				least := int64(times)
				if d.stays && !secure {
					least = 0
				}
				// On a busy machine the load may have ended before the server has read its configuration.
				for n := int64(2000); ; n *= 4 {
					r, most := d.load(t, secure, n, times), int64(0)
					if d.loses { // what was in flight on each connection that ended
						most = 10 * (r.Connections.Reconnects + 4)
					}
					checkLost(t, r, n, most)
					if r.Connections.Reconnects >= least {
						break
					}
					if n > 30_000 || t.Failed() {
						t.Errorf("with TLS %v: %+v", secure, r.Connections)
						break
					}
					t.Logf("with TLS %v, %d requests: %+v", secure, n, r.Connections)
				}
			}
		})
	}
}

// load sends n requests to a server of its own, which reloads at so many places of them. On a busy
// machine a reload may come when the load is over: it would refuse every connection of the next one.
func (d draining) load(t *testing.T, secure bool, n, times int64) *result.Result {
	t.Helper()
	l, base, withTLS := d.server.launchHTTP2Server(t)
	args := []string{"-R", "1000", "-c", "4", "--streams", "10", "-n", fmt.Sprint(n)}
	if secure {
		base, args = withTLS, append(args, "--insecure")
	}
	r := startDyno(t, append(args, base+"/?drain")...)
	for i := range times {
		l.servedSince(t, "/?drain", n/4+i*n/2) // it is at work
		if err := d.again(l); err != nil {
			t.Error(err)
		}
	}
	return r.waitForExit().expectExit(t, 0).result
}

// checkLost checks that of n requests so many failed at most, and only with connections that were
// closed; others may have been closed before they had a request. A server that closes a connection
// with requests unread resets it. So does a server that stops accepting before it has read a
// ClientHello; that connection had no request.
func checkLost(t *testing.T, r *result.Result, n, most int64) {
	t.Helper()
	checkBalanced(t, r, n)
	if r.Requests.Errors > most || r.Requests.Unfinished > 0 {
		t.Errorf("%+v", r.Requests)
	}
	for _, e := range r.Errors {
		closed := e.Kind == "closed" || e.Kind == loadresult.Behind || strings.HasPrefix(e.Kind, "goaway-")
		reset := e.Kind == "reset" && (most > 0 || e.Phase == string(loadresult.TLSPhase))
		if !closed && !reset {
			t.Errorf("%+v", e)
		}
	}
}

// TestHTTP2GoDrains has Go's server close its connections by GOAWAY again and again.
func TestHTTP2GoDrains(t *testing.T) {
	t.Parallel()
	s := startGoServer(t)
	urls := filepath.Join(t.TempDir(), "urls")
	if err := os.WriteFile(urls, []byte(strings.Repeat("/a\n", 49)+"/leave\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"h2c://" + s.plain, "--insecure https://" + s.secure} {
		all := append(strings.Fields("-n 5000 -c 4 --streams 20 --urls "+urls), strings.Fields(args)...)
		r := runDyno(t, 0, all...).result
		checkFlawless(t, r, 5000, "200")
		if c := r.Connections; c.Reconnects < 50 {
			t.Errorf("%s: %+v", args, c)
		}
	}
}
