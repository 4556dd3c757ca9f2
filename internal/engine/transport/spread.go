package transport

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/machine"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// portsUsed is the share of an address's local ports that is counted on. Linux gives out every
// second port first: once these are used up, each connect looks at all of them in vain, which
// takes longer than to connect. Measured: 19,000 connections took 9.9 s of system time from one
// address, and 1.4 s from two.
const portsUsed = 0.45

// SpreadOverSources returns each of the target's addresses from each source, in turn. A pair of the
// two is an address like others, so neither dialing nor the rings know of sources. The sources are
// those of the plan; without any, those of loopback where one alone has too few ports, and then the
// notice says so. An error is a loadplan.Flaw.
func SpreadOverSources(p *loadplan.Plan, addrs []ring.Addr) (all []ring.Addr, notice fact.Args,
	err error) {
	sources := p.SourceAddrs()
	if len(p.Source) > 0 {
		if sources, err = presentSources(p, sources); err != nil {
			return nil, nil, err
		}
	} else if sources, notice = loopbackSources(p, addrs); len(sources) == 0 {
		return addrs, nil, nil
	}
	for _, from := range sources {
		for _, to := range addrs {
			if to.TCP.Addr().Unmap().Is4() == from.Is4() {
				all = append(all, ring.Addr{TCP: to.TCP, From: from})
			}
		}
	}
	if len(all) == 0 {
		return nil, nil, loadplan.Flaw{Setting: "Source",
			Problem: fmt.Sprintf("%v cannot connect to %v: one is IPv4 and the other "+
				"IPv6", p.Source[0], addrs[0])}
	}
	return all, notice, nil
}

// presentSources are the addresses that this machine has. An address that was given by itself must
// be present; of a range, absent ones are left out.
func presentSources(p *loadplan.Plan, asked []netip.Addr) (all []netip.Addr, err error) {
	for _, a := range asked {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err == nil {
			c.Close()
			all = append(all, a)
		}
	}
	for _, s := range p.Source {
		a := s.Range.Addr().WithZone(s.Zone)
		if s.Range.IsSingleIP() && !slices.Contains(all, a) {
			return nil, loadplan.Flaw{Setting: "Source",
				Problem: fmt.Sprintf("%v is no address of this machine", a)}
		}
	}
	if len(all) == 0 {
		return nil, loadplan.Flaw{Setting: "Source",
			Problem: fmt.Sprintf("this machine has no address in %v", p.Source[0])}
	}
	return all, nil
}

// loopbackSources are as many addresses of 127.0.0.0/8 as the connections to a loopback target
// need, with a notice; Linux has them all. None if one is enough.
func loopbackSources(p *loadplan.Plan, addrs []ring.Addr) (all []netip.Addr, notice fact.Args) {
	for _, a := range addrs {
		if ip := a.TCP.Addr().Unmap(); !ip.Is4() || !ip.IsLoopback() {
			return nil, nil
		}
	}
	each := portsUsed * float64(machine.LocalPorts()*len(addrs))
	connections := float64(p.Connections * max(p.Parts, 1)) // all use the same ports
	if each == 0 || connections <= each {
		return nil, nil
	}
	a := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	for n := int(connections/each) + 1; n > 0; n-- {
		all = append(all, a)
		a = a.Next()
	}
	return all, fact.SourcesSpread{From: all[0].String(), To: all[len(all)-1].String(),
		Connections: int(connections)}
}

// CheckPorts refuses more connections than there are local ports to open them from: of so many to
// each address, which it returns; 0: that is not known.
func CheckPorts(p *loadplan.Plan, addrs []ring.Addr) (ports int, err error) {
	ports = machine.LocalPorts()
	if ports == 0 || p.Target.Unix != "" || p.Connections <= ports*len(addrs) {
		return ports, nil
	}
	return ports, loadplan.Flaw{Setting: "Connections", Problem: fmt.Sprintf(
		"%d connections to %d address(es) need as many local ports and there are %d for each; "+
			"give more addresses with {Source}, widen net.ipv4.ip_local_port_range or lower {Connections}",
		p.Connections, len(addrs), ports)}
}

// AreLocal reports whether the server runs on this machine and shares its CPUs.
func AreLocal(addrs []ring.Addr) bool {
	for _, a := range addrs {
		if a.Unix == "" && !a.TCP.Addr().IsLoopback() {
			return false
		}
	}
	return true
}
