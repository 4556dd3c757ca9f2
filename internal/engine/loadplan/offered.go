package loadplan

import (
	"crypto/tls"
	"slices"
	"strings"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/fact"
)

// Version is dyno's own, as User-Agent and results name it.
const Version = "0.1.0"

// UserAgent is the User-Agent of requests that have none.
const UserAgent = "dyno/" + Version

// Auto is the HTTP version of a plan that names none. With TLS the server chooses HTTP/2 or
// HTTP/1.1 for each connection (ALPN), unless only one of them can do what was asked: several
// Streams need HTTP/2; pipelining, and headers such as Connection, need HTTP/1.1. Without TLS it is
// HTTP/1.1, except for h2c URLs. It is never HTTP/3.
const Auto = "auto"

// The protocols of connections, by their ALPN name if they have one.
const (
	HTTP10  = "http/1.0"
	HTTP11  = "http/1.1"
	HTTP2   = "h2"
	HTTP3   = h3.Name
	FastCGI = "fastcgi"
)

// OfferedProtocols are the names of the protocols that connections may speak; if there are two, the
// server chooses. The notice says why HTTP/2 is not offered where a user would expect it.
func (p *Plan) OfferedProtocols() (names []string, notice *fact.Fact) {
	switch {
	case p.Target.FastCGI:
		return []string{FastCGI}, nil
	case p.HTTP == "1.0":
		return []string{HTTP10}, nil
	case p.OnlyHTTP2():
		return []string{HTTP2}, nil
	case p.OnlyHTTP3():
		return []string{HTTP3}, nil
	case p.HTTP == "1.1" || !p.Target.TLS:
		return []string{HTTP11}, nil
	case p.Pipeline > 1:
		return http1Over(fact.HTTP1Offered{Over: fact.NoPipelining},
			fact.Remedy{Setting: "streams", Value: fact.Some})
	case p.ChunkSize > 0:
		return http1Over(fact.HTTP1Offered{Over: fact.NoChunks})
	case p.TLS.isBelowHTTP2():
		return http1Over(fact.HTTP1Offered{Over: fact.OldTLS},
			fact.Remedy{Setting: "tls-max", Value: fact.Higher})
	}
	for i := range p.Requests {
		r := p.Requests[i].Request
		if err := fields.Check(r); err != nil && h1.Check(r) == nil {
			return http1Over(fact.HTTP1Offered{Over: fact.OneRequest, Request: i + 1,
				Why: strings.ReplaceAll(err.Error(), "\n", "; ")})
		}
	}
	return []string{HTTP2, HTTP11}, nil
}

// http1Over offers HTTP/1.1 alone, and says why.
func http1Over(why fact.HTTP1Offered, remedies ...fact.Remedy) ([]string, *fact.Fact) {
	f := fact.Noticed(why, remedies...)
	return []string{HTTP11}, &f
}

// OnlyHTTP2 reports whether connections use nothing but HTTP/2.
func (p *Plan) OnlyHTTP2() bool {
	t := p.Target
	return !t.FastCGI && (t.H2C || p.HTTP == "2" || p.HTTP == Auto && t.TLS && p.Streams > 1)
}

// checkProtocol checks the settings of the protocols.
func (p *Plan) checkProtocol(flaw finder) {
	known := slices.Contains([]string{Auto, "1.0", "1.1", "2", "3"}, p.HTTP)
	t := p.Target
	flaw(!known, "HTTP", "%q is not auto, 1.0, 1.1, 2 or 3", p.HTTP)
	flaw(known && t.FastCGI && p.HTTP != Auto, "HTTP", "%s is FastCGI and not HTTP/%s",
		t.URL, p.HTTP)
	flaw(known && t.H2C && p.HTTP != Auto && p.HTTP != "2" && p.HTTP != "3", "HTTP",
		"%s is HTTP/2 and not HTTP/%s", t.URL, p.HTTP).Mend = "write http://"
	flaw(p.HTTP == "1.0" && p.Pipeline > 1, "Pipeline", "HTTP/1.0 has no pipelining")
	flaw(t.FastCGI && p.Pipeline > 1, "Pipeline", "FastCGI has no pipelining")
	flaw(p.OnlyHTTP2() && p.Pipeline > 1, "Pipeline",
		"HTTP/2 has no pipelining").Mend = "give only {Streams}"
	flaw(t.FastCGI && p.Streams > 1, "Streams",
		"a FastCGI connection carries one request at a time").Mend = "give more {Connections}"
	flaw(!t.FastCGI && !p.OnlyHTTP2() && !p.OnlyHTTP3() && p.Streams > 1, "Streams",
		"HTTP/1 has none").Mend = "give {HTTP} 2, or {Pipeline} instead"
	p.checkHTTP3(flaw)
	p.checkCoding(flaw)
	p.checkAuth(flaw)
	p.checkProxy(flaw)
	p.checkResolve(flaw)
	versions := proxyproto.Versions
	flaw(p.ProxyProtocol != "" && !slices.Contains(versions, p.ProxyProtocol), "ProxyProtocol",
		"%q is not %s", p.ProxyProtocol, strings.Join(versions, " or "))
	flaw(!t.FastCGI && len(p.Params) > 0, "Params", "%s is not FastCGI", t.URL).Mend =
		"write fcgi://"
	for _, many := range []struct {
		setting string
		n       int
	}{{"Pipeline", p.Pipeline}, {"Streams", p.Streams}} {
		flaw(p.Reconnect > 0 && many.n > p.Reconnect, many.setting,
			"%d requests cannot be in flight on a connection that carries %d", many.n, p.Reconnect)
	}
}

// ProtoRequests are the plan's requests as protocols take them.
func (p *Plan) ProtoRequests() []proto.Request {
	all := make([]proto.Request, len(p.Requests))
	for i := range p.Requests {
		all[i] = p.Requests[i].Request
	}
	return all
}

// HTTP3Ring is the kind of ring that does HTTP/3: the library's name.
const HTTP3Ring = "quic-go"

// OnlyHTTP3 reports whether connections use HTTP/3, which must be asked for by name.
func (p *Plan) OnlyHTTP3() bool { return p.HTTP == "3" }

// checkHTTP3 checks for what HTTP/3 cannot do, or dyno cannot do with it.
func (p *Plan) checkHTTP3(flaw finder) {
	t := p.Target
	if !p.OnlyHTTP3() || t.FastCGI { // FastCGI with --http is a flaw of its own
		return
	}
	flaw(!t.TLS, "HTTP", "HTTP/3 is always over TLS, and %s is not", t.URL).Mend =
		"write https://"
	flaw(p.ProxyProtocol != "", "ProxyProtocol", "is the beginning of a TCP connection, and HTTP/3 "+
		"has none").Mend = "leave it out, or give {HTTP} 2"
	flaw(p.Pipeline > 1, "Pipeline", "HTTP/3 has no pipelining").Mend = "give only {Streams}"
	flaw(p.Ring != "auto", "Ring", "HTTP/3 does its own input and output, by quic-go: leave it out")
	flaw(p.Spin, "Spin", "the goroutines of quic-go, which speaks HTTP/3, sleep as they like")
	flaw(len(p.CPUs) > 0, "CPUs", "the goroutines of quic-go, which speaks HTTP/3, run on all CPUs "+
		"that the process may use: start dyno under taskset instead")
	_, high := p.TLS.versionRange()
	flaw(high != 0 && high < tls.VersionTLS13, "MaxVersion", "HTTP/3 has TLS 1.3 and no other")
	flaw(p.TLS.ALPN == NoALPN, "ALPN", "without %q there is no HTTP/3", HTTP3)
}
