package target

import (
	"errors"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []Config{
		{Addr: ":0"},
		{Addr: "[::1]:8080", Status: 599, Body: bodyMax, Workers: 8, CloseAfter: 1},
		{Addr: "unix:/a/b", Header: []string{"A: b", "C:"}},
		{Addr: "localhost:80", Service: "exponential:0.005", Stall: "250ms/0.5s"},
		{Addr: ":0", Ring: "uring"}, {Addr: ":0", Ring: "auto", Portable: true},
	} {
		if err := c.Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	err := Config{
		Addr: "here", Status: 199, Body: -1, Workers: -1, CloseAfter: -1,
		Header:  []string{"no colon", "a b: c", "A: b\r\nC: d", "content-length: 5"},
		Service: "foo", Stall: "2s/1s", Ring: "portable",
	}.Check()
	want := []string{
		`--listen "here": want HOST:PORT, :PORT or unix:PATH`,
		`--status 199: want 200 to 599`,
		`--body -1: want 0 to 1073741824 bytes`,
		`--header "no colon": want 'Name: value'`,
		`--header "a b: c": want 'Name: value'`,
		`--header "A: b\r\nC: d": a value is one line`,
		`--header "content-length: 5": the server sets this one itself`,
		`--workers -1: want 1 to 1024`,
		`--service "foo": want constant:D or exponential:D, with a duration such as 5ms`,
		`--stall "2s/1s": want LENGTH/PERIOD, two durations with the length below ` +
			`the period, such as 1s/10s`,
		`--ring "portable": want auto, epoll or uring`,
		`--close-after -1: want 0 (never) or a number of requests`,
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	for _, c := range []Config{
		{}, {Addr: ":x"}, {Addr: ":65536"}, {Addr: "unix:"},
		{Addr: "unix:" + strings.Repeat("a", unixMax+1)},
		{Addr: ":0", Status: 204, Body: 1}, {Addr: ":0", Status: 304, Body: 1},
		{Addr: ":0", Status: 600}, {Addr: ":0", Body: bodyMax + 1},
		{Addr: ":0", Header: []string{"A: " + strings.Repeat("a", headerMax)}},
		{Addr: ":0", Service: "constant:"}, {Addr: ":0", Service: "constant:0s"},
		{Addr: ":0", Service: "constant:-1ms"}, {Addr: ":0", Service: "linear:1ms"},
		{Addr: ":0", Service: "constant:NaN"}, {Addr: ":0", Service: "constant:25h"},
		{Addr: ":0", Stall: "1s"}, {Addr: ":0", Stall: "1s/1s"}, {Addr: ":0", Stall: "x/2s"},
		{Addr: ":0", Ring: "epoll", Portable: true},
	} {
		if c.Check() == nil {
			t.Errorf("%+v: no fault found", c)
		}
		if s, err := Listen(c); err == nil || s != nil {
			t.Errorf("%+v: Listen did not refuse", c)
		}
	}
}

func TestListenTwice(t *testing.T) {
	for _, workers := range []int{1, 2} {
		a := serve(t, Config{Addr: "127.0.0.1:0", Workers: workers})
		_, err := Listen(Config{Addr: a.Addr().String(), Workers: workers})
		if err == nil || !strings.Contains(err.Error(), "another program listens there") {
			t.Errorf("%d workers: listening on a port in use: %v", workers, err)
		}
	}
}

func TestLogThatFails(t *testing.T) {
	full := errors.New("disk full")
	s, stop := start(t, Config{Addr: "127.0.0.1:0", Log: failing{full}})
	c := dial(t, s)
	c.Write([]byte(getLast))
	readAll(t, c)
	if err := stop(); !errors.Is(err, full) {
		t.Errorf("Serve: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
