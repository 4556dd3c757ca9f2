package proxyproto

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
)

// Headers are those of the specification, byte for byte.
func TestAppend(t *testing.T) {
	const v2 = "before\r\n\r\n\x00\r\nQUIT\n"
	for _, c := range []struct{ version, from, to, want string }{
		{V1, "192.0.2.1:56324", "198.51.100.2:443", "beforePROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n"},
		{V1, "[2001:db8::1]:1", "[2001:db8::2]:65535", "beforePROXY TCP6 2001:db8::1 2001:db8::2 1 65535\r\n"},
		{V1, "[::ffff:192.0.2.1]:1", "198.51.100.2:2", "beforePROXY TCP4 192.0.2.1 198.51.100.2 1 2\r\n"},
		{V1, "[fe80::1%lo]:1", "[fe80::2%lo]:2", "beforePROXY TCP6 fe80::1 fe80::2 1 2\r\n"},
		{V1, "", "198.51.100.2:443", "beforePROXY UNKNOWN\r\n"},
		{V1, "192.0.2.1:1", "", "beforePROXY UNKNOWN\r\n"},
		{V1, "192.0.2.1:1", "[2001:db8::2]:2", "beforePROXY UNKNOWN\r\n"},
		{V2, "192.0.2.1:56324", "198.51.100.2:443", v2 + "\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x02\xdc\x04\x01\xbb"},
		{V2, "[2001:db8::1]:1", "[2001:db8::2]:258", v2 + "\x21\x21\x00\x24" +
			"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
			"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x01\x02"},
		{V2, "", "", v2 + "\x20\x00\x00\x00"},
	} {
		var from, to netip.AddrPort
		for text, a := range map[string]*netip.AddrPort{c.from: &from, c.to: &to} {
			if text != "" {
				*a = netip.MustParseAddrPort(text)
			}
		}
		if got := string(Append([]byte("before"), c.version, from, to)); got != c.want {
			t.Errorf("%s from %s to %s: %q, want %q", c.version, c.from, c.to, got, c.want)
		}
	}
}

// What is sent on an open connection names its two ends; of a unix socket it names none.
func TestSend(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		at := map[string]string{"tcp": "127.0.0.1:0", "unix": t.TempDir() + "/s"}[network]
		l, err := net.Listen(network, at)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		want := Append(nil, V2, AddrOf(far.RemoteAddr()), AddrOf(far.LocalAddr()))
		if err := Send(c, ""); err != nil {
			t.Error(err)
		}
		if err := Send(c, V2); err != nil {
			t.Error(err)
		}
		c.Close()
		if got, err := io.ReadAll(far); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", network, got, err, want)
		}
		far.Close()
	}
}
