package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/uring"
)

// An implementation is a way to serve, of which some systems have not all.
type implementation struct {
	name, ring string
	portable   bool
}

var implementations = []implementation{
	{name: "epoll", ring: "epoll"},
	{name: "uring", ring: "uring"},
	{name: "portable", portable: true},
}

func (i implementation) use(c *Config) { c.Ring, c.Portable = i.ring, i.portable }

// everywhere runs a test on all implementations.
func everywhere(t *testing.T, test func(t *testing.T, on implementation)) {
	for _, on := range implementations {
		t.Run(on.name, func(t *testing.T) { test(t, on) })
	}
}

// start starts a server. What it returns stops it, and gives Serve's error.
func start(t *testing.T, c Config) (*Server, func() error) {
	t.Helper()
	s, err := Listen(c)
	if errors.Is(err, uring.ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { stop() })
	return s, stop
}

func serve(t *testing.T, c Config) *Server {
	t.Helper()
	s, _ := start(t, c)
	return s
}

// dial connects to s, for not too long.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial(s.Addr().Network(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

// readAll reads until the server closes. A reset connection fails the test.
func readAll(t *testing.T, c net.Conn) string {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("after %d bytes: %v", len(b), err)
	}
	return string(b)
}

func TestExchanges(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		s := serve(t, config)
		for _, e := range exchanges {
			t.Run(e.name, func(t *testing.T) {
				c := dial(t, s)
				c.Write([]byte(e.send))
				if got := readAll(t, c); got != e.want {
					t.Errorf("at once:\n%q\nwant\n%q", got, e.want)
				}
				if len(e.send) > 500 {
					return
				}
				c = dial(t, s)
				go func() {
					for i := range len(e.send) {
						c.Write([]byte(e.send[i : i+1]))
					}
				}()
				if got := readAll(t, c); got != e.want {
					t.Errorf("byte by byte:\n%q\nwant\n%q", got, e.want)
				}
			})
		}
	})
}

// TestExpect sends the body only when told to.
func TestExpect(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		c := dial(t, serve(t, config))
		fmt.Fprint(c, post+"Expect: 100-continue\r\nContent-Length: 3\r\n"+
			"Connection: close\r\n\r\n")
		got := make([]byte, len(interim))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != interim {
			t.Fatalf("%q, %v", got, err)
		}
		fmt.Fprint(c, "abc")
		if got := readAll(t, c); got != last {
			t.Errorf("%q", got)
		}
	})
}

// TestHalfClose checks that who closes its half is still answered.
func TestHalfClose(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		config.Service = "constant:1ms"
		c := dial(t, serve(t, config))
		fmt.Fprint(c, get+get)
		c.(*net.TCPConn).CloseWrite()
		if got := readAll(t, c); got != keep+keep {
			t.Errorf("%q", got)
		}
	})
}

func TestNetHTTP(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		s := serve(t, Config{Addr: "127.0.0.1:0", Body: 12, Workers: 2, Portable: on.portable, Ring: on.ring})
		const clients, requests = 8, 50
		var dials atomic.Int64
		transport := &http.Transport{
			MaxIdleConnsPerHost: clients,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			},
		}
		defer transport.CloseIdleConnections()
		client := http.Client{Transport: transport}
		url := "http://" + s.Addr().String()
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for i := range requests {
					body := strings.NewReader(strings.Repeat("x", i*1000))
					resp, err := client.Post(url, "text/plain", body)
					if err != nil {
						t.Error(err)
						return
					}
					b, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != 200 || string(b) != filler {
						t.Errorf("%s %q %v", resp.Status, b, err)
					}
					if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		got := s.Served()
		if got.Requests != clients*requests || got.Connections != uint64(dials.Load()) ||
			got.BytesSent != clients*requests*153 || got.Refused != 0 {
			t.Errorf("%+v after %d requests on %d connections", got, clients*requests, dials.Load())
		}
		resp, err := http.Get(url + "/.dyno/served")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var told map[string]uint64
		if err := json.NewDecoder(resp.Body).Decode(&told); err != nil {
			t.Fatal(err)
		}
		if told["served"] != got.Requests || told["connections"] != got.Connections ||
			told["bytes_sent"] != got.BytesSent || told["bytes_received"] != got.BytesReceived {
			t.Errorf("told %v, served %+v", told, got)
		}
	})
}

func TestLargeBodies(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		for _, size := range []int{inlineMax, inlineMax + 1, 64 << 10, 5<<20 + 7} {
			s := serve(t, Config{Addr: "127.0.0.1:0", Body: size, Portable: on.portable, Ring: on.ring,
				Header: []string{date}})
			c := dial(t, s)
			go fmt.Fprint(c, get+get+get+getLast)
			head := strings.Replace(keepHead, "Length: 12", "Length: "+strconv.Itoa(size), 1)
			body := strings.Repeat(filler, size/len(filler)+1)[:size]
			final := strings.Replace(head, "keep-alive", "close", 1)
			want := strings.Repeat(head+body, 3) + final + body
			if got := readAll(t, c); got != want {
				t.Errorf("%d bytes: got %d, want %d", size, len(got), len(want))
			}
			if got := s.Served(); got.BytesSent != uint64(len(want)) {
				t.Errorf("%d bytes: %+v, want %d", size, got, len(want))
			}
		}
	})
}

// TestAbandoned checks that what a client does not wait for is not counted as sent.
func TestAbandoned(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		const size = 64 << 20
		s, stop := start(t, Config{Addr: "127.0.0.1:0", Body: size, Portable: on.portable, Ring: on.ring})
		c := dial(t, s)
		fmt.Fprint(c, get)
		if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		c.Close()
		next := dial(t, s)
		fmt.Fprint(next, "HEAD / HTTP/1.0\r\n\r\n")
		readAll(t, next)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got := s.Served(); got.Requests != 2 || got.BytesSent == 0 || got.BytesSent >= size {
			t.Errorf("%+v", got)
		}
	})
}

// TestUnreadAnswers has a client that asks on without reading, one request at a
// time, until there is no room for an answer.
func TestUnreadAnswers(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		const body, most = 3000, 5000
		config := Config{Addr: "unix:" + socketPath(t), Body: body, Header: []string{date}}
		on.use(&config)
		s := serve(t, config)
		c := dial(t, s)
		asked := 0
		for stuck := false; !stuck; asked++ {
			if asked == most {
				t.Fatalf("there is room for %d answers", most)
			}
			fmt.Fprint(c, get)
			till := time.Now().Add(50 * time.Millisecond)
			for int(s.Served().Requests) <= asked && !stuck {
				runtime.Gosched()
				stuck = time.Now().After(till)
			}
		}
		go fmt.Fprint(c, strings.Repeat(get, 10)+getLast)
		head := strings.Replace(keepHead, "Length: 12", "Length: "+strconv.Itoa(body), 1)
		answer := head + strings.Repeat(filler, body/len(filler))
		final := strings.Replace(answer, "keep-alive", "close", 1)
		if got := readAll(t, c); got != strings.Repeat(answer, asked+10)+final {
			t.Errorf("got %d bytes, want %d answers of %d", len(got), asked+11, len(answer))
		}
	})
}

// socketPath is where a unix socket can be, which t.TempDir may be too long for.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dyno")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// TestUpload sends more than is read at once, which must be dropped.
func TestUpload(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		s := serve(t, config)
		c := dial(t, s)
		const size = 20 << 20
		go func() {
			fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n", post, size)
			c.Write(bytes.Repeat([]byte("GET /\r\n\r\n"), size/9+1)[:size])
			fmt.Fprintf(c, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n", post, size)
			c.Write(make([]byte, size))
			fmt.Fprint(c, "\r\n0\r\n\r\n"+getLast)
		}()
		if got := readAll(t, c); got != keep+keep+last {
			t.Errorf("%q", got)
		}
		if got := s.Served(); got.Requests != 3 || got.BytesReceived < 2*size {
			t.Errorf("%+v", got)
		}
	})
}

// TestCloseAfter sends more requests than will be answered: the answers must
// come nevertheless, not be lost to a reset.
func TestCloseAfter(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		config.CloseAfter = 3
		s := serve(t, config)
		for range 20 {
			c := dial(t, s)
			go func() {
				for range 200 {
					c.Write([]byte(get))
				}
			}()
			if got := readAll(t, c); got != keep+keep+last {
				t.Fatalf("%q", got)
			}
			c.Close()
		}
		if got := s.Served(); got.Requests != 60 || got.Connections != 20 {
			t.Errorf("%+v", got)
		}
	})
}

// TestManyConnections has enough of them for the loop to sweep, while some
// connections end and others begin.
func TestManyConnections(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		config := fixed()
		on.use(&config)
		s := serve(t, config)
		const connections, rounds = 300, 20 // more than io_uring takes at once
		conns := make([]net.Conn, connections)
		for i := range conns {
			conns[i] = dial(t, s)
		}
		got := make([]byte, len(keep))
		for round := range rounds {
			for _, c := range conns {
				fmt.Fprint(c, get)
			}
			for _, c := range conns {
				if _, err := io.ReadFull(c, got); err != nil || string(got) != keep {
					t.Fatalf("round %d: %q, %v", round, got, err)
				}
			}
			old := &conns[round%connections]
			(*old).Close()
			*old = dial(t, s)
		}
		if got := s.Served(); got.Requests != connections*rounds {
			t.Errorf("%+v", got)
		}
	})
}

func TestUnixSocket(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		path := socketPath(t)
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Skipf("no unix sockets here: %v", err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		config := fixed()
		config.Addr, config.Workers = "unix:"+path, 2
		on.use(&config)
		s, stop := start(t, config)
		if _, err := Listen(config); err == nil {
			t.Error("a second server took the socket")
		}
		for range 10 {
			c := dial(t, s)
			fmt.Fprint(c, get+getLast)
			if got := readAll(t, c); got != keep+last {
				t.Fatalf("%q", got)
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the socket is left behind: %v", err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		if _, err := Listen(config); err == nil || !strings.Contains(err.Error(), "is no socket") {
			t.Errorf("in place of a file: %v", err)
		}
		if b, err := os.ReadFile(path); string(b) != "mine" {
			t.Errorf("the file is now %q, %v", b, err)
		}
	})
}

// TestStop checks that Serve ends though clients are connected, waiting and stalled.
func TestStop(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		for _, config := range []Config{
			{}, {Workers: 2}, {Service: "constant:1h"}, {Stall: "1h/1h1s"}, {CloseAfter: 1},
			{Body: 64 << 20},
		} {
			config.Addr = "127.0.0.1:0"
			on.use(&config)
			s, stop := start(t, config)
			if config.Stall != "" {
				s.site.first.Store(-int64(2000 * time.Second)) // it is stalled now
			}
			c := dial(t, s)
			fmt.Fprint(c, get)
			if config.Service+config.Stall == "" {
				if _, err := c.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := stop(); err != nil {
				t.Errorf("%+v: %v", config, err)
			}
			if _, err := io.Copy(io.Discard, c); err != nil && !isReset(err) {
				t.Errorf("%+v: the connection was not closed: %v", config, err)
			}
			if c, err := net.Dial("tcp", s.Addr().String()); err == nil {
				c.Close()
				t.Errorf("%+v: still listening", config)
			}
		}
	})
}

func isReset(err error) bool { return strings.Contains(err.Error(), "reset") }
