package target

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	portableIn  = 16 << 10               // bytes read at once
	lingerMax   = 2 * time.Second        // for how long a client may go on sending
	acceptPause = 100 * time.Millisecond // when there are no file descriptors left
)

// A portable engine has a goroutine for each connection.
type portable struct {
	site     *site
	listener net.Listener

	mu    sync.Mutex // of conns
	conns map[net.Conn]bool
}

func newPortable(s *site, l net.Listener) engine {
	return &portable{site: s, listener: l, conns: map[net.Conn]bool{}}
}

func (p *portable) serveUntil(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		<-ctx.Done()
		p.listener.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for c := range p.conns {
			c.Close()
		}
		p.conns = nil
	})
	err := p.acceptLoop(ctx, &group)
	cancel()
	group.Wait()
	return err
}

func (p *portable) acceptLoop(ctx context.Context, group *sync.WaitGroup) error {
	for {
		c, err := p.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case err == nil:
			group.Go(func() { p.serveConn(ctx, c) })
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			sleepContext(ctx, acceptPause)
		case errors.Is(err, syscall.ECONNABORTED):
		default:
			return err
		}
	}
}

// trackConn keeps c to be closed at the end, unless that has come.
func (p *portable) trackConn(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *portable) serveConn(ctx context.Context, c net.Conn) {
	defer c.Close()
	if !p.trackConn(c) {
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	}()
	w := &worker{site: p.site, count: &p.site.counts[0], answer: p.site.answer.cloneHeads()}
	pc := portableConn{Conn: c, in: make([]byte, 0, portableIn)}
	pc.session.beginConn(w)
	for pc.answerOnce(ctx) {
	}
	if pc.session.closing && pc.session.gently {
		closeAfterAnswer(c)
	}
}

// A portableConn is a session and its socket.
type portableConn struct {
	net.Conn
	session session
	in, out []byte
	second  int64 // of the date in the heads
}

// answerOnce reads once and answers what has come. It tells whether to go on.
func (c *portableConn) answerOnce(ctx context.Context) bool {
	c.in = slices.Grow(c.in, portableIn/4)
	k, err := c.Read(c.in[len(c.in):cap(c.in)])
	if err != nil {
		return false
	}
	c.in = c.in[:len(c.in)+k]
	s := &c.session
	site := s.worker.site
	if t := time.Now(); t.Unix() != c.second {
		c.second = t.Unix()
		s.worker.answer.refreshDate(t)
	}
	now := site.sinceStart()
	if until := site.stallEnd(now); until > now {
		sleepContext(ctx, time.Duration(until-now))
		now = site.sinceStart()
	}
	for {
		n, out, need := s.answerRequests(now, c.in, c.out[:0])
		c.in = c.in[:copy(c.in, c.in[n:])]
		if need == serving {
			if c.writeAnswer(out) != nil || !sleepContext(ctx, time.Duration(s.end-site.sinceStart())) {
				return false
			}
			out = s.appendReply(out[:0])
			now = site.sinceStart()
		}
		if c.writeAnswer(out) != nil || s.closing {
			return false
		}
		if need == input {
			return true
		}
	}
}

// writeAnswer sends out and what is due of the body.
func (c *portableConn) writeAnswer(out []byte) error {
	c.out = out
	w := c.session.worker
	unsent := net.Buffers{out, w.answer.body[len(w.answer.body)-c.session.body:]}
	total := len(out) + c.session.body
	c.session.body = 0
	n, err := unsent.WriteTo(c.Conn)
	if err != nil {
		w.count.sent.Add(n - int64(total))
	}
	return err
}

// closeAfterAnswer ends a connection so that the client gets all of the answer even when
// it is still sending: closing with bytes unread would reset it.
func closeAfterAnswer(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.SetReadDeadline(time.Now().Add(lingerMax))
		io.Copy(io.Discard, c)
	}
}

// sleepContext waits for d, and tells whether it did until the end.
func sleepContext(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
