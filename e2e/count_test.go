//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/result"
)

// A counter is a dyno target, which counts what it has served.
type counter struct {
	url string
	cmd *exec.Cmd
	out *bufio.Reader
}

func startTarget(t *testing.T, args ...string) *counter {
	t.Helper()
	return startServer(t, append([]string{binary, "target", "--listen", "127.0.0.1:0"}, args...))
}

// startServer starts a target by its whole command line.
func startServer(t *testing.T, command []string) *counter {
	t.Helper()
	c := &counter{cmd: exec.Command(command[0], command[1:]...)}
	pipe, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
	c.out = bufio.NewReader(pipe)
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	return c
}

// servedCount is the server's count while it serves.
func (c *counter) servedCount(t *testing.T) int64 {
	t.Helper()
	res, err := http.Get(c.url + "/.dyno/served")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var counts struct{ Served int64 }
	if err := json.NewDecoder(res.Body).Decode(&counts); err != nil {
		t.Fatal(err)
	}
	return counts.Served
}

// servedLine is what a server says at its end.
var servedLine = regexp.MustCompile(`^served ([0-9,]+) requests? on [0-9,]+ connections?\n$`)

// stopCounting ends the server and returns its last word.
func (c *counter) stopCounting(t *testing.T) (served int64) {
	t.Helper()
	c.cmd.Process.Signal(syscall.SIGTERM)
	line, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	told := servedLine.FindSubmatch(line)
	if told == nil {
		t.Fatalf("%q", line)
	}
	served, err = strconv.ParseInt(strings.ReplaceAll(string(told[1]), ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// checkAgrees checks the server's count against dyno's.
func checkAgrees(t *testing.T, r *result.Result, served int64) {
	t.Helper()
	q := r.Requests
	if served < q.Completed || served > q.Sent+q.Retried {
		t.Errorf("the server counts %d; %+v", served, q)
	}
	if q.Unfinished == 0 && q.Retried == 0 && q.Errors == 0 && served != q.Sent {
		t.Errorf("the server counts %d of %d sent, and nothing was lost", served, q.Sent)
	}
}

// TestCounts compares what dyno says it sent with what the server served.
func TestCounts(t *testing.T) {
	tests := []struct {
		name, args string
		target     string
		exactly    int64 // sent, if that is known
	}{
		{name: "requests", args: "-n 12345 -c 7", exactly: 12345},
		{name: "two threads", args: "-n 12345 -c 7 -t 2", exactly: 12345},
		{name: "fewer requests than connections", args: "-n 3 -c 3 -t 2", exactly: 3},
		{name: "rate", args: "-R 2000 -d 1s -c 7 --drain 1m", exactly: 2000},
		{name: "rate and requests", args: "-R 5k -n 2345 -c 7 -t 2 --drain 1m", exactly: 2345},
		{name: "duration", args: "-d 300ms -c 7", exactly: -1},
		{name: "duration, two threads", args: "-d 300ms -c 7 -t 2", exactly: -1},
		{name: "pipelined", args: "-n 12345 -c 7 --pipeline 8", exactly: 12345},
		{name: "pipelined, for a time", args: "-d 300ms -c 7 --pipeline 16 -t 2", exactly: -1},
		{name: "portable ring", args: "-n 12345 -c 7 --ring portable", exactly: 12345},
		{name: "reconnecting", args: "-n 2345 -c 7 --reconnect 10", exactly: 2345},
		{name: "closed by the server", args: "-n 2345 -c 7", target: "--close-after 10",
			exactly: 2345},
		{name: "no time to drain", args: "-d 500ms -c 50 --drain 0s",
			target: "--workers 4 --service constant:5ms", exactly: -1},
		{name: "overloaded", args: "-R 2000 -d 500ms -c 10 --drain 100ms",
			target: "--service constant:5ms", exactly: -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := startTarget(t, strings.Fields(test.target)...)
			r := runDyno(t, 0, append(strings.Fields(test.args), c.url)...).result
			served := c.servedCount(t)
			checkBalanced(t, r, test.exactly)
			checkAgrees(t, r, served)
			if test.exactly > 0 && r.Requests.Retried == 0 && served != test.exactly {
				t.Errorf("the server counts %d, want %d", served, test.exactly)
			}
			if last := c.stopCounting(t); last < served {
				t.Errorf("the server's last word is %d; it had said %d", last, served)
			}
		})
	}
}

// TestWarmup checks that a warm-up is served and not counted.
func TestWarmup(t *testing.T) {
	t.Parallel()
	c := startTarget(t)
	r := runDyno(t, 0, "-R", "1000", "--warmup", "500ms", "-d", "1s", "--drain", "1m", "-c", "5", c.url).result
	checkBalanced(t, r, 1000)
	if served := c.servedCount(t); served != 1500 {
		t.Errorf("the server counts %d; want the window's 1000 and the warm-up's 500", served)
	}
}

// TestInterrupt checks that a signal ends a run at once, with a complete report.
func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name, args string
		signal     syscall.Signal
	}{
		{"SIGINT", "-c 7", syscall.SIGINT},
		{"SIGTERM", "-c 7 -t 2", syscall.SIGTERM},
		{"open", "-c 7 -R 1000", syscall.SIGINT},
		{"portable", "-c 7 --ring portable", syscall.SIGTERM},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := startTarget(t)
			args := strings.Fields("-d 10m --drain 5m " + test.args)
			d := startDyno(t, append(args, c.url)...)
			waitUntil(t, "dyno is in the midst of it", func() bool { return c.servedCount(t) >= 100 })
			o := interruptRun(t, d, test.signal)
			// Of what was served, an answer on each connection may not have come.
			if o.result.Ended != "interrupted" || o.result.Requests.Completed < 100-7 {
				t.Errorf("%s with %+v", o.result.Ended, o.result.Requests)
			}
			checkAgrees(t, o.result, c.servedCount(t))
			// A busy machine gives the verdict other reasons, and the screen shows two.
			if !strings.Contains(strings.Join(o.result.Generator.Reasons, "\n"), "interrupted after ") {
				t.Errorf("the reasons lack the interruption: %q", o.result.Generator.Reasons)
			}
			for _, want := range []string{"; INTERRUPTED", "p99.9"} {
				if !strings.Contains(normalizeOutput(o.stdout), want) {
					t.Errorf("the report lacks %q:\n%s", want, o.stdout)
				}
			}
		})
	}
}

// interruptRun sends a running dyno a signal. It must end long before it would by itself; how
// soon depends on the machine too.
func interruptRun(t *testing.T, d *running, signal syscall.Signal) *outcome {
	t.Helper()
	sent := time.Now()
	d.cmd.Process.Signal(signal)
	o := d.waitForExit().expectExit(t, 130)
	took := time.Since(sent)
	if t.Logf("it stopped within %v", took.Round(time.Millisecond)); took > 30*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	checkBalanced(t, o.result, -1)
	return o
}

// TestInterruptUnanswered interrupts a run whose answers never come. It must not wait for its
// drain, which is longer than a test may take, and counts the requests as unfinished.
func TestInterruptUnanswered(t *testing.T) {
	t.Parallel()
	const connections = 5
	var served atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if served.Add(1) > 100 {
			<-release
		}
	}))
	defer server.Close()
	defer close(release)
	for _, ring := range []string{"auto", "portable"} {
		served.Store(0)
		d := startDyno(t, "-d", "10m", "-c", fmt.Sprint(connections), "--timeout", "10m", "--drain", "5m",
			"--ring", ring, server.URL)
		waitUntil(t, "all wait", func() bool { return served.Load() == 100+connections })
		q := interruptRun(t, d, syscall.SIGINT).result.Requests
		if q.Completed != 100 || q.Unfinished != connections || q.Errors != 0 {
			t.Errorf("%s: %+v", ring, q)
		}
	}
}

// TestInterruptConnecting interrupts a run that has not begun: its connections are accepted, and
// the TLS handshake never comes. The connections are given up, and are no errors.
func TestInterruptConnecting(t *testing.T) {
	t.Parallel()
	l, accepted := listenSilently(t)
	d := startDyno(t, "-d", "10m", "-c", "3", "--connect-timeout", "10m", "--drain", "5m", "--insecure",
		"https://"+l.Addr().String())
	<-accepted
	o := interruptRun(t, d, syscall.SIGINT)
	r := o.result
	if q := r.Requests; q.Sent != 0 || !strings.Contains(o.stdout, "INTERRUPTED") {
		t.Errorf("%+v\n%s", q, o.stdout)
	}
	if c := r.Connections; r.Ended != "interrupted" || c.Asked != 3 || c.Opened != 0 || len(r.Errors) > 0 {
		t.Errorf("%s, connections %+v, errors %+v", r.Ended, c, r.Errors)
	}
}

// listenSilently accepts connections and writes nothing.
func listenSilently(t *testing.T) (net.Listener, <-chan struct{}) {
	accepted := make(chan struct{}, 1000)
	addr := listenWith(t, func(c net.Conn) {
		accepted <- struct{}{}
		io.Copy(io.Discard, c)
	})
	return addr, accepted
}
