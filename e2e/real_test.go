//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/result"
)

// page is what all servers answer.
const page = "a page of a real server\n"

var nginx = real{name: "nginx", command: "nginx", pack: "nginx", closes: 100, keeps: true,
	start: "-e stderr -p DIR -c nginx.conf", log: "access.log",
	files: map[string]string{"tmp/made": "", "nginx.conf": `daemon off; pid nginx.pid; ROOT
worker_processes 2;
error_log stderr warn;
events { worker_connections 512; }
http {
	client_body_temp_path tmp/1; proxy_temp_path tmp/2; fastcgi_temp_path tmp/3;
	uwsgi_temp_path tmp/4; scgi_temp_path tmp/5;
	log_format line "$request";
	access_log access.log line;
	keepalive_requests 100;
	client_max_body_size 2m;
	server {
		listen 127.0.0.1:PORT;
		listen unix:DIR/nginx.sock;
		location / { return 200 "` + page + `"; }
		location /missing { return 404 "no\n"; }
	}
}
`}}

var apache = real{name: "Apache", command: "apache2", pack: "apache2", closes: 100, keeps: true,
	start: "-d DIR -f DIR/apache.conf -DFOREGROUND", log: "access.log",
	files: map[string]string{"www/index.html": page, "apache.conf": `ServerName 127.0.0.1
Listen 127.0.0.1:PORT
PidFile DIR/apache.pid
DefaultRuntimeDir DIR
Mutex file:DIR
ErrorLog DIR/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
WWW
DocumentRoot DIR/www
KeepAlive On
MaxKeepAliveRequests 100
LogFormat "%r" line
CustomLog DIR/access.log line
`}}

var php = real{name: "php -S", command: "php", pack: "php-cli", closes: 1, few: true,
	start: "-q -S 127.0.0.1:PORT router.php", log: "access.log",
	files: map[string]string{"access.log": "", "router.php": `<?php
file_put_contents("access.log", $_SERVER["REQUEST_URI"] . "\n", FILE_APPEND);
echo "` + strings.TrimSpace(page) + `\n";
`}}

var node = real{name: "Node", command: "node", pack: "nodejs", keeps: true,
	start: "server.js", log: "access.log",
	files: map[string]string{"access.log": "", "server.js": `const http = require("http");
const fs = require("fs");
const page = ` + strconv.Quote(page) + `;
http.createServer((req, res) => {
	req.resume().on("end", () => {
		fs.appendFileSync("access.log", req.url + "\n");
		res.writeHead(200, {"Content-Length": page.length});
		res.end(page);
	});
}).listen(PORT, "127.0.0.1");
`}}

var python = real{name: "Python", command: "python3", pack: "python3", closes: 1, few: true,
	start: "-u -m http.server --bind 127.0.0.1 --directory www PORT", log: "output",
	refuses: "POST", // and resets, for it has not read the body
	files:   map[string]string{"www/index.html": page}}

var caddy = real{name: "Caddy", command: "caddy", pack: "caddy", keeps: true, unread: true,
	start: "run --config Caddyfile --adapter caddyfile", log: "access.log",
	files: map[string]string{"www/index.html": page, "Caddyfile": `{
	admin off
	auto_https off
}
http://:PORT {
	bind 127.0.0.1
	log {
		output file DIR/access.log
	}
	root * DIR/www
	file_server
}
`}}

var servers = []real{nginx, apache, php, node, python, caddy}

// A manner is a way to load a server, and its effect on connections.
type manner struct {
	name, args string
	method     string
	each       func(s real) int // requests of a connection; 0: no limit
}

// asServer returns how many requests a connection has, if the server decides.
func asServer(s real) int { return s.closes }

// oneRequest returns 1: each request has a connection of its own.
func oneRequest(real) int { return 1 }

// tenRequests returns 10, or 1 if the server closes after each request.
func tenRequests(s real) int {
	if s.closes == 1 {
		return 1
	}
	return 10
}

// asAsked is as the server likes, if it keeps HTTP/1.0 connections at all.
func asAsked(s real) int {
	if !s.keeps {
		return 1
	}
	return s.closes
}

// asBody is as the server likes it after a long body.
func asBody(s real) int {
	if s.unread {
		return 1
	}
	return s.closes
}

var manners = []manner{
	{"keep-alive", "", "GET", asServer},
	{"two threads", "-t 2", "GET", asServer},
	{"portable", "--ring portable", "GET", asServer},
	{"HTTP 1.0", "--http 1.0", "GET", oneRequest},
	{"HTTP 1.0 keep-alive", "--http 1.0 -H Connection:Keep-Alive", "GET", asAsked},
	{"reconnect always", "--reconnect always", "GET", oneRequest},
	{"reconnect 10", "--reconnect 10", "GET", tenRequests},
	{"HEAD", "-X HEAD", "HEAD", asServer},
	{"POST", "-X POST -b @BODY", "POST", asBody},
}

// TestRealServers loads real servers in every manner. Whatever they do with
// their connections, every request is answered, and both sides count the same.
func TestRealServers(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			l := server.launchServer(t)
			for _, m := range manners {
				if m.method == l.refuses {
					continue
				}
				t.Run(m.name, func(t *testing.T) { l.testLoad(t, m, body) })
			}
		})
	}
}

// testLoad loads the server in a manner, and compares the counts.
func (l *launched) testLoad(t *testing.T, m manner, body string) {
	n, c := int64(400), int64(3) // on each connection more than a server takes
	switch {
	case m.method == "POST":
		n = 100
	case l.few:
		n, c = 200, 4
	}
	word := "/?" + strings.ReplaceAll(m.name, " ", "-") + "="
	args := strings.Fields(strings.ReplaceAll(m.args, "BODY", body))
	args = append(args, "-n", fmt.Sprint(n), "-c", fmt.Sprint(c), l.url+word)
	r := runDyno(t, 0, args...).result
	checkFlawless(t, r, n, "200")
	if served := l.servedSince(t, word, n); served != n {
		checkAgrees(t, r, served)
	}
	checkReconnects(t, r, int64(m.each(l.real)), n, c)
	if m.method == "GET" && r.Bytes.Received < n*int64(len(page)) {
		t.Errorf("received %d bytes for %d pages", r.Bytes.Received, n)
	}
}

// checkReconnects checks how often connections were opened again, when each may
// have so many requests; 0: as many as it likes.
func checkReconnects(t *testing.T, r *result.Result, each, n, c int64) {
	t.Helper()
	var least, most int64
	if each > 0 {
		// All but the last life of each connection are full, and after the last
		// there may be one for which no request was left.
		least, most = (n-1)/each+1-c, n/each
	}
	if got := r.Connections.Reconnects; got < least || got > most {
		t.Errorf("%d reconnects, want %d to %d; %+v", got, least, most, r.Requests)
	}
}
