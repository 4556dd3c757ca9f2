package tls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

var versions = []uint16{tls.VersionTLS12, tls.VersionTLS13}

// Records and messages are split anywhere, and bodies go up and down.
func TestAround(t *testing.T) {
	runtime.LockOSThread() // as a worker does
	defer runtime.UnlockOSThread()
	cert, pool := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	upload := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 300_000)}
	for _, version := range versions {
		for _, tc := range []struct {
			request proto.Request
			count   int
			body    int64
			chunks  []int
		}{
			{get, 100, 1400, []int{1, 7, 1000, 65536}},
			{proto.Request{Method: "GET", Authority: "x", Path: "/?n=100000"}, 5, 500_000,
				[]int{1000, 65536, 1 << 20}},
			{upload, 3, 900_000, []int{1000, 65536}},
		} {
			mk := maker(t, &tls.Config{ServerName: "x", RootCAs: pool, MinVersion: version,
				MaxVersion: version, NextProtos: []string{"http/1.1"}}, tc.request)
			for _, chunk := range tc.chunks {
				s := drive(t, mk(nil), dial(t, addr), tc.count, chunk)
				want := seen{shaken: true, heads: tc.count, dones: tc.count, body: tc.body}
				if s != want {
					t.Errorf("TLS %x, %s, by %d: got %+v", version, tc.request.Path, chunk, s)
				}
			}
		}
	}
}

// The end of the connection reaches the protocol inside.
func TestEnd(t *testing.T) {
	cert, pool := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	r := proto.Request{Method: "GET", Authority: "x", Path: "/?n=5&close=1"}
	mk := maker(t, &tls.Config{ServerName: "x", RootCAs: pool}, r)
	c, nc := mk(nil), dial(t, addr)
	if s := drive(t, c, nc, 2, 65536); s.dones != 1 || s.body != 5 || !s.closing || s.err != nil {
		t.Errorf("%+v", s)
	}
	if _, ev := c.Decode(nil, true); ev.Kind != proto.More {
		t.Errorf("after the end: %+v", ev)
	}
	if c.Room() != 0 {
		t.Error("room after the end")
	}
}

func TestResumption(t *testing.T) {
	cert, pool := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	for _, version := range versions {
		for _, resume := range []bool{false, true} {
			config := &tls.Config{ServerName: "x", RootCAs: pool, MaxVersion: version}
			if resume {
				config.ClientSessionCache = tls.NewLRUClientSessionCache(8)
			}
			mk := maker(t, config, get)
			var full, resumed int
			for range 5 {
				s := drive(t, mk(nil), dial(t, addr), 1, 65536)
				switch {
				case !s.shaken || s.dones != 1:
					t.Fatalf("%+v", s)
				case s.resumed:
					resumed++
				default:
					full++
				}
			}
			if full != 1 && resume || full != 5 && !resume {
				t.Errorf("TLS %x, resume %v: %d full, %d resumed", version, resume, full, resumed)
			}
		}
	}
}

// A session without a server name is kept too, and does not panic.
func TestResumptionWithoutName(t *testing.T) {
	cert, _ := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	mk := maker(t, &tls.Config{InsecureSkipVerify: true,
		ClientSessionCache: tls.NewLRUClientSessionCache(1)}, get)
	for i := range 2 {
		if s := drive(t, mk(nil), dial(t, addr), 1, 65536); s.dones != 1 || s.resumed != (i == 1) {
			t.Errorf("%d: %+v", i, s)
		}
	}
}

// A failing is a server that a configuration cannot talk to, and what is said.
type failing struct {
	name   string
	addr   string
	config *tls.Config
	kind   string
	detail string
}

func failings(t *testing.T) []failing {
	cert, pool := issue(t, forX)
	old := forX
	old.NotBefore = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	old.NotAfter = time.Date(2002, 2, 3, 4, 5, 6, 0, time.UTC)
	expired, expiredPool := issue(t, old)
	good := &tls.Config{ServerName: "x", RootCAs: pool}
	with := func(change func(*tls.Config)) *tls.Config {
		c := good.Clone()
		change(c)
		return c
	}
	server := func(change func(*tls.Config)) string {
		c := &tls.Config{Certificates: []tls.Certificate{cert}}
		change(c)
		return serve(t, c)
	}
	plain := func(c *tls.Config) {}
	demand := func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }
	return []failing{
		{"wrong name", server(plain), with(func(c *tls.Config) { c.ServerName = "localhost" }),
			proto.FaultCertificate,
			"certificate is valid for x, not for localhost [{sni some} {insecure some}]"},
		{"untrusted", server(plain), &tls.Config{ServerName: "x", RootCAs: x509.NewCertPool()},
			proto.FaultCertificate, "certificate is signed by itself, which is not trusted here"},
		{"expired", server(func(c *tls.Config) { c.Certificates[0] = expired }),
			&tls.Config{ServerName: "x", RootCAs: expiredPool}, proto.FaultCertificate,
			"certificate of x expired on 2002-02-03T04:05:06Z, and here it is "},
		{"plain http", reply(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), good, proto.FaultHandshake,
			`the server does not speak TLS: it began with "HTTP/"; is this an http:// server?`},
		{"closes", reply(t, ""), good, proto.FaultHandshake,
			"the server closed the connection during the TLS handshake"},
		{"closes in a record", reply(t, "\x16\x03\x03\x01\x00\x02"), good, proto.FaultHandshake,
			"the server closed the connection during the TLS handshake"},
		{"other version", server(func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }),
			with(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), proto.FaultAlert,
			`the alert "protocol version not supported" [{tls-max other}]`},
		{"other protocol", handshakes(t, &tls.Config{Certificates: []tls.Certificate{cert},
			NextProtos: []string{"foo"}}),
			with(func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }), proto.FaultALPN,
			`the alert "no application protocol": it speaks no protocol that was offered`},
		{"certificate wanted", server(demand), good, proto.FaultAlert,
			`the alert "certificate required" [{cert some}]`},
		{"certificate wanted, TLS 1.2", server(demand),
			with(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), proto.FaultAlert,
			`the server ended TLS with the alert "`},
	}
}

// What goes wrong is said in one line that names the cause.
func TestFaults(t *testing.T) {
	for _, tc := range failings(t) {
		t.Run(tc.name, func(t *testing.T) {
			c := maker(t, tc.config, get)(nil)
			s := drive(t, c, dial(t, tc.addr), 1, 65536)
			var f *proto.Fault
			if !errors.As(s.err, &f) {
				t.Fatalf("%+v", s)
			}
			if got := f.Detail + fmt.Sprint(" ", f.Mend); f.Kind != tc.kind || !strings.Contains(got, tc.detail) {
				t.Errorf("%s: %s", f.Kind, got)
			}
			if strings.Contains(f.Detail, "\n") {
				t.Errorf("%q: not a line", f.Detail)
			}
			if _, ev := c.Decode(nil, true); ev.Kind != proto.More || c.Room() != 0 {
				t.Errorf("after it: %+v, room for %d", ev, c.Room())
			}
		})
	}
}

// The causes can be found under the fault.
func TestFaultWraps(t *testing.T) {
	cert, pool := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	mk := maker(t, &tls.Config{ServerName: "y", RootCAs: pool}, get)
	s := drive(t, mk(nil), dial(t, addr), 1, 65536)
	var host x509.HostnameError
	if !errors.As(s.err, &host) || host.Host != "y" {
		t.Errorf("%v", s.err)
	}
}

// After the handshake: a record that was tampered with, and one that was cut.
func TestBadRecords(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(record []byte) []byte
		kind  string
	}{
		"tampered": {func(r []byte) []byte { r[len(r)-1] ^= 1; return r }, proto.FaultRecord},
		"cut":      {func(r []byte) []byte { return r[:len(r)-1] }, proto.FaultTruncated},
		"no record": {func([]byte) []byte { return []byte("HTTP/1.1 200 OK\r\n\r\n") },
			proto.FaultRecord},
	} {
		c, records := recorded(t, tls.VersionTLS13, 1)
		c.Flush(c.Encode(nil, proto.Message{}, 1))
		in := tc.spoil(records[0])
		var last proto.Event
		for {
			n, ev := c.Decode(in, true)
			if in = in[n:]; ev.Kind == proto.More {
				break
			}
			last = ev
		}
		var f *proto.Fault
		if !errors.As(last.Err, &f) || f.Kind != tc.kind {
			t.Errorf("%s: %+v", name, last)
		}
		if inner := c.(*codec).inner; inner.Room() != 0 {
			t.Errorf("%s: what is inside was not told of the end", name)
		}
	}
}

// recorded is a codec that is shaking no more, and the server's records for so
// many responses to come, made beforehand.
func recorded(t testing.TB, version uint16, n int) (proto.Codec, [][]byte) {
	t.Helper()
	cert, _ := issue(t, forX)
	mk := maker(t, &tls.Config{InsecureSkipVerify: true, MaxVersion: version}, get)
	near, far := net.Pipe()
	first := make(chan bool)
	go func() {
		defer far.Close()
		s := tls.Server(far, &tls.Config{Certificates: []tls.Certificate{cert},
			SessionTicketsDisabled: true})
		s.Read(make([]byte, 4096)) // the request
		for i := range n + 1 {
			io.WriteString(s, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
			if i == 0 {
				<-first
			}
		}
	}()
	c := mk(nil)
	if s := drive(t, c, near, 1, 65536); s.dones != 1 {
		t.Fatalf("%+v", s)
	}
	near.SetDeadline(time.Time{})
	close(first)
	all, err := io.ReadAll(near)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for len(all) > 0 {
		k := recordHeader + int(all[3])<<8 + int(all[4])
		records, all = append(records, all[:k]), all[k:]
	}
	return c, records
}

// One small allocation for each record received is crypto/tls's own (for its
// atLeastReader); none is ours, and sending costs none.
func TestAllocs(t *testing.T) {
	for _, version := range versions {
		const runs = 500
		c, records := recorded(t, version, runs+1)
		out := make([]byte, 0, 65536)
		n := testing.AllocsPerRun(runs, func() {
			out = c.Flush(c.Encode(out[:0], proto.Message{}, 7))
			in, done := records[0], false
			for records = records[1:]; ; {
				n, ev := c.Decode(in, false)
				if in = in[n:]; ev.Kind == proto.More {
					break
				}
				done = done || ev.Kind == proto.Done
			}
			if !done {
				t.Fatal("no response")
			}
		})
		if t.Logf("TLS %x: %v allocations an exchange", version, n); n > 1 && !racing {
			t.Errorf("TLS %x: %v allocations an exchange, want 1", version, n)
		}
	}
}

// A codec dropped in the middle of its handshake, or before it, leaves no
// coroutine behind.
func TestNothingLeft(t *testing.T) {
	mk := maker(t, &tls.Config{InsecureSkipVerify: true}, get)
	before := runtime.NumGoroutine()
	for i := range 100 {
		c := mk(nil)
		if i%2 == 0 {
			if out := c.Flush(nil); len(out) == 0 {
				t.Fatal("no hello")
			}
		}
		if i%4 == 0 {
			c.Decode([]byte{22, 3, 3}, false)
		}
		c.Decode(nil, true)
	}
	if n := runtime.NumGoroutine() - before; n > 0 {
		t.Errorf("%d left", n)
	}
}

// What is wrong with a configuration is found before any connection is made.
func TestRefused(t *testing.T) {
	http := h1.Protocol(h1.Options{})
	bad := h1.Protocol(h1.Options{Depth: -1})
	for name, tc := range map[string]struct {
		inner  map[string]proto.Protocol
		config *tls.Config
	}{
		"no name to verify": {map[string]proto.Protocol{"": http}, &tls.Config{}},
		"no version": {map[string]proto.Protocol{"": http}, &tls.Config{ServerName: "x",
			MinVersion: tls.VersionTLS13, MaxVersion: tls.VersionTLS12}},
		"unspoken offer": {map[string]proto.Protocol{"": http}, &tls.Config{ServerName: "x",
			NextProtos: []string{"h2"}}},
		"bad inside": {map[string]proto.Protocol{"": bad}, &tls.Config{ServerName: "x"}},
	} {
		if _, err := Around(tc.inner, tc.config, false)([]proto.Request{get}, proto.Want{}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// Buffers are lent, and come back: a connection at rest has none.
func TestBuffersComeBack(t *testing.T) {
	cert, _ := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	mk := maker(t, &tls.Config{InsecureSkipVerify: true}, get)
	for range 3 {
		c := mk(nil).(*codec)
		drive(t, c, dial(t, addr), 3, 65536)
		if c.plain != nil || c.stage != nil || c.wire.in != nil || c.wire.out != nil {
			t.Errorf("held at rest: %d, %d, %d, %d",
				cap(c.plain), cap(c.stage), cap(c.wire.in), cap(c.wire.out))
		}
		if c.Decode(nil, true); len(c.spare) == 0 || len(c.spare) > 2 {
			t.Errorf("%d to spare", len(c.spare))
		}
	}
}

// What cannot be sent does not grow without end; when it has been sent, there is room.
func TestStageIsBounded(t *testing.T) {
	const body = 50_000
	cert, _ := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	deep := map[string]proto.Protocol{"": h1.Protocol(h1.Options{Depth: 1000})}
	mk, err := Around(deep, &tls.Config{InsecureSkipVerify: true}, false)([]proto.Request{get,
		{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, body)}}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	c := mk(nil).(*codec)
	drive(t, c, dial(t, addr), 1, 65536)
	n := 0
	for ; c.Room() > 0; n++ {
		c.Encode(nil, proto.Message{Request: 1}, uint32(n))
	}
	if n < maxStage/body || n > maxStage/body+1 {
		t.Errorf("%d requests wait", n)
	}
	if c.Flush(nil); c.Room() == 0 {
		t.Error("no room when all has been sent")
	}
	c.Decode(nil, true)
}

// What the inner protocol borrows is borrowed until it is sealed; before the handshake nothing is.
func TestBorrows(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cert, pool := issue(t, forX)
	addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	upload := proto.Request{Method: "POST", Authority: "x", Path: "/", Body: make([]byte, 3*piece)}
	c := maker(t, &tls.Config{ServerName: "x", RootCAs: pool}, upload)(nil)
	b := c.(proto.Borrower)
	if b.Borrows(0) {
		t.Error("it borrows something before the handshake")
	}
	if s := drive(t, c, dial(t, addr), 1, 65536); s.dones != 1 || b.Borrows(0) {
		t.Fatalf("%+v, and borrows what was sent: %v", s, b.Borrows(0))
	}
	c.Encode(nil, proto.Message{}, 7)
	for left := 2; left >= 0; left-- {
		if b.Borrows(7) != (left > 0) || b.Borrows(0) {
			t.Errorf("%d pieces left: borrows %v", left, b.Borrows(7))
		}
		c.Flush(nil)
		if left == 2 { // the first Flush only seals what Encode took
			c.Flush(nil)
		}
	}
	c.Decode(nil, true)
	if b.Borrows(7) {
		t.Error("it borrows something after the end")
	}
}

func BenchmarkExchange(b *testing.B) {
	for _, version := range versions {
		b.Run(fmt.Sprintf("%x", version), func(b *testing.B) {
			c, records := recorded(b, version, b.N)
			out := make([]byte, 0, 65536)
			b.ReportAllocs()
			b.ResetTimer()
			for _, in := range records {
				out = c.Flush(c.Encode(out[:0], proto.Message{}, 7))
				for {
					n, ev := c.Decode(in, false)
					if in = in[n:]; ev.Kind == proto.More {
						break
					}
				}
			}
		})
	}
}

// A connection, its handshake and one exchange, both sides of it.
func BenchmarkHandshake(b *testing.B) {
	cert, _ := issue(b, forX)
	addr := serve(b, &tls.Config{Certificates: []tls.Certificate{cert}})
	mk := maker(b, &tls.Config{InsecureSkipVerify: true}, get)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	for b.Loop() {
		nc := dial(b, addr)
		if s := drive(b, mk(nil), nc, 1, 65536); s.dones != 1 {
			b.Fatalf("%+v", s)
		}
		nc.Close()
	}
}
