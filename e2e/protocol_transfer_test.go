//go:build linux

package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A streamer serves bodies of any length. It counts the body bytes that it receives, and all
// bytes on its sockets.
type streamer struct {
	plain, secure string // addresses
	crt           string
	body          atomic.Int64
	read, written atomic.Int64
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func (s *streamer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	s.body.Add(n)
	if size, err := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64); err == nil {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10)) // dyno holds it to that
		io.CopyN(w, zeros{}, size)
	}
}

// A meter is a listener that counts its connections' bytes.
type meter struct {
	net.Listener
	s *streamer
}

func (m meter) Accept() (net.Conn, error) {
	c, err := m.Listener.Accept()
	return metered{c, m.s}, err
}

type metered struct {
	net.Conn
	s *streamer
}

func (m metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.s.read.Add(int64(n))
	return n, err
}

func (m metered) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.s.written.Add(int64(n))
	return n, err
}

// startStreamer serves HTTP/1.1 and HTTP/2, in the clear and over TLS.
func startStreamer(t *testing.T) *streamer {
	t.Helper()
	cert, crt, _ := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	s := &streamer{crt: crt}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Handler: s, Protocols: protocols,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
		ErrorLog:  log.New(io.Discard, "", 0)}
	for _, secure := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if secure {
			s.secure = l.Addr().String()
			go server.ServeTLS(meter{l, s}, "", "")
		} else {
			s.plain = l.Addr().String()
			go server.Serve(meter{l, s})
		}
	}
	t.Cleanup(func() { server.Close() })
	return s
}

// A transfer is a protocol and a direction of bodies.
type transfer struct{ name, scheme, args string }

var transfers = []transfer{
	{"h1", "http", ""},
	{"h1, portable", "http", "--ring portable"},
	{"h2c", "h2c", ""},
	{"https/1.1", "https", "--http 1.1"},
	{"h2", "https", "--http 2"},
}

// What comes before the window or after it is not measured: handshakes, SETTINGS, the
// acknowledgement of the last bytes, the end of TLS. In the clear HTTP/1.1 has none.
const settling = 20_000

// runTransfer transfers so many bytes down, and a file up if there is one. It checks that each of
// them arrived and no more, and that dyno needs no more memory than ever beside the body that
// it sends.
func (x transfer) runTransfer(t *testing.T, s *streamer, down int64, up string) {
	t.Helper()
	const most = 64 << 10 // kB resident
	args := append(strings.Fields(x.args), "-n", "1", "-c", "1", "-t", "1", "--timeout", "5m")
	addr, aside := s.plain, int64(settling)
	switch x.scheme {
	case "http":
		aside = 0
	case "https":
		addr = s.secure
		args = append(args, "--cacert", s.crt)
	}
	sent := int64(0)
	if up != "" {
		info, err := os.Stat(up)
		if err != nil {
			t.Fatal(err)
		}
		sent = info.Size()
		args = append(args, "-b", "@"+up)
	}
	s.body.Store(0)
	s.read.Store(0)
	s.written.Store(0)
	r := startDyno(t, append(args, fmt.Sprintf("%s://%s/?size=%d", x.scheme, addr, down))...)
	peak := r.peakMemory()
	o := r.waitForExit().expectExit(t, 0)
	checkFlawless(t, o.result, 1, "200")
	if got := s.body.Load(); got != sent {
		t.Errorf("%d bytes arrived, want %d", got, sent)
	}
	for what, n := range map[string]struct{ dyno, server, body int64 }{
		"received": {o.result.Bytes.Received, s.written.Load(), down},
		"sent":     {o.result.Bytes.Sent, s.read.Load(), sent},
	} {
		if n.dyno < n.body || n.dyno > n.server || n.server > n.dyno+aside {
			t.Errorf("%s: %d bytes; the server's sockets have %d, of a body of %d", what, n.dyno,
				n.server, n.body)
		}
	}
	if limit := most + sent>>10; peak > limit {
		t.Errorf("%d kB resident, at most %d", peak, limit)
	}
	t.Logf("%d bytes down, %d up: %d kB resident", down, sent, peak)
}

// TestTransfers is 100 MiB each way.
func TestTransfers(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	s := startStreamer(t)
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(body, size); err != nil {
		t.Fatal(err)
	}
	for _, x := range transfers {
		t.Run(x.name, func(t *testing.T) {
			x.runTransfer(t, s, size, "")
			x.runTransfer(t, s, 0, body)
		})
	}
}
