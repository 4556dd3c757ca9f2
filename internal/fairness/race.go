package fairness

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"dyno/internal/engine/dial"
)

// beside is after how long the next address of a name is tried beside those that do not answer. One
// that fails is followed by the next at once. Source: RFC 8305.
const beside = time.Duration(dial.Delay)

// addresses are those of a TCP or UDP server, each once, in the resolver's order.
func (d *dialer) addresses(ctx context.Context) (all []netip.AddrPort, err error) {
	host, digits, err := net.SplitHostPort(d.address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", digits)
	if err != nil {
		return nil, err
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, ip := range found {
		if a := netip.AddrPortFrom(ip.Unmap(), uint16(port)); !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all, err
}

// dialFirst dials all addresses, at least one, in turn until one connects, and ends the
// dials that are still under way. The error is that of the first address.
func dialFirst[T any](ctx context.Context, all []netip.AddrPort,
	dial func(context.Context, netip.AddrPort) (T, error), drop func(T)) (first T, err error) {
	type outcome struct {
		addr int
		of   T
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, failures := make(chan outcome), make([]error, len(all))
	next := time.NewTimer(0)
	defer next.Stop()
	begun, under, connected := 0, 0, false
	for under > 0 || begun < len(all) && !connected {
		due := next.C
		if begun == len(all) || connected {
			due = nil
		}
		select {
		case <-due:
			at := begun
			begun, under = begun+1, under+1
			go func() {
				of, err := dial(ctx, all[at])
				ended <- outcome{at, of, err}
			}()
			next.Reset(beside)
		case o := <-ended:
			under--
			switch {
			case o.err != nil:
				failures[o.addr] = o.err
				next.Reset(0)
			case connected:
				drop(o.of)
			default:
				first, connected = o.of, true
				cancel()
			}
		}
	}
	if connected {
		return first, nil
	}
	return first, failures[0]
}
