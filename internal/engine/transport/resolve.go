package transport

import (
	"context"
	"net"
	"net/netip"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// ResolveTarget finds the addresses that connections lead to, the target's or its proxy's, each
// once and in the resolver's order, and how long that took (0 when there was nothing to look up).
// It waits no longer than the plan's Connecting. An error is the resolver's.
func ResolveTarget(ctx context.Context, p *loadplan.Plan) ([]ring.Addr, time.Duration, error) {
	if p.Target.Unix != "" {
		return []ring.Addr{{Unix: p.Target.Unix}}, 0, nil
	}
	host, port := p.Dialed()
	if len(p.Addresses) > 0 {
		return distinctAddrs(p.Addresses, port), 0, nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []ring.Addr{{TCP: netip.AddrPortFrom(a, port)}}, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.Connecting))
	defer cancel()
	began := time.Now()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, 0, err
	}
	return distinctAddrs(found, port), time.Since(began), nil
}

// distinctAddrs returns each address once, with the port, in the order found.
func distinctAddrs(found []netip.Addr, port uint16) (all []ring.Addr) {
	seen := map[netip.Addr]bool{}
	for _, a := range found {
		if a = a.Unmap(); !seen[a] {
			seen[a] = true
			all = append(all, ring.Addr{TCP: netip.AddrPortFrom(a, port)})
		}
	}
	return all
}
