package uring

import (
	"bytes"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// open gives queues to the test, and its thread to them.
func open(t *testing.T) *Queues {
	t.Helper()
	q := &Queues{}
	err := q.Open()
	if errors.Is(err, ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := q.Start(); err != nil {
		t.Fatal(err)
	}
	return q
}

// pair is two connected sockets, of which the first has little room to send.
func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
	})
	syscall.SetsockoptInt(fds[0], syscall.SOL_SOCKET, syscall.SO_SNDBUF, 1)
	return fds[0], fds[1]
}

// completed submits, and takes what completes until there are n or no more comes.
func completed(t *testing.T, q *Queues, n int) (all []Completion) {
	t.Helper()
	for till := time.Now().Add(2 * time.Minute); len(all) < n && time.Now().Before(till); {
		if err := q.Submit(true); err != nil {
			t.Fatal(err)
		}
		if !q.LoadCompletions() {
			if err := q.Wait(1, int64(time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			q.LoadCompletions()
		}
		for c, ok := q.NextCompletion(); ok; c, ok = q.NextCompletion() {
			all = append(all, c)
		}
	}
	if len(all) != n {
		t.Fatalf("%d completions, not %d: %v", len(all), n, all)
	}
	return all
}

// TestQueuesGoRound has more entries than there is room for, all at once, and
// more than there are places, in all.
func TestQueuesGoRound(t *testing.T) {
	q := open(t)
	const n = 3*Submissions + 7
	for round := range 2 + completions/n {
		for i := range uint64(n) {
			if err := q.ReserveEntries(1); err != nil {
				t.Fatal(err)
			}
			q.PushEntry(opNop, -1, i)
		}
		for i, c := range completed(t, q, n) {
			if c.UserData != uint64(i) || c.Res != 0 {
				t.Fatalf("round %d: completion %d is %+v", round, i, c)
			}
		}
	}
	if q.QueuedEntries() != 0 {
		t.Errorf("%d entries are left", q.QueuedEntries())
	}
}

// TestOverflow does not take completions until there are more than have room.
func TestOverflow(t *testing.T) {
	q := open(t)
	n := 0
	for ; n < 2*completions; n++ {
		if q.ReserveEntries(1) != nil {
			break
		}
		q.PushEntry(opNop, -1, uint64(n))
	}
	for i, c := range completed(t, q, n) {
		if c.UserData != uint64(i) {
			t.Fatalf("completion %d of %d is %+v", i, n, c)
		}
	}
}

func TestSendAndReceive(t *testing.T) {
	q := open(t)
	a, b := pair(t)
	got := make([]byte, 10)
	q.PushEntry(Receive, int32(b), 1).SetMemory(got)
	e := q.PushEntry(Send, int32(a), 2)
	e.SetMemory([]byte("hello"))
	e.SetMessageFlags(syscall.MSG_NOSIGNAL)
	for _, c := range completed(t, q, 2) {
		if c.Res != 5 {
			t.Errorf("%+v", c)
		}
	}
	if string(got[:5]) != "hello" {
		t.Errorf("received %q", got)
	}
	q.PushEntry(Poll, int32(b), 3).SetPollEvents(In | RDHup)
	syscall.Shutdown(a, syscall.SHUT_WR)
	if c := completed(t, q, 1)[0]; c.UserData != 3 || c.Res&RDHup == 0 {
		t.Errorf("after the end: %+v", c)
	}
}

// TestQuietLink has sends that end in all ways, each with a receive linked to it.
func TestQuietLink(t *testing.T) {
	const sending, receiving = 1, 2
	for _, test := range []struct {
		name string
		size int
		full bool // there is no room before
		gone bool // the peer has closed
		want uint64
		res  func(int32) bool
	}{
		{"all", 5, false, false, receiving, func(n int32) bool { return n == 1 }},
		{"part", 1 << 20, false, false, sending, func(n int32) bool { return n > 0 && n < 1<<20 }},
		{"nothing", 5, true, false, sending,
			func(n int32) bool { return n == -int32(syscall.EAGAIN) }},
		{"gone", 5, false, true, sending, func(n int32) bool { return n == -int32(syscall.EPIPE) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := open(t)
			if !q.Deferred() {
				t.Skip("this kernel does not tell a send in part from none")
			}
			a, b := pair(t)
			for test.full {
				if _, err := syscall.Write(a, make([]byte, 100)); err != nil {
					break
				}
			}
			if test.gone {
				syscall.Shutdown(b, syscall.SHUT_RD)
			}
			data, got := bytes.Repeat([]byte("x"), test.size), make([]byte, 1)
			e := q.PushEntry(Send, int32(a), sending)
			e.SetMemory(data)
			e.SetMessageFlags(syscall.MSG_NOSIGNAL | syscall.MSG_DONTWAIT | syscall.MSG_WAITALL)
			e.LinkNext()
			e.SkipSuccess()
			q.PushEntry(Receive, int32(a), receiving).SetMemory(got)
			if err := q.Submit(true); err != nil {
				t.Fatal(err)
			}
			syscall.Write(b, []byte("y"))
			c := completed(t, q, 1)[0]
			if c.UserData != test.want || !test.res(c.Res) {
				t.Errorf("%+v", c)
			}
			q.PushEntry(opNop, -1, 3)
			if c := completed(t, q, 1)[0]; c.UserData != 3 {
				t.Errorf("a second completion: %+v", c)
			}
			runtime.KeepAlive(data)
		})
	}
}

func TestDiscard(t *testing.T) {
	q := open(t)
	a, _ := pair(t)
	for i := range uint64(4) {
		e := q.PushEntry(Poll, int32(a), i)
		if i == 0 || i == 3 {
			e.SetPollEvents(Out)
		} else {
			e.SetPollEvents(In) // which does not come
		}
	}
	if !q.Discard(1, 2) || q.Discard(4, 2) {
		t.Error("it found what is not there, or not what is")
	}
	seen := map[uint64]int32{}
	for _, c := range completed(t, q, 4) {
		seen[c.UserData] = c.Res
	}
	if seen[0] != Out || seen[3] != Out || seen[1] != 0 || seen[2] != 0 || len(seen) != 4 {
		t.Errorf("completions %v", seen)
	}
}

// TestWait waits for what comes, and for what does not.
func TestWait(t *testing.T) {
	q := open(t)
	from := time.Now()
	const d = 2 * time.Millisecond
	for waits := 1; time.Since(from) < d; waits++ { // a signal of the scheduler's ends one early
		if err := q.Wait(1, int64(d)); err != nil || q.LoadCompletions() {
			t.Fatalf("of nothing there is something: %v", err)
		}
		if waits > 10 {
			t.Fatalf("%d waits ended before %v", waits, d)
		}
	}
	a, b := pair(t)
	q.PushEntry(Poll, int32(b), 1).SetPollEvents(In)
	if err := q.Submit(false); err != nil {
		t.Fatal(err)
	}
	go func() { // once the wait has begun, or before
		runtime.Gosched()
		syscall.Write(a, []byte("x"))
	}()
	if err := q.Wait(1, 1<<63-1); err != nil || !q.LoadCompletions() {
		t.Errorf("did not wait for the end of time, nor for what came: %v", err)
	}
	if c, ok := q.NextCompletion(); !ok || c.UserData != 1 || c.Res != In {
		t.Errorf("%+v, %v", c, ok)
	}
}

// TestStartedElsewhere is of the thread that starts being the one that may submit.
func TestStartedElsewhere(t *testing.T) {
	q := open(t)
	if !q.Deferred() {
		t.Skip("this kernel does not care")
	}
	errs := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		errs <- q.Submit(true)
	}()
	if err := <-errs; err == nil {
		t.Error("another thread submits")
	}
}
