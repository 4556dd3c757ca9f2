//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestProxyProtocol has nginx log what the header of each connection says beside the addresses of
// the connection itself.
func TestProxyProtocol(t *testing.T) {
	t.Parallel()
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	server, plain, secure := nginx, freePort(t), freePort(t)
	server.files = maps.Clone(nginx.files)
	server.files["proxied.log"] = ""
	const log = "$proxy_protocol_addr:$proxy_protocol_port $remote_addr:$remote_port " +
		"$proxy_protocol_server_addr:$proxy_protocol_server_port $server_addr:$server_port"
	server.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\tserver {\n",
		fmt.Sprintf("\tlog_format proxied \"$request %s\";\n\tserver {\n\t\taccess_log proxied.log proxied;\n"+
			"\t\tlisten 127.0.0.1:%s proxy_protocol;\n\t\tlisten 127.0.0.1:%s ssl http2 proxy_protocol;\n"+
			"\t\tlisten unix:DIR/proxied.sock proxy_protocol;\n"+
			"\t\tssl_certificate %s;\n\t\tssl_certificate_key %s;\n\t\tlocation / { return 200 \"hello\\n\"; }\n\t}\n"+
			"\tserver {\n", log, plain, secure, crt, key), 1)
	l := server.launchServer(t)
	l.log = "proxied.log"
	for _, version := range []string{"v1", "v2"} {
		for _, url := range []string{"http://127.0.0.1:" + plain, "https://127.0.0.1:" + secure,
			"http+unix://" + filepath.Join(l.dir, "proxied.sock") + ":"} {
			scheme, _, _ := strings.Cut(url, ":")
			word := "/?" + version + scheme + "="
			args := []string{"-n", "500", "-c", "8", "--reconnect", "10", "--proxy-protocol", version, url + word}
			if scheme == "https" {
				args = append([]string{"--insecure"}, args...)
			}
			checkFlawless(t, runDyno(t, 0, args...).result, 500, "200")
			if n := l.servedSince(t, word, 500); n != 500 {
				t.Errorf("%s %s: %d requests were logged", version, url, n)
			}
			checkProxied(t, l, word, scheme)
		}
	}
}

// checkProxied checks that each header had both addresses of its connection; on a unix socket none.
func checkProxied(t *testing.T, l *launched, word, scheme string) {
	t.Helper()
	all, err := os.ReadFile(filepath.Join(l.dir, l.log))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(all) {
		fields := strings.Fields(string(line))
		if !strings.Contains(string(line), word) {
			continue
		}
		got := fields[len(fields)-4:]
		right := got[0] == got[1] && got[2] == got[3] && strings.HasPrefix(got[0], "127.0.0.1:")
		if scheme == "http+unix" {
			right = !strings.Contains(got[0], "127.0.0.1") && !strings.Contains(got[2], "127.0.0.1")
		}
		if !right {
			t.Fatalf("nginx logged %q", line)
		}
	}
}
