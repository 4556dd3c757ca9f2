//go:build !linux

package h3

import "net"

// packets writes a socket's packets.
type packets struct{ conn *net.UDPConn }

func newPackets(c *net.UDPConn) (*packets, error) { return &packets{c}, nil }

// WriteMsgUDP writes to the peer, which is the only address that there can be.
func (p *packets) WriteMsgUDP(b, oob []byte, _ *net.UDPAddr) (n, oobn int, err error) {
	return p.conn.WriteMsgUDP(b, oob, nil)
}
