package loadplan

import (
	"cmp"
	"net/netip"
	"slices"
)

// MaxFollowTo is how many other origins redirects may lead to.
const MaxFollowTo = 16

// checkFollowTo is Check of the other origins that redirects may lead to.
func (p *Plan) checkFollowTo(flaw finder) {
	if len(p.FollowTo) == 0 {
		return
	}
	flaw(p.Follow == 0, "FollowTo", "says where redirects may lead, and none is followed").Mend =
		"give {Follow} 10"
	flaw(len(p.FollowTo) > MaxFollowTo, "FollowTo", "%d origins are given; %d are possible",
		len(p.FollowTo), MaxFollowTo)
	flaw(p.OnlyHTTP3(), "FollowTo", "HTTP/3 is spoken to one server").Mend =
		"leave it out, or give {HTTP} 2"
	flaw(p.Parts > 1 || p.OwnerLimit > 0, "FollowTo", "is of a load from one machine: an agent loads "+
		"the server alone, whose address its owner allows")
	t := p.TLS
	flaw(!p.Target.TLS && p.followsToTLS() && (t.CertFile != "" || t.Cert != "" || t.ServerName != ""),
		"CertFile, ServerName", "are for the server alone, and %s is without TLS", p.Target.URL)
	if i := slices.IndexFunc(p.FollowTo, hasTLS); i >= 0 && !p.Target.TLS { // else checkTLS did it
		q := p.Towards(i)
		q.checkALPN(flaw)
	}
	for _, t := range p.FollowTo {
		flaw(t.Host == "" || t.Unix != "" || t.FastCGI || t.H2C, "FollowTo",
			"%s is no origin that a redirect leads to",
			cmp.Or(t.URL, t.Host)).Mend = "write http://HOST or https://HOST"
	}
}

// followsToTLS reports whether a redirect may lead to an origin with TLS.
func (p *Plan) followsToTLS() bool {
	return slices.ContainsFunc(p.FollowTo, hasTLS)
}

func hasTLS(t Target) bool { return t.TLS }

// Towards is the plan of the connections to origin i of FollowTo. Who we are, and whom we ask for
// by TLS, is for the server alone.
func (p *Plan) Towards(i int) Plan {
	q := *p
	q.Target, q.Addresses = p.FollowTo[i], nil
	q.TLS.ServerName = ""
	q.TLS.CertFile, q.TLS.KeyFile, q.TLS.Cert, q.TLS.Key = "", "", "", ""
	return q
}

// OriginAt is the number in FollowTo of the origin at an address; -1: it is the target's, or nobody
// knows whose.
func (p *Plan) OriginAt(address string) int {
	if p.Target.mayBeAt(address) || p.Proxy != "" { // which all connections lead to
		return -1
	}
	return slices.IndexFunc(p.FollowTo, func(t Target) bool { return t.mayBeAt(address) })
}

// mayBeAt reports whether an address may be a target's. Where a name leads, only the port tells.
func (t Target) mayBeAt(address string) bool {
	at, err := netip.ParseAddrPort(address)
	literal, is := t.LiteralAddress()
	switch {
	case err != nil:
		return address == t.Host
	case is:
		return at == literal
	}
	return at.Port() == t.Port
}
