package load

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proto/h2"
	ptls "dyno/internal/engine/proto/tls"
)

// Version is dyno's own, as User-Agent and results name it.
const Version = "0.1.0"

// agent is the User-Agent of requests that have none.
const agent = "dyno/" + Version

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

// A protocolSet is the protocols that a plan's connections may use, and what makes their codecs.
type protocolSet struct {
	proto.Protocol
	names   []string    // in the order in which they are offered
	unasked string      // used when the server chose none
	notices []string    // why it is not what a user would expect, and other notices
	keyLog  *os.File    // of TLS; nil: none
	http3   *h3.Options // nil: no connection uses HTTP/3
}

// closeKeyLog closes the file of TLS secrets, if there is one.
func (s *protocolSet) closeKeyLog() error {
	if s == nil || s.keyLog == nil {
		return nil
	}
	return s.keyLog.Close()
}

// addNotice adds a notice, unless it is empty.
func (s *protocolSet) addNotice(text string) {
	if text != "" {
		s.notices = append(s.notices, text)
	}
}

// chosenName is the name of the protocol that the server chose: the number of a Shaken event.
func (s *protocolSet) chosenName(chosen uint32) string {
	if chosen == 0 {
		return s.unasked
	}
	return s.names[chosen-1]
}

// framed reports whether bytes can arrive that belong to no response.
func (s *protocolSet) framed(t Target) bool { return t.TLS || s.names[0] == HTTP2 }

// newProtocolSet makes the set of a plan. It reads the files of TLS, so that their faults are found
// before anything is sent.
func newProtocolSet(p *Plan) (*protocolSet, error) {
	s := &protocolSet{}
	names, why := p.offeredProtocols()
	s.names, s.unasked = names, names[len(names)-1]
	s.addNotice(why)
	if p.OnlyHTTP3() {
		return s, s.setHTTP3(p)
	}
	if !p.Target.TLS {
		s.Protocol = p.protocolOf(s.names[0])
		return s, nil
	}
	config, err := p.tlsConfig()
	if err == nil {
		err = s.logKeys(p.TLS.KeyLogFile, config)
	}
	if err != nil {
		return nil, err
	}
	if p.TLS.ALPN != "" {
		s.names = p.TLS.offeredInOrder(names)
	}
	inner := map[string]proto.Protocol{"": p.protocolOf(s.unasked)}
	for _, name := range s.names {
		inner[alpnName(name)] = p.protocolOf(name)
		config.NextProtos = append(config.NextProtos, alpnName(name))
	}
	s.Protocol = ptls.Around(inner, config, p.TLS.Resume)
	return s, nil
}

// protocolOf is the protocol of that name, configured by the plan.
func (p *Plan) protocolOf(name string) proto.Protocol {
	switch name {
	case FastCGI:
		params := make([]proto.Field, len(p.Params))
		for i, param := range p.Params {
			params[i] = proto.Field(param)
		}
		return fcgi.Protocol(fcgi.Options{Params: params, CloseAfter: p.Reconnect, UserAgent: agent})
	case HTTP2:
		o := h2.Options{Scheme: "http", Streams: p.Streams, CloseAfter: p.Reconnect, UserAgent: agent}
		if p.Target.TLS {
			o.Scheme = "https"
		}
		return h2.Protocol(o)
	}
	return h1.Protocol(h1.Options{Version10: name == HTTP10, Depth: p.Pipeline,
		CloseAfter: p.Reconnect, UserAgent: agent})
}

// offeredProtocols are the names of the protocols that connections may speak; if there are two, the
// server chooses. The notice says why HTTP/2 is not offered where a user would expect it.
func (p *Plan) offeredProtocols() (names []string, notice string) {
	switch {
	case p.Target.FastCGI:
		return []string{FastCGI}, ""
	case p.HTTP == "1.0":
		return []string{HTTP10}, ""
	case p.OnlyHTTP2():
		return []string{HTTP2}, ""
	case p.OnlyHTTP3():
		return []string{HTTP3}, ""
	case p.HTTP == "1.1" || !p.Target.TLS:
		return []string{HTTP11}, ""
	case p.Pipeline > 1:
		return []string{HTTP11}, "HTTP/1.1 and not HTTP/2, which has no pipelining: " +
			"see --streams and --http"
	case p.TLS.isBelowHTTP2():
		return []string{HTTP11}, "HTTP/1.1 and not HTTP/2, which needs TLS 1.2: see --tls-max"
	}
	for i := range p.Requests {
		r := p.Requests[i].Request
		if err := h2.Check(r); err != nil && h1.Check(r) == nil {
			return []string{HTTP11}, fmt.Sprintf("HTTP/1.1 and not HTTP/2, for request %d: %v",
				i+1, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return []string{HTTP2, HTTP11}, ""
}

// OnlyHTTP2 reports whether connections use nothing but HTTP/2.
func (p *Plan) OnlyHTTP2() bool {
	t := p.Target
	return !t.FastCGI && (t.H2C || p.HTTP == "2" || p.HTTP == Auto && t.TLS && p.Streams > 1)
}

// checkProtocol checks the settings of the protocols.
func (p *Plan) checkProtocol(flaw func(bool, string, string, ...any)) {
	known := slices.Contains([]string{Auto, "1.0", "1.1", "2", "3"}, p.HTTP)
	t := p.Target
	flaw(!known, "--http", "%q is not auto, 1.0, 1.1, 2 or 3", p.HTTP)
	flaw(known && t.FastCGI && p.HTTP != Auto, "--http", "%s is FastCGI and not HTTP/%s",
		t.URL, p.HTTP)
	flaw(known && t.H2C && p.HTTP != Auto && p.HTTP != "2" && p.HTTP != "3", "--http",
		"%s is HTTP/2 and not HTTP/%s; write http://", t.URL, p.HTTP)
	flaw(p.HTTP == "1.0" && p.Pipeline > 1, "--pipeline", "HTTP/1.0 has no pipelining")
	flaw(t.FastCGI && p.Pipeline > 1, "--pipeline", "FastCGI has no pipelining")
	flaw(p.OnlyHTTP2() && p.Pipeline > 1, "--pipeline",
		"HTTP/2 has no pipelining, but streams; give only --streams")
	flaw(t.FastCGI && p.Streams > 1, "--streams",
		"a FastCGI connection carries one request at a time; give more --connections")
	flaw(!t.FastCGI && !p.OnlyHTTP2() && !p.OnlyHTTP3() && p.Streams > 1, "--streams",
		"HTTP/1 has none; give --http 2, or --pipeline instead")
	p.checkHTTP3(flaw)
	flaw(!t.FastCGI && len(p.Params) > 0, "--fcgi-param", "%s is not FastCGI; write fcgi://", t.URL)
	for _, many := range []struct {
		setting string
		n       int
	}{{"--pipeline", p.Pipeline}, {"--streams", p.Streams}} {
		flaw(p.Reconnect > 0 && many.n > p.Reconnect, many.setting,
			"%d exchanges cannot be under way on a connection that carries %d", many.n, p.Reconnect)
	}
}

// protoRequests are the plan's requests as protocols take them.
func (p *Plan) protoRequests() []proto.Request {
	all := make([]proto.Request, len(p.Requests))
	for i := range p.Requests {
		all[i] = p.Requests[i].Request
	}
	return all
}
