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

// listenWith serves each connection with a function, until the test ends. The function need not
// close the connection.
func listenWith(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveListener(t, l, serve)
	return l
}

// serveListener does so on a given listener.
func serveListener(t *testing.T, l net.Listener, serve func(net.Conn)) {
	t.Cleanup(startServing(l, serve))
}

// startServing does so until the returned function is called.
func startServing(l net.Listener, serve func(net.Conn)) (end func()) {
	s := &server{open: map[net.Conn]bool{}}
	s.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if !s.keepConn(c) {
				c.Close()
				return
			}
			s.running.Go(func() {
				serve(c)
				s.dropConn(c)
			})
		}
	})
	return func() {
		l.Close()
		s.closeServer()
	}
}

// A server knows its connections, so that it can end.
type server struct {
	running sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
	over    bool
}

func (s *server) keepConn(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = true
	return !s.over
}

func (s *server) dropConn(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	c.Close()
}

func (s *server) closeServer() {
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

// readRequest reads a request without a body, and reports whether it came.
func readRequest(c net.Conn) bool {
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

// answerWith answers every request with the same words.
func answerWith(words string) func(net.Conn) {
	bytes := []byte(words) // once: they may be many
	return func(c net.Conn) {
		for readRequest(c) {
			if _, err := c.Write(bytes); err != nil {
				return
			}
		}
	}
}

// answerOnceWith answers one request, and closes.
func answerOnceWith(words string) func(net.Conn) {
	return func(c net.Conn) {
		if readRequest(c) {
			io.WriteString(c, words)
		}
	}
}

// resetAfter answers with words, and resets the connection.
func resetAfter(words string) func(net.Conn) {
	return func(c net.Conn) {
		if readRequest(c) {
			io.WriteString(c, words)
			time.Sleep(50 * time.Millisecond) // a reset overtakes what has not been read
			c.(*net.TCPConn).SetLinger(0)
		}
	}
}

// neverAnswer reads, and writes nothing.
func neverAnswer(c net.Conn) { io.Copy(io.Discard, c) }

// readAndStaySilent closes each connection without an answer.
func readAndStaySilent(c net.Conn) { readRequest(c) }

// beginAnswer sends the first byte of an answer, and no more.
func beginAnswer(c net.Conn) {
	readRequest(c)
	c.Write([]byte(answer[:1]))
	io.Copy(io.Discard, c)
}

// dripAnswer answers one byte a second.
func dripAnswer(c net.Conn) {
	readRequest(c)
	for _, b := range []byte(answer) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// endlessBody sends a header that does not end, of 1 GB at the least.
func endlessBody(c net.Conn) {
	readRequest(c)
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
	readRequest(c)
	io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Field: ")
	part := strings.Repeat("x", 64<<10)
	for sent := 0; sent < 1<<30; sent += len(part) {
		if _, err := io.WriteString(c, part); err != nil {
			return
		}
	}
}

// dyingServer answers n requests in all. Then it closes its listener, and then its connections: none
// is accepted any more by the kernel when the first of them is lost.
func dyingServer(t *testing.T, n int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int64
	var dead sync.Once
	serveListener(t, l, func(c net.Conn) {
		for readRequest(c) {
			if answered.Add(1) > n {
				dead.Do(func() { l.Close() })
				return
			}
			io.WriteString(c, answer)
		}
	})
	return l.Addr().String()
}

// refusingAddress returns an address at which nobody listens while the test runs.
func refusingAddress(t *testing.T) string {
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
