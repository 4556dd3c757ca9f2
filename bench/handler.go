package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// handlerCommand makes bench a server, for rows that compare two protocols of one handler. It is
// no flag because it is of no other use.
const handlerCommand = "be-handler"

// The sockets of that server, in its directory.
const (
	httpSocket = "http"
	fcgiSocket = "fcgi"
)

// startHandler starts that server on the CPUs, with a new directory in dir.
func startHandler(ctx context.Context, cpus []int, dir string) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the server's program: %w", err)
	}
	if dir, err = os.MkdirTemp(dir, "handler-"); err != nil {
		return nil, fmt.Errorf("make the server's directory: %w", err)
	}
	s, err := startServer(ctx, cpus, "/", program, handlerCommand, dir)
	if err != nil {
		return nil, err
	}
	s.url, s.singleProcess = "http+unix://"+filepath.Join(dir, httpSocket)+":/", true
	return s, nil
}

// fastCGIURL returns the URL of the same handler by FastCGI.
func fastCGIURL(url string) string {
	return strings.NewReplacer("http+unix:", "fcgi+unix:",
		"/"+httpSocket+":/", "/"+fcgiSocket+":/").Replace(url)
}

// serveHandler answers with 12 bytes on two sockets in dir, by HTTP/1.1 and by FastCGI, until ctx
// ends. It first prints the address at which it reports its count.
func serveHandler(ctx context.Context, dir string, stdout io.Writer) error {
	var served atomic.Int64
	page := []byte("hello world\n")
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		w.Write(page)
	})
	counter := http.NewServeMux()
	counter.HandleFunc(servedPath, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"served":%d}`, served.Load())
	})
	over := make(chan error, 3)
	open := func(network, addr string, h http.Handler,
		serve func(net.Listener, http.Handler) error) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		if err == nil {
			go func() { over <- serve(l, h) }()
		}
		return l, err
	}
	a, err := open("unix", filepath.Join(dir, httpSocket), handler, http.Serve)
	b, more := open("unix", filepath.Join(dir, fcgiSocket), handler, fcgi.Serve)
	c, last := open("tcp", "127.0.0.1:0", counter, http.Serve)
	if err := errors.Join(err, more, last); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", c.Addr())
	select {
	case err = <-over:
	case <-ctx.Done():
	}
	return errors.Join(err, a.Close(), b.Close(), c.Close())
}
