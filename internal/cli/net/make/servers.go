//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// startServers starts all servers, and returns what stands for their URLs in command lines: pairs
// of a word in braces and a URL without a path.
func (m *maker) startServers() (places []string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	for _, t := range []struct{ name, args string }{
		{"target", "--body 100"},
		{"stalling", "--stall 300ms/1s"},
		{"closing", "--close-after 20"},
		{"four", "--workers 4 --service constant:4ms"},
		{"five", "--workers 4 --service constant:5ms"},
	} {
		args := append([]string{"--listen", "127.0.0.1:0"}, strings.Fields(t.args)...)
		url, end, err := m.startTarget(args...)
		if err != nil {
			stop()
			return nil, nil, err
		}
		stops, places = append(stops, end), append(places, "{"+t.name+"}", url)
	}
	plain := httptest.NewUnstartedServer(answers(0))
	plain.Config.ConnContext = countRequests
	plain.Start()
	slow := httptest.NewServer(answers(time.Millisecond))
	slower := httptest.NewServer(answers(4 * time.Millisecond))
	secure := httptest.NewUnstartedServer(answers(0))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	leaving, silent := startLeaving(), listen("127.0.0.1:0") // which accepts nothing
	stops = append(stops, func() { silent.Close() })
	full, err := fullQueue()
	if err != nil {
		stop()
		return nil, nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		stop()
		return nil, nil, err
	}
	refused := listen("127.0.0.1:0")
	refused.Close()
	places = append(places, "{go}", plain.URL, "{slow-go}", slow.URL, "{four-go}", slower.URL,
		"{secure}", secure.URL, "{leaving}", leaving,
		"{silent-as-https}", "https://"+silent.Addr().String(),
		"{full}", full, "{refused}", "http://"+refused.Addr().String(),
		"{target-as-https}", "https"+strings.TrimPrefix(places[1], "http"),
		"{pid}", strconv.Itoa(os.Getpid()), "{root}", root)
	return places, stop, nil
}

func listen(address string) net.Listener {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err) // only on a machine without loopback
	}
	return l
}

// startTarget starts dyno target, and returns its URL.
func (m *maker) startTarget(args ...string) (url string, stop func(), err error) {
	c := m.command("home-target", append([]string{"target"}, args...)...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		c.Process.Kill()
		return "", nil, fmt.Errorf("dyno target %v: %q, %v", args, line, err)
	}
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	return strings.TrimSuffix(url, "/"), func() {
		c.Process.Kill()
		c.Wait()
	}, nil
}

// fullQueue is a listener that accepts nothing and whose queue is full: the kernel drops whatever
// asks for another connection.
func fullQueue() (url string, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = syscall.Listen(fd, 0)
	}
	if err != nil {
		return "", err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
	for range 8 {
		if _, err := net.DialTimeout("tcp", address, 100*time.Millisecond); err != nil {
			break
		}
	}
	return "http://" + address, nil
}

// startLeaving starts a server that is gone for half a second, half a second after its first
// request.
func startLeaving() string {
	first := listen("127.0.0.1:0")
	address, gone := first.Addr().String(), new(atomic.Bool)
	serve := func(l net.Listener, h http.Handler) *http.Server {
		s := &http.Server{Handler: h}
		go s.Serve(l)
		return s
	}
	var s *http.Server
	s = serve(first, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if gone.CompareAndSwap(false, true) {
			time.AfterFunc(500*time.Millisecond, func() {
				s.Close()
				time.Sleep(500 * time.Millisecond)
				serve(listen(address), answers(0))
			})
		}
		fmt.Fprint(w, "hello")
	}))
	return "http://" + address
}

type servedKey struct{}

// countRequests gives a connection a count of its requests.
func countRequests(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, servedKey{}, new(atomic.Int64))
}

// raw writes a text to the connection of a request, and closes it.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			fmt.Fprint(c, text)
			c.Close()
		}
	}
}

// answers is a server whose paths say what is wrong with their answers; of those that end in -some
// it is a few. Any other path is answered with hello, so much later.
func answers(later time.Duration) http.Handler {
	mux := http.NewServeMux()
	hello := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(later)
		fmt.Fprint(w, "hello")
	}
	someAre := func(n int64, odd http.HandlerFunc) http.HandlerFunc {
		count := new(atomic.Int64)
		return func(w http.ResponseWriter, r *http.Request) {
			if count.Add(1)%n == 0 {
				odd(w, r)
				return
			}
			hello(w, r)
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	mux.HandleFunc("/", hello)
	mux.HandleFunc("/late-some", someAre(10, hang))
	mux.HandleFunc("/hang", hang)
	mux.HandleFunc("/hang-some", someAre(20, hang))
	mux.HandleFunc("/hang-busy", hangWhenBusy(hang))
	mux.HandleFunc("/close-some", someAre(10, raw("")))
	mux.HandleFunc("/cut", raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello"))
	mux.HandleFunc("/malformed", raw("HTTP/1.1 hello\r\n\r\n"))
	mux.HandleFunc("/status-some", someAre(5, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "try again later", http.StatusServiceUnavailable)
	}))
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/created", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("/wears", func(w http.ResponseWriter, r *http.Request) {
		n, is := r.Context().Value(servedKey{}).(*atomic.Int64)
		if is && n.Add(1) > 250 && n.Load()%10 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		hello(w, r)
	})
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true,"token":"t-1","items":[{"id":7},{"id":8}]}`)
	})
	mux.Handle("/redirect", http.RedirectHandler("/json", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	return mux
}

// hangWhenBusy answers after 5 ms, but for some requests while others are served: who asks alone
// always has an answer.
func hangWhenBusy(hang http.HandlerFunc) http.HandlerFunc {
	served, count := new(atomic.Int64), new(atomic.Int64)
	return func(w http.ResponseWriter, r *http.Request) {
		if served.Load() > 0 && count.Add(1)%12 == 0 {
			hang(w, r)
			return
		}
		served.Add(1)
		defer served.Add(-1)
		time.Sleep(5 * time.Millisecond)
		fmt.Fprint(w, "hello")
	}
}
