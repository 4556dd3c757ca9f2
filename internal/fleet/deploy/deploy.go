// Package deploy writes files that start agents on other machines: by systemd, ssh, docker
// compose or Kubernetes. It starts nothing itself. The files contain no secrets: each agent's
// token is given to it separately.
package deploy

import (
	"embed"
	"fmt"
	"io"
	"net/netip"
	"path"
	"strings"
	"time"

	"dyno/internal/fleet/bus"
	"dyno/internal/hole"
	"dyno/internal/lazyregexp"
)

//go:embed templates
var files embed.FS

// Kinds are the kinds of files that WriteKind writes, with a description.
var Kinds = []struct{ Name, Does string }{
	{"systemd", "a unit, dyno-agent.service"},
	{"ssh", "a shell script that starts an agent on each HOST"},
	{"dockerfile", "an image that holds nothing but dyno"},
	{"compose", "a compose file"},
	{"kubernetes", "an Indexed Job and its NetworkPolicy"},
}

// A Config is the content of the files.
type Config struct {
	Hosts    []string       // for ssh: host names as it takes them
	Program  string         // for systemd: path of dyno
	Image    string         // for containers
	Agents   int            // for compose and Kubernetes: how many, 1 to 1000
	CPUs     int            // of each, for Kubernetes
	Memory   string         // of each, for Kubernetes: as 512Mi
	Deadline time.Duration  // for Kubernetes: of the Job, in whole seconds
	Hubs     []string       // HOST:PORT of the fleet's hub
	Targets  []netip.Prefix // for Kubernetes: what agents may connect to
}

// DefaultConfig returns a Config to which only Hosts or Hubs must be added. Its targets are what
// an agent without a policy file may load.
func DefaultConfig(version string) Config {
	c := Config{Program: "/usr/local/bin/dyno", Image: "dyno:" + version, Agents: 1, CPUs: 2,
		Memory: "1Gi", Deadline: 4 * time.Hour}
	for _, private := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"} {
		c.Targets = append(c.Targets, netip.MustParsePrefix(private))
	}
	return c
}

// AgentsMax is how many agents one file may have. No hub was tried with more.
const AgentsMax = 1000

// The forms of values in the files. They contain nothing that has a meaning in a shell or a file.
var (
	hostForm   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.@:-]*$`)
	imageForm  = lazyregexp.New(`^[a-z0-9][A-Za-z0-9._/:@-]*$`)
	memoryForm = lazyregexp.New(`^[1-9][0-9]*(Mi|Gi)$`)
	pathForm   = lazyregexp.New(`^/[A-Za-z0-9._/+-]+$`)
)

// CheckKind returns everything that is wrong with c for a kind.
func (c Config) CheckKind(kind string) (faults []error) {
	faultIf := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	switch kind {
	case "systemd":
		faultIf(!pathForm().MatchString(c.Program), "--program: %q is not the path of a file", c.Program)
	case "ssh":
		faultIf(len(c.Hosts) == 0, "one HOST or more is wanted, as ssh takes them")
		faultIf(len(c.Hubs) == 0, "--hub: where is the hub? start dyno fleet up first, or give HOST:PORT")
		for _, h := range c.Hubs {
			faultIf(bus.CheckAddress(h) != nil, "--hub: %q is not HOST:PORT", h)
		}
		seen := map[string]string{}
		for _, m := range c.Machines() {
			faultIf(!hostForm().MatchString(m.Address), "%q is not a host that ssh takes", m.Address)
			faultIf(seen[m.Name] != "", "the agents on %s and %s would both be called %s", seen[m.Name],
				m.Address, m.Name)
			seen[m.Name] = m.Address
		}
	case "dockerfile", "compose", "kubernetes":
		faultIf(!imageForm().MatchString(c.Image), "--image: %q is not the name of an image", c.Image)
	default:
		faultIf(true, "%q is not a kind; there are %s", kind, strings.Join(kindNames(), ", "))
	}
	faultIf(kind != "ssh" && len(c.Hosts) > 0, "unexpected arguments: %s", strings.Join(c.Hosts, " "))
	faultIf(c.Agents < 1 || c.Agents > AgentsMax, "--agents: %d is not 1 to %d", c.Agents, AgentsMax)
	if kind == "kubernetes" || kind == "compose" {
		for _, h := range c.Hubs {
			at, err := netip.ParseAddrPort(h)
			faultIf(err == nil && at.Addr().IsLoopback(), "the hub at %s is reached from this machine "+
				"only, and not from containers; have dyno fleet up --listen on another address", h)
		}
	}
	if kind == "kubernetes" {
		faultIf(c.CPUs < 1, "--cpus: %d is less than 1", c.CPUs)
		faultIf(!memoryForm().MatchString(c.Memory), "--memory: %q is not a size like 512Mi or 2Gi",
			c.Memory)
		faultIf(c.Deadline < time.Second, "--deadline: %v is less than a second", c.Deadline)
		faultIf(len(c.Hubs) == 0, "--hub: a NetworkPolicy has to name the fleet's hub, IP:PORT")
		for _, h := range c.Hubs {
			_, err := netip.ParseAddrPort(h)
			faultIf(err != nil, "--hub: %q is not IP:PORT, and a NetworkPolicy knows no names", h)
		}
	}
	return faults
}

func kindNames() (all []string) {
	for _, k := range Kinds {
		all = append(all, k.Name)
	}
	return all
}

// WriteKind writes the file of a kind. c must have passed CheckKind.
func WriteKind(w io.Writer, kind string, c Config) error {
	text, err := fill(kind, c.words())
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// fill fills one of the templates.
func fill(name string, words hole.Words) (string, error) {
	text, err := files.ReadFile(path.Join("templates", name))
	if err != nil {
		return "", err
	}
	t, faults := hole.ParseTemplate(string(text))
	if len(faults) > 0 {
		return "", faults[0]
	}
	filled, _, err := t.Fill(words)
	return filled, err
}

// words are what the templates can name. They have no loops: what there are several of is one word.
func (c Config) words() hole.Words {
	var tunnels, machines, tokens, hubs, targets strings.Builder
	for _, t := range c.tunnels() {
		fmt.Fprintf(&tunnels, " -R %s", t)
	}
	for _, m := range c.Machines() {
		fmt.Fprintf(&machines, "agent %s %s & pids=\"$pids $!\"\n", m.Address, m.Name)
	}
	for i := range c.Agents {
		fmt.Fprintf(&tokens, "\n  join-token-%d:\n    file: ./tokens/%[1]d", i)
	}
	for _, b := range c.blocks() {
		fmt.Fprintf(&hubs, "\n    - to: [{ipBlock: {cidr: %q}}]\n"+
			"      ports: [{protocol: TCP, port: %d}]", b.CIDR, b.Port)
	}
	for _, t := range c.Targets {
		fmt.Fprintf(&targets, "\n    - to: [{ipBlock: {cidr: %q}}]", t)
	}
	return hole.Words{"agents": hole.Int(c.Agents), "program": hole.Text(c.Program),
		"image": hole.Text(c.Image), "cpus": hole.Int(c.CPUs), "memory": hole.Text(c.Memory),
		"deadline": hole.Int(int((c.Deadline + time.Second - 1) / time.Second)), // rounded up
		"tunnels":  hole.Text(tunnels.String()), "machines": hole.Text(machines.String()),
		"services": {Value: c.services}, "tokens": hole.Text(tokens.String()),
		"hubs": hole.Text(hubs.String()), "targets": hole.Text(targets.String())}
}

// services are the agents in a compose file.
func (c Config) services([]string) (any, error) {
	var all strings.Builder
	for i := range c.Agents {
		one, err := fill("compose-agent", hole.Words{"number": hole.Int(i), "image": hole.Text(c.Image)})
		if err != nil {
			return nil, err
		}
		all.WriteString("\n" + strings.TrimSuffix(one, "\n"))
	}
	return all.String(), nil
}

// A Host is an ssh destination, and the name of the agent there.
type Host struct{ Address, Name string }

// Machines returns the hosts with their agents' names. A name contains the whole host name, so
// that no two agents have the same.
func (c Config) Machines() (all []Host) {
	for _, h := range c.Hosts {
		_, host, user := strings.Cut(h, "@")
		if !user {
			host = h
		}
		all = append(all, Host{h, bus.AgentNameFor(strings.ReplaceAll(host, ".", "-"))})
	}
	return all
}

// tunnels returns the tunnels that ssh has to open, because agents cannot reach a hub on a
// loopback address. Their tokens contain the same address, which is the tunnel's end there.
func (c Config) tunnels() (all []string) {
	for _, h := range c.Hubs {
		if at, err := netip.ParseAddrPort(h); err == nil && at.Addr().IsLoopback() {
			all = append(all, h+":"+h)
		}
	}
	return all
}

// A block is an address in a NetworkPolicy.
type block struct {
	CIDR netip.Prefix
	Port uint16
}

// blocks returns the hubs' addresses.
func (c Config) blocks() (all []block) {
	for _, h := range c.Hubs {
		if at, err := netip.ParseAddrPort(h); err == nil {
			addr := at.Addr().Unmap()
			all = append(all, block{netip.PrefixFrom(addr, addr.BitLen()), at.Port()})
		}
	}
	return all
}
