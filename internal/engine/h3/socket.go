package h3

import (
	"net"
	"net/netip"

	"dyno/internal/engine/ring"
)

// A socket is a UDP socket that is connected, which quic-go does not know of.
type socket struct {
	*net.UDPConn
	*packets
}

// dialUDP connects a socket. Nothing is sent.
func dialUDP(to ring.Addr) (socket, error) {
	var from *net.UDPAddr
	if to.From.IsValid() {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.From, 0))
	}
	addr := netip.AddrPortFrom(to.TCP.Addr().Unmap(), to.TCP.Port())
	c, err := net.DialUDP("udp", from, net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return socket{}, ring.Errno(err)
	}
	p, err := newPackets(c)
	if err != nil {
		c.Close()
		return socket{}, ring.Errno(err)
	}
	return socket{c, p}, nil
}

// WriteTo writes to the peer, which is the only address that there can be.
func (s socket) WriteTo(b []byte, _ net.Addr) (int, error) { return s.Write(b) }

// WriteMsgUDP likewise.
func (s socket) WriteMsgUDP(b, oob []byte, _ *net.UDPAddr) (n, oobn int, err error) {
	return s.send(b, oob)
}
