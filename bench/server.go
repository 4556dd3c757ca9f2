package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// servedPath is where a server reports how many requests it has answered. The query does not
// count.
const servedPath = "/.dyno/served"

// How long a server may take to listen, to report its count and to end.
const (
	startTimeout = 10 * time.Second
	countTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
)

// listening is the first line of a server.
var listening = regexp.MustCompile(`^listening on (http://\S+?)/?\r?\n$`)

// A server is a process that answers requests and counts them.
type server struct {
	url           string // of what is loaded
	base          string
	client        *http.Client
	cmd           *exec.Cmd
	singleProcess bool // it is one process, whose CPU time is the server's
	countQueries  int  // how often for its count
	parseCount    func(answer []byte, asked int) (float64, error)
	stderr        bytes.Buffer
	exited        chan error
}

// startServer starts a server on the CPUs and returns when it listens.
func startServer(ctx context.Context, cpus []int, page, path string,
	args ...string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, path, args...), exited: make(chan error, 1),
		parseCount: parseServedCount}
	// No connection of ours stays among those of the load.
	s.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: countTimeout}
	s.cmd.Stderr, s.cmd.WaitDelay = &s.stderr, stopTimeout
	stdout, out := io.Pipe()
	s.cmd.Stdout = out
	if err := startPinned(cpus, s.cmd); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	first := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(stdout)
		line, err := lines.ReadString('\n')
		if err == nil { // else the server is gone, and says so through Wait
			first <- line
		}
		io.Copy(io.Discard, lines)
	}()
	go func() {
		err := s.cmd.Wait()
		out.Close()
		s.exited <- err
	}()
	select {
	case line := <-first:
		found := listening.FindStringSubmatch(line)
		if found == nil {
			err := fmt.Errorf("the server said %q, want listening on http://…", line)
			return nil, errors.Join(err, s.stopServer())
		}
		s.base = found[1]
		s.url = s.base + page
		return s, nil
	case err := <-s.exited:
		return nil, fmt.Errorf("the server ended: %v: %s", err, firstLine(s.stderr.Bytes()))
	case <-time.After(startTimeout):
		err := fmt.Errorf("the server did not listen within %v", startTimeout)
		return nil, errors.Join(err, s.stopServer())
	}
}

// startListening starts a server on the CPUs that says nothing, and returns when it listens at all
// addresses.
func (s *server) startListening(ctx context.Context, cpus []int, addrs ...string) error {
	s.exited = make(chan error, 1)
	s.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: countTimeout}
	s.cmd.Stderr, s.cmd.WaitDelay = &s.stderr, stopTimeout
	if err := startPinned(cpus, s.cmd); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	go func() { s.exited <- s.cmd.Wait() }()
	for _, addr := range addrs {
		if err := s.awaitListening(ctx, addr); err != nil {
			return err
		}
	}
	return nil
}

// requestsServed queries the number of requests answered so far. The instant is the middle of the
// round trip.
func (s *server) requestsServed(ctx context.Context) (count float64, at time.Time, err error) {
	before := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+servedPath, nil)
	if err != nil {
		return 0, at, fmt.Errorf("ask the server for its count: %w", err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, at, fmt.Errorf("ask the server for its count: %w", err)
	}
	defer response.Body.Close()
	after := time.Now()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	s.countQueries++
	if err == nil {
		count, err = s.parseCount(answer, s.countQueries)
	}
	if err != nil {
		return 0, at, fmt.Errorf("the server answers %s with no count: %w", servedPath, err)
	}
	return count, before.Add(after.Sub(before) / 2), nil
}

// parseServedCount parses the count of dyno target or of node.js.
func parseServedCount(answer []byte, _ int) (float64, error) {
	var counts struct {
		Served *float64 `json:"served"`
	}
	if err := json.Unmarshal(answer, &counts); err != nil {
		return 0, err
	}
	if counts.Served == nil {
		return 0, fmt.Errorf("%q has no served", firstLine(answer))
	}
	return *counts.Served, nil
}

// stopServer ends the server, by force if it does not end within stopTimeout.
func (s *server) stopServer() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		err = s.cmd.Process.Kill() // Windows has no interrupt
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("end the server: %w", err)
		}
	}
	select {
	case <-s.exited: // its exit status does not matter
		return nil
	case <-time.After(stopTimeout):
	}
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-s.exited
	return nil
}
