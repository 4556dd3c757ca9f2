//go:build linux

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"dyno/internal/result"
)

// A tlsServer is a server of a real TLS library, and its configuration.
type tlsServer struct {
	name    string
	version string
	tickets bool
	mutual  bool // it wants a certificate of ours
}

var tlsServers = []tlsServer{
	{"1.2 with tickets", "1.2", true, false},
	{"1.2 without", "1.2", false, false},
	{"1.3 with tickets", "1.3", true, false},
	{"1.3 without", "1.3", false, false},
	{"1.2, mutual", "1.2", true, true},
	{"1.3, mutual", "1.3", true, true},
}

// TestTLSServers is what two TLS libraries, OpenSSL's in nginx and Go's, make of the
// same: versions, resumption, certificates of both sides.
func TestTLSServers(t *testing.T) {
	t.Parallel()
	cert, crt, key := makeCertificate(t, time.Now().Add(24*time.Hour), "127.0.0.1")
	t.Run("Go", func(t *testing.T) {
		for _, s := range tlsServers {
			t.Run(s.name, func(t *testing.T) { s.checkServer(t, s.goServer(t, cert, crt), crt, key) })
		}
	})
	t.Run("nginx", func(t *testing.T) {
		ports := make([]string, len(tlsServers))
		blocks := ""
		for i, s := range tlsServers {
			ports[i] = freePort(t)
			blocks += s.nginxServerBlock(ports[i], crt, key)
		}
		server := nginx
		server.files = maps.Clone(nginx.files)
		conf := strings.TrimSuffix(strings.TrimSpace(nginx.files["nginx.conf"]), "}") + blocks + "}\n"
		server.files["nginx.conf"] = conf
		server.launchServer(t)
		for i, s := range tlsServers {
			t.Run(s.name, func(t *testing.T) { s.checkServer(t, "127.0.0.1:"+ports[i], crt, key) })
		}
	})
}

// nginxServerBlock is nginx's configuration of it.
func (s tlsServer) nginxServerBlock(port, crt, key string) string {
	on := map[bool]string{true: "on", false: "off"}
	b := fmt.Sprintf("server { listen 127.0.0.1:%s ssl; ssl_certificate %s; ssl_certificate_key %s;\n"+
		"ssl_protocols TLSv%s; ssl_session_cache off; ssl_session_tickets %s;\n", port, crt, key,
		s.version, on[s.tickets])
	if s.mutual {
		b += "ssl_verify_client on; ssl_client_certificate " + crt + ";\n"
	}
	return b + "location / { return 200 \"hello\\n\"; }\n}\n"
}

// goServer is crypto/tls, set up likewise.
func (s tlsServer) goServer(t *testing.T, cert tls.Certificate, crt string) (addr string) {
	t.Helper()
	version := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[s.version]
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: version, MaxVersion: version,
		SessionTicketsDisabled: !s.tickets}
	if s.mutual {
		pem, err := os.ReadFile(crt)
		if err != nil {
			t.Fatal(err)
		}
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		c.ClientCAs.AppendCertsFromPEM(pem)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveListener(t, tls.NewListener(l, c), answerWith(answer))
	return l.Addr().String()
}

func (s tlsServer) checkServer(t *testing.T, addr, crt, key string) {
	const n = 40
	args := []string{"--cacert", crt, "--reconnect", "always", "-n", fmt.Sprint(n), "-c", "2", "-t", "1"}
	url := "https://" + addr
	if s.mutual {
		s.checkUninvited(t, append(args, url))
		args = append(args, "--cert", crt, "--key", key)
	}
	for _, resume := range []string{"off", "on"} {
		r := runDyno(t, 0, append(args, "--tls-resume", resume, url)...).result
		checkFlawless(t, r, n, "200")
		s.checkHandshakes(t, r, resume == "on" && s.tickets)
	}
	other := map[string][]string{"1.2": {"--tls-min", "1.3"}, "1.3": {"--tls-max", "1.2"}}[s.version]
	o := runDyno(t, 4, append(append(args, other...), url)...)
	if want := `with the alert "protocol version not supported"; give other TLS versions (--tls-min, --tls-max)`; !strings.Contains(
		o.stderr, want) {
		t.Errorf("%v: %s", other, o.stderr)
	}
}

// checkHandshakes checks what a result says of handshakes: two begin at once, before there is a
// session that others could resume.
func (s tlsServer) checkHandshakes(t *testing.T, r *result.Result, resumes bool) {
	t.Helper()
	c, p := r.Connections, r.Phases
	full, resumed := *c.TLSFull, *c.TLSResumed
	if full+resumed != c.Opened || resumes && full != 2 || !resumes && resumed != 0 {
		t.Errorf("%d full, %d resumed of %d connections", full, resumed, c.Opened)
	}
	if p.TLSFull == nil || p.TLSFull.Count != full || p.TLS.Count != full+resumed ||
		(p.TLSResumed != nil) != resumes || resumes && p.TLSResumed.Count != resumed {
		t.Errorf("phases: %d full and %d resumed handshakes: %+v", full, resumed, p)
	}
	if len(c.TLS) != 1 || c.TLS[0].Version != s.version || c.TLS[0].Count != c.Opened ||
		c.TLS[0].Group == "" || !strings.Contains(c.TLS[0].Cipher, "_AES_") {
		t.Errorf("terms %+v of %d connections", c.TLS, c.Opened)
	}
	if rate := r.Rate.Handshakes; rate == nil || *rate <= 0 || *rate > 2*r.Rate.Completed {
		t.Errorf("handshakes a second: %v, of %v requests", rate, r.Rate.Completed)
	}
}

// checkUninvited is who shows no certificate: Go ends TLS, nginx answers with status 400.
func (s tlsServer) checkUninvited(t *testing.T, args []string) {
	t.Helper()
	o := startDyno(t, args...).waitForExit()
	if o.result == nil {
		t.Fatalf("no result: %s", o.stderr)
	}
	refused := o.result.Status["400"] > 0 && o.result.Status["400"] == o.result.Requests.Errors
	if told := o.code == 4 && strings.Contains(o.stderr, "--cert"); !refused && !told {
		t.Errorf("code %d, %v: %s", o.code, o.result.Status, o.stderr)
	}
}
