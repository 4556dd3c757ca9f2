package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/tunnel"
	"dyno/internal/engine/proxyproto"
	"dyno/internal/engine/ring"
)

// A Dialer opens connections as a plan's load does, one at a time, for whoever asks the server
// outside of a load: whether it is ready, what it answers. It and Protocols, for the load's rings,
// are the only ones that know what a connection needs before its first request, so that a setting
// of connections concerns nobody else.
type Dialer struct {
	plan   loadplan.Plan
	config *tls.Config // nil: without TLS
	to     []ring.Addr // the address that was reached first; before that, none
	begun  atomic.Int64
}

// NewDialer makes a Dialer. Its error is of type loadplan.Flaw, or joins several.
func NewDialer(w loadplan.Way) (*Dialer, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	d := &Dialer{plan: w.Plan}
	if !d.plan.Target.TLS {
		return d, nil
	}
	names, _ := d.plan.OfferedProtocols()
	config, err := d.plan.TLSConfig()
	if err != nil {
		return nil, err
	}
	offerNames(&d.plan, config, names)
	d.config = config
	return d, nil
}

// Begun is how many TCP connects were begun, each of which the kernel counts.
func (d *Dialer) Begun() int64 { return d.begun.Load() }

// Protocol is a protocol that connections may speak, by its name in loadplan: the load's.
func (d *Dialer) Protocol(name string) proto.Protocol {
	if name == loadplan.HTTP3 {
		return h3.Protocol(d.HTTP3())
	}
	return protocolOf(&d.plan, name)
}

// HTTP3 are the options of a ring of HTTP/3. TLS in it is a copy.
func (d *Dialer) HTTP3() h3.Options { return http3Options(&d.plan, d.config.Clone()) }

// Open opens a connection, to that address of the name which connects first, and to that one from
// then on. It is ready for a request: with TLS it is a *tls.Conn after its handshake. It waits no
// longer than the plan's Connecting.
func (d *Dialer) Open(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(d.plan.Connecting))
	defer cancel()
	all, err := d.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	o, err := First(ctx, all, d.connect, func(o opened) { o.Close() })
	if err != nil {
		return nil, err
	}
	d.Keep(o.to)
	c, err := d.begin(ctx, o.Conn)
	if err != nil {
		o.Close()
		return nil, err
	}
	return c, nil
}

// Addresses are where to connect to, each once: what Keep said, or what the target's name resolves
// to.
func (d *Dialer) Addresses(ctx context.Context) ([]ring.Addr, error) {
	if d.to != nil {
		return d.to, nil
	}
	all, _, err := ResolveTarget(ctx, &d.plan)
	if err == nil && len(d.plan.Source) > 0 {
		all, _, err = SpreadOverSources(&d.plan, all)
	}
	return slices.CompactFunc(all, func(a, b ring.Addr) bool { return a.TCP == b.TCP }), err
}

// Keep has all further connections lead to an address.
func (d *Dialer) Keep(to ring.Addr) { d.to = []ring.Addr{to} }

// An opened is a connection to an address.
type opened struct {
	net.Conn
	to ring.Addr
}

// connect opens a socket.
func (d *Dialer) connect(ctx context.Context, to ring.Addr) (opened, error) {
	by := net.Dialer{Control: func(network, _ string, _ syscall.RawConn) error {
		if strings.HasPrefix(network, "tcp") {
			d.begun.Add(1)
		}
		return nil
	}}
	network := "tcp"
	if to.Unix != "" {
		network = "unix"
	}
	if to.From.IsValid() {
		by.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(to.From, 0))
	}
	c, err := by.DialContext(ctx, network, to.String())
	return opened{c, to}, err
}

// begin does what comes before the first request.
func (d *Dialer) begin(ctx context.Context, c net.Conn) (net.Conn, error) {
	if until, has := ctx.Deadline(); has {
		c.SetDeadline(until)
		defer c.SetDeadline(time.Time{})
	}
	err := proxyproto.Send(c, d.plan.ProxyProtocol)
	if err == nil && d.plan.Tunnels() {
		err = tunnel.Open(c, tunnelOptions(&d.plan))
	}
	if err != nil || d.config == nil {
		return c, err
	}
	t := tls.Client(c, d.config.Clone())
	return t, t.HandshakeContext(ctx)
}
