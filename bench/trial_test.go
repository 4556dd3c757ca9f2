package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The test binary is also the programs that the tests start: what it is, the first argument
// says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "be-") {
		if err := be(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w") // nobody debugs what is built here
	status := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// binaryEnv names the dyno that the tests start; without it they build one.
const binaryEnv = "DYNO_E2E_BINARY"

// built is the folder of the dyno that was built.
var built struct {
	sync.Mutex
	dir string
}

// builtDyno is the path of dyno, for all tests that start one but do not ask how it is built.
func builtDyno(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(binaryEnv); path != "" {
		return path
	}
	built.Lock()
	defer built.Unlock()
	if path := filepath.Join(built.dir, "dyno"); built.dir != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "dyno-bench-test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "dyno")
	if err := runBuild(t.Context(), "go", "build", "-o", path, "dyno/cmd/dyno"); err != nil {
		os.RemoveAll(dir)
		t.Fatal(err)
	}
	built.dir = dir
	return path
}

func be(what string, args []string) error {
	switch what {
	case "be-server":
		s := httptest.NewServer(counting())
		fmt.Println("listening on " + s.URL)
		return untilInterrupted()
	case "be-garbage":
		fmt.Println("hello")
		return untilInterrupted()
	case "be-broken":
		return fmt.Errorf("address already in use")
	case "be-cpus":
		fmt.Print(runtime.NumCPU())
		return nil
	case "be-asleep":
		time.Sleep(10 * memoryPollInterval)
		return nil
	case "be-load": // requests until it is killed, with its process in a file
		return generateForever(args[0], args[1])
	case "be-large":
		bytes := make([]byte, 128<<20)
		for i := 0; i < len(bytes); i += os.Getpagesize() {
			bytes[i] = 1
		}
		time.Sleep(5 * memoryPollInterval)
		return nil
	case handlerCommand:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return serveHandler(ctx, args[0], os.Stdout)
	case "be-generator": // ten requests, then nothing for as long as it is told
		return generate(args[0], args[1])
	}
	return fmt.Errorf("%s: what is that?", what)
}

// counting serves anything and counts it, as dyno target does.
func counting() http.Handler {
	var served atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == servedPath {
			fmt.Fprintf(w, `{"served":%d,"connections":1}`, served.Load())
			return
		}
		served.Add(1)
	})
}

func untilInterrupted() error {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
	return nil
}

func generate(length, url string) error {
	rest, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	for range 10 {
		r, err := http.Get(url)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return err
		}
		r.Body.Close()
	}
	time.Sleep(rest)
	fmt.Println("done")
	return nil
}

func generateForever(file, url string) error {
	err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600)
	for err == nil {
		var r *http.Response
		if r, err = http.Get(url); err == nil {
			err = r.Body.Close()
		}
	}
	return err
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T) *server {
	t.Helper()
	s, err := startServer(t.Context(), nil, "/page", self(t), "be-server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stopServer(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// generator is the test's own tool, which takes about as long as it is told.
func generator(path, length string) tool {
	return tool{name: "ten", path: path, command: func(_ load, url string) command {
		return command{args: []string{"be-generator", length, url}}
	}}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	s := start(t)
	// It ends long after the window, which begins late on a busy machine.
	v, err := measureLoad(t.Context(), s, nil, generator(self(t), "5s"), load{seconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v[served] != 10 {
		t.Errorf("served: got %v, want 10", v[served])
	}
	if v[rate] < 0 || v[rate] > 20 { // most of the ten are before the window
		t.Errorf("rate: got %v", v[rate])
	}
	if v[cpu] <= 0 || v[cpu] != v[user]+v[system] {
		t.Errorf("CPU: got %v of %v and %v", v[cpu], v[user], v[system])
	}
}

func TestMeasureFails(t *testing.T) {
	t.Parallel()
	s := start(t)
	early := generator(self(t), "0s")
	if _, err := measureLoad(t.Context(), s, nil, early, load{seconds: 60}); err == nil ||
		!strings.Contains(err.Error(), "the tool ended after ") {
		t.Errorf("a tool that ends early: got %v", err)
	}
	idle := tool{path: self(t), command: func(load, string) command {
		return command{args: []string{"be-asleep"}}
	}}
	if _, err := measureLoad(t.Context(), s, nil, idle, load{}); err == nil ||
		!strings.Contains(err.Error(), "counted no request") {
		t.Errorf("a tool that does nothing: got %v", err)
	}
	broken := tool{path: self(t), command: func(load, string) command {
		return command{args: []string{"be-broken"}}
	}}
	if _, err := measureLoad(t.Context(), s, nil, broken, load{seconds: 1}); err == nil ||
		!strings.Contains(err.Error(), "exit status 1: address already in use") {
		t.Errorf("a tool that fails: got %v", err)
	}
}

// One handler answers on both sockets, and its server counts both.
func TestHandler(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it builds dyno")
	}
	program := builtDyno(t)
	s, err := startHandler(t.Context(), nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := load{connections: 5, threads: 1, seconds: 1, rate: 500}
	for i, made := range []func(load, string) command{dynoCommand, dynoFastCGICommand} {
		v, err := measureLoad(t.Context(), s, nil, tool{path: program, command: made, parseOutput: parseDynoResult}, l)
		if err != nil {
			t.Fatal(err)
		}
		if v[served] < 100 || v[failed] != 0 || canPin && v[serverCPU] <= 0 {
			t.Errorf("%d: %v", i, v)
		}
	}
	if err := s.stopServer(); err != nil {
		t.Error(err)
	}
}

func TestServerDoesNotStart(t *testing.T) {
	for what, want := range map[string]string{
		"be-garbage": `the server said "hello\n", want listening on http://…`,
		"be-broken":  "the server ended: exit status 1: address already in use",
	} {
		_, err := startServer(t.Context(), nil, "/", self(t), what)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", what, err, want)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, _, err := runPinned(ctx, nil, self(t), command{args: []string{"be-server"}},
		func(context.Context, time.Time) { cancel(fmt.Errorf("not done in time")) })
	if err == nil || !strings.Contains(err.Error(), "stopped: not done in time") {
		t.Errorf("got %v", err)
	}
}

func TestPinned(t *testing.T) {
	if !canPin {
		t.Skip("pinning works on Linux only")
	}
	before := runtime.NumCPU()
	output, _, err := runPinned(t.Context(), allowedCPUs(t)[:1], self(t),
		command{args: []string{"be-cpus"}}, func(context.Context, time.Time) {})
	if err != nil || string(output) != "1" {
		t.Errorf("on one CPU: got %s, %v", output, err)
	}
	output, _, err = runPinned(t.Context(), nil, self(t),
		command{args: []string{"be-cpus"}}, func(context.Context, time.Time) {})
	if err != nil || string(output) != fmt.Sprint(before) {
		t.Errorf("then on any: got %s, %v, want %d", output, err, before)
	}
	if _, _, err := runPinned(t.Context(), []int{cpuMax - 1}, self(t), command{}, nil); err == nil ||
		!strings.Contains(err.Error(), "pin to CPUs [1023]") {
		t.Errorf("on no CPU: got %v", err)
	}
}

// A process's peak is its own: not that of the large process which made it, as the kernel
// would have it.
func TestPeakIsTheProcessesOwn(t *testing.T) {
	if !canPin {
		t.Skip("memory is read on Linux only")
	}
	if err := be("be-large", nil); err != nil {
		t.Fatal(err)
	}
	for what, large := range map[string]bool{"be-asleep": false, "be-large": true} {
		_, u, err := runPinned(t.Context(), nil, self(t), command{args: []string{what}},
			func(context.Context, time.Time) {})
		if err != nil {
			t.Fatal(err)
		}
		if u.peak == 0 || large != (u.peak >= 128<<20) {
			t.Errorf("%s: got %d bytes", what, u.peak)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rows keep100,what", `-rows "what": want some of keep100,`},
		{"-pairs 0", "both must be at least 1"},
		{"-gen-cpus 9-1", "-gen-cpus: CPUs"},
		{"-only nothing", `-only "nothing": want some of dyno-epoll,`},
		{"-slices -1", "-slices -1: want 0 to 1000"},
		{"-slices 1001", "-slices 1001: want 0 to 1000"},
		{"keep100", `unexpected argument "keep100"`},
		{"-dyno ./nowhere -only wrk", "-dyno: "},
	} {
		var stderr strings.Builder
		if got := run(t.Context(), strings.Fields(c.args), io.Discard, &stderr); got != exitUsage {
			t.Errorf("%s: got %d, want %d", c.args, got, exitUsage)
		}
		if !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: got %q, want %q", c.args, stderr.String(), c.want)
		}
	}
}

func TestChooseRows(t *testing.T) {
	o := options{pairs: 4, seconds: 2, rows: "mem10k,keep1"}
	got, err := o.chooseRows()
	if err != nil || len(got) != 2 || got[0].name != "keep1" || got[1].name != "mem10k" {
		t.Fatalf("got %v, %v, want keep1 and mem10k", got, err)
	}
	if got[0].pairs != 4 || got[0].load.seconds != 2 {
		t.Errorf("keep1: got %d rounds of %d s", got[0].pairs, got[0].load.seconds)
	}
	if got[1].pairs != 3 || got[1].load.seconds != 5 {
		t.Errorf("mem10k: got %d rounds of %d s", got[1].pairs, got[1].load.seconds)
	}
	o.force = true
	if got, err = o.chooseRows(); err != nil || got[1].pairs != 4 || got[1].load.seconds != 2 {
		t.Errorf("with -force: got %v, %v", got, err)
	}
}

// The whole command, with the program as a user has it: one pair of trials, long enough that
// the server can be asked in time on a machine that has more to do. A row with a rate shows as much
// as one that takes both CPUs, and its latencies are compared with the server's log.
func TestBench(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it builds dyno")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler, which the pacer needs: ", err)
	}
	file := filepath.Join(t.TempDir(), "bench.json")
	var stdout, stderr strings.Builder
	args := []string{"-rows", "queue50", "-only", "pacer", "-force", "-pairs", "1", "-seconds", "3", "-md", "-json", file}
	if path := os.Getenv(binaryEnv); path != "" { // else it builds one, guided by a profile
		args = append(args, "-dyno", path)
	}
	status := run(t.Context(), args, &stdout, &stderr)
	if status != exitOK {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got outcome
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1 || len(got.Rows[0].Trials) != 2 {
		t.Fatalf("got %s", text)
	}
	for _, x := range got.Rows[0].Trials {
		if x.Values[served] < 100 || x.Values[rate] <= 0 || x.Values[cpu] <= 0 ||
			x.Values[truthMean] <= 0 {
			t.Errorf("%s: got %v", x.Tool, x.Values)
		}
	}
	if !strings.Contains(stdout.String(), "| queue50 | ") {
		t.Errorf("printed\n%s", stdout.String())
	}
}
