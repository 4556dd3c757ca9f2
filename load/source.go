package load

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"dyno/ring"
)

// sourcesMost is from how many local addresses a run connects at most.
const sourcesMost = 1 << 12

// portsUsed is the share of an address's local ports that is counted on: others use some.
const portsUsed = 0.8

// spread has each of the target's addresses from each source, in turn. The sources are those
// of the plan; without any, those of loopback where one alone has too few ports.
func (r *run) spread(addrs []ring.Addr) ([]ring.Addr, error) {
	sources := r.plan.sources()
	if len(r.plan.Source) > 0 {
		var err error
		if sources, err = r.present(sources); err != nil {
			return nil, err
		}
	} else if sources = r.loopbacks(addrs); len(sources) == 0 {
		return addrs, nil
	}
	var all []ring.Addr
	for _, from := range sources {
		for _, to := range addrs {
			if to.TCP.Addr().Unmap().Is4() == from.Is4() {
				all = append(all, ring.Addr{TCP: to.TCP, From: from})
			}
		}
	}
	if len(all) == 0 {
		return nil, Flaw{"--source", fmt.Sprintf("%v cannot connect to %v: one is IPv4 and the other "+
			"IPv6", r.plan.Source[0], addrs[0])}
	}
	return all, nil
}

// sources are the addresses of the plan's ranges.
func (p *Plan) sources() (all []netip.Addr) {
	for _, s := range p.Source {
		for a := s.Masked().Addr(); s.Contains(a) && len(all) < sourcesMost; a = a.Next() {
			all = append(all, a)
		}
	}
	return all
}

// present are those of the addresses that this machine has. One that was named by itself must
// be there; of a range the others are left out.
func (r *run) present(asked []netip.Addr) (all []netip.Addr, err error) {
	for _, a := range asked {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err == nil {
			c.Close()
			all = append(all, a)
		}
	}
	for _, s := range r.plan.Source {
		if s.IsSingleIP() && !slices.Contains(all, s.Addr()) {
			return nil, Flaw{"--source", fmt.Sprintf("%v is no address of this machine", s.Addr())}
		}
	}
	if len(all) == 0 {
		return nil, Flaw{"--source", fmt.Sprintf("this machine has no address in %v", r.plan.Source[0])}
	}
	return all, nil
}

// loopbacks are as many addresses of 127.0.0.0/8, all of which Linux has, as the connections
// need to a target there; none if one is enough.
func (r *run) loopbacks(addrs []ring.Addr) (all []netip.Addr) {
	for _, a := range addrs {
		if ip := a.TCP.Addr().Unmap(); !ip.Is4() || !ip.IsLoopback() {
			return nil
		}
	}
	each := portsUsed * float64(localPorts()*len(addrs))
	connections := float64(r.plan.Connections * max(r.plan.Parts, 1)) // all use the same ports
	if each == 0 || connections <= each {
		return nil
	}
	a := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	for n := int(connections/each) + 1; n > 0; n-- {
		all = append(all, a)
		a = a.Next()
	}
	r.notice(fmt.Sprintf("connects from %v to %v: one address has too few ports for %.0f connections",
		all[0], all[len(all)-1], connections))
	return all
}

// checkSource is Check of where connections come from.
func (p *Plan) checkSource(flaw func(bool, string, string, ...any)) {
	flaw(len(p.Source) > 0 && p.Target.Unix != "", "--source", "a unix socket has no address")
	count := 0.0
	for _, s := range p.Source {
		count += float64(uint64(1) << min(s.Addr().BitLen()-s.Bits(), 62))
	}
	flaw(count > sourcesMost, "--source", "%.0f addresses; at most %d", count, sourcesMost)
}
