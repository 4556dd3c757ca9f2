// Package proxyproto writes the header of the PROXY protocol: who opened a connection, and to whom.
// A server that is configured for it takes these addresses for the client's, as behind a load
// balancer (HAProxy, "The PROXY protocol", versions 1 and 2).
package proxyproto

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// The versions of the header.
const (
	V1 = "v1" // a line of text
	V2 = "v2" // binary
)

// Versions are all versions.
var Versions = []string{V1, V2}

// signature begins a header of version 2.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// Of version 2: version and command, and family and protocol.
const (
	local    = 0x20 // the connection is the sender's own: its addresses are those of the sockets
	proxy    = 0x21
	unknown  = 0x00
	overTCP4 = 0x11
	overTCP6 = 0x21
)

// Append appends the header of a connection from one address to another, in one of Versions. If
// either is not known, or both are of unix sockets, the header says so.
func Append(b []byte, version string, from, to netip.AddrPort) []byte {
	source, dest := from.Addr().Unmap().WithZone(""), to.Addr().Unmap().WithZone("")
	known := source.IsValid() && dest.IsValid() && source.Is4() == dest.Is4()
	if version == V1 {
		if !known {
			return append(b, "PROXY UNKNOWN\r\n"...)
		}
		family := "TCP6"
		if source.Is4() {
			family = "TCP4"
		}
		return fmt.Appendf(b, "PROXY %s %v %v %d %d\r\n", family, source, dest, from.Port(), to.Port())
	}
	b = append(b, signature...)
	if !known {
		return append(b, local, unknown, 0, 0)
	}
	family := byte(overTCP6)
	if source.Is4() {
		family = overTCP4
	}
	addresses := slices.Concat(source.AsSlice(), dest.AsSlice())
	b = append(b, proxy, family)
	b = binary.BigEndian.AppendUint16(b, uint16(len(addresses)+4))
	b = append(b, addresses...)
	b = binary.BigEndian.AppendUint16(b, from.Port())
	return binary.BigEndian.AppendUint16(b, to.Port())
}

// Send sends the header of an open connection. A version of "" sends nothing.
func Send(c net.Conn, version string) error {
	if version == "" {
		return nil
	}
	_, err := c.Write(Append(nil, version, AddrOf(c.LocalAddr()), AddrOf(c.RemoteAddr())))
	return err
}

// AddrOf is an address of TCP; the zero address of any other.
func AddrOf(a net.Addr) netip.AddrPort {
	if tcp, is := a.(*net.TCPAddr); is {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}
