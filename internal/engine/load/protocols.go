package load

import (
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proto/h2"
	ptls "dyno/internal/engine/proto/tls"
)

// agent is the User-Agent of requests that have none.
const agent = "dyno/" + Version

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
		s.Protocol = protocolOf(p, s.names[0])
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
	inner := map[string]proto.Protocol{"": protocolOf(p, s.unasked)}
	for _, name := range s.names {
		inner[alpnName(name)] = protocolOf(p, name)
		config.NextProtos = append(config.NextProtos, alpnName(name))
	}
	s.Protocol = ptls.Around(inner, config, p.TLS.Resume)
	return s, nil
}

// protocolOf is the protocol of that name, configured by the plan.
func protocolOf(p *Plan, name string) proto.Protocol {
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

// setHTTP3 has the plan's connections use HTTP/3.
func (s *protocolSet) setHTTP3(p *Plan) error {
	config, err := p.tlsConfig()
	if err == nil {
		err = s.logKeys(p.TLS.KeyLogFile, config)
	}
	if err != nil {
		return err
	}
	s.http3 = &h3.Options{TLS: config, Resume: p.TLS.Resume,
		Connecting: time.Duration(p.Connecting), Streams: p.Streams, CloseAfter: p.Reconnect,
		UserAgent: agent}
	s.Protocol = h3.Protocol(*s.http3)
	s.addNotice("HTTP/3 is spoken by quic-go, on goroutines of its own: a request takes about five " +
		"times the CPU time of HTTP/2, and what goroutines wait for a CPU is in the latency")
	return nil
}

// logKeys has the secrets of every TLS session written to a file, and adds a notice.
func (s *protocolSet) logKeys(name string, c *tls.Config) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return Flaw{"SSLKEYLOGFILE", err.Error()}
	}
	s.keyLog, c.KeyLogWriter = f, f
	s.addNotice(fmt.Sprintf("the secrets of every TLS session were written to %s (SSLKEYLOGFILE): "+
		"whoever has them can read the traffic", name))
	return nil
}
