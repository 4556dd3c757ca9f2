package ring

import (
	"io"
	"slices"
	"syscall"
	"testing"
)

// A simEntry is a completion and the virtual time at which it was taken.
type simEntry struct {
	at   int64
	op   Op
	user uint64
	data string
	err  error
}

// simLog takes all there is until nothing will happen any more.
func simLog(t *testing.T, s *Sim, act func(c Completion)) []simEntry {
	t.Helper()
	var log []simEntry
	for range 1000 {
		switch err := s.Wait(Never); err {
		case nil:
		case io.ErrNoProgress:
			return log
		default:
			t.Fatal(err)
		}
		for c, ok := s.Next(); ok; c, ok = s.Next() {
			log = append(log, simEntry{s.Now(), c.Op, c.User, string(c.Data), c.Err})
			act(c)
		}
	}
	t.Fatal("it never ends")
	return nil
}

func TestSimTimeIsExact(t *testing.T) {
	s := &Sim{
		Accept: func(n int) (int64, error) {
			if n == 1 {
				return 70, syscall.ECONNREFUSED
			}
			return 100, nil
		},
		Server: func(p *Peer, b []byte) {
			p.Reply(30, []byte("2nd "+string(b)))
			p.Reply(10, []byte("1st "+string(b)))
			p.Hangup(30, io.EOF)
		},
	}
	fds := map[uint64]int{}
	for user := range uint64(3) {
		fd, err := s.Connect(0, user)
		if err != nil {
			t.Fatal(err)
		}
		fds[user] = fd
	}
	got := simLog(t, s, func(c Completion) {
		if c.Op == Connected && c.Err == nil && !s.Send(fds[c.User], []byte("x")) {
			t.Error("not sent")
		}
	})
	want := []simEntry{
		{70, Connected, 1, "", syscall.ECONNREFUSED},
		{100, Connected, 0, "", nil},
		{100, Connected, 2, "", nil},
		{110, Received, 0, "1st x", nil},
		{110, Received, 2, "1st x", nil},
		{130, Received, 0, "2nd x", nil},
		{130, Received, 0, "", io.EOF},
		{130, Received, 2, "2nd x", nil},
		{130, Received, 2, "", io.EOF},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if s.IdleTime() != 130 {
		t.Errorf("idle for %d of 130 ns in which nothing else happened", s.IdleTime())
	}
}

func TestSimWait(t *testing.T) {
	s := &Sim{Server: func(p *Peer, _ []byte) { p.Hangup(50, syscall.ECONNRESET) }}
	fd, _ := s.Connect(0, 1)
	s.Send(fd, nil)
	for _, test := range []struct{ deadline, now int64 }{
		{0, 0},     // connected
		{20, 20},   // nothing happens before
		{10, 20},   // time does not go back
		{1000, 50}, // reset
		{1000, 1000},
	} {
		if err := s.Wait(test.deadline); err != nil || s.Now() != test.now {
			t.Errorf("after Wait(%d) it is %d, %v", test.deadline, s.Now(), err)
		}
		for _, ok := s.Next(); ok; _, ok = s.Next() {
		}
	}
	if err := s.Wait(Never); err != io.ErrNoProgress {
		t.Errorf("waiting for ever for nothing: %v", err)
	}
}

func TestSimPoisons(t *testing.T) {
	s := &Sim{Server: func(p *Peer, _ []byte) {
		p.Reply(0, []byte("first"))
		p.Reply(0, []byte("2nd"))
	}}
	fd, _ := s.Connect(0, 1)
	s.Send(fd, nil)
	s.Next()
	first, _ := s.Next()
	if string(first.Data) != "first" {
		t.Fatalf("received %q", first.Data)
	}
	second, _ := s.Next()
	if string(second.Data) != "2nd" || string(first.Data) == "first" {
		t.Errorf("received %q; of before there is %q", second.Data, first.Data)
	}
	if s.Next(); string(second.Data) != "!!!" {
		t.Errorf("what was lent is still %q", second.Data)
	}
}

func TestSimClose(t *testing.T) {
	s := &Sim{Server: func(p *Peer, _ []byte) { p.Reply(5, []byte("late")) }}
	for user := range uint64(2) {
		fd, _ := s.Connect(0, user)
		s.Send(fd, nil)
	}
	got := simLog(t, s, func(c Completion) {
		if c.Op == Connected && c.User == 0 {
			s.Close(0, false)
		}
	})
	want := []simEntry{{0, Connected, 0, "", nil}, {0, Connected, 1, "", nil},
		{5, Received, 1, "late", nil}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
