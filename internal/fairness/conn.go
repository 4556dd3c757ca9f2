package fairness

import (
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
