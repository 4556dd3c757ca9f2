//go:build !linux

package h3

import "net"

// packets writes a socket's packets.
type packets struct{ conn *net.UDPConn }

func newPackets(c *net.UDPConn) (*packets, error) { return &packets{c}, nil }

func (p *packets) send(b, oob []byte) (n, oobn int, err error) {
	return p.conn.WriteMsgUDP(b, oob, nil)
}
