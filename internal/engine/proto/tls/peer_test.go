package tls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

// issue makes a self-signed certificate from a template that needs only what is
// particular to the test.
func issue(t testing.TB, c x509.Certificate) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(1)
	c.BasicConstraintsValid, c.IsCA = true, true
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

var forX = x509.Certificate{DNSNames: []string{"x"}, Subject: pkix.Name{CommonName: "Test"}}

// serve answers HTTPS: as much as the request's n says, or what was sent.
func serve(t testing.TB, config *tls.Config) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		sent, _ := io.Copy(io.Discard, r.Body)
		if r.FormValue("close") != "" {
			w.Header().Set("Connection", "close")
		}
		w.Write(make([]byte, n+int(sent)))
	}
	s := &http.Server{Handler: http.HandlerFunc(handler), TLSConfig: config,
		ErrorLog: log.New(io.Discard, "", 0)}
	go s.ServeTLS(ln, "", "")
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// reply serves each connection with bytes that are not TLS, and closes it.
func reply(t testing.TB, speech string) string {
	return each(t, func(nc net.Conn) {
		nc.Read(make([]byte, 4096)) // the hello
		io.WriteString(nc, speech)
	})
}

// handshakes shakes hands, if it can, and closes.
func handshakes(t testing.TB, config *tls.Config) string {
	return each(t, func(nc net.Conn) { tls.Server(nc, config).Handshake() })
}

// each serves each connection so, one at a time.
func each(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			serve(nc)
			nc.Close()
		}
	}()
	return ln.Addr().String()
}

var http11 = h1.Protocol(h1.Options{Depth: 4})

// httpOnly is what there is TLS around.
var httpOnly = map[string]proto.Protocol{"": http11, "http/1.1": http11}

func maker(t testing.TB, config *tls.Config, r proto.Request) func(proto.Sink) proto.Codec {
	t.Helper()
	mk, err := Around(httpOnly, config, false)([]proto.Request{r}, proto.Want{})
	if err != nil {
		t.Fatal(err)
	}
	return mk
}

var get = proto.Request{Method: "GET", Authority: "x", Path: "/?n=14"}

// seen is what became of a connection.
type seen struct {
	shaken, resumed bool
	heads, dones    int
	body            int64
	closing         bool
	err             error
}

// drive plays worker over a blocking socket, which it reads in pieces of chunk
// bytes: what is tested is the codec. It ends with so many responses, or sooner.
func drive(t testing.TB, c proto.Codec, nc net.Conn, requests, chunk int) (s seen) {
	t.Helper()
	nc.SetDeadline(time.Now().Add(2 * time.Minute))
	buf, sent := make([]byte, chunk), 0
	var in []byte
	for eof := false; s.dones < requests && s.err == nil && !eof; {
		var out []byte
		for sent < requests && c.Room() > 0 {
			out = c.Encode(out, proto.Message{}, uint32(sent))
			sent++
		}
		if out = c.Flush(out); len(out) > piece+4096 {
			t.Errorf("%d bytes at once", len(out))
		}
		if len(out) > 0 {
			nc.Write(out) // if it fails, so will Read
			continue
		}
		k, err := nc.Read(buf)
		if eof = err != nil; eof && !errors.Is(err, io.EOF) {
			t.Logf("read: %v", err) // a reset
		}
		in = append(in, buf[:k]...)
		for {
			n, ev := c.Decode(in, eof)
			if in = in[n:]; !s.note(t, ev) {
				break
			}
		}
		if len(in) > 0 {
			t.Fatalf("%d bytes not taken", len(in))
		}
	}
	return s
}

func (s *seen) note(t testing.TB, ev proto.Event) bool {
	t.Helper()
	switch ev.Kind {
	case proto.More:
		return false
	case proto.Shaken:
		if s.shaken || s.heads > 0 {
			t.Error("shaken late, or twice")
		}
		s.shaken, s.resumed = true, ev.Resumed
	case proto.Head:
		if s.heads++; ev.Status != 200 {
			t.Errorf("status %d", ev.Status)
		}
	case proto.Done:
		s.dones++
		s.body += ev.Body
	case proto.Closing:
		s.closing = true
	case proto.Broken:
		s.err = ev.Err
	default:
		t.Errorf("event %+v", ev)
	}
	return true
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}
