//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Servers of HTTP/2 besides nginx and Go. CLEAR and SECURE are ports of it without
// and with TLS, CRT and KEY the files of the certificate, PEM that of both.

var nodeHTTP2 = real{name: "Node", command: "node", pack: "nodejs",
	start: "server.js", log: "access.log",
	files: map[string]string{"access.log": "", "server.js": `const http = require("http");
const http2 = require("http2");
const fs = require("fs");
const page = ` + strconv.Quote(page) + `;
const answer = (req, res) => {
	req.resume().on("end", () => {
		fs.appendFileSync("access.log", req.url + "\n");
		res.writeHead(200, {"Content-Length": page.length});
		res.end(page);
	});
};
const tls = {cert: fs.readFileSync("CRT"), key: fs.readFileSync("KEY")};
http.createServer(answer).listen(PORT, "127.0.0.1");
const clear = http2.createServer(answer).listen(CLEAR, "127.0.0.1");
const secure = http2.createSecureServer(tls, answer).listen(SECURE, "127.0.0.1");
const sessions = new Set();
for (const server of [clear, secure]) server.on("session", (s) => {
	sessions.add(s);
	s.on("close", () => sessions.delete(s));
});
process.on("SIGHUP", () => { for (const s of sessions) s.close(); });
`}}

var apacheHTTP2 = real{name: "Apache", command: "apache2", pack: "apache2",
	start: "-d DIR -f DIR/apache.conf -DFOREGROUND", log: "access.log",
	files: map[string]string{"www/index.html": page, "apache.conf": `ServerName 127.0.0.1
Listen 127.0.0.1:PORT
Listen 127.0.0.1:CLEAR
Listen 127.0.0.1:SECURE
PidFile DIR/apache.pid
DefaultRuntimeDir DIR
Mutex file:DIR
ErrorLog DIR/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
WWW
DocumentRoot DIR/www
Protocols h2 h2c http/1.1
LogFormat "%r" line
CustomLog DIR/access.log line
<VirtualHost 127.0.0.1:SECURE>
SSLEngine on
SSLCertificateFile CRT
SSLCertificateKeyFile KEY
CustomLog DIR/access.log line
</VirtualHost>
`}}

var caddyHTTP2 = real{name: "Caddy", command: "caddy", pack: "caddy",
	start: "run --config Caddyfile --adapter caddyfile", log: "access.log",
	files: map[string]string{"Caddyfile": `{
	admin off
	auto_https off
	servers {
		protocols h1 h2 h2c
	}
}
(all) {
	bind 127.0.0.1
	log {
		output file DIR/access.log
	}
	respond "page"
}
http://:PORT, http://:CLEAR {
	import all
}
https://127.0.0.1:SECURE {
	tls CRT KEY
	import all
}
`}}

var haproxy = real{name: "HAProxy", command: "haproxy", pack: "haproxy",
	start: "-db -f haproxy.cfg", log: "output",
	files: map[string]string{"haproxy.cfg": `global
	nbthread 1 # several would drop lines of the log
	log stdout format raw local0
defaults
	mode http
	log global
	log-format "%HM %HU"
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend all
	bind 127.0.0.1:PORT
	bind 127.0.0.1:CLEAR proto h2
	bind 127.0.0.1:SECURE ssl crt PEM alpn h2,http/1.1
	http-request return status 200 content-type text/plain string "page"
`}}

var nginxHTTP2 = real{name: "nginx", command: "nginx", pack: "nginx",
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
	client_max_body_size 2m;
	server {
		listen 127.0.0.1:PORT;
		listen 127.0.0.1:CLEAR http2;
		listen 127.0.0.1:SECURE ssl http2;
		ssl_certificate CRT;
		ssl_certificate_key KEY;
		location / { return 200 "` + page + `"; }
	}
}
`}}

var h2o = real{name: "h2o", command: "h2o", pack: "h2o",
	start: "-c h2o.conf", log: "access.log",
	files: map[string]string{"access.log": "", "h2o.conf": `ASROOT
pid-file: DIR/h2o.pid
num-threads: 2
access-log:
  path: DIR/access.log
  format: "%r"
listen:
  host: 127.0.0.1
  port: PORT
listen:
  host: 127.0.0.1
  port: CLEAR
listen:
  host: 127.0.0.1
  port: SECURE
  ssl:
    certificate-file: CRT
    key-file: KEY
hosts:
  default:
    paths:
      /:
        mruby.handler: |
          Proc.new do |env|
            env["rack.input"].read if env["rack.input"]
            [200, {"content-type" => "text/plain"}, ["page\n"]]
          end
`}}

// TestHTTP2Servers loads real servers, with and without TLS. Whatever they do with
// streams and connections, both sides count the same.
func TestHTTP2Servers(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, server := range []real{nodeHTTP2, apacheHTTP2, caddyHTTP2, haproxy, h2o, nginxHTTP2} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			l, clear, secure := server.launchHTTP2Server(t)
			for _, base := range []string{clear, secure} {
				for i, args := range []string{
					"-n 400 -c 8 --streams 10", "-n 2000 -c 2 --streams 100 -t 2",
					"-n 200 -c 8 --http 2 --ring portable", "-n 200 -c 2 --streams 10 -X HEAD",
					"-n 20 -c 2 --streams 4 -b @" + body, "-n 200 -c 4 --streams 10 --reconnect 25",
				} {
					l.testStreams(t, base, fmt.Sprintf("/?load-%d-%.3s=", i, base), args)
				}
			}
		})
	}
}

// launchHTTP2Server starts the server and returns its URLs without and with TLS.
func (s real) launchHTTP2Server(t *testing.T) (l *launched, clear, secure string) {
	t.Helper()
	_, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	both := filepath.Join(filepath.Dir(crt), "both.pem")
	var pem []byte
	for _, file := range []string{crt, key} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pem = append(pem, b...)
	}
	if err := os.WriteFile(both, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("CRT", crt, "KEY", key, "PEM", both, "ASROOT", rootOnly("user: root"))
	files := map[string]string{}
	for name, content := range s.files {
		files[name] = words.Replace(content)
	}
	s.files = files
	l = s.launchServer(t)
	return l, "h2c://127.0.0.1:" + l.clearPort, "https://127.0.0.1:" + l.securePort
}

// testStreams loads the server so, and compares.
func (l *launched) testStreams(t *testing.T, base, word, args string) {
	t.Helper()
	words := strings.Fields(args)
	if strings.HasPrefix(base, "https") {
		words = append(words, "--insecure")
	}
	r := runDyno(t, 0, append(words, base+word)...).result
	n := r.Plan.Requested
	checkFlawless(t, r, n, "200")
	checkProtocol(t, r, "h2")
	if served := l.servedSince(t, word, n); served < n || served > n+r.Requests.Retried {
		t.Errorf("%s %s: the server's log has %d; %+v", base, args, served, r.Requests)
	}
}
