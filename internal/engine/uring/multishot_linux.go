package uring

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// MultishotEnds reports whether a multishot receive completes for the last time if its connection
// is reset right behind data. Some versions of Linux from 6.5 on never say so
// (https://github.com/axboe/liburing/issues/1549). The first call tries that, with queues and a
// connection of its own on the loopback interface, for some seconds at most. Where it cannot try,
// it reports false.
func MultishotEnds() bool { return multishotEnds() }

var multishotEnds = sync.OnceValue(func() bool {
	a, b, err := loopbackPair()
	if err != nil {
		return false
	}
	defer a.Close()
	defer b.Close()
	raw, err := b.SyscallConn()
	if err != nil {
		return false
	}
	ends := false
	err = raw.Control(func(fd uintptr) { ends = endsAfterReset(a, int32(fd)) })
	return err == nil && ends
})

// patience is how long each step of the trial may take. A process that was stopped meanwhile looks
// once more.
const patience = time.Second

// loopbackPair is a connection of this process with itself.
func loopbackPair() (a, b *net.TCPConn, err error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if err = l.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, nil, err
	}
	dialed, err := net.DialTimeout("tcp4", l.Addr().String(), patience)
	if err != nil {
		return nil, nil, err
	}
	a = dialed.(*net.TCPConn)
	b, err = l.AcceptTCP()
	if err == nil && b.RemoteAddr().String() != a.LocalAddr().String() {
		err = errors.Join(errors.New("somebody else has connected"), b.Close())
	}
	if err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, b, nil
}

// endsAfterReset sends from a to b, resets the connection, and reports whether a receive of b has
// the data and then the reset, of which the kernel hears at once.
func endsAfterReset(a *net.TCPConn, b int32) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var q Queues
	if q.Open() != nil {
		return false
	}
	defer q.Close()
	if q.Start() != nil || !q.Deferred() || q.ProvidePieces(2, 1) != nil {
		return false
	}
	q.AddPiece()
	q.AddPiece()
	q.PushEntry(Receive, b, 0).SelectPieces()
	if q.Submit(false) != nil {
		return false
	}
	_, err := a.Write([]byte{0})
	if err = errors.Join(err, a.SetLinger(0), a.Close()); err != nil || !awaitReset(b) {
		return false
	}
	received := false
	for until, late := time.Now().Add(patience), false; !late; {
		late = time.Now().After(until)
		if q.Wait(1, int64(patience/10)) != nil {
			return false
		}
		q.LoadCompletions()
		for c, ok := q.NextCompletion(); ok; c, ok = q.NextCompletion() {
			if !c.More() {
				return received && c.Res == -int32(syscall.ECONNRESET)
			}
			received = c.Res == 1
		}
	}
	return false
}

// awaitReset waits until a connection is reset, without taking the error from it.
func awaitReset(fd int32) bool {
	for until, late := time.Now().Add(patience), false; !late; {
		late = time.Now().After(until)
		ask := []unix.PollFd{{Fd: fd}} // errors are reported unasked
		if n, err := unix.Poll(ask, int(patience.Milliseconds()/10)); err == nil && n > 0 {
			return true
		}
	}
	return false
}
