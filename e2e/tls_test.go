//go:build linux

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// makeCertificate makes a self-signed certificate for names and addresses, and writes the two
// files that servers need.
func makeCertificate(t *testing.T, until time.Time, names ...string) (
	cert tls.Certificate, crt, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1),
		Subject:   pkix.Name{CommonName: "dyno's test"},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		BasicConstraintsValid: true, IsCA: true}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	crt, key = filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key")
	writePEM(t, crt, "CERTIFICATE", der)
	writePEM(t, key, "PRIVATE KEY", encoded)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, crt, key
}

func writePEM(t *testing.T, file, kind string, b []byte) {
	t.Helper()
	b = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBadTLS checks the messages of TLS failures. None waits for a timeout, except the silent
// server's.
func TestBadTLS(t *testing.T) {
	const tomorrow = 24 * time.Hour
	withTLS := func(t *testing.T, life time.Duration, names ...string) (addr, crt string) {
		cert, crt, _ := makeCertificate(t, time.Now().Add(life), names...)
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
		if err != nil {
			t.Fatal(err)
		}
		serveListener(t, l, answerWith(answer))
		return l.Addr().String(), crt
	}
	plain := func(serve func(net.Conn)) func(*testing.T) (string, string) {
		return func(t *testing.T) (string, string) { return listenWith(t, serve).Addr().String(), "" }
	}
	for _, test := range []struct {
		name   string
		server func(t *testing.T) (addr, crt string)
		args   string // CRT stands for the file
		kind   string
		detail string
		advice string
	}{
		{"another name", func(t *testing.T) (string, string) {
			return withTLS(t, tomorrow, "example.test", "127.0.0.2")
		}, "--cacert CRT", "certificate",
			"certificate is valid for example.test, 127.0.0.2, not for 127.0.0.1", "; give --sni, or give --insecure"},
		{"untrusted", func(t *testing.T) (string, string) {
			return withTLS(t, tomorrow, "127.0.0.1")
		}, "", "certificate",
			"certificate is signed by itself, which is not trusted here", "; give --cacert, or give --insecure"},
		{"expired", func(t *testing.T) (string, string) {
			return withTLS(t, -tomorrow, "127.0.0.1")
		}, "--cacert CRT", "certificate",
			"certificate of 127.0.0.1 expired on DATE, and here it is DATE", "; give --insecure, or check the clock"},
		{"no TLS", plain(func(c net.Conn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
		}), "",
			"handshake", `the server does not speak TLS: it began with "HTTP/"; ` +
				`is this an http:// server?`, ""},
		{"closed", plain(func(c net.Conn) { c.Read(make([]byte, 4096)) }), "", "handshake",
			"the server closed the connection during the TLS handshake; does it speak TLS?", ""},
		{"reset", plain(func(c net.Conn) {
			c.Read(make([]byte, 4096))
			c.(*net.TCPConn).SetLinger(0)
		}), "", "reset", "connection reset by peer", ""},
		{"silent", plain(neverAnswer), "--connect-timeout 300ms", "timeout", "no answer in time", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			addr, crt := test.server(t)
			args := strings.Fields(strings.ReplaceAll(test.args, "CRT", crt))
			o := runDyno(t, 4, append(args, "-d", "20s", "-c", "2", "https://"+addr)...)
			where := "tls 127.0.0.1:PORT: " + test.detail
			bad{last: "nothing could be reached: " + where + test.advice + " (N times)",
				rows: []string{"tls " + test.kind + " 127.0.0.1:PORT " + test.detail},
				say:  []string{"nothing was measured: no connection could be opened (" + where + ")"},
			}.checkReport(t, o)
		})
	}
}

// TestTrust checks that --cacert, --sni and --insecure do what the messages say.
func TestTrust(t *testing.T) {
	t.Parallel()
	cert, crt, _ := makeCertificate(t, time.Now().Add(24*time.Hour), "example.test")
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	serveListener(t, l, answerWith(answer))
	for _, args := range []string{"--insecure", "--cacert " + crt + " --sni example.test"} {
		args := append(strings.Fields(args), "-n", "20", "-c", "2", "https://"+l.Addr().String())
		r := runDyno(t, 0, args...).result
		checkFlawless(t, r, 20, "200")
		if r.Phases.TLS == nil || r.Phases.TLS.Count != 2 || *r.Connections.TLSFull != 2 {
			t.Errorf("%q: TLS %+v, connections %+v", args, r.Phases.TLS, r.Connections)
		}
	}
}
