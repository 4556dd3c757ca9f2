package tls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"regexp"
	"slices"
	"testing"
	"time"

	"dyno/internal/engine/proto"
)

// An identity is a certificate and its key.
type identity struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
}

var (
	longAgo  = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	oldDays  = time.Date(2002, 2, 3, 4, 5, 6, 0, time.UTC)
	farAhead = time.Date(2101, 2, 3, 4, 5, 6, 0, time.UTC)
)

// signed makes a certificate of a template, which names what is particular to it.
func signed(t *testing.T, by *identity, template x509.Certificate) *identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.BasicConstraintsValid = true
	if template.NotBefore.IsZero() {
		template.NotBefore = longAgo
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = farAhead
	}
	parent, signer := &template, key
	if by != nil {
		parent, signer = by.Certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &identity{c, key}
}

// chain is what a server shows.
func chain(all ...*identity) tls.Certificate {
	c := tls.Certificate{PrivateKey: all[0].key}
	for _, id := range all {
		c.Certificate = append(c.Certificate, id.Raw)
	}
	return c
}

func named(name string) pkix.Name { return pkix.Name{CommonName: name} }

// What is wrong with a certificate is said so that one can look for it: by its names,
// its issuer, its dates, its uses.
func TestCertificates(t *testing.T) {
	root := signed(t, nil, x509.Certificate{Subject: named("Root"), IsCA: true})
	stranger := signed(t, nil, x509.Certificate{Subject: named("Stranger"), IsCA: true})
	expired := signed(t, root, x509.Certificate{Subject: named("Old"), IsCA: true, NotAfter: oldDays})
	clients := signed(t, root, x509.Certificate{Subject: named("Clients"), IsCA: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	x := func(by *identity, change func(*x509.Certificate)) *identity {
		template := x509.Certificate{DNSNames: []string{"x", "*.x"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		if change != nil {
			change(&template)
		}
		return signed(t, by, template)
	}
	leaf := x(root, func(c *x509.Certificate) { c.Subject = named("Leaf") })
	for name, tc := range map[string]struct {
		shown tls.Certificate
		want  string // after "certificate", with what would change it; "" if it is accepted
	}{
		"good": {chain(leaf), ""},
		"expired": {chain(x(root, func(c *x509.Certificate) { c.NotAfter = oldDays })),
			" of x, *.x expired on 2002-02-03T04:05:06Z, and here it is NOW [{insecure some} {clock other}]"},
		"not yet valid": {chain(x(root, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = farAhead, farAhead.Add(time.Hour)
		})), " of x, *.x is not valid before 2101-02-03T04:05:06Z, and here it is NOW [{insecure some} {clock other}]"},
		"expired issuer": {chain(x(expired, nil), expired),
			" of CN=Old expired on 2002-02-03T04:05:06Z, and here it is NOW [{insecure some} {clock other}]"},
		"wrong name": {chain(x(root, func(c *x509.Certificate) {
			c.DNSNames, c.IPAddresses = []string{"a.y", "b.y"}, []net.IP{{127, 0, 0, 2}}
		})), " is valid for a.y, b.y, 127.0.0.2, not for x [{sni some} {insecure some}]"},
		"no name": {chain(x(root, func(c *x509.Certificate) { c.DNSNames, c.Subject = nil, named("x") })),
			" is valid for no name at all, not for x [{sni some} {insecure some}]"},
		"unknown issuer": {chain(x(stranger, nil)),
			" is signed by CN=Stranger, which is not trusted here [{cacert some} {insecure some}]"},
		"self-signed": {chain(x(nil, nil)),
			" is signed by itself, which is not trusted here [{cacert some} {insecure some}]"},
		"for clients": {chain(x(root, func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageCodeSigning}
		})), " of x, *.x is not for servers, but for clientAuth, codeSigning [{insecure some}]"},
		"by an issuer for clients": {chain(x(clients, func(c *x509.Certificate) { c.ExtKeyUsage = nil }),
			clients), " of x, *.x is not for servers: who signed it may not sign such [{insecure some}]"},
		"signed by no authority": {chain(x(leaf, nil), leaf),
			" is signed by CN=Leaf, which is not trusted here [{cacert some} {insecure some}]"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, &tls.Config{Certificates: []tls.Certificate{tc.shown}})
			pool := x509.NewCertPool()
			pool.AddCert(root.Certificate)
			s := drive(t, maker(t, &tls.Config{ServerName: "x", RootCAs: pool}, get)(nil), dial(t, addr), 1, 65536)
			if tc.want == "" {
				if s.err != nil || s.dones != 1 {
					t.Errorf("%+v", s)
				}
				return
			}
			var f *proto.Fault
			if !errors.As(s.err, &f) || f.Kind != proto.FaultCertificate {
				t.Fatalf("%+v", s)
			}
			now := regexp.MustCompile(`here it is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
			if got := now.ReplaceAllString(f.Detail+fmt.Sprint(" ", f.Mend), "here it is NOW"); got != "certificate"+tc.want {
				t.Errorf("got  %s\nwant certificate%s", got, tc.want)
			}
		})
	}
}

// What was settled is counted, by version, cipher and group, and full and resumed
// handshakes of each. Each maker has sessions of its own.
func TestSettled(t *testing.T) {
	cert, _ := issue(t, forX)
	for _, tc := range []struct {
		version uint16
		group   tls.CurveID
		want    Terms
	}{
		{tls.VersionTLS10, tls.CurveP256, Terms{"1.0", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "secp256r1"}},
		{tls.VersionTLS11, tls.X25519, Terms{"1.1", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "x25519"}},
		{tls.VersionTLS12, tls.CurveP384, Terms{"1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "secp384r1"}},
		{tls.VersionTLS13, tls.X25519MLKEM768, Terms{"1.3", "TLS_AES_128_GCM_SHA256", "X25519MLKEM768"}},
	} {
		addr := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS10,
			CurvePreferences: []tls.CurveID{tc.group},
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
				tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
		config := &tls.Config{InsecureSkipVerify: true, MinVersion: tc.version, MaxVersion: tc.version}
		for _, resume := range []bool{false, true} {
			mk, err := Around(httpOnly, config, resume)([]proto.Request{get}, proto.Want{})
			if err != nil {
				t.Fatal(err)
			}
			var resumed []bool
			for range 3 {
				s := drive(t, mk(nil), dial(t, addr), 1, 65536)
				if s.dones != 1 {
					t.Fatalf("%x: %+v", tc.version, s)
				}
				resumed = append(resumed, s.resumed)
			}
			if want := []bool{false, resume, resume}; !slices.Equal(resumed, want) {
				t.Errorf("%x: resumed %v, want %v", tc.version, resumed, want)
			}
			if got := Settled(mk(nil)); len(got) != 1 || got[tc.want] != 3 {
				t.Errorf("%x, resume %v: %v, want 3 of %v", tc.version, resume, got, tc.want)
			}
		}
	}
}
