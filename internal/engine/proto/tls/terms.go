package tls

import (
	"crypto/tls"
	"errors"
	"strings"

	"dyno/internal/engine/proto"
)

// Terms are what a handshake negotiated, by IANA's names.
type Terms struct {
	Version string // as "1.3"
	Cipher  string // as "TLS_AES_128_GCM_SHA256"
	Group   string // of the key exchange, for a resumed session of its first; "": there was none
}

// MarshalText writes t as a key of JSON. IANA's names have no spaces.
func (t Terms) MarshalText() ([]byte, error) {
	return []byte(t.Version + " " + t.Cipher + " " + t.Group), nil
}

// UnmarshalText reads what MarshalText wrote.
func (t *Terms) UnmarshalText(b []byte) error {
	all := strings.Split(string(b), " ")
	if len(all) != 3 {
		return errors.New("terms of TLS are a version, a cipher and a group")
	}
	*t = Terms{all[0], all[1], all[2]}
	return nil
}

// terms are Terms by their numbers on the wire.
type terms struct {
	version, cipher uint16
	group           tls.CurveID
}

// Settled counts the handshakes of all codecs that were made together with c, which must be one of
// Around's, by their terms.
func Settled(c proto.Codec) map[Terms]int64 {
	all := map[Terms]int64{}
	for t, n := range c.(*codec).settled {
		all[t.withNames()] += n
	}
	return all
}

func (t terms) withNames() Terms {
	named := Terms{Version: versionNames[t.version], Cipher: tls.CipherSuiteName(t.cipher)}
	if t.group != 0 {
		named.Group = groupNames[t.group]
	}
	if t.group != 0 && named.Group == "" {
		named.Group = t.group.String()
	}
	return named
}

var versionNames = map[uint16]string{
	tls.VersionTLS10: "1.0", tls.VersionTLS11: "1.1", tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3",
}

// groupNames are names of groups that differ from Go's.
var groupNames = map[tls.CurveID]string{
	tls.CurveP256: "secp256r1", tls.CurveP384: "secp384r1", tls.CurveP521: "secp521r1",
	tls.X25519: "x25519",
}

// Version is the number of a version of TLS, named as in Terms; 0 if there is none.
func Version(name string) uint16 {
	for number, known := range versionNames {
		if known == name {
			return number
		}
	}
	return 0
}
