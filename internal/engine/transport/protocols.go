// Package transport turns a plan into what its connections need: codecs and addresses.
//
// A load has rings, for which protocols.go chooses the protocols and makes their codecs, with TLS
// and HTTP/3. Whoever asks the server outside of a load has a Dialer (dialer.go), which tries the
// addresses of a name side by side (first.go); roundtrip.go is net/http on its connections.
// resolve.go looks the target or its proxy up, follow.go does so again beside a load, and spread.go
// says from which local addresses to connect, and whether they have ports enough. What a plan may
// ask of protocols is in package loadplan, and their codecs are below engine/proto.
package transport

import (
	"crypto/tls"
	"net/netip"
	"os"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/h3"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fcgi"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proto/h2"
	ptls "dyno/internal/engine/proto/tls"
	"dyno/internal/engine/proto/tunnel"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// A Protocols is the protocols that a plan's connections may use, and what makes their codecs.
type Protocols struct {
	proto.Protocol
	names   []string    // in the order in which they are offered
	unasked string      // used when the server chose none
	Notices []fact.Fact // why it is not what a user would expect, and other notices
	keyLog  *os.File    // of TLS; nil: none
	HTTP3   *h3.Options // nil: no connection uses HTTP/3
	proxied string      // version of the PROXY protocol's header; "": none is sent
}

// CloseKeyLog closes the file of TLS secrets, if there is one.
func (s *Protocols) CloseKeyLog() error {
	if s == nil || s.keyLog == nil {
		return nil
	}
	return s.keyLog.Close()
}

// addNotice adds a notice.
func (s *Protocols) addNotice(args fact.Args, remedies ...fact.Remedy) {
	s.Notices = append(s.Notices, fact.Noticed(args, remedies...))
}

// ChosenName is the name of the protocol that the server chose: the number of a Shaken event.
func (s *Protocols) ChosenName(chosen uint32) string {
	if chosen == 0 {
		return s.unasked
	}
	return s.names[chosen-1]
}

// AppendGreeting appends what goes out on a connection of a ring before all else, TLS included: the
// header of the PROXY protocol, if the plan asks for it.
func (s *Protocols) AppendGreeting(b []byte, g ring.Ring, fd int, to ring.Addr) []byte {
	if s.proxied == "" {
		return b
	}
	var from netip.AddrPort
	if l, is := g.(ring.Locator); is {
		from = l.LocalAddr(fd)
	}
	return proxyproto.Append(b, s.proxied, from, to.TCP)
}

// Framed reports whether bytes can arrive that belong to no response.
func (s *Protocols) Framed(t loadplan.Target) bool { return t.TLS || s.names[0] == loadplan.HTTP2 }

// NewProtocols makes the protocols of a plan. It reads the files of TLS, so that their faults are
// found before anything is sent: they are errors of type loadplan.Flaw.
func NewProtocols(p *loadplan.Plan) (*Protocols, error) {
	s, err := newProtocols(p)
	if err == nil && p.Tunnels() {
		s.Protocol = tunnel.Around(s.Protocol, tunnelOptions(p))
	}
	return s, err
}

// tunnelOptions are what the proxy of a plan is asked.
func tunnelOptions(p *loadplan.Plan) tunnel.Options {
	return tunnel.Options{Proxy: p.DialedName(), Target: p.Target.Address(),
		Authorization: p.ProxyAuthorization(), UserAgent: loadplan.UserAgent}
}

// newProtocols is NewProtocols of connections that lead to the target.
func newProtocols(p *loadplan.Plan) (*Protocols, error) {
	s := &Protocols{proxied: p.ProxyProtocol}
	names, why := p.OfferedProtocols()
	s.names, s.unasked = names, names[len(names)-1]
	if why != nil {
		s.Notices = append(s.Notices, *why)
	}
	if p.OnlyHTTP3() {
		return s, s.setHTTP3(p)
	}
	if !p.Target.TLS {
		s.Protocol = protocolOf(p, s.names[0])
		return s, nil
	}
	config, err := p.TLSConfig()
	if err == nil {
		err = s.logKeys(p.TLS.KeyLogFile, config)
	}
	if err != nil {
		return nil, err
	}
	s.names = offerNames(p, config, names)
	inner := map[string]proto.Protocol{"": protocolOf(p, s.unasked)}
	for _, name := range s.names {
		inner[loadplan.ALPNName(name)] = protocolOf(p, name)
	}
	s.Protocol = ptls.Around(inner, config, p.TLS.Resume)
	return s, nil
}

// offerNames has TLS offer protocols, in the plan's order, and returns those that it offers.
func offerNames(p *loadplan.Plan, config *tls.Config, names []string) []string {
	if p.TLS.ALPN != "" {
		names = p.TLS.OfferedInOrder(names)
	}
	for _, name := range names {
		config.NextProtos = append(config.NextProtos, loadplan.ALPNName(name))
	}
	return names
}

// protocolOf is the protocol of that name, configured by the plan.
func protocolOf(p *loadplan.Plan, name string) proto.Protocol {
	switch name {
	case loadplan.FastCGI:
		params := make([]proto.Field, len(p.Params))
		for i, param := range p.Params {
			params[i] = proto.Field(param)
		}
		return fcgi.Protocol(fcgi.Options{Params: params, CloseAfter: p.Reconnect,
			Defaults: p.DefaultFields()})
	case loadplan.HTTP2:
		o := h2.Options{Scheme: "http", Streams: p.Streams, CloseAfter: p.Reconnect,
			Defaults: p.DefaultFields()}
		if p.Target.TLS {
			o.Scheme = "https"
		}
		return h2.Protocol(o)
	}
	o := h1.Options{Version10: name == loadplan.HTTP10, Depth: p.Pipeline,
		CloseAfter: p.Reconnect, ChunkSize: p.ChunkSize, Defaults: p.DefaultFields()}
	if o.Origin = p.ProxiedOrigin(); o.Origin != "" {
		o.Authorization = p.ProxyAuthorization()
	}
	return h1.Protocol(o)
}

// setHTTP3 has the plan's connections use HTTP/3.
func (s *Protocols) setHTTP3(p *loadplan.Plan) error {
	config, err := p.TLSConfig()
	if err == nil {
		err = s.logKeys(p.TLS.KeyLogFile, config)
	}
	if err != nil {
		return err
	}
	options := http3Options(p, config)
	s.HTTP3 = &options
	s.Protocol = h3.Protocol(*s.HTTP3)
	s.addNotice(fact.HTTP3Costs{})
	return nil
}

// http3Options are those of HTTP/3 with a configuration of TLS.
func http3Options(p *loadplan.Plan, config *tls.Config) h3.Options {
	return h3.Options{TLS: config, Resume: p.TLS.Resume, Connecting: time.Duration(p.Connecting),
		Streams: p.Streams, CloseAfter: p.Reconnect, Defaults: p.DefaultFields(), Guest: p.Guest}
}

// logKeys has the secrets of every TLS session written to a file, and adds a notice.
func (s *Protocols) logKeys(name string, c *tls.Config) error {
	if name == "" {
		return nil
	}
	f, err := atomicfile.OpenStraight(name, os.O_APPEND, 0o600)
	if err != nil {
		return loadplan.Flaw{Setting: "KeyLogFile", Problem: err.Error()}
	}
	s.keyLog, c.KeyLogWriter = f, f
	s.addNotice(fact.SecretsWritten{File: name})
	return nil
}

// Settled are the terms of the handshakes of a thread, of whose codecs newCodec makes one more.
func Settled(p *loadplan.Plan, newCodec func() proto.Codec) map[ptls.Terms]int64 {
	switch {
	case !p.Target.TLS:
		return nil
	case p.OnlyHTTP3():
		return h3.Settled(newCodec())
	}
	return ptls.Settled(tunnel.Behind(newCodec()))
}
