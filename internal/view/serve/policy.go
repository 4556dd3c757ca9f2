package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// A Policy is where a form may send a load: always to this machine's own addresses, and
// where the patterns say. Who gets into the dashboard, by whatever mistake, must not have
// a weapon in it; the command line, which needs a shell, has no such limit.
type Policy struct {
	patterns []pattern
}

// A pattern is one of: addresses, as 10.1.0.0/16 or 10.1.2.3; a glob of host names, as
// *.staging.example; a glob of sockets, as unix:/run/*.sock.
type pattern struct {
	text   string
	prefix netip.Prefix
	host   string
	socket string
}

// Allow adds a pattern.
func (p *Policy) Allow(text string) error {
	a := pattern{text: text}
	address, notAddress := netip.ParseAddr(text)
	prefix, notPrefix := netip.ParsePrefix(text)
	socket, isSocket := strings.CutPrefix(text, "unix:")
	switch {
	case notAddress == nil:
		address = address.Unmap()
		a.prefix = netip.PrefixFrom(address, address.BitLen())
	case notPrefix == nil:
		a.prefix = prefix.Masked()
	case isSocket:
		a.socket = socket
		if !strings.HasPrefix(socket, "/") {
			return fmt.Errorf("%q: a socket is named by its whole path, as unix:/run/app.sock", text)
		}
	default:
		a.host = strings.ToLower(text)
		if text == "" || strings.ContainsAny(text, "/:@ ") {
			return fmt.Errorf("%q is none of an address (10.1.2.3), a network (10.1.0.0/16), names of "+
				"hosts (*.staging.example) and sockets (unix:/run/*.sock)", text)
		}
	}
	if _, err := path.Match(a.host+a.socket, ""); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	p.patterns = append(p.patterns, a)
	return nil
}

// String says what is allowed.
func (p Policy) String() string {
	all := "this machine"
	for _, a := range p.patterns {
		all += ", " + a.text
	}
	return all
}

// lookupTime is for the name of a target.
const lookupTime = 5 * time.Second

// checkPlan reports why a plan may not be carried out. What it looks up it gives to the plan,
// so that the load goes to the addresses that were judged, whatever the name means a
// moment later.
func (p Policy) checkPlan(ctx context.Context, plan *loadplan.Plan) error {
	found, err := p.checkTarget(ctx, plan.Target)
	if err == nil && len(plan.FollowTo) > 0 {
		err = loadplan.Flaw{Setting: setting.InFlags("FollowTo"),
			Problem: "a dashboard's loads go to one server"}
	}
	if err != nil {
		return err
	}
	if _, err := netip.ParseAddr(plan.Target.Host); err != nil {
		plan.Addresses = found
	}
	return nil
}

// checkTarget is what a target's host was looked up to be, or why it may not be loaded. A socket
// has no addresses.
func (p Policy) checkTarget(ctx context.Context, t loadplan.Target) ([]netip.Addr, error) {
	refusal := func(what string) error {
		return loadplan.Flaw{Setting: "URL",
			Problem: fmt.Sprintf("%s is not among what this dashboard may "+
				"load: %s; dyno serve --allow-target adds to it, and dyno run has no such limit", what, p)}
	}
	if t.Unix != "" {
		whole := path.Clean(t.Unix) == t.Unix // else /run/app/../x.sock is of /run/*/*/*.sock
		if !whole || !p.allowsAny(func(a pattern) bool { return matchesGlob(a.socket, t.Unix) }) {
			return nil, refusal("the socket " + t.Unix)
		}
		return nil, nil
	}
	found, err := resolveHost(ctx, t.Host)
	if err != nil {
		return nil, loadplan.Flaw{Setting: "URL",
			Problem: fmt.Sprintf("looking up %q: %v", t.Host, err)}
	}
	name := strings.TrimSuffix(strings.ToLower(t.Host), ".")
	if !p.allowsAny(func(a pattern) bool { return matchesGlob(a.host, name) }) {
		for _, address := range found {
			if !p.allowsAddress(address) {
				return nil, refusal(resolvedText(t.Host, address))
			}
		}
	}
	return found, nil
}

// resolvedText is a host and what it was looked up to be.
func resolvedText(host string, address netip.Addr) string {
	if host == address.String() {
		return host
	}
	return fmt.Sprintf("%s, which is %v,", host, address)
}

// allowsAddress reports whether an address may be loaded, by whatever name.
func (p Policy) allowsAddress(a netip.Addr) bool {
	return a.IsLoopback() || p.allowsAny(func(one pattern) bool {
		return one.prefix.IsValid() && one.prefix.Contains(a.WithZone("")) ||
			matchesGlob(one.host, a.String())
	})
}

func (p Policy) allowsAny(by func(pattern) bool) bool {
	for _, a := range p.patterns {
		if by(a) {
			return true
		}
	}
	return false
}

func matchesGlob(glob, s string) bool {
	ok, err := path.Match(glob, s)
	return glob != "" && ok && err == nil
}

// resolveHost is what a host is: itself, if it is an address.
func resolveHost(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if dns, is := errors.AsType[*net.DNSError](err); is {
		return nil, errors.New(dns.Err)
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}
