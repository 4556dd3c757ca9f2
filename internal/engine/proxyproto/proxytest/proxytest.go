// Package proxytest has a listener for tests of whoever speaks the PROXY protocol.
package proxytest

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"dyno/internal/engine/proxyproto"
)

// A Listener takes the header from each connection that it accepts, and fails the test if it has
// other addresses than the connection.
type Listener struct {
	net.Listener
	Accepted atomic.Int64
	version  string
	t        testing.TB
}

// Wrap has a listener expect headers of a version.
func Wrap(t testing.TB, l net.Listener, version string) *Listener {
	return &Listener{Listener: l, version: version, t: t}
}

// Accept accepts a connection, and takes its header.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return c, err
	}
	want := proxyproto.Append(nil, l.version, proxyproto.AddrOf(c.RemoteAddr()),
		proxyproto.AddrOf(c.LocalAddr()))
	got := make([]byte, len(want))
	switch n, err := io.ReadFull(c, got); {
	case n == 0 && err == io.EOF: // the load ended before it was used
		return c, nil
	case err != nil || !bytes.Equal(got, want):
		l.t.Errorf("a connection begins with %q, %v; want %q", got, err, want)
	}
	l.Accepted.Add(1)
	return c, nil
}
