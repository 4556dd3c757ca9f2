//go:build linux

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/result"
)

// tinyproxy is an HTTP proxy, whose log has the request line of each request that it was sent.
var tinyproxy = real{name: "tinyproxy", command: "tinyproxy", pack: "tinyproxy-bin", proxies: true,
	start: "-d -c DIR/tinyproxy.conf", log: "tinyproxy.log",
	files: map[string]string{"tinyproxy.conf": `Port PORT
Listen 127.0.0.1
Timeout 60
MaxClients 200
LogFile "DIR/tinyproxy.log"
LogLevel Connect
`}}

// TestProxy has a real proxy forward requests to nginx, and open tunnels to it, with a user and
// without: the server's log has each request once, the proxy's each tunnel, and what the proxy refuses
// is a failure to connect that names it.
func TestProxy(t *testing.T) {
	t.Parallel()
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	server, plain, secure := nginx, freePort(t), freePort(t)
	server.files = maps.Clone(nginx.files)
	server.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\tserver {\n",
		fmt.Sprintf("\tserver {\n\t\tlisten 127.0.0.1:%s;\n\t\tlisten 127.0.0.1:%s ssl http2;\n"+
			"\t\tssl_certificate %s;\n\t\tssl_certificate_key %s;\n\t\tlocation / { return 200 \"hello\\n\"; }\n\t}\n"+
			"\tserver {\n", plain, secure, crt, key), 1)
	l := server.launchServer(t)
	for _, user := range []string{"", "u:p4ss"} {
		proxy := tinyproxy
		proxy.files = maps.Clone(tinyproxy.files)
		if user != "" {
			proxy.files["tinyproxy.conf"] += "BasicAuth " + strings.Replace(user, ":", " ", 1) + "\n"
		}
		p := proxy.launchServer(t)
		url := strings.Replace(p.url, "://", "://"+user+"@", 1)
		for _, to := range []string{"http://127.0.0.1:" + plain, "https://127.0.0.1:" + secure} {
			scheme, _, _ := strings.Cut(to, ":")
			word := "/?" + strings.ReplaceAll(user, ":", "") + scheme + "="
			args := []string{"-n", "300", "-c", "4", "--reconnect", "10", "--drain", "1m", "--proxy", url, to + word}
			if scheme == "https" {
				args = append([]string{"--insecure"}, args...)
			}
			r := runDyno(t, 0, args...).result
			checkFlawless(t, r, 300, "200")
			if n := l.servedSince(t, word, 300); n != 300 {
				t.Errorf("%s by %q: %d requests were logged", to, user, n)
			}
			if strings.Contains(r.Plan.Proxy, "p4ss") {
				t.Errorf("the result has the password: %s", r.Plan.Proxy)
			}
			if scheme == "https" {
				opened := r.Connections.Opened // at the end, some more may just be asked for
				if n := p.servedSince(t, "CONNECT 127.0.0.1:"+secure, opened); n < opened || n > opened+4 {
					t.Errorf("%d tunnels were logged, for %d connections", n, opened)
				}
			}
		}
		if user == "" {
			continue
		}
		r := runDyno(t, 4, "--insecure", "-d", "30s", "--connect-timeout", "15s", "-c", "1", "--proxy", p.url, "https://127.0.0.1:"+secure).result
		if !slices.ContainsFunc(r.Errors, func(e result.Error) bool {
			return e.Phase == "connect" && strings.HasPrefix(e.Kind, "proxy-40") &&
				(e.Kind != "proxy-407" || strings.Contains(e.Detail, "it wants a user"))
		}) {
			t.Errorf("without the user: %+v", r.Errors)
		}
	}
}
