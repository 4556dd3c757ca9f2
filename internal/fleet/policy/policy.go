// Package policy is what a machine's owner allows its agent: where to send load, and how much.
// The policy is a file on that machine, and whoever runs the fleet cannot widen it.
//
// Host names are looked up first, and the addresses are judged. The load connects only to the
// judged addresses, so a name that resolves to something else later does no harm.
package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"dyno/internal/engine/loadplan"
)

// A Policy is what an agent may do. What is not allowed is forbidden; if one rule allows and
// another forbids, it is forbidden.
type Policy struct {
	Allow     []netip.Prefix // addresses that may be loaded
	Deny      []netip.Prefix // addresses that may not, even if Allow has them
	Hosts     []string       // patterns of path.Match, one of which a host name must match; none: any
	DenyHosts []string       // patterns that it must not match
	Ports     []Ports        // none: any

	MaxRate        float64       // requests a second, with late ones and retries; 0: any
	MaxConnections int           // 0: any number
	MaxDuration    time.Duration // of a run, from its first connection to its end; 0: any
	Scripts        bool          // scripts of whoever orders a load may run
	Proxies        bool          // a proxy may look target names up, and read other Hosts

	isDefault bool // Allow is the default
}

// Ports are the ports from First to Last.
type Ports struct{ First, Last uint16 }

// String formats the ports as in a policy file.
func (p Ports) String() string {
	if p.First == p.Last {
		return fmt.Sprint(p.First)
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// privateNetworks are allowed by default (RFC 1918, RFC 4193).
var privateNetworks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}

// loopbackNetworks are the machine's own addresses: what listens there is for that machine alone.
// They are allowed by default if the bus is on the same machine.
var loopbackNetworks = []string{"127.0.0.0/8", "::1/128"}

// forbiddenNetworks are forbidden by every policy: unspecified, link-local and multicast
// addresses, and metadata services that hold a cloud machine's secrets. Many clouds have theirs in
// fc00::/7, which is allowed by default.
var forbiddenNetworks = []string{"0.0.0.0/8", "::/128", "169.254.0.0/16", "fe80::/10",
	"224.0.0.0/4", "ff00::/8", "255.255.255.255/32",
	"fd00:ec2::/32",                  // AWS
	"fd20:ce::/32",                   // Google
	"fd00:c1::/32", "192.0.0.192/32", // Oracle
	"168.63.129.16/32",                            // Azure
	"100.100.100.200/32", "fd00:100::100:200/128", // Alibaba
	"fd00:a9fe:a9fe::1/128", // Akamai
	"fd00:42::42/128",       // Scaleway
}

// translatedNetworks are IPv6 networks whose addresses contain an IPv4 address, after so many
// bytes (RFC 6052, section 2.1; RFC 3056, section 2). Routers send there what is sent to them.
var translatedNetworks = []struct {
	prefix netip.Prefix
	after  int
}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2}}

func parsePrefixes(all []string) (parsed []netip.Prefix) {
	for _, s := range all {
		parsed = append(parsed, netip.MustParsePrefix(s))
	}
	return parsed
}

// Default returns the policy of an agent that has no file.
func Default() *Policy { return &Policy{Allow: parsePrefixes(privateNetworks), isDefault: true} }

// WithLocalBus returns p for an agent whose bus is at an address, HOST:PORT. If that is a
// loopback address and p does not say which addresses are allowed, loopback is allowed too.
func (p *Policy) WithLocalBus(bus string) *Policy {
	at, err := netip.ParseAddrPort(bus)
	if !p.isDefault || err != nil || !at.Addr().Unmap().IsLoopback() {
		return p
	}
	near := *p
	near.Allow, near.isDefault = parsePrefixes(slices.Concat(loopbackNetworks, privateNetworks)), false
	return &near
}

// file is a policy file.
type file struct {
	Allow          []string `yaml:"allow"`
	Deny           []string `yaml:"deny"`
	Hosts          []string `yaml:"hosts"`
	DenyHosts      []string `yaml:"deny_hosts"`
	Ports          []string `yaml:"ports"`
	MaxRate        float64  `yaml:"max_rate"`
	MaxConnections int      `yaml:"max_connections"`
	MaxDuration    string   `yaml:"max_duration"`
	Scripts        bool     `yaml:"scripts"`
	Proxies        bool     `yaml:"proxies"`
}

// fileMax is how many bytes a policy file may have.
const fileMax = 1 << 20

// ReadFile reads a policy file. The error has everything that is wrong with it.
func ReadFile(name string) (*Policy, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the agent's policy: %w", err)
	}
	defer f.Close()
	p, err := ReadPolicy(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// ReadPolicy is ReadFile of an open file.
func ReadPolicy(r io.Reader) (*Policy, error) {
	text, err := io.ReadAll(io.LimitReader(r, fileMax+1))
	if err != nil {
		return nil, fmt.Errorf("reading a policy: %w", err)
	}
	if len(text) > fileMax {
		return nil, fmt.Errorf("a policy of more than %d bytes", fileMax)
	}
	var f file
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "not found in type policy.file",
			"is no setting of a policy"))
	}
	if err := d.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("a policy is one YAML document; another follows it")
	}
	return f.parsePolicy()
}

// parsePolicy returns the policy in f, or everything that is wrong with it.
func (f file) parsePolicy() (*Policy, error) {
	var faults []error
	p := &Policy{MaxRate: f.MaxRate, MaxConnections: f.MaxConnections, Hosts: f.Hosts,
		Scripts: f.Scripts, Proxies: f.Proxies,
		DenyHosts: f.DenyHosts, Allow: parsePrefixes(privateNetworks), isDefault: f.Allow == nil}
	addFault := func(key, problem string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: "+problem, append([]any{key}, args...)...))
	}
	networks := func(key string, all []string) (parsed []netip.Prefix) {
		for _, s := range all {
			n, err := parseNetwork(s)
			if err != nil {
				addFault(key, "%q is not an address or a network such as 10.0.0.0/8", s)
			}
			parsed = append(parsed, n)
		}
		return parsed
	}
	if f.Allow != nil {
		p.Allow = networks("allow", f.Allow)
	}
	p.Deny = networks("deny", f.Deny)
	for _, glob := range slices.Concat(f.Hosts, f.DenyHosts) {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			addFault("hosts, deny_hosts", "%q is not a pattern such as *.example", glob)
		}
	}
	for _, s := range f.Ports {
		ports, err := parsePorts(s)
		if err != nil {
			addFault("ports", "%q is not a port or a range such as 8000-8999", s)
		}
		p.Ports = append(p.Ports, ports)
	}
	if f.MaxRate < 0 || math.IsNaN(f.MaxRate) || math.IsInf(f.MaxRate, 0) {
		addFault("max_rate", "%g is no rate", f.MaxRate)
	}
	if f.MaxConnections < 0 {
		addFault("max_connections", "%d is below 0", f.MaxConnections)
	}
	if f.MaxDuration != "" {
		d, err := time.ParseDuration(f.MaxDuration)
		if err != nil || d <= 0 {
			addFault("max_duration", "%q is not a duration such as 30m", f.MaxDuration)
		}
		p.MaxDuration = d
	}
	return p, errors.Join(faults...)
}

// parseNetwork parses an address or a network.
func parseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	n, err := netip.ParsePrefix(s)
	if err == nil && n.Addr().Is4In6() {
		err = errors.New("an IPv4 range is written as one")
	}
	return n.Masked(), err
}

func parsePorts(s string) (Ports, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	from, err := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	if err == nil && err2 == nil && (from > to || from == 0) {
		err = errors.New("no range")
	}
	return Ports{uint16(from), uint16(to)}, errors.Join(err, err2)
}

// A Lookup finds a host's addresses, as net.Resolver.LookupNetIP does.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// Authorize decides whether an agent may carry out p, its part of a plan: it judges each host that
// the plan reaches. The plan that it returns has the judged addresses of the one that connections
// lead to, which alone the load connects to, and MaxRate as the limit of its rate,
// which holds for late requests and retries too. The error has every objection. lookup nil is the
// system's.
func (policy *Policy) Authorize(ctx context.Context, p loadplan.Plan, lookup Lookup) (loadplan.Plan,
	error) {
	var objections []error
	objectIf := func(bad bool, format string, args ...any) {
		if bad {
			objections = append(objections, fmt.Errorf(format, args...))
		}
	}
	objectIf(p.Target.Unix != "", "its policy lets it load no unix socket")
	objectIf(p.TLS.CAFile != "" || p.TLS.CertFile != "" || p.TLS.KeyFile != "" ||
		p.TLS.KeyLogFile != "",
		"the plan names files for TLS, and no plan reads or writes files of an agent's machine")
	objectIf(len(p.FollowTo) > 0, "redirects would lead to other servers than the plan's, and its "+
		"policy judges one")
	objectIf(p.Script != nil && !policy.Scripts,
		"its policy lets it run no scripts; its owner can write scripts: true there")
	objectIf(p.ProxyReadsOtherHosts() && !policy.Proxies, "a request may have another Host than the "+
		"target's, where a proxy may lead it; its owner can write proxies: true in its policy")
	policy.checkAmounts(p, objectIf)
	p.OwnerLimit = loadplan.RatePerSecond(min(policy.MaxRate, loadplan.MaxRate))
	if p.Target.Unix != "" {
		return p, errors.Join(objections...)
	}
	for _, at := range p.Reached() {
		p.Addresses, objections = policy.judgeHost(ctx, p, at, lookup, objections)
	}
	return p, errors.Join(objections...)
}

// judgeHost looks one of the hosts that a plan reaches up, and adds what the policy has against it.
// A name that a proxy looks up may have another address there, so it is judged only if the owner
// leaves that to proxies; then it may also have none here.
func (policy *Policy) judgeHost(ctx context.Context, p loadplan.Plan, at loadplan.Reached,
	lookup Lookup, objections []error) (judged []netip.Addr, all []error) {
	objectIf := func(bad bool, format string, args ...any) {
		if bad {
			objections = append(objections, fmt.Errorf(format, args...))
		}
	}
	objectIf(!policy.allowsPort(at.Port), "port %d is not among those that its policy allows: %v",
		at.Port, policy.Ports)
	_, err := netip.ParseAddr(at.Host)
	named := err != nil
	if named {
		objectIf(len(policy.Hosts) > 0 && !matchesHost(policy.Hosts, at.Host),
			"%s matches none of the hosts that its policy allows: %s", at.Host,
			strings.Join(policy.Hosts, ", "))
		objectIf(matchesHost(policy.DenyHosts, at.Host), "its policy forbids %s", at.Host)
	}
	if named && at.ByProxy && !policy.Proxies {
		return nil, append(objections, fmt.Errorf("it judges addresses, and the proxy looks up that of "+
			"%s; load an address, or its owner can write proxies: true in its policy", at.Host))
	}
	found, err := lookUpHost(ctx, p, at.Host, lookup)
	if err != nil {
		if !at.ByProxy {
			objections = append(objections, err)
		}
		return nil, objections
	}
	for _, a := range found {
		a = a.Unmap()
		if why := policy.whyForbidden(a); why != "" {
			objectIf(true, "%s, an address of %s, %s", a, at.Host, why)
		}
		judged = append(judged, a)
	}
	return judged, objections
}

// lookUpHost returns the addresses of a host.
func lookUpHost(ctx context.Context, p loadplan.Plan, host string, lookup Lookup) ([]netip.Addr,
	error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNetIP
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Connecting))
	defer cancel()
	found, err := lookup(ctx, "ip", host)
	if err == nil && len(found) == 0 {
		err = errors.New("no address")
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot look up %s: %w", host, err)
	}
	return found, nil
}

// checkAmounts checks rate, connections and duration.
func (policy *Policy) checkAmounts(p loadplan.Plan, objectIf func(bool, string, ...any)) {
	rate := p.Peak().PerSecond() + p.Probe.PerSecond()
	objectIf(policy.MaxRate > 0 && !p.Open(),
		"its policy allows %v requests a second, and a closed loop has no rate; give one",
		loadplan.RatePerSecond(policy.MaxRate))
	objectIf(policy.MaxRate > 0 && rate > policy.MaxRate,
		"its share is %v requests a second at most, and its policy "+
			"allows %v", loadplan.RatePerSecond(rate), loadplan.RatePerSecond(policy.MaxRate))
	connections := p.Connections + p.ProbeConnections()
	objectIf(policy.MaxConnections > 0 && connections > policy.MaxConnections,
		"its share is %d connections, and its policy allows %d", connections, policy.MaxConnections)
	measured := plannedDuration(p)
	length := time.Duration(p.Warmup) + measured + time.Duration(p.Drain)
	objectIf(policy.MaxDuration > 0 && length > policy.MaxDuration,
		"the run takes %v (warm-up %v, load %v, and up "+
			"to %v of drain), and its policy allows %v", length, time.Duration(p.Warmup), measured,
		time.Duration(p.Drain), policy.MaxDuration)
}

// plannedDuration returns how long p measures. With a number of requests and a rate that is until
// the last request is due; with a number and no rate it is unknown, and p.Duration.
func plannedDuration(p loadplan.Plan) time.Duration {
	d, rate := time.Duration(p.Duration), p.Offered().PerSecond()
	if p.Requested == 0 || rate == 0 {
		return d
	}
	due := min(float64(p.Requested)/rate, math.MaxInt64/4e9) // s, which ns can count
	return time.Duration(due * 1e9).Round(time.Millisecond)
}

func (policy *Policy) allowsPort(port uint16) bool {
	return len(policy.Ports) == 0 || slices.ContainsFunc(policy.Ports, func(p Ports) bool {
		return p.First <= port && port <= p.Last
	})
}

// whyForbidden returns why an address must not be loaded; "" if it may.
func (p *Policy) whyForbidden(a netip.Addr) string {
	a = a.WithZone("")
	for _, t := range translatedNetworks {
		if b := a.As16(); t.prefix.Contains(a) {
			v4 := netip.AddrFrom4([4]byte(b[t.after : t.after+4]))
			if slices.ContainsFunc(slices.Concat(parsePrefixes(forbiddenNetworks), p.Deny),
				containsAddress(v4)) {
				return fmt.Sprintf("is translated to %v, which must not be loaded", v4)
			}
		}
	}
	in := containsAddress(a)
	switch {
	case slices.ContainsFunc(parsePrefixes(forbiddenNetworks), in):
		return "is one that no policy allows (link-local, metadata, multicast, unspecified)"
	case slices.ContainsFunc(p.Deny, in):
		return "is forbidden by its policy"
	case !slices.ContainsFunc(p.Allow, in):
		return "is not in what its policy allows: " + p.describeAllowed()
	}
	return ""
}

func containsAddress(a netip.Addr) func(netip.Prefix) bool {
	return func(n netip.Prefix) bool { return n.Contains(a) }
}

// matchesHost reports whether a host name matches one of the patterns, ignoring case and a final
// dot.
func matchesHost(globs []string, host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := path.Match(strings.ToLower(glob), host)
		return ok && err == nil
	})
}

// describeAllowed lists the allowed addresses.
func (p *Policy) describeAllowed() string {
	if len(p.Allow) == 0 {
		return "no address"
	}
	return joinStrings(p.Allow)
}

// String describes the policy in one line.
func (p *Policy) String() string {
	all := []string{"to " + p.describeAllowed()}
	if len(p.Deny) > 0 {
		all = append(all, "not to "+joinStrings(p.Deny))
	}
	if len(p.Hosts) > 0 {
		all = append(all, "hosts "+strings.Join(p.Hosts, " "))
	}
	if len(p.DenyHosts) > 0 {
		all = append(all, "not hosts "+strings.Join(p.DenyHosts, " "))
	}
	if len(p.Ports) > 0 {
		all = append(all, "ports "+joinStrings(p.Ports))
	}
	if p.MaxRate > 0 {
		all = append(all, fmt.Sprintf("%v/s at most", loadplan.RatePerSecond(p.MaxRate)))
	}
	if p.MaxConnections > 0 {
		all = append(all, fmt.Sprintf("%d connections at most", p.MaxConnections))
	}
	if p.MaxDuration > 0 {
		all = append(all, fmt.Sprintf("%v at most", p.MaxDuration))
	}
	if p.Scripts {
		all = append(all, "scripts")
	}
	if p.Proxies {
		all = append(all, "proxies")
	}
	return strings.Join(all, ", ")
}

func joinStrings[T fmt.Stringer](all []T) string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = v.String()
	}
	return strings.Join(words, " ")
}
