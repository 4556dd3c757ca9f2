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

func (p *portable) run(ctx context.Context) error {
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
	err := p.accept(ctx, &group)
	cancel()
	group.Wait()
	return err
}

func (p *portable) accept(ctx context.Context, group *sync.WaitGroup) error {
	for {
		c, err := p.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case err == nil:
			group.Go(func() { p.serve(ctx, c) })
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			sleep(ctx, acceptPause)
		case errors.Is(err, syscall.ECONNABORTED):
		default:
			return err
		}
	}
}

// hold keeps c to be closed at the end, unless that has come.
func (p *portable) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *portable) serve(ctx context.Context, c net.Conn) {
	defer c.Close()
	if !p.hold(c) {
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	}()
	w := &worker{site: p.site, count: &p.site.counts[0], answer: p.site.answer.clone()}
	pc := portableConn{Conn: c, in: make([]byte, 0, portableIn)}
	pc.session.open(w)
	for pc.exchange(ctx) {
	}
	if pc.session.closing && pc.session.gently {
		linger(c)
	}
}

// A portableConn is a session and its socket.
type portableConn struct {
	net.Conn
	session session
	in, out []byte
	second  int64 // of the date in the heads
}

// exchange reads once and answers what has come. It tells whether to go on.
func (c *portableConn) exchange(ctx context.Context) bool {
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
		s.worker.answer.refresh(t)
	}
	now := site.now()
	if until := site.stalled(now); until > now {
		sleep(ctx, time.Duration(until-now))
		now = site.now()
	}
	for {
		n, out, need := s.take(now, c.in, c.out[:0])
		c.in = c.in[:copy(c.in, c.in[n:])]
		if need == serving {
			if c.write(out) != nil || !sleep(ctx, time.Duration(s.end-site.now())) {
				return false
			}
			out = s.reply(out[:0])
			now = site.now()
		}
		if c.write(out) != nil || s.closing {
			return false
		}
		if need == input {
			return true
		}
	}
}

// write sends out and what is due of the body.
func (c *portableConn) write(out []byte) error {
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

// linger ends a connection so that the client gets all of the answer even when
// it is still sending: closing with bytes unread would reset it.
func linger(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.SetReadDeadline(time.Now().Add(lingerMax))
		io.Copy(io.Discard, c)
	}
}

// sleep waits for d, and tells whether it did until the end.
func sleep(ctx context.Context, d time.Duration) bool {
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
