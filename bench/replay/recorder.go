//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A recorder is a server that notes when the kernel received each request. Over loopback that is
// within the sender's own call, so that it is when the request was sent, whoever was busy then.
type recorder struct {
	listener net.Listener
	mu       sync.Mutex
	at       map[string]int64 // ns, by URL
}

func startRecorder(n int) (*recorder, error) {
	var failed error
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		err := raw.Control(func(fd uintptr) { // connections inherit it
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
		return errors.Join(err, failed)
	}}
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &recorder{listener: l, at: make(map[string]int64, n)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c.(*net.TCPConn))
		}
	}()
	return r, nil
}

func (r *recorder) url() string { return "http://" + r.listener.Addr().String() }

func (r *recorder) close() { r.listener.Close() }

// serve answers the requests of a connection, which come one at a time.
func (r *recorder) serve(c *net.TCPConn) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	buf, oob := make([]byte, 4096), make([]byte, 256)
	for {
		var n, more int
		failed := raw.Read(func(fd uintptr) bool {
			n, more, _, _, err = syscall.Recvmsg(int(fd), buf, oob, 0)
			return err != syscall.EAGAIN
		})
		if failed != nil || err != nil || n == 0 {
			return
		}
		line, _, _ := bytes.Cut(buf[:n], []byte("\r\n"))
		parts := bytes.Split(line, []byte(" "))
		if at := timestamp(oob[:more]); at != 0 && len(parts) == 3 {
			r.mu.Lock()
			r.at[string(parts[1])] = at
			r.mu.Unlock()
		}
		if _, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
	}
}

// timestamp is the time in a message's control data, in ns; 0 if there is none.
func timestamp(oob []byte) int64 {
	all, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for _, m := range all {
		if m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			n := binary.NativeEndian
			return int64(n.Uint64(m.Data))*1e9 + int64(n.Uint64(m.Data[8:]))
		}
	}
	return 0
}

// report compares the times with those that were intended.
func (r *recorder) report(times []due, sendLag float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var offs []float64
	early, missing, last := 0, 0, int64(math.MinInt64)
	before := due{}
	for i, d := range times {
		at, seen := r.at[d.url]
		if !seen {
			missing++
			continue
		}
		if i > 0 {
			if was, known := r.at[before.url]; known {
				offs = append(offs, math.Abs(float64(at-was-(d.at-before.at)))/1e3)
			}
		}
		if at < last {
			early++
		}
		before, last = d, max(last, at)
	}
	if len(offs) == 0 {
		fmt.Println("  no time was recorded")
		return
	}
	slices.Sort(offs)
	p99 := offs[len(offs)*99/100]
	fmt.Printf("  sent: %d of %d, of which %d before one that was due earlier\n", len(times)-missing,
		len(times), early)
	fmt.Printf("  spacing error p50 %.0f µs, p99 %.0f µs, max %.0f µs; the generator's own send "+
		"lag p99 %.0f µs; ratio %.2f\n", offs[len(offs)/2], p99, offs[len(offs)-1], sendLag, p99/sendLag)
}
