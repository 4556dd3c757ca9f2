package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// An External is a bus that somebody else runs: a NATS server or cluster. It has no hub and no
// tokens; its own configuration says who may do what (see docs/fleet.md).
type External struct {
	URL    string // nats:// or tls://HOST:PORT, or several with commas between
	Creds  string // file with a NATS user's JWT and seed; "": none
	CACert string // file with the authorities to trust; "": the system's
}

// oldestServer is the oldest NATS server that is accepted. In older ones, whoever may publish can
// also administer stored data (CVE-2025-30215).
var oldestServer = [3]int{2, 11, 1}

// Check returns what is wrong with e before anything is dialed.
func (e External) Check() (faults []error) {
	for one := range strings.SplitSeq(e.URL, ",") {
		if strings.Contains(one, "@") {
			faults = append(faults, errors.New("--nats: a secret does not belong into a command line; "+
				"give --creds FILE"))
			continue
		}
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" || u.Path != "" {
			faults = append(faults, fmt.Errorf("--nats: %q is not tls://HOST:PORT or nats://HOST:PORT",
				one))
		}
	}
	for _, f := range []struct {
		flag, name string
		good       func([]byte) error
	}{{"--creds", e.Creds, checkCredentials}, {"--nats-ca", e.CACert, checkAuthorities}} {
		if f.name == "" {
			continue
		}
		b, err := os.ReadFile(f.name)
		if err == nil {
			err = f.good(b)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", f.flag, err))
		}
	}
	return faults
}

// checkCredentials and checkAuthorities fail unless b is a file of that kind.
func checkCredentials(b []byte) error {
	if _, err := nkeys.ParseDecoratedUserNKey(b); err != nil {
		return errors.New("the file has no NATS user's JWT and key, as nsc generate creds writes them")
	}
	return nil
}

func checkAuthorities(b []byte) error {
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return errors.New("the file has no certificate in PEM")
	}
	return nil
}

// isLocal reports whether all servers are on this machine. Only then may TLS be missing.
func (e External) isLocal() bool {
	for one := range strings.SplitSeq(e.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil {
			return false
		}
		addr, err := netip.ParseAddr(u.Hostname())
		if u.Scheme == "tls" || u.Hostname() != "localhost" && (err != nil || !addr.IsLoopback()) {
			return false
		}
	}
	return true
}

// Connect connects to the bus. Servers on other machines need TLS.
func (e External) Connect(s Settings) (*Link, error) {
	l := &Link{credential: "what " + e.Creds + " says"}
	var more []nats.Option
	if e.Creds != "" {
		more = append(more, nats.UserCredentials(e.Creds))
	}
	if e.CACert != "" {
		more = append(more, nats.RootCAs(e.CACert))
	}
	if !e.isLocal() {
		more = append(more, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	err := l.dialServers(e.URL, s, more...)
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return nil, Refusedf("the NATS server at %s offers no TLS, without which dyno talks to this "+
			"machine's only", e.URL)
	case err != nil && isRefusal(err) && e.Creds == "":
		return nil, Refusedf("the NATS server at %s wants to know who one is; give --creds FILE", e.URL)
	case err != nil && isRefusal(err):
		return nil, Refusedf("the NATS server at %s does not accept %q: %w", e.URL, e.Creds, err)
	case err != nil:
		return nil, fmt.Errorf("the NATS server at %s: %w: %w", e.URL, ErrUnreachable, err)
	}
	if v := l.ConnectedServerVersion(); isTooOld(v) {
		l.Close()
		return nil, Refusedf("the NATS server at %s is version %s, and dyno wants %d.%d.%d or newer: "+
			"older ones let who may publish do more (CVE-2025-30215)", e.URL, v, oldestServer[0],
			oldestServer[1],
			oldestServer[2])
	}
	return l, nil
}

// isTooOld reports whether a server's version is older than oldestServer, or not a version.
func isTooOld(version string) bool {
	release, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.SplitN(release, ".", len(oldestServer))
	if len(parts) != len(oldestServer) {
		return true
	}
	for i, want := range oldestServer {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n != want {
			return err != nil || n < want
		}
	}
	return false
}

// WithDefaultPort returns address, with port added if it has none.
func WithDefaultPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}
