package ring

import (
	"net"
	"strconv"
)

// zoneIndex is the index of an IPv6 zone, which is given as a number or as an interface's name.
func zoneIndex(name string) uint32 {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n)
	}
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	return 0
}
