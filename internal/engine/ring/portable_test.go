package ring

import (
	"net"
	"testing"
)

// TestPortableForgets closes a connection of which there is more to tell.
func TestPortableForgets(t *testing.T) {
	addr := serveTCP(t, func(c net.Conn) { c.Write([]byte("x")) })
	r, free, err := openPortable([]Addr{addr}, Size{Sockets: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	for _, gently := range []bool{false, true} {
		fd := connect(t, r, 1)
		if err := r.Wait(r.Now() + patience); err != nil {
			t.Fatal(err)
		}
		r.Close(fd, gently)
		quiet(t, r)
	}
}
