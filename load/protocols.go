package load

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"dyno/proto"
	"dyno/proto/h1"
	ptls "dyno/proto/tls"
)

// Version is dyno's own, as User-Agent and results name it.
const Version = "0.1.0"

// protocol is what the plan's connections speak. Files are read here, so that
// what is wrong with them is known before anything is sent.
func protocol(p *Plan) (proto.Protocol, error) {
	http := h1.Protocol(h1.Options{
		Version10:  p.HTTP == "1.0",
		Depth:      p.Pipeline,
		CloseAfter: p.Reconnect,
		UserAgent:  "dyno/" + Version,
	})
	if !p.Target.TLS {
		return http, nil
	}
	config, err := tlsConfig(p)
	if err != nil {
		return nil, err
	}
	return ptls.Around(map[string]proto.Protocol{"": http, "http/1.1": http}, config), nil
}

func tlsConfig(p *Plan) (*tls.Config, error) {
	c := &tls.Config{
		InsecureSkipVerify: p.TLS.Insecure,
		ServerName:         cmp.Or(p.TLS.ServerName, p.Target.Host),
		NextProtos:         []string{"http/1.1"},
	}
	if p.TLS.CAFile != "" {
		pem, err := os.ReadFile(p.TLS.CAFile)
		if err != nil {
			return nil, Flaw{"--cacert", err.Error()}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, Flaw{"--cacert", fmt.Sprintf("%s has no PEM certificate", p.TLS.CAFile)}
		}
	}
	if p.TLS.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(p.TLS.CertFile, p.TLS.KeyFile)
		if err != nil {
			return nil, Flaw{"--cert, --key", err.Error()}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// protoRequests are the plan's requests as protocols take them.
func (p *Plan) protoRequests() []proto.Request {
	all := make([]proto.Request, len(p.Requests))
	for i := range p.Requests {
		all[i] = p.Requests[i].Request
	}
	return all
}
