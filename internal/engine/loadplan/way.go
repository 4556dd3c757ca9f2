package loadplan

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// A Way is how a plan's connections are made, for whoever asks its server outside of a load: a plan
// of which only that counts. It is the whole plan but for what is sent, so that a setting of
// connections that is added to Plan is in every Way. Its JSON is for other processes, as Pack's is.
type Way struct{ Plan }

// Way is how the plan's connections are made.
func (p *Plan) Way() Way {
	w := Way{*p}
	w.Requests, w.Data, w.Variables, w.Rows, w.Environment = nil, nil, nil, nil, nil
	w.Scenario, w.Steps, w.Checks, w.Hurl, w.Script, w.Log = nil, nil, nil, nil, nil, nil
	return w
}

// Check is what is wrong with the way, whatever is sent on it; nil if nothing is. The errors are
// Flaws.
func (w *Way) Check() error {
	var found []Flaw
	flaw := findIn(&found)
	w.checkProtocol(flaw)
	w.checkSource(flaw)
	w.checkTLS(flaw)
	return joined(found)
}

// MarshalJSON packs the way.
func (w Way) MarshalJSON() ([]byte, error) { return Pack(w.Plan) }

// UnmarshalJSON unpacks it.
func (w *Way) UnmarshalJSON(b []byte) (err error) {
	w.Plan, err = Unpack(b)
	return err
}

// A Reached is a host that a plan's requests reach, and its port.
type Reached struct {
	Host    string
	Port    uint16
	ByProxy bool // a proxy connects to it, at the address that it finds for a name
}

// Reached are the target and, as the last, what connections lead to: its proxy, or itself. Whoever
// says where a plan may go judges all of them, and ProxyReadsOtherHosts.
func (p *Plan) Reached() []Reached {
	target := Reached{p.Target.Host, p.Target.Port, p.Proxy != ""}
	if p.Proxy == "" {
		return []Reached{target}
	}
	host, port := p.Dialed()
	return []Reached{target, {host, port, false}}
}

// ConnectsElsewhere reports whether connections go elsewhere than the URL says.
func (t Target) ConnectsElsewhere() bool {
	u, err := url.Parse(t.URL)
	if err != nil || t.Unix != "" {
		return false
	}
	port := cmp.Or(u.Port(), map[bool]string{false: "80", true: "443"}[t.TLS])
	return !strings.EqualFold(u.Hostname(), t.Host) || port != strconv.Itoa(int(t.Port))
}

// Address is the target as HOST:PORT.
func (t Target) Address() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }
