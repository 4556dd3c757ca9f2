//go:build amd64 || arm64

package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// loops is the engine of Linux: one loop without Service, where the queue needs
// a single one, or as many as there are workers.
type loops struct {
	all  []*loop
	path string // of the unix socket
}

// newEngine makes the loops, which take over l.
func newEngine(s *site, l net.Listener) (engine, error) {
	n := s.Workers
	if s.queue != nil {
		n = 1
	}
	e := &loops{}
	listeners, err := e.openListeners(l, n)
	if err != nil {
		return nil, err
	}
	for i, fd := range listeners {
		lo, err := newLoop(s, &s.counts[i], fd)
		if err != nil {
			for _, fd := range listeners[i:] {
				syscall.Close(fd)
			}
			e.closeLoops()
			return nil, fmt.Errorf("--ring %s: event loop %d: %w", s.Ring, i, err)
		}
		if e.path != "" && n > 1 {
			lo.acceptMax = 1 // leave some to the others
		}
		e.all = append(e.all, lo)
	}
	l.Close()
	return e, nil
}

// newRing makes the ring of a loop. io_uring is for who asks for it: it serves a
// hundred busy connections with less, and one connection with more.
func newRing(kind string, l *loop) (ring, error) {
	if kind == "uring" {
		return newURing(l)
	}
	return newEpoll(l)
}

// openListeners makes n descriptors that listen where l does. Several TCP sockets
// can share one port, the kernel then spreads connections over them; a unix
// socket is shared itself. The Go runtime is not to watch them, so they are
// duplicates of what package net has made.
func (e *loops) openListeners(l net.Listener, n int) (fds []int, err error) {
	defer func() {
		for _, fd := range fds {
			if err != nil {
				syscall.Close(fd)
			}
		}
	}()
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
		e.path = l.Addr().String()
	} else if n > 1 {
		if err := withDescriptor(l, setReusePort); err != nil {
			return nil, fmt.Errorf("--workers %d: sharing the port: %w", n, err)
		}
	}
	for i := range n {
		if i > 0 && e.path == "" {
			config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
				return withRawDescriptor(c, setReusePort)
			}}
			l, err = config.Listen(context.Background(), "tcp", l.Addr().String())
			if err != nil {
				return fds, fmt.Errorf("--workers %d: sharing the port: %w", n, err)
			}
			defer l.Close()
		}
		fd := -1
		err := withDescriptor(l, func(raw int) (err error) {
			fd, err = duplicateDescriptor(raw)
			return err
		})
		if err != nil {
			return fds, fmt.Errorf("duplicating the listening socket: %w", err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func setReusePort(fd int) error {
	return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, reusePort, 1)
}

func duplicateDescriptor(fd int) (int, error) {
	n, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if e != 0 {
		return -1, e
	}
	// Connections inherit this; unix sockets do not know it.
	syscall.SetsockoptInt(int(n), syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	return int(n), nil
}

// withDescriptor calls do with the descriptor of l.
func withDescriptor(l net.Listener, do func(fd int) error) error {
	c, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	return withRawDescriptor(c, do)
}

func withRawDescriptor(c syscall.RawConn, do func(fd int) error) (err error) {
	return errors.Join(c.Control(func(fd uintptr) { err = do(int(fd)) }), err)
}

// raiseFileLimit has the process have as many open files as it may: a server cannot know
// how many will come. Root may have as many as the kernel allows unless told otherwise.
func raiseFileLimit() {
	const most = 1 << 20
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Max < most {
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
	}
}

// serveUntil runs the loops, each on a thread.
func (e *loops) serveUntil(ctx context.Context) error {
	raiseFileLimit()
	// A loop that sweeps, or waits with a limit, does not give its processor back to the
	// scheduler.
	if n := len(e.all) + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running, waking sync.WaitGroup
	errs := make([]error, len(e.all))
	for i, l := range e.all {
		running.Go(func() {
			defer cancel()
			if err := l.runLoop(); err != nil {
				errs[i] = fmt.Errorf("event loop %d: %w", i, err)
			}
		})
	}
	waking.Go(func() {
		<-ctx.Done()
		for _, l := range e.all {
			l.requestStop()
		}
	})
	running.Wait()
	waking.Wait()
	e.closeLoops()
	return errors.Join(errs...)
}

func (e *loops) closeLoops() {
	for _, l := range e.all {
		l.closeAll()
	}
	if e.path != "" {
		os.Remove(e.path)
	}
}
