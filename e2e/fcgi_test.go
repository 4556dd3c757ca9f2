//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dyno/internal/result"
)

// phpFPM runs scripts in four processes for each of two pools. A process ends
// after 500 requests, and until a connection is closed it serves no other.
var phpFPM = real{name: "php-fpm", command: "php-fpm8.2", pack: "php8.2-fpm", socket: "php.sock",
	start: "-R -n -F -y fpm.conf", log: "access.log",
	files: map[string]string{"access.log": "",
		"www/index.php": "<?php\nif ($_GET['status'] ?? '') http_response_code($_GET['status']);\n" +
			"if (isset($_GET['complain'])) error_log('complaint number ' . $_GET['complain']);\n" +
			"echo strlen(file_get_contents('php://input')), ' ', $_SERVER['APP'] ?? '', \"\\n\";\n",
		"fpm.conf": `[global]
error_log = DIR/fpm.log
daemonize = no
[unix]
user = root
group = root
listen = DIR/php.sock
pm = static
pm.max_children = 4
pm.max_requests = 500
access.log = DIR/access.log
access.format = "%m %r%Q%q"
[tcp]
user = root
group = root
listen = 127.0.0.1:PORT
listen.backlog = 4096
pm = static
pm.max_children = 4
access.log = DIR/access.log
access.format = "%m %r%Q%q"
`}}

// TestPHP checks what php-fpm is sent, answers and logs.
func TestPHP(t *testing.T) {
	t.Parallel()
	l := phpFPM.launchServer(t)
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 300_000), 0o600); err != nil {
		t.Fatal(err)
	}
	unix := "fcgi+unix://" + l.dir + "/php.sock:"
	tcp := "fcgi" + strings.TrimPrefix(l.url, "http")
	for _, test := range []struct {
		name, args, base string
		n                int64
		status           string
	}{
		{"kept", "-c 4", tcp, 3000, "200"},
		{"kept, portable", "-c 4 --ring portable", tcp, 1000, "200"},
		{"processes end", "-c 4", unix, 5000, "200"},
		{"each a connection", "-c 1000 --reconnect always", tcp, 5000, "200"},
		{"reconnect 10", "-c 4 --reconnect 10", unix, 1000, "200"},
		{"upload", "-c 4 --retry-unsafe -b @" + body, unix, 200, "200"},
		{"status", "-c 4 --expect 503", tcp, 1000, "503"},
		{"HEAD", "-c 4 -X HEAD", tcp, 1000, "200"},
		{"rate", "-c 4 -R 1000 --drain 1m", unix, 1000, "200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			word := "/index.php?" + strings.ReplaceAll(test.name, " ", "-") + "="
			url := test.base + word
			if test.status != "200" {
				url += "&status=" + test.status
			}
			args := append(strings.Fields(test.args), "-n", fmt.Sprint(test.n), "--timeout", "5m",
				"--fcgi-param", "DOCUMENT_ROOT="+l.dir+"/www", "--fcgi-param", "APP=dyno", url)
			r := runDyno(t, 0, args...).result
			checkFlawless(t, r, test.n, test.status)
			checkProtocol(t, r, "fastcgi")
			if served := l.servedSince(t, word, test.n); served != test.n {
				t.Errorf("the server's log has %d; %+v", served, r.Requests)
			}
		})
	}
	t.Run("stderr", func(t *testing.T) {
		o := runDyno(t, 0, "-c", "2", "-n", "10", "--fcgi-param", "DOCUMENT_ROOT="+l.dir+"/www",
			tcp+"/index.php?complain=7")
		const complaint = "PHP message: complaint number 7"
		e := o.result.FCGIStderr
		if e == nil || !strings.HasPrefix(e.Text, complaint) || e.Bytes < int64(10*len(complaint)) {
			t.Fatalf("stderr %+v", e)
		}
		want := fmt.Sprintf("the application wrote %d bytes to stderr, first: %s", e.Bytes, complaint)
		if said := o.reportLines(); len(said) == 0 || !strings.HasPrefix(said[0], want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
	t.Run("no script", func(t *testing.T) {
		r := runDyno(t, 0, "-c", "2", "-n", "10", "--expect", "any", tcp+"/nothing.php").result
		checkFlawless(t, r, 10, "404")
	})
}

// TestGoFastCGI counts on both sides, over TCP and a socket.
func TestGoFastCGI(t *testing.T) {
	t.Parallel()
	var served, sent atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 { // all others share one reader, and reading it is a race
			n, _ := io.Copy(io.Discard, r.Body)
			sent.Add(n)
		}
		served.Add(1)
		if fcgi.ProcessEnv(r)["APP"] != "dyno" {
			w.WriteHeader(http.StatusBadRequest)
		}
		io.WriteString(w, page)
	}
	start := func(network, addr string) net.Listener {
		l, err := net.Listen(network, addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go fcgi.Serve(l, http.HandlerFunc(handler))
		return l
	}
	socket := filepath.Join(publicDir(t), "go.sock")
	start("unix", socket)
	tcp := "fcgi://" + start("tcp", "127.0.0.1:0").Addr().String()
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"-n 2345 -c 7", "-n 5000 -c 1000", "-n 3000 -c 1000 --reconnect 2",
		"-n 345 -c 7 --reconnect always", "-n 60 -c 3 -b @" + body, "-R 1000 -d 1s -c 5 --drain 1m",
		"-n 1000 -c 5 -t 2 --ring portable"} {
		for _, url := range []string{tcp, "fcgi+unix://" + socket + ":/a?b=c"} {
			before, bytes := served.Load(), sent.Load()
			r := runDyno(t, 0, append(strings.Fields(args), "--timeout", "5m", "--fcgi-param", "APP=dyno", url)...).result
			checkAnswered(t, args+" "+url, r, served.Load()-before)
			if n := sent.Load() - bytes; strings.Contains(args, "@") && n != 60<<20 {
				t.Errorf("%d bytes arrived, want 60 MiB", n)
			}
		}
	}
}

// checkAnswered checks that a server has served what dyno says, all of it well.
func checkAnswered(t *testing.T, name string, r *result.Result, served int64) {
	t.Helper()
	checkFlawless(t, r, r.Requests.Sent, "200")
	checkProtocol(t, r, "fastcgi")
	if want := r.Plan.Requested; served != r.Requests.Sent || want > 0 && served != want {
		t.Errorf("%s: the server counts %d; %+v", name, served, r.Requests)
	}
}
