package fcgi

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
)

// Against net/http/fcgi, which knows the protocol independently of us.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/unread" {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch r.URL.Path {
	case "/status":
		w.WriteHeader(http.StatusTeapot)
	case "/redirect":
		http.Redirect(w, r, "http://x/", http.StatusFound)
	case "/large":
		w.Write(make([]byte, 3_000_000))
	case "/pieces":
		for range 100 {
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
		}
	case "/length":
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	case "/seen":
		env := fcgi.ProcessEnv(r)
		fmt.Fprintf(w, "%s %s %s %s|%s|%s", r.Method, r.Host, r.URL.RequestURI(), r.Header.Get("X-Long"),
			env["SCRIPT_FILENAME"], env["MINE"])
	}
}

func TestServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go fcgi.Serve(l, http.HandlerFunc(echo))
	long := strings.Repeat("l", 100_000)
	mine := fields("SCRIPT_FILENAME: /srv/app", "MINE: 1")
	for _, tc := range []struct {
		name    string
		options Options
		request proto.Request
		want    string
		dials   int // connections that three exchanges need
	}{
		{"status", Options{}, proto.Request{Method: "GET", Path: "/status"}, "418 +0", 1},
		{"redirect", Options{}, proto.Request{Method: "HEAD", Path: "/redirect"}, "302 +0", 1},
		{"large", Options{}, proto.Request{Method: "GET", Path: "/large"}, "200 +3000000", 1},
		{"pieces", Options{}, proto.Request{Method: "GET", Path: "/pieces"}, "200 +100", 1},
		{"upload", Options{}, proto.Request{Method: "POST", Path: "/length",
			Body: bytes.Repeat([]byte("x"), 1_000_000)}, "200 +1000000", 1},
		{"unread", Options{}, proto.Request{Method: "POST", Path: "/unread",
			Body: bytes.Repeat([]byte("x"), 1_000_000)}, "413 +0", 1},
		{"seen", Options{Params: mine}, proto.Request{Method: "GET", Path: "/seen?a=b",
			Header: fields("X-Long: " + long)}, "200 +100027", 1},
		{"close after 2", Options{CloseAfter: 2}, proto.Request{Method: "GET", Path: "/pieces"},
			"200 +100", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.request.Authority = "x"
			mk, err := Protocol(tc.options)([]proto.Request{tc.request}, proto.Want{})
			if err != nil {
				t.Fatal(err)
			}
			w := &wire{t: t, network: "tcp", addr: l.Addr().String(), mk: mk}
			for range 3 {
				if got := tell(w.exchange()); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
			if w.conn.Close(); w.dials != tc.dials {
				t.Errorf("%d connections, want %d", w.dials, tc.dials)
			}
		})
	}
}

// Why no FCGI_ABORT_REQUEST is sent: it does nothing to a request that has arrived, and one
// that has not is ended before what the application still says of it, which would be taken
// for the next one's.
func TestAborted(t *testing.T) {
	held := make(chan struct{}, 1) // nobody waits for a handler that does not come
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.ReadFull(r.Body, make([]byte, 1))
		<-held
		io.WriteString(w, "late")
	}))
	for name, tc := range map[string]struct {
		stdin string // its first record
		want  []byte // the types of records until the response
	}{
		"arrived":     {"", []byte{stdout}},
		"in its body": {"x", []byte{endRequest, stdout}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(2 * time.Minute))
			const abortRequest = 2
			out := newCodec(t, Options{}, get).Encode(nil, proto.Message{}, 0)
			out = appendRecord(out[:len(out)-header], stdin, []byte(tc.stdin))
			if _, err := conn.Write(appendRecord(out, abortRequest, nil)); err != nil {
				t.Fatal(err)
			}
			for i, want := range tc.want {
				if i == len(tc.want)-1 {
					held <- struct{}{}
				}
				kind, content := next(t, conn)
				if late := strings.HasPrefix(content, "Status: 200"); kind != want || late != (want == stdout) {
					t.Errorf("a record of type %d, not %d: %q", kind, want, content)
				}
			}
		})
	}
}

// next reads a record of our request.
func next(t *testing.T, conn io.Reader) (kind byte, content string) {
	t.Helper()
	h := make([]byte, header)
	if _, err := io.ReadFull(conn, h); err != nil {
		t.Fatal(err)
	}
	n := int(binary.BigEndian.Uint16(h[4:]))
	b := make([]byte, n+int(h[6]))
	if _, err := io.ReadFull(conn, b); err != nil || h[3] != requestID {
		t.Fatal(h, err)
	}
	return h[1], string(b[:n])
}

const script = `<?php
error_log("a complaint");
http_response_code(203);
$body = file_get_contents("php://input");
header("X-Method: " . $_SERVER["REQUEST_METHOD"]);
echo $_SERVER["QUERY_STRING"], strlen($body), md5($body) == $_SERVER["HTTP_X_SUM"] ? "same" : "other";
`

// Against PHP, the application that most FastCGI is for, by both of its servers.
func TestPHP(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	config := filepath.Join(dir, "fpm.conf")
	write(t, filepath.Join(dir, "x.php"), script)
	write(t, config, fmt.Sprintf("[global]\nerror_log=%s/log\n[www]\nlisten=%s\npm=static\n"+
		"pm.max_children=1\npm.max_requests=2\ncatch_workers_output=no\n", dir, socket))
	for name, args := range map[string][]string{
		"php-cgi": {"-b", socket, "-d", "log_errors=1", "-d", "error_log="},
		"php-fpm": {"-n", "-F", "-R", "-y", config, "-d", "log_errors=1"},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, socket, find(t, name), args...)
			body := bytes.Repeat([]byte("0123456789"), 30_000)
			mk, err := Protocol(Options{Params: fields("DOCUMENT_ROOT: " + dir)})([]proto.Request{{
				Method: "POST", Authority: "x", Path: "/x.php?abc", Body: body,
				Header: fields(fmt.Sprintf("X-Sum: %x", md5.Sum(body)))}}, proto.Want{})
			if err != nil {
				t.Fatal(err)
			}
			w := &wire{t: t, network: "unix", addr: socket, mk: mk}
			for range 5 {
				if got := tell(w.exchange()); got != "203 +13" {
					t.Errorf("got %q", got)
				}
			}
			w.conn.Close()
			if text, n := Stderr(w.codec); !bytes.Contains(text, []byte("a complaint")) {
				t.Errorf("%d bytes of stderr: %q", n, text)
			}
		})
		os.Remove(socket)
	}
}

func write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// find is the newest program of that name, with or without PHP's version.
func find(t *testing.T, name string) string {
	for _, version := range []string{"", "8.4", "8.3", "8.2", "8.1", "7.4"} {
		if path, err := exec.LookPath(name + version); err == nil {
			return path
		}
	}
	t.Skip(name, "is not installed")
	return ""
}

// start runs a server until the test is over, and waits for its socket.
func start(t *testing.T, socket, path string, args ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	for range 500 {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not listen: %s", path, said.String())
}

// A wire plays worker over one blocking socket at a time.
type wire struct {
	t             *testing.T
	network, addr string
	mk            func(proto.Sink) proto.Codec
	conn          net.Conn
	codec         proto.Codec
	in            []byte
	dials         int
}

func (w *wire) dial() {
	if w.conn != nil {
		w.conn.Close()
	}
	var err error
	if w.conn, err = net.Dial(w.network, w.addr); err != nil {
		w.t.Fatal(err)
	}
	w.conn.SetDeadline(time.Now().Add(2 * time.Minute))
	w.codec, w.in = w.mk(nil), nil
	w.dials++
}

// exchange makes one, on another connection if this one is closed.
func (w *wire) exchange() []proto.Event {
	if w.codec == nil || w.codec.Room() == 0 {
		w.dial()
	}
	for {
		got := w.try()
		if len(got) != 1 || got[0].Kind == proto.Done || got[0].Kind == proto.Head {
			return got
		}
		if tell(got) != "closing" && tell(got) != "closed" {
			return got
		}
		w.dial() // the application closed while it was idle, as we may learn only now
	}
}

func (w *wire) try() (got []proto.Event) {
	for out := w.codec.Encode(nil, proto.Message{}, 0); len(out) > 0; out = w.codec.Flush(out[:0]) {
		if _, err := w.conn.Write(out); err != nil {
			w.codec.Decode(nil, true)
			return []proto.Event{{What: proto.What{Kind: proto.Closing}}}
		}
	}
	for buf := make([]byte, 4096); ; {
		k, err := w.conn.Read(buf)
		w.in = append(w.in, buf[:k]...)
		for {
			n, ev := w.codec.Decode(w.in, err != nil)
			if w.in = w.in[n:]; ev.Kind == proto.More {
				break
			}
			got = append(got, ev)
			switch ev.Kind {
			case proto.Done, proto.Failed, proto.Broken, proto.Closing:
				return got
			}
		}
		if err != nil {
			w.t.Fatalf("%v, after %q", err, tell(got))
		}
	}
}
