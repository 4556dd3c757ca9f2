package fairness

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"dyno/internal/engine/h3"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/transport"
)

// A line carries a codec's bytes both ways at once: a server may answer while it still reads, and
// a codec may have to answer before more can be sent.
type line interface {
	// send begins to send b, which may not change until it is sent. One send is under way at most.
	send(b []byte)
	// wait returns what happens next; an error if nothing does until then, or until ctx ends.
	wait(ctx context.Context, until time.Time) (arrival, error)
	close()
}

// An arrival is what happened on a line.
type arrival struct {
	data []byte // the caller's from now on
	err  error  // nothing follows data; io.EOF: the peer closed
	sent bool   // what was to be sent is, or never will be
}

// A streamLine is a line over TCP, TLS or a unix socket.
type streamLine struct {
	net.Conn
	arrivals chan arrival
	over     chan struct{}
	all      sync.WaitGroup
}

// readPiece is how much is read at once, in bytes.
const readPiece = 32 << 10

func newStreamLine(c net.Conn) *streamLine {
	l := &streamLine{Conn: c, arrivals: make(chan arrival), over: make(chan struct{})}
	l.all.Go(func() {
		for {
			b := make([]byte, readPiece)
			n, err := c.Read(b)
			if !l.report(arrival{data: b[:n], err: err}) || err != nil {
				return
			}
		}
	})
	return l
}

// report hands on what happened, and reports false if nobody wants to know.
func (l *streamLine) report(a arrival) bool {
	select {
	case l.arrivals <- a:
		return true
	case <-l.over:
		return false
	}
}

func (l *streamLine) send(b []byte) {
	l.all.Go(func() {
		l.Write(b) // where it fails, reading says why
		l.report(arrival{sent: true})
	})
}

func (l *streamLine) wait(ctx context.Context, until time.Time) (arrival, error) {
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case a := <-l.arrivals:
		return a, nil
	case <-late.C:
		return arrival{}, context.DeadlineExceeded
	case <-ctx.Done():
		return arrival{}, ctx.Err()
	}
}

func (l *streamLine) close() {
	close(l.over)
	l.Conn.SetDeadline(time.Unix(1, 0)) // else TLS waits to say goodbye to one who does not read
	l.Conn.Close()
	l.all.Wait()
}

// A quicLine is a line of HTTP/3: a ring of its own with one connection.
type quicLine struct {
	ring    *h3.Ring
	free    func()
	to      ring.Addr
	secrecy atomic.Pointer[Secrecy]
	fd      int
	sent    bool // which is to be reported
}

// dialQUIC connects to that address of the name which answers first, and to that one from then on.
func (a *asker) dialQUIC(ctx context.Context) (*quicLine, error) {
	within, cancel := context.WithTimeout(ctx, a.timeout())
	defer cancel()
	all, err := a.Addresses(within)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	l, err := transport.First(ctx, all, a.dialQUICTo, func(l *quicLine) { l.close() })
	if err != nil {
		return nil, connectError(ctx, err)
	}
	a.Keep(l.to)
	a.here, a.secrecy = l.to.TCP.Addr().IsLoopback(), l.secrecy.Load()
	return l, nil
}

// dialQUICTo connects to an address.
func (a *asker) dialQUICTo(ctx context.Context, to ring.Addr) (*quicLine, error) {
	l := &quicLine{to: to}
	o := a.HTTP3()
	o.TLS.VerifyConnection = func(s tls.ConnectionState) error {
		l.secrecy.Store(describeTLS(s))
		return nil
	}
	var err error
	l.ring, l.free, err = h3.Open(o, a.codecs.reqs, a.wanted(), []ring.Addr{to})
	if err != nil {
		return nil, err
	}
	if err := l.connect(ctx, a.timeout()); err != nil {
		l.free()
		return nil, err
	}
	return l, nil
}

// connect waits until the handshake is over.
func (l *quicLine) connect(ctx context.Context, timeout time.Duration) (err error) {
	if l.fd, err = l.ring.Connect(0, 0); err != nil {
		return err
	}
	done, err := l.next(ctx, time.Now().Add(timeout))
	if err == nil && done.Op == ring.Connected {
		err = done.Err
	}
	if err != nil {
		l.ring.Close(l.fd, false)
	}
	return err
}

func (l *quicLine) send(b []byte) { l.sent = l.ring.Send(l.fd, b) }

func (l *quicLine) wait(ctx context.Context, until time.Time) (arrival, error) {
	if l.sent {
		l.sent = false
		return arrival{sent: true}, nil
	}
	done, err := l.next(ctx, until)
	if err != nil {
		return arrival{}, err
	}
	return arrival{data: append([]byte(nil), done.Data...), err: done.Err}, nil
}

// look is how often the context of a ring's wait is looked at.
const look = 20 * time.Millisecond

// next is the ring's next completion.
func (l *quicLine) next(ctx context.Context, until time.Time) (ring.Completion, error) {
	for {
		if done, ok := l.ring.Next(); ok {
			return done, nil
		}
		left := time.Until(until)
		switch {
		case ctx.Err() != nil:
			return ring.Completion{}, ctx.Err()
		case left <= 0:
			return ring.Completion{}, context.DeadlineExceeded
		}
		if err := l.ring.Wait(ring.Clock() + int64(min(left, look))); err != nil {
			return ring.Completion{}, err
		}
	}
}

func (l *quicLine) close() {
	l.ring.Close(l.fd, false)
	l.free()
}
