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
	"time"
)

// A conn is a connection with the bytes that were read ahead.
type conn struct {
	net.Conn
	r       *bufio.Reader
	timeout time.Duration
	forget  func() bool
}

// dial connects for HTTP/1.
func (a *asker) dial(ctx context.Context) (*conn, error) {
	c, err := a.dialStream(ctx)
	if err != nil {
		return nil, err
	}
	past := time.Unix(1, 0)
	forget := context.AfterFunc(ctx, func() { c.SetDeadline(past) })
	return &conn{c, bufio.NewReaderSize(c, 16<<10), a.timeout(), forget}, nil
}

// timeout is that of an exchange.
func (a *asker) timeout() time.Duration { return time.Duration(a.q.Way.Timeout) }

// dialStream connects.
func (a *asker) dialStream(ctx context.Context) (net.Conn, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	peer, is := c.RemoteAddr().(*net.TCPAddr)
	a.here = !is || peer.IP.IsLoopback() || peer.IP.Equal(c.LocalAddr().(*net.TCPAddr).IP)
	if s, is := c.(*tls.Conn); is {
		a.secrecy = describeTLS(s.ConnectionState())
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
