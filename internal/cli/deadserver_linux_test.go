package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/result"
)

// This file is about closed loads whose server stops answering. A load sends it nothing then, so
// what it counts looks well.

// A dying is a server that answers so many requests, and then does what a test says.
type dying struct {
	*net.TCPListener
	answered atomic.Int64
	last     atomic.Int64 // when an answer was sent, in ns since 1970
	conns    chan *net.TCPConn
}

const lastAnswer = 1000

// startDying starts a server that dies after lastAnswer answers, and returns its URL. Connections
// that it holds then are answered nothing, and it accepts no more.
func startDying(t *testing.T, connections int, die func(*dying)) (d *dying, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d = &dying{TCPListener: l.(*net.TCPListener), conns: make(chan *net.TCPConn, connections)}
	for range connections {
		go func() {
			c, err := d.AcceptTCP()
			if err != nil {
				return
			}
			d.conns <- c
			d.serve(c, die)
		}()
	}
	return d, "http://" + l.Addr().String()
}

// serve answers the requests of a connection while the server lives.
func (d *dying) serve(c *net.TCPConn, die func(*dying)) {
	for in := bufio.NewReader(c); ; {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		switch n := d.answered.Add(1); {
		case n > lastAnswer:
			continue
		case n == lastAnswer:
			die(d)
		default:
			d.last.Store(time.Now().UnixNano())
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

// vanish ends all connections, and has the address answer no attempt to connect any more: its
// accept queue is full, also of connections that have ended.
func (d *dying) vanish() {
	raw, err := d.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { syscall.Listen(int(fd), 0) })
	}
	for err == nil { // until an attempt is not answered
		var c net.Conn
		if c, err = net.DialTimeout("tcp", d.Addr().String(), 100*time.Millisecond); err == nil {
			c.Close()
		}
	}
	for range cap(d.conns) {
		(<-d.conns).Close()
	}
}

// runAgainst runs dyno against a server, with an objective, and returns its exit code and what it
// printed.
func runAgainst(t *testing.T, url string, args ...string) (code int, printed string) {
	t.Helper()
	args = append([]string{"run", "--no-save", "-v", "-c", "4", "--slo", "errors<1%"}, args...)
	cmd := exec.CommandContext(t.Context(), "dyno", append(args, url)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode(), out.String()
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, out.String()
}

// silenceOf is how long the slowest answer of a stored run took, and for how long at least there was no
// answer of this server until the run's end.
func (d *dying) silenceOf(t *testing.T, saved string) (slowest, silence time.Duration) {
	t.Helper()
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Decode(text)
	if err != nil || r.Latency == nil {
		t.Fatalf("%s: %v", text, err)
	}
	slowest = time.Duration(r.Latency.Max * float64(time.Microsecond))
	end := r.Window.Started.Add(time.Duration((r.Window.MeasuredS + r.Window.DrainedS) * float64(time.Second)))
	return slowest, end.Sub(time.Unix(0, d.last.Load())) - slowest
}

// Four of a thousand requests are not answered, but the server answers nothing for most of the
// window. A run shows that if the silence is half of its window, and over twice as long as its slowest
// answer. On a busy machine it may not be, and then the load is repeated.
func TestClosedRunWithoutAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		die  func(*dying)
		says string
	}{
		"frozen":   {func(*dying) {}, "all 4 connections were still waiting for an answer when the run ended"},
		"vanished": {(*dying).vanish, "no answer in time: not open when the run ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for try := 0; ; try++ {
				saved := filepath.Join(t.TempDir(), "result.json")
				d, url := startDying(t, 4, test.die)
				code, printed := runAgainst(t, url, "-d", "1s", "--drain", "100ms", "--json", saved)
				slowest, silence := d.silenceOf(t, saved)
				if (2*slowest >= silence || silence < 500*time.Millisecond) && try < 20 {
					t.Logf("try %d: an answer took %v, the server was silent for %v", try, slowest, silence)
					continue
				}
				flat := strings.Join(strings.Fields(printed), " ")
				if code == exitMissed && strings.Contains(flat, "objective errors<1%: MISSED: ") && strings.Contains(flat, "; without that it is 0.3988 %") &&
					strings.Contains(flat, test.says) && !strings.Contains(flat, "generator itself") {
					return
				}
				t.Fatalf("an objective of errors is met, or it does not say why not: exit code %d\n%s", code, printed)
			}
		})
	}
}

// A server is killed, and does not come back.
func TestClosedRunWhoseServerIsKilled(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "served.csv")
	server := exec.CommandContext(t.Context(), "dyno", "target", "--listen", "127.0.0.1:0", "--log", log)
	printed, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(printed).ReadString('\n')
	url, is := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !is {
		t.Errorf("%q, %v", line, err)
	}
	go func() {
		for { // until the first lines are written, of some thousand requests
			if f, err := os.Stat(log); err == nil && f.Size() > 0 || t.Context().Err() != nil {
				server.Process.Kill()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	code, said := runAgainst(t, url, "-d", "10m", "--connect-timeout", "1s")
	flat := strings.Join(strings.Fields(said), " ")
	if code != exitMissed || !strings.Contains(flat, "objective errors<1%: MISSED: the server went away, and ") ||
		!strings.Contains(flat, "verdict SERVER GONE from ") || !strings.Contains(flat, " next Read in the server's log") || !strings.Contains(flat, "the server was gone for the rest") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	server.Process.Kill()
	server.Wait()
}
