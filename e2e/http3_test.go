//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var caddyHTTP3 = real{name: "Caddy", command: "caddy", pack: "caddy",
	start: "run --config Caddyfile --adapter caddyfile", log: "access.log",
	files: map[string]string{"Caddyfile": `{
	admin off
	auto_https off
	servers {
		protocols h1 h2 h3
	}
}
(all) {
	bind 127.0.0.1
	log {
		output file DIR/access.log
	}
	respond "page"
}
http://:PORT {
	import all
}
https://127.0.0.1:SECURE {
	tls CRT KEY
	import all
}
`}}

// TestHTTP3Server loads Caddy over QUIC, and both sides count the same. Its 2.6 answers HEAD
// with a body, which no client may take.
func TestHTTP3Server(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	l, _, secure := caddyHTTP3.launchHTTP2Server(t)
	for i, args := range []string{
		"-n 1000 -c 8", "-n 2000 -c 4 --streams 10 -t 2",
		"-n 50 -c 2 --streams 4 -b @" + body, "-n 400 -c 4 --streams 5 --reconnect 25",
		"-n 100 -c 2 --reconnect always --tls-resume on", "-d 1s -c 4 -R 500 --drain 1m",
	} {
		word := fmt.Sprintf("/?http3-%d=", i)
		words := append(strings.Fields(args), "--http", "3", "--insecure", secure+word)
		r := runDyno(t, 0, words...).result
		n := r.Plan.Requested
		if n == 0 {
			n = 500
		}
		checkFlawless(t, r, n, "200")
		checkProtocol(t, r, "h3")
		if served := l.servedSince(t, word, n); served < n || served > n+r.Requests.Retried {
			t.Errorf("%s: the server's log has %d; %+v", args, served, r.Requests)
		}
		if r.Bytes.Received < n || r.Bytes.Sent < n || r.Generator.Ring != "quic-go" {
			t.Errorf("%s: %+v, %s", args, r.Bytes, r.Generator.Ring)
		}
	}
}
