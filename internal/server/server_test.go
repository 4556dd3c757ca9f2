package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// bench is what a test starts servers with. When the test ends nothing of them
// may live.
type bench struct {
	*testing.T
	dir  string
	mark string // in the environment of all that is started
}

func newBench(t *testing.T) bench {
	t.Parallel()
	dir := t.TempDir()
	b := bench{t, dir, "DYNO_TEST_MARK=" + dir}
	t.Cleanup(func() { nothingLeft(t, b.mark, 0) })
	return b
}

func (b bench) env() []string {
	return []string{b.mark, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
}

var lastPort atomic.Int32

// freePort is one that no other test, nor a connection that the kernel opens,
// takes meanwhile: tests run beside each other, unlike servers under test.
func freePort(t testing.TB) int {
	for range 1000 {
		port := 10_000 + os.Getpid()%20*1000 + int(lastPort.Add(1))%1000
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	panic("")
}

// serve is a process of the test binary on a free port, and its address.
func (b bench) serve(name string, flags ...string) (p Process, url string) {
	b.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", freePort(b.T))
	p = Process{Name: name, Env: b.env(),
		Args:  append([]string{os.Args[0], "serve", "-addr", addr}, flags...),
		Ready: &Ready{URL: "http://" + addr + "/", Timeout: time.Minute}}
	return p, "http://" + addr
}

func (b bench) spec(all ...Process) Spec {
	return Spec{Dir: b.dir, Processes: all, Supervisor: []string{os.Args[0], "supervise"}}
}

func (b bench) start(s Spec) *Server {
	b.Helper()
	server, err := Start(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Stop() })
	return server
}

// fails starts what cannot be started.
func (b bench) fails(s Spec, kind Kind) *Failure {
	b.Helper()
	server, err := Start(b.Context(), s)
	if err == nil {
		server.Stop()
		b.Fatal("started")
	}
	var f *Failure
	if !errors.As(err, &f) {
		b.Fatalf("%v: no Failure", err)
	}
	if f.Kind != kind {
		b.Fatalf("%v: of kind %q, want %q", err, f.Kind, kind)
	}
	return f
}

func (b bench) stop(s *Server) Report {
	b.Helper()
	r, err := s.Stop()
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("%s: %s %s %v", url, r.Status, body, err)
	}
	return string(body)
}

func factsOf(t *testing.T, url string) (f facts) {
	t.Helper()
	if err := json.Unmarshal([]byte(get(t, url+"/self")), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}

func died(t *testing.T, s *Server) Failure {
	t.Helper()
	select {
	case f := <-s.Died():
		return f
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody died")
		panic("")
	}
}

func TestStartAndStop(t *testing.T) {
	b := newBench(t)
	app, appURL := b.serve("app")
	proxy, proxyURL := b.serve("proxy", "-status", "301")
	proxy.Ready.Statuses = []int{301, 308}
	s := b.start(b.spec(app, proxy))
	running := s.Processes()
	if len(running) != 2 || running[0].Name != "app" || running[0].PID != factsOf(t, appURL).PID ||
		running[1].PID != factsOf(t, proxyURL).PID {
		t.Errorf("running: %+v", running)
	}
	get(t, appURL+"/burn")
	r := b.stop(s)
	if len(r.Exits) != 2 || r.Exits[0].Name != "app" || r.Exits[0].PID != running[0].PID {
		t.Fatalf("%+v", r)
	}
	if used := r.Exits[0].User + r.Exits[0].System; used < 10*time.Millisecond {
		t.Errorf("app used %v of CPU while burning it", used)
	}
	if runtime.GOOS == "linux" && r.Exits[0].Signal != "SIGTERM" {
		t.Errorf("%+v", r.Exits[0])
	}
	if again := b.stop(s); again.Seconds != r.Seconds {
		t.Errorf("stopped again: %+v", again)
	}
	select {
	case f := <-s.Died():
		t.Errorf("what was stopped died: %v", &f)
	default:
	}
}

func TestUnixSocket(t *testing.T) {
	b := newBench(t)
	dir, err := SocketDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "app.sock")
	p, _ := b.serve("app")
	p.Args[3] = socket
	p.Ready.URL = "http+unix://" + socket + ":/self"
	b.start(b.spec(p))
}

func TestNeverReady(t *testing.T) {
	b := newBench(t)
	tests := []struct {
		name, want string
		change     func(*Process)
	}{
		{"status", "status 503", func(p *Process) { p.Args = append(p.Args, "-status", "503") }},
		{"port", "refused", func(p *Process) { p.Args[3] = "127.0.0.1:0" }},
	}
	for _, test := range tests {
		for _, timeout := range []time.Duration{1, 5, 25} { // on a busy machine it gets no further in a second
			p, url := b.serve(test.name, "-print", "I am here")
			p.Ready.Timeout = timeout * time.Second
			test.change(&p)
			said := b.fails(b.spec(p), NotReady).Error()
			if timeout == 25 || strings.Contains(said, test.want) && strings.Contains(said, "I am here") {
				has(t, said, test.name, url, test.want, "I am here")
				break
			}
			t.Logf("within %d s: %s", timeout, said)
		}
	}
}

func TestDiesAtOnce(t *testing.T) {
	b := newBench(t)
	good, _ := b.serve("good")
	p, _ := b.serve("app", "-print", "bad configuration", "-exit", "7")
	p.Ready.Timeout = time.Minute // which is not waited for
	f := b.fails(b.spec(good, p), Ended)
	if f.Process != "app" {
		t.Errorf("%+v", f)
	}
	has(t, f.Error(), "ended with status 7", "bad configuration")
}

// The backend dies while the proxy in front of it is waited for.
func TestOtherDiesMeanwhile(t *testing.T) {
	b := newBench(t)
	first, url := b.serve("first")
	second, _ := b.serve("second", "-status", "502")
	second.Ready.Timeout = time.Minute
	go func() {
		for range 1000 { // until it is there
			if r, err := http.Get(url + "/die"); err == nil {
				r.Body.Close()
			} else if errors.Is(err, io.EOF) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if f := b.fails(b.spec(first, second), Ended); f.Process != "first" {
		t.Errorf("%+v", f)
	}
}

func TestDiesLater(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	s := b.start(b.spec(p))
	if r, err := http.Get(url + "/die"); err == nil {
		r.Body.Close()
	}
	f := died(t, s)
	if f.Kind != Ended || f.Process != "app" {
		t.Errorf("%+v", f)
	}
	has(t, f.Error(), "status 3", "cannot go on")
	if last, err := s.Tail("app", 1); err != nil || last != "cannot go on" {
		t.Errorf("%q %v", last, err)
	}
	if r := b.stop(s); len(r.Exits) != 1 || r.Exits[0].Code != 3 || r.Killed != nil {
		t.Errorf("%+v", r)
	}
	if last, err := s.Tail("app", 1); err != nil || last != "cannot go on" {
		t.Errorf("%q %v", last, err)
	}
}

func TestIgnoresSignal(t *testing.T) {
	b := newBench(t)
	p, _ := b.serve("app", "-ignore")
	p.Grace = 100 * time.Millisecond
	r := b.stop(b.start(b.spec(p)))
	if !slices.Equal(r.Killed, []string{"app"}) || !r.Exits[0].Killed || r.Exits[0].Code != -1 {
		t.Errorf("%+v", r)
	}
}

func TestPortTaken(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := http.Server{Handler: http.NotFoundHandler()}
	go other.Serve(l)
	foreign := l.Addr().String()

	p, _ := b.serve("somebody-else-answers")
	p.Args[3], p.Ready.URL = foreign, "http://"+foreign+"/"
	has(t, b.fails(b.spec(p), PortTaken).Error(), foreign)

	p, _ = b.serve("ends-of-it")
	p.Args[3] = foreign
	has(t, b.fails(b.spec(p), PortTaken).Error(), foreign)

	p, _ = b.serve("complains-and-tries-again", "-print", "bind() failed (98: Address already in use)")
	b.fails(b.spec(p), PortTaken)
}

func TestFloodsItsLog(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app", "-print", "the first line")
	s := b.start(b.spec(p))
	const lines = 100_000 // of 105 bytes
	get(t, fmt.Sprintf("%s/flood?lines=%d", url, lines))
	// The server has written all of it; the last lines may still be in the pipe.
	var last string
	for deadline := time.Now().Add(time.Minute); !strings.HasSuffix(last, fmt.Sprintf("%099d", lines-1)); {
		if time.Now().After(deadline) {
			t.Fatalf("the last lines are %q", last)
		}
		time.Sleep(time.Millisecond)
		var err error
		if last, err = s.Tail("app", 2); err != nil {
			t.Fatal(err)
		}
	}
	b.stop(s)
	text, err := os.ReadFile(filepath.Join(b.dir, "app.log"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > logHead+logTail+100 {
		t.Errorf("%d bytes of log", len(text))
	}
	left := lines*105 + len("the first line\n") - logHead - logTail
	has(t, string(text[:20]), "the first line\nline ")
	has(t, string(text), fmt.Sprintf("\n… %d bytes left out …\n", left), last)
}

func TestFillsItsDirectory(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	spec := b.spec(p)
	spec.DirMax = 4 << 20
	s := b.start(spec)
	get(t, url+"/fill")
	f := died(t, s)
	if f.Kind != DirFull {
		t.Errorf("%+v", f)
	}
	has(t, f.Error(), b.dir, "more than 4 MiB")
	if r := b.stop(s); len(r.Exits) != 1 || !r.Exits[0].Killed {
		t.Errorf("%+v", r)
	}
}

func TestGivenUp(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app", "-status", "503")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for { // until it is being waited for
			if r, err := http.Get(url); err == nil {
				r.Body.Close()
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := Start(ctx, b.spec(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCannotStart(t *testing.T) {
	b := newBench(t)
	script := filepath.Join(b.dir, "script")
	if err := os.WriteFile(script, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		process Process
		want    string
	}{
		{"name", Process{Args: []string{"no-such-program"}, Env: append(b.env(), "PATH=/nowhere")}, "no-such-program"},
		{"path", Process{Args: []string{"./no-such-program"}}, "no-such-program"},
		{"directory", Process{Args: []string{os.Args[0]}, Dir: "no-such-dir"}, "no-such-dir"},
		{"format", Process{Args: []string{script}}, script},
	}
	for _, test := range tests {
		test.process.Name = test.name
		if test.process.Env == nil {
			test.process.Env = b.env()
		}
		f := b.fails(b.spec(test.process), CannotStart)
		if f.Process != test.name {
			t.Errorf("%+v", f)
		}
		has(t, f.Reason, test.want)
		if strings.Contains(strings.ReplaceAll(f.Reason, b.dir, ""), "127") { // the folder's name is random
			t.Error(f.Reason)
		}
	}
}

func TestBadSpecs(t *testing.T) {
	dir := t.TempDir()
	good := Process{Name: "a", Args: []string{"true"}}
	tests := []struct {
		spec Spec
		want string
	}{
		{Spec{Dir: filepath.Join(dir, "x"), Processes: []Process{good}}, "run directory"},
		{Spec{Dir: dir, Processes: []Process{{Name: "a", Args: []string{"true"}, Client: 1}}},
			"only a guest"},
		{Spec{Dir: dir, Netns: &Netns{Clients: 65}}, "within 0 to 64"},
		{Spec{Dir: dir, Processes: []Process{good, good}}, `called "a"`},
		{Spec{Dir: dir, Processes: []Process{{Name: "a/b"}}}, "file name"},
		{Spec{Dir: dir, Processes: []Process{{Name: "a"}}}, "no command"},
		{Spec{Dir: dir, Processes: []Process{
			{Name: "a", Args: []string{"true"}, Ready: &Ready{URL: "ftp://x"}}}}, "ftp"},
	}
	for _, test := range tests {
		if _, err := Start(t.Context(), test.spec); err == nil {
			t.Errorf("%+v started", test.spec)
		} else {
			has(t, err.Error(), test.want)
		}
	}
}

func TestGuest(t *testing.T) {
	b := newBench(t)
	p, _ := b.serve("app")
	s := b.start(b.spec(p))
	for round := range 2 { // the same name again, when the first has ended
		ours, in, err1 := os.Pipe()
		out, theirs, err2 := os.Pipe()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		cat := Process{Name: "cat", Args: []string{"cat"}, Env: b.env()}
		g, err := s.Run(cat, ours, theirs, nil)
		if err != nil {
			t.Fatal(err)
		}
		ours.Close()
		theirs.Close()
		fmt.Fprintf(in, "round %d", round)
		in.Close()
		text, err := io.ReadAll(out)
		if err != nil || string(text) != fmt.Sprintf("round %d", round) {
			t.Errorf("%q %v", text, err)
		}
		if exit := g.Wait(); exit.Code != 0 || exit.PID != g.PID || exit != g.Wait() {
			t.Errorf("%+v", exit)
		}
	}
	g, err := s.Run(Process{Name: "sleep", Args: []string{"/bin/sleep", "1000"}, Env: b.env()},
		nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.stop(s)
	if exit := g.Wait(); exit.Code != -1 {
		t.Errorf("%+v", exit)
	}
}

func TestGoRun(t *testing.T) {
	b := newBench(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not in PATH: a test binary alone")
	}
	program := filepath.Join(b.dir, "main.go")
	text := `package main

import (
	"net"
	"os"
)

func main() {
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		c.Read(make([]byte, 4096))
		c.Write([]byte("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"))
		c.Close()
	}
}
`
	if err := os.WriteFile(program, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, _ := b.serve("app")
	p.Args = []string{"go", "run", program, strings.TrimSuffix(p.Ready.URL[len("http://"):], "/")}
	p.Env = append(os.Environ(), b.mark, "GOFLAGS=")
	p.Ready.Timeout = time.Minute
	s := b.start(b.spec(p))
	r := b.stop(s)
	if r.Killed != nil || r.Left != 0 || r.Strays.Processes != 0 {
		t.Errorf("%+v", r)
	}
}

func TestPHPWorkers(t *testing.T) {
	b := newBench(t)
	php, err := exec.LookPath("php")
	if err != nil {
		t.Skip("php is not installed (Debian: php-cli)")
	}
	if err := os.WriteFile(filepath.Join(b.dir, "index.php"), []byte("<?php echo 1;"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, url := b.serve("php")
	p.Args = []string{php, "-q", "-S", strings.TrimPrefix(url, "http://"), "-t", b.dir}
	p.Env = append(p.Env, "PHP_CLI_SERVER_WORKERS=4")
	s := b.start(b.spec(p))
	r := b.stop(s)
	if r.Killed != nil || r.Left != 0 {
		t.Errorf("%+v", r)
	}
}
