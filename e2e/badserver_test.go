//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// listen serves each connection with a function, which need not close it, until
// the test ends.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, serve)
	return l
}

// serveOn does so on a listener that is there.
func serveOn(t *testing.T, l net.Listener, serve func(net.Conn)) {
	t.Cleanup(serving(l, serve))
}

// serving does so until the function is called that it returns.
func serving(l net.Listener, serve func(net.Conn)) (end func()) {
	s := &server{open: map[net.Conn]bool{}}
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !s.keep(c) {
				c.Close()
				return
			}
			s.running.Go(func() {
				serve(c)
				s.drop(c)
			})
		}
	})
	return func() {
		l.Close()
		s.end()
	}
}

// A server knows its connections, so that it can end.
type server struct {
	running sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
	over    bool
}

func (s *server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = true
	return !s.over
}

func (s *server) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	c.Close()
}

func (s *server) end() {
	s.mu.Lock()
	s.over = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// answer is a proper one.
const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// asked reads a request, of which there is no body, and reports whether it came.
func asked(c net.Conn) bool {
	tail := make([]byte, 0, 4)
	for b := make([]byte, 1); ; {
		if _, err := c.Read(b); err != nil {
			return false
		}
		if tail = append(tail, b[0]); len(tail) > 4 {
			tail = tail[1:]
		}
		if string(tail) == "\r\n\r\n" {
			return true
		}
	}
}

// saying answers every request with the same words.
func saying(words string) func(net.Conn) {
	bytes := []byte(words) // once: they may be many
	return func(c net.Conn) {
		for asked(c) {
			if _, err := c.Write(bytes); err != nil {
				return
			}
		}
	}
}

// sayingOnce closes after the first.
func sayingOnce(words string) func(net.Conn) {
	return func(c net.Conn) {
		if asked(c) {
			io.WriteString(c, words)
		}
	}
}

// resetting sends a reset after the words.
func resetting(words string) func(net.Conn) {
	return func(c net.Conn) {
		if asked(c) {
			io.WriteString(c, words)
			time.Sleep(50 * time.Millisecond) // a reset overtakes what has not been read
			c.(*net.TCPConn).SetLinger(0)
		}
	}
}

// silent accepts, and reads, and says nothing.
func silent(c net.Conn) { io.Copy(io.Discard, c) }

// mute closes each connection without an answer.
func mute(c net.Conn) { asked(c) }

// dripping answers one byte a second.
func dripping(c net.Conn) {
	asked(c)
	for _, b := range []byte(answer) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// endless sends a header that does not end, of 1 GB at the least.
func endless(c net.Conn) {
	asked(c)
	io.WriteString(c, "HTTP/1.1 200 OK\r\n")
	field := strings.Repeat("X-Field: "+strings.Repeat("x", 1000)+"\r\n", 64)
	for sent := 0; sent < 1<<30; sent += len(field) {
		if _, err := io.WriteString(c, field); err != nil {
			return
		}
	}
}

// endlessLine sends a header line that does not end.
func endlessLine(c net.Conn) {
	asked(c)
	io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Field: ")
	part := strings.Repeat("x", 64<<10)
	for sent := 0; sent < 1<<30; sent += len(part) {
		if _, err := io.WriteString(c, part); err != nil {
			return
		}
	}
}

// dying answers n requests in all and then is gone, with its connections.
func dying(t *testing.T, n int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int64
	serveOn(t, l, func(c net.Conn) {
		for asked(c) {
			if answered.Add(1) > n {
				l.Close()
				return
			}
			io.WriteString(c, answer)
		}
	})
	return l.Addr().String()
}

// refusing is an address at which nobody listens, nor can while the test runs.
func refusing(t *testing.T) string {
	_, addr := boundSocket(t)
	return addr
}

// boundSocket has a port and does not listen.
func boundSocket(t *testing.T) (fd int, addr string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		t.Cleanup(func() { syscall.Close(fd) })
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var at syscall.Sockaddr
	if err == nil {
		at, err = syscall.Getsockname(fd)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd, fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}
