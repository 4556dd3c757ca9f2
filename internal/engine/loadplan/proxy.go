package loadplan

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/fact"
)

// A proxyURL is what a plan's Proxy says.
type proxyURL struct {
	host          string
	port          uint16
	authorization string // value of Proxy-Authorization; "": none
}

// parseProxy reads Proxy. Its errors do not repeat it, because it can have a password.
func parseProxy(s string) (p proxyURL, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return p, errors.New("it is no URL; write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT")
	}
	if u.Scheme != "http" {
		return p, fmt.Errorf("a proxy of %s:// is not supported; write http://HOST:PORT", u.Scheme)
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return p, errors.New("it ends with the port; leave out what follows")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return p, fmt.Errorf("it has no port from 1 to 65535, and proxies have none in common; "+
			"write http://%s:3128", u.Hostname())
	}
	p.host, p.port = u.Hostname(), uint16(port)
	if u.User != nil {
		password, _ := u.User.Password()
		p.authorization = "Basic " + base64.StdEncoding.EncodeToString(
			[]byte(u.User.Username()+":"+password))
	}
	return p, nil
}

// checkProxy checks the proxy.
func (p *Plan) checkProxy(flaw finder) {
	if p.Proxy == "" {
		return
	}
	_, err := parseProxy(p.Proxy)
	flaw(err != nil, "Proxy", "%v", err)
	t := p.Target
	flaw(t.Unix != "", "Proxy", "%s is a socket of this machine, to which no proxy leads", t.URL)
	flaw(t.FastCGI && t.Unix == "", "Proxy", "%s is FastCGI, which no proxy of HTTP speaks", t.URL)
	flaw(p.OnlyHTTP3(), "Proxy", "HTTP/3 is over UDP, which no proxy of HTTP carries").Mend =
		"leave it out, or give {HTTP} 2"
	flaw(p.ProxyProtocol != "", "ProxyProtocol", "says who has connected to the server, and with "+
		"{Proxy} the proxy has").Mend = "leave one of them out"
}

// shortestResolve is how often a name can be looked up at most: name servers are somebody's.
const shortestResolve = 100 * time.Millisecond

// checkResolve checks the lookups beside the load.
func (p *Plan) checkResolve(flaw finder) {
	if p.ResolveEvery == 0 {
		return
	}
	d := time.Duration(p.ResolveEvery)
	flaw(d < shortestResolve || d > MaxTime, "ResolveEvery", "%v is not within %v to %v", d,
		shortestResolve, MaxTime)
	host, _ := p.Dialed()
	_, err := netip.ParseAddr(host)
	flaw(err == nil, "ResolveEvery", "%s is an address, and no name to look up", host)
	flaw(p.Target.Unix != "", "ResolveEvery", "%s is a socket, and no name to look up", p.Target.URL)
	flaw(len(p.Addresses) > 0, "ResolveEvery", "connections may lead to no other addresses than "+
		"those that somebody has approved")
	flaw(len(p.FollowTo) > 0, "ResolveEvery", "the addresses of other origins stay as they "+
		"are").Mend = "leave out {FollowTo}"
}

// Dialed is the host and port that connections lead to: the proxy's, or else the target's.
func (p *Plan) Dialed() (host string, port uint16) {
	if proxy, err := parseProxy(p.Proxy); p.Proxy != "" && err == nil {
		return proxy.host, proxy.port
	}
	return p.Target.Host, p.Target.Port
}

// DialedName is Dialed as HOST:PORT.
func (p *Plan) DialedName() string {
	host, port := p.Dialed()
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// ProxyAuthorization is what the proxy is told of the user, as the value of a header; "": nothing.
func (p *Plan) ProxyAuthorization() string {
	proxy, _ := parseProxy(p.Proxy)
	return proxy.authorization
}

// Tunnels reports whether the proxy is asked for a tunnel (CONNECT), through which what is spoken
// passes unseen: TLS, and HTTP/2, which proxies do not speak to clients. So does what is to connect
// elsewhere than its URL says, which a proxy that reads the URL would not do.
func (p *Plan) Tunnels() bool {
	return p.Proxy != "" && (p.Target.TLS || p.OnlyHTTP2() || p.Target.ConnectsElsewhere())
}

// Peer is what connections lead to.
func (p *Plan) Peer() fact.Peer {
	switch {
	case p.Proxy == "":
		return ""
	case p.Tunnels():
		return fact.Tunnel
	}
	return fact.Proxy
}

// authority is the target as a URL of http:// has it.
func (t Target) authority() string {
	host, _, _ := strings.Cut(t.Host, "%") // a zone means something on this machine only
	return strings.TrimSuffix(net.JoinHostPort(host, strconv.Itoa(int(t.Port))), ":80")
}

// ProxiedOrigin is what stands before the path in requests that the proxy is to read; "": it reads
// none.
func (p *Plan) ProxiedOrigin() string {
	if p.Proxy == "" || p.Tunnels() {
		return ""
	}
	return "http://" + p.Target.authority()
}

// ProxyReadsOtherHosts reports whether the proxy reads requests whose Host is, or may be, another
// than the target's. It should connect where the URL says (RFC 9112, 3.2.2), and some do not.
func (p *Plan) ProxyReadsOtherHosts() bool {
	if p.ProxiedOrigin() == "" {
		return false
	}
	target := p.Target.authority()
	others := func(host string) bool {
		return !strings.EqualFold(strings.TrimSuffix(host, ":80"), target)
	}
	return p.Script != nil || slices.ContainsFunc(p.Requests, func(r Request) bool {
		own := false
		for i, f := range r.Header {
			if strings.EqualFold(f.Name, "Host") {
				if own = true; others(f.Value) || len(r.FieldHoles(i)) > 0 {
					return true
				}
			}
		}
		return !own && others(r.Authority)
	})
}

// ProxyVariable is the environment variable that names a proxy for the target, as curl and others
// read it; "" if there is none, or NO_PROXY excludes the target. dyno connects directly.
func (t Target) ProxyVariable(getenv func(string) string) string {
	names := []string{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}
	if t.TLS {
		names = []string{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}
	}
	if t.Unix != "" || t.FastCGI || t.excluded(cmp.Or(getenv("no_proxy"), getenv("NO_PROXY"))) {
		return ""
	}
	for _, name := range names {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

// excluded reports whether a list of NO_PROXY has the target: *, a name with all below it, an
// address or a prefix of addresses, each but the last with a port if it is only about that.
func (t Target) excluded(list string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.ToLower(strings.TrimSpace(entry)); entry == "*" {
			return true
		}
		if p, err := netip.ParsePrefix(entry); err == nil {
			if a, literal := t.LiteralAddress(); literal && p.Contains(a.Addr()) {
				return true
			}
			continue
		}
		entry = strings.TrimSuffix(entry, ":"+strconv.Itoa(int(t.Port)))
		entry = strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		entry = strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]")
		host := strings.ToLower(t.Host)
		if entry != "" && (host == entry || strings.HasSuffix(host, "."+entry)) {
			return true
		}
	}
	return false
}
