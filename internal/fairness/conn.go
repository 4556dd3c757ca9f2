package fairness

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"dyno/internal/engine/proxyproto"
)

// http11 is what ALPN calls HTTP/1.1.
const http11 = "http/1.1"

// A dialer opens connections to one place.
type dialer struct {
	place
	timeout time.Duration
	tls     *tls.Config
	alpn    string // what TLS offers
	proxied string // version of the PROXY protocol's header; "": none is sent

	tried   atomic.Int64 // TCP connects begun, each of which the kernel counts
	here    bool         // the server is on this machine, as far as can be seen
	secrecy *Secrecy
}

// A conn is a connection with the bytes that were read ahead.
type conn struct {
	net.Conn
	r       *bufio.Reader
	timeout time.Duration
	forget  func() bool
}

// dial connects for HTTP/1.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	c, err := d.dialStream(ctx)
	if err != nil {
		return nil, err
	}
	past := time.Unix(1, 0)
	forget := context.AfterFunc(ctx, func() { c.SetDeadline(past) })
	return &conn{c, bufio.NewReaderSize(c, 16<<10), d.timeout, forget}, nil
}

// dialStream connects; the first connect decides which of a name's addresses is asked.
func (d *dialer) dialStream(ctx context.Context) (net.Conn, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	if d.network == "tcp" {
		peer, own := c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr)
		d.address, d.here = peer.String(), peer.IP.IsLoopback() || peer.IP.Equal(own.IP)
	} else {
		d.here = true
	}
	if s, is := c.(*tls.Conn); is {
		d.secrecy = describeTLS(s.ConnectionState())
	}
	return c, nil
}

// connectError is why there is no connection.
func connectError(ctx context.Context, err error) error {
	if cause := contextCause(ctx); cause != nil {
		return externalEnd(cause)
	}
	return fmt.Errorf("cannot connect: %w", err)
}

func (d *dialer) connect(ctx context.Context) (net.Conn, error) {
	by := net.Dialer{Timeout: d.timeout, Control: func(network, _ string, _ syscall.RawConn) error {
		if strings.HasPrefix(network, "tcp") {
			d.tried.Add(1)
		}
		return nil
	}}
	c, err := d.dialWith(ctx, &by)
	if err != nil {
		return c, err
	}
	if err := proxyproto.Send(c, d.proxied); err != nil {
		c.Close()
		return nil, err
	}
	if !d.secure {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	t := tls.Client(c, d.tlsConfig())
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return t, nil
}

// dialWith connects to the socket, or to that address of the name which connects first.
func (d *dialer) dialWith(ctx context.Context, by *net.Dialer) (net.Conn, error) {
	if d.network != "tcp" {
		return by.DialContext(ctx, d.network, d.address)
	}
	all, err := d.addresses(ctx)
	if err != nil {
		return nil, err
	}
	return dialFirst(ctx, all, func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		return by.DialContext(ctx, d.network, to.String())
	}, func(c net.Conn) { c.Close() })
}

// tlsConfig is the configuration of one connection.
func (d *dialer) tlsConfig() *tls.Config {
	config := &tls.Config{}
	if d.tls != nil {
		config = d.tls.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = d.host
	}
	if len(config.NextProtos) == 0 || d.alpn != http11 {
		config.NextProtos = []string{d.alpn}
	}
	return config
}

func (c *conn) close() {
	c.forget()
	c.Conn.Close()
}

// roundTrip sends one request and reads its response. After an error the
// connection is of no more use.
func (c *conn) roundTrip(ctx context.Context, request []byte, p parser) (*response, error) {
	p.r = c.r
	if p.r.Buffered() > 0 {
		return nil, c.excessError()
	}
	began := time.Now()
	end := began.Add(c.timeout)
	if by, has := ctx.Deadline(); has && by.Before(end) {
		end = by
	}
	c.SetDeadline(end)
	if err := ctx.Err(); err != nil { // its cancelling may have come before our deadline
		return nil, externalEnd(err)
	}
	// A server may answer while it still reads, and wait for us to read in turn.
	wrote := make(chan error, 1)
	go func() {
		_, err := c.Write(request)
		wrote <- err
	}()
	r, err := p.readResponse()
	if err != nil || r.closes || r.cut {
		c.SetWriteDeadline(time.Unix(1, 0))
	}
	sent := <-wrote
	switch {
	case timedOut(err):
		return nil, timeoutError(ctx, end.Sub(began), p.wire)
	case err != nil:
		return nil, err
	case !r.cut && c.r.Buffered() > 0:
		return nil, c.excessError()
	case sent != nil && !r.closes && !r.cut:
		return nil, fmt.Errorf("it answered and keeps the connection, but did not take all of the "+
			"request: %w", sent)
	}
	return r, nil
}

func (c *conn) excessError() error {
	b, _ := c.r.Peek(c.r.Buffered())
	return fmt.Errorf("%d bytes came behind the end of the response, %s: "+
		"its Content-Length is too small, or the server answers what nobody asked", len(b), quoteStart(b))
}

// timeoutError says how far an exchange came that waited so long.
func timeoutError(ctx context.Context, waited time.Duration, got int64) error {
	waited = waited.Round(time.Millisecond)
	err := fmt.Errorf("no answer within %v", waited)
	if got > 0 {
		err = fmt.Errorf("the answer was not complete within %v: %d bytes of it had come", waited, got)
	}
	if cause := contextCause(ctx); cause != nil {
		return fmt.Errorf("%w; %w", err, externalEnd(cause))
	}
	return err
}

// contextCause is why ctx ends, also in the instant before it knows.
func contextCause(ctx context.Context) error {
	if by, has := ctx.Deadline(); has && !time.Now().Before(by) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// externalEnd is what ended a Question from outside.
func externalEnd(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the time for all questions was over: %w", err)
	}
	return err
}

func describeTLS(s tls.ConnectionState) *Secrecy {
	out := &Secrecy{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite),
		ALPN: s.NegotiatedProtocol}
	if len(s.PeerCertificates) > 0 {
		out.Key = describeKey(s.PeerCertificates[0])
	}
	return out
}

func describeKey(c *x509.Certificate) string {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return "ECDSA " + k.Curve.Params().Name
	}
	return c.PublicKeyAlgorithm.String()
}
