package loadplan

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	ptls "dyno/internal/engine/proto/tls"
	"dyno/internal/fault"
)

// NoALPN is the ALPN of a plan that offers no protocol.
const NoALPN = "none"

// OfferedInOrder are the protocols that ALPN offers, in its order.
func (t TLS) OfferedInOrder(protocols []string) (offered []string) {
	for name := range strings.SplitSeq(t.ALPN, ",") {
		for _, p := range protocols {
			if ALPNName(p) == name {
				offered = append(offered, p)
			}
		}
	}
	return offered
}

// ALPNName is what ALPN calls a protocol: HTTP/1.0 is a way to speak HTTP/1.1.
func ALPNName(protocol string) string {
	if protocol == HTTP10 {
		return HTTP11
	}
	return protocol
}

// versionRange returns the lowest and the highest version of TLS. Go offers no version below 1.2
// unless the lowest is set, so a highest version below 1.2 sets the lowest too.
func (t TLS) versionRange() (low, high uint16) {
	low, high = ptls.Version(t.MinVersion), ptls.Version(t.MaxVersion)
	if low == 0 && high != 0 && high < tls.VersionTLS12 {
		low = high
	}
	return low, high
}

// isBelowHTTP2 reports whether no version is left that HTTP/2 allows (RFC 9113, 9.2).
func (t TLS) isBelowHTTP2() bool {
	_, high := t.versionRange()
	return high != 0 && high < tls.VersionTLS12
}

// checkTLS checks the settings of TLS.
func (p *Plan) checkTLS(flaw finder) {
	t := p.TLS
	flaw((t.CertFile == "") != (t.KeyFile == "") || (t.Cert == "") != (t.Key == ""), "CertFile",
		"needs {KeyFile}, and {KeyFile} needs {CertFile}")
	flaw(!p.Target.TLS && t != TLS{} && !p.followsToTLS(), "Insecure, CAFile, CertFile, KeyFile, "+
		"ServerName, ALPN, MinVersion, MaxVersion, Resume", "say how TLS is done, and %s is "+
		"without TLS", p.Target.URL)
	for _, v := range []struct{ setting, version string }{
		{"MinVersion", t.MinVersion}, {"MaxVersion", t.MaxVersion},
	} {
		flaw(v.version != "" && ptls.Version(v.version) == 0, v.setting,
			"%q is not 1.0, 1.1, 1.2 or 1.3", v.version)
	}
	bare := bareName(t.ServerName)
	flaw(bare != t.ServerName, "ServerName", "%q is more than the name of a server",
		t.ServerName).Mend = fmt.Sprintf("write %s", bare)
	low, high := t.versionRange()
	flaw(low > high && high != 0, "MinVersion", "%s is above {MaxVersion}, %s", t.MinVersion,
		t.MaxVersion)
	flaw(p.Target.TLS && p.OnlyHTTP2() && t.isBelowHTTP2(), "MaxVersion",
		"HTTP/2 needs TLS 1.2 at least, and not %s", t.MaxVersion)
	p.checkALPN(flaw)
}

// bareName is what names the server in a text that may be its URL or have a port: no certificate
// has more than a name.
func bareName(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return s
	}
	if _, after, is := strings.Cut(s, "://"); is {
		s = after
	}
	s, _, _ = strings.Cut(s, "/")
	if host, _, err := net.SplitHostPort(s); err == nil {
		return host
	}
	return strings.Trim(s, "[] \t")
}

// checkALPN checks what is offered.
func (p *Plan) checkALPN(flaw finder) {
	t := p.TLS
	if t.ALPN == "" || t.ALPN == NoALPN || !p.Target.TLS {
		return
	}
	names, _ := p.OfferedProtocols()
	for i, name := range names {
		names[i] = ALPNName(name)
	}
	offered := strings.Split(t.ALPN, ",")
	for i, name := range offered {
		flaw(!slices.Contains(names, name), "ALPN", "%q is not what these connections can speak: "+
			"%s, or %s to offer nothing", name, strings.Join(names, " and "), NoALPN)
		flaw(slices.Contains(offered[:i], name), "ALPN", "%q is there twice", name)
	}
}

// TLSConfig is the configuration of TLS, without the protocols that ALPN offers. It reads the
// files; its errors are Flaws of their settings.
func (p *Plan) TLSConfig() (*tls.Config, error) {
	c := &tls.Config{
		InsecureSkipVerify: p.TLS.Insecure,
		ServerName:         cmp.Or(p.TLS.ServerName, p.Target.Host),
	}
	c.MinVersion, c.MaxVersion = p.TLS.versionRange()
	t, err := p.TLS.withFileContents()
	if err != nil {
		return nil, err
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, Flaw{Setting: "CAFile",
				Problem: fmt.Sprintf("%s has no PEM certificate", p.TLS.CAFile)}
		}
	}
	if t.Cert != "" {
		pair, err := tls.X509KeyPair([]byte(t.Cert), []byte(t.Key))
		if err != nil {
			return nil, Flaw{Setting: "CertFile, KeyFile", Problem: err.Error()}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// withFileContents is t with the contents of its files in place of their names.
func (t TLS) withFileContents() (TLS, error) {
	for _, f := range []struct {
		setting    string
		name, text *string
	}{
		{"CAFile", &t.CAFile, &t.CA}, {"CertFile", &t.CertFile, &t.Cert}, {"KeyFile", &t.KeyFile, &t.Key},
	} {
		if *f.name == "" {
			continue
		}
		b, err := readPEM(*f.name)
		if err != nil {
			return t, Flaw{Setting: f.setting, Problem: fault.Text(err)}
		}
		*f.name, *f.text = "", string(b)
	}
	return t, nil
}

// longestPEM is the largest PEM file that is read, in bytes: more than all certificates of a
// system.
const longestPEM = 16 << 20

// readPEM reads a file of certificates or of a key.
func readPEM(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, longestPEM+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, errors.New(name + " is empty")
	case len(b) > longestPEM:
		return nil, fmt.Errorf("%s has more than %d bytes", name, longestPEM)
	}
	return b, nil
}

// Enclose is p with the contents of its TLS files in place of their names, for a generator that
// does not have the files. It reports their faults. JSON holds neither names nor contents.
func (p Plan) Enclose() (Plan, error) {
	_, err := p.TLSConfig()
	if err == nil {
		p.TLS, err = p.TLS.withFileContents()
	}
	return p, err
}
