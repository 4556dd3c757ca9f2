package tls

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// faultClosed wraps no cause: the connection just ended.
var faultClosed = &proto.Fault{Kind: proto.FaultHandshake,
	Detail: "the server closed the connection during the TLS handshake; does it speak TLS?"}

// handshakeFault is the fault of a failed handshake.
func handshakeFault(err error) *proto.Fault {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return faultClosed
	case errors.As(err, &record):
		return &proto.Fault{Kind: proto.FaultHandshake, Err: err, Detail: fmt.Sprintf(
			"the server does not speak TLS: it began with %q; is this an http:// server?",
			record.RecordHeader[:])}
	case errors.As(err, &verify):
		detail, mend := certificateProblem(verify.Err)
		return &proto.Fault{Kind: proto.FaultCertificate, Err: err, Detail: detail, Mend: mend}
	}
	if f := alertText(err); f != nil {
		return f
	}
	return &proto.Fault{Kind: proto.FaultHandshake, Err: err,
		Detail: "TLS handshake: " + strings.TrimPrefix(err.Error(), "tls: ")}
}

// recordFault is the fault of a record after the handshake.
func recordFault(err error) *proto.Fault {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &proto.Fault{Kind: proto.FaultTruncated,
			Detail: "connection closed inside a TLS record"}
	}
	if f := alertText(err); f != nil {
		return f
	}
	return &proto.Fault{Kind: proto.FaultRecord, Err: err,
		Detail: "bad TLS record: " + strings.TrimPrefix(err.Error(), "tls: ")}
}

// Remedies for a certificate that is not accepted.
var (
	insecure = fact.Remedy{Setting: "insecure", Value: fact.Some}
	anyName  = fact.Remedy{Setting: "sni", Value: fact.Some}
	trusted  = fact.Remedy{Setting: "cacert", Value: fact.Some}
	setClock = fact.Remedy{Setting: "clock", Value: fact.Other}
)

// certificateProblem describes what is wrong: the name, authority, date or use.
func certificateProblem(err error) (detail string, mend []fact.Remedy) {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("certificate is valid for %s, not for %s", namesOf(host.Certificate),
			host.Host), []fact.Remedy{anyName, insecure}
	case errors.As(err, &unknown) && unknown.Cert != nil:
		return fmt.Sprintf("certificate is signed by %s, which is not trusted here",
			issuerName(unknown.Cert)), []fact.Remedy{trusted, insecure}
	case errors.As(err, &invalid) && invalid.Cert != nil:
		if wrong := invalidReason(invalid); wrong != "" {
			mend = []fact.Remedy{insecure}
			if invalid.Reason == x509.Expired {
				mend = append(mend, setClock)
			}
			return fmt.Sprintf("certificate of %s %s", subjectName(invalid.Cert), wrong), mend
		}
	}
	return "certificate not accepted: " + strings.TrimPrefix(err.Error(), "x509: "),
		[]fact.Remedy{insecure}
}

// invalidReason describes the wrong date or use of a certificate; "" for rare reasons.
func invalidReason(err x509.CertificateInvalidError) string {
	c, now := err.Cert, time.Now()
	switch {
	case err.Reason == x509.Expired && now.Before(c.NotBefore):
		return fmt.Sprintf("is not valid before %s, and here it is %s", formatDate(c.NotBefore),
			formatDate(now))
	case err.Reason == x509.Expired:
		return fmt.Sprintf("expired on %s, and here it is %s", formatDate(c.NotAfter), formatDate(now))
	case err.Reason == x509.IncompatibleUsage:
		if len(c.ExtKeyUsage)+len(c.UnknownExtKeyUsage) == 0 {
			return "is not for servers: who signed it may not sign such"
		}
		return "is not for servers, but for " + usagesOf(c)
	}
	return ""
}

// subjectName is the name of a certificate's owner.
func subjectName(c *x509.Certificate) string {
	if len(c.DNSNames)+len(c.IPAddresses) > 0 {
		return namesOf(c)
	}
	return cmp.Or(c.Subject.String(), "nobody")
}

// usagesOf lists the usages that a certificate allows.
func usagesOf(c *x509.Certificate) string {
	var all []string
	for _, use := range c.ExtKeyUsage {
		name, known := purposes[use]
		if !known {
			name = fmt.Sprintf("use %d", use)
		}
		all = append(all, name)
	}
	for _, id := range c.UnknownExtKeyUsage {
		all = append(all, id.String())
	}
	return strings.Join(all, ", ")
}

// purposes are RFC 5280's names of common extended key usages.
var purposes = map[x509.ExtKeyUsage]string{
	x509.ExtKeyUsageClientAuth: "clientAuth", x509.ExtKeyUsageCodeSigning: "codeSigning",
	x509.ExtKeyUsageEmailProtection: "emailProtection",
	x509.ExtKeyUsageTimeStamping:    "timeStamping", x509.ExtKeyUsageOCSPSigning: "OCSPSigning",
}

const maxNames = 5 // a certificate may list hundreds of names

func namesOf(c *x509.Certificate) string {
	all := slices.Clip(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	switch more := len(all) - maxNames; {
	case len(all) == 0:
		return "no name at all"
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNames], ", "), more)
	}
	return strings.Join(all, ", ")
}

func issuerName(c *x509.Certificate) string {
	name := c.Issuer.String()
	switch {
	case bytes.Equal(c.RawIssuer, c.RawSubject):
		return "itself"
	case name == "":
		return "an authority without a name"
	}
	return name
}

func formatDate(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// alertText is the fault in a server's alert, or nil.
func alertText(err error) *proto.Fault {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return nil
	}
	what := strings.TrimPrefix(op.Err.Error(), "tls: ")
	kind, known := proto.FaultAlert, alerts[what]
	if what == "no application protocol" {
		kind = proto.FaultALPN
	}
	detail := fmt.Sprintf("the server ended TLS with the alert %q", what)
	if known.means != "" {
		detail += ": " + known.means
	}
	return &proto.Fault{Kind: kind, Err: err, Detail: detail, Mend: known.mend}
}

// An alert is what a server may mean by one, if its name does not say it, and what would change it.
type alert struct {
	means string
	mend  []fact.Remedy
}

var giveCert, otherCert = []fact.Remedy{{Setting: "cert", Value: fact.Some}},
	[]fact.Remedy{{Setting: "cert", Value: fact.Other}}

var alerts = map[string]alert{
	"certificate required":           {"", giveCert},
	"bad certificate":                {"it refuses the certificate, or wants one", otherCert},
	"unknown certificate authority":  {"it does not trust who signed the certificate", otherCert},
	"handshake failure":              {"it may want a certificate, or another TLS version", giveCert},
	"protocol version not supported": {"", []fact.Remedy{{Setting: "tls-max", Value: fact.Other}}},
	"unrecognized name":              {"", []fact.Remedy{{Setting: "sni", Value: fact.Other}}},
	"no application protocol":        {"it speaks no protocol that was offered", nil},
}

// noProtocol is the fault of a server that chose a protocol which was not offered.
func noProtocol(chosen string, offered []string) *proto.Fault {
	detail := fmt.Sprintf("the server chose %q (ALPN)", chosen)
	if chosen == "" {
		detail = "the server chose no protocol (ALPN)"
	}
	return &proto.Fault{Kind: proto.FaultALPN,
		Detail: fmt.Sprintf("%s; offered were %q", detail, offered)}
}
