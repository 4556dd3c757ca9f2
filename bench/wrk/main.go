// Command wrk runs Lua scripts with the real wrk and with dyno, on one connection each, against a
// server of its own, and compares the requests that both send.
//
//	go run ./bench/wrk -wrk wrk -dyno ./dyno -scripts DIR     all *.lua of a folder
//	go run ./bench/wrk -wrk wrk -dyno ./dyno FILE...          these
//
// Header fields are compared in any order, because wrk's order is that of a hash table. What dyno
// adds is left out: its User-Agent, and the Content-Length of an empty body.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	limit    = time.Minute // how long one run may take
	compared = 300         // requests of each run, at most
)

func main() {
	var c comparison
	var folder string
	flag.StringVar(&c.wrk, "wrk", "wrk", "the program wrk")
	flag.StringVar(&c.dyno, "dyno", "./dyno", "the program dyno")
	flag.StringVar(&folder, "scripts", "internal/engine/luascript/testdata", "a folder of scripts")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join(folder, "*.lua"))
	}
	if err := c.compare(files); err != nil {
		fmt.Fprintln(os.Stderr, "wrk:", err)
		os.Exit(1)
	}
}

// A comparison is what is compared.
type comparison struct {
	wrk, dyno string
	server    server
	differ    int
}

// compare compares files.
func (c *comparison) compare(files []string) error {
	if len(files) == 0 {
		return errors.New("there is no script")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go c.server.serve(listener)
	url := "http://" + listener.Addr().String() + "/start?a=b"
	for _, f := range files {
		theirs, err := c.run(c.wrk, f, url)
		if err != nil {
			return err
		}
		ours, err := c.run(c.dyno, f, url, "wrk")
		if err != nil {
			return err
		}
		c.report(f, theirs, ours)
	}
	fmt.Printf("%d scripts: %d send the same requests, %d do not\n", len(files), len(files)-c.differ,
		c.differ)
	if c.differ > 0 {
		return errors.New("there are differences")
	}
	return nil
}

// run runs a script for a second, and returns the first requests that arrived.
func (c *comparison) run(program, script, url string, verb ...string) ([]string, error) {
	c.server.take()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append(verb, "-t", "1", "-c", "1", "-d", "1s", "-H", "X-Given: yes", "-s", script, url,
		"--", "one", "two")
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return nil, err
	}
	got := c.server.take()
	if len(got) == 0 {
		fmt.Printf("%s sends nothing with %s:\n%s\n", program, script, out)
	}
	return got, nil
}

// report says whether both sent the same. The numbers of requests differ unless the script ends the
// load.
func (c *comparison) report(file string, theirs, ours []string) {
	n := min(len(theirs), len(ours))
	if n > 0 && slices.Equal(theirs[:n], ours[:n]) {
		fmt.Printf("same: %s (%d requests compared)\n", file, n)
		return
	}
	c.differ++
	fmt.Printf("DIFFERENT: %s: wrk sent %d, dyno %d\n", file, len(theirs), len(ours))
	for i := range n {
		if theirs[i] != ours[i] {
			fmt.Printf("request %d of wrk:\n%s\nof dyno:\n%s\n", i+1, theirs[i], ours[i])
			return
		}
	}
}

// A server answers every request, and keeps the first ones.
type server struct {
	open sync.WaitGroup // connections
	lock sync.Mutex
	got  []string
}

// take returns what was kept, once all connections are closed: a program that ended may have left
// a large request behind, which is still being read.
func (s *server) take() []string {
	s.open.Wait()
	s.lock.Lock()
	defer s.lock.Unlock()
	got := s.got
	s.got = nil
	return got
}

func (s *server) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s.open.Go(func() { s.answer(conn) })
	}
}

// answer answers the requests of a connection.
func (s *server) answer(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		text, err := describe(r)
		if err != nil {
			return
		}
		s.lock.Lock()
		if len(s.got) < compared {
			s.got = append(s.got, text)
		}
		s.lock.Unlock()
		_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Token: secret\r\nContent-Length: 5\r\n"+
			"\r\nhello")
		if err != nil {
			return
		}
	}
}

// describe is a request as it is compared.
func describe(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	lines := []string{"Host: " + r.Host}
	for name, values := range r.Header {
		for _, v := range values {
			ours := name == "User-Agent" && strings.HasPrefix(v, "dyno/") ||
				name == "Content-Length" && v == "0"
			if !ours {
				lines = append(lines, name+": "+v)
			}
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%s %s %s\n%s\n\n%s", r.Method, r.RequestURI, r.Proto,
		strings.Join(lines, "\n"), body), err
}
