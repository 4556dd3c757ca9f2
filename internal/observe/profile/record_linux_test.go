package profile

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The program in testdata burns CPU in a child of the process that is named. It is built
// here, as test binaries have no symbols.
func TestRecord(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	spin := filepath.Join(t.TempDir(), "spin")
	build := exec.Command("go", "build", "-o", spin, "./testdata/spin")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	parent := exec.Command(spin, "parent")
	start(t, parent)
	waitFor(t, func() bool { return len(readProcesses().descendantsOf([]int{parent.Process.Pid})) == 2 })

	p := recorded(t, parent.Process.Pid)
	share, ok := Share(p, "main.burn")
	if !ok || share.Cumulative.Share < 0.5 {
		t.Errorf("main.burn takes %+v; the top is %+v", share, Top(p, 5))
	}
	for _, s := range p.Sample {
		if s.Label[processLabel][0] != "spin" {
			t.Errorf("a sample of %v %v", s.Label, s.NumLabel)
		}
	}
	path := filepath.Join(t.TempDir(), "perf.pb.gz")
	if err := Save(path, p); err != nil {
		t.Fatal(err)
	}
	if again, err := Load(path); err != nil || folded(again) != folded(p) {
		t.Errorf("read back differs: %v", err)
	}
}

func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		c.Wait()
	})
}

func waitFor(t *testing.T, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not get ready")
		}
	}
}

// recorded records a process that works. On a busy machine it works little, so it may take longer
// until there are enough samples.
func recorded(t *testing.T, pid int) *Profile {
	t.Helper()
	const enough, longest = 50, 16 * time.Second
	for d := time.Second; ; d *= 2 {
		p, err := Record(t.Context(), []int{pid}, d)
		if errors.Is(err, ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Duration(p.DurationNanos); took != d {
			t.Errorf("a profile of %v is of %v", d, took)
		}
		all, _ := Share(p, "")
		if all.Samples >= enough || d == longest {
			return p
		}
		t.Logf("%d samples in %v", all.Samples, d)
	}
}

const nginxConf = `daemon off; worker_processes 1; pid %DIR%/pid; error_log stderr crit;
events { worker_connections 64; }
http {
	access_log off; keepalive_requests 1000000000;
	client_body_temp_path %DIR%; proxy_temp_path %DIR%; fastcgi_temp_path %DIR%;
	uwsgi_temp_path %DIR%; scgi_temp_path %DIR%;
	server { listen unix:%DIR%/s; location / { return 200 "hello\n"; } }
}
`

// A server that is not written in Go, under a small load on a unix socket.
func TestRecordNginx(t *testing.T) {
	t.Parallel()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx" // not everybody's PATH has it
	}
	if _, err := os.Stat(nginx); err != nil {
		t.Skip("nginx is not installed")
	}
	dir, err := os.MkdirTemp("", "p") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	conf := filepath.Join(dir, "nginx.conf")
	text := strings.ReplaceAll(nginxConf, "%DIR%", dir)
	if err := os.WriteFile(conf, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // its worker is nobody
		t.Fatal(err)
	}
	server := exec.Command(nginx, "-p", dir, "-c", conf)
	start(t, server)
	socket := filepath.Join(dir, "s")
	waitFor(t, func() bool {
		c, err := net.Dial("unix", socket)
		return err == nil && c.Close() == nil
	})
	var p *Profile
	underPipeline(t, socket, func() { p = recorded(t, server.Process.Pid) })
	tree := Tree(p)
	if len(tree.Children) != 1 || tree.Children[0].Name != "nginx" {
		t.Fatalf("below the root: %+v", tree.Children)
	}
	for _, function := range []string{"ngx_http_", "writev", "unix_stream_sendmsg"} {
		if s, ok := Share(p, function); ok {
			t.Logf("%s: %.1f %% (%.1f to %.1f) of %d samples", function, 100*s.Cumulative.Share,
				100*s.Cumulative.Interval.Low, 100*s.Cumulative.Interval.High, s.Samples)
		}
	}
	userOnly := strings.Contains(strings.Join(p.Comments, ""), "time in the kernel is not in it")
	kernel := slices.ContainsFunc(Top(p, 0), func(l Line) bool { return l.Kernel })
	if kernel == userOnly {
		t.Errorf("kernel frames: %v, comments %q", kernel, p.Comments)
	}
}

// underPipeline runs f while one client keeps the server busy, with pipelined requests.
func underPipeline(t *testing.T, socket string, f func()) {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(2 * time.Minute))
	var ends sync.WaitGroup
	ends.Go(func() { io.Copy(io.Discard, c) })
	ends.Go(func() {
		for batch := strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 50); err == nil; {
			_, err = io.WriteString(c, batch)
		}
	})
	defer ends.Wait()
	defer c.Close()
	f()
}

func TestRecordRefuses(t *testing.T) {
	if _, err := Record(t.Context(), nil, time.Second); err == nil {
		t.Error("no process was recorded")
	}
	if _, err := Record(t.Context(), []int{os.Getpid()}, time.Hour); err == nil {
		t.Error("an hour was recorded")
	}
	t.Run("no perf", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := Record(t.Context(), []int{os.Getpid()}, time.Second)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "linux-perf") {
			t.Error(err)
		}
	})
}

// What ends while it is recorded ends the recording, and what has ended cannot be.
func TestRecordOfWhatEnds(t *testing.T) {
	c := exec.Command("sleep", "60")
	start(t, c)
	go func() {
		for t.Context().Err() == nil && !perfRuns() {
			time.Sleep(10 * time.Millisecond)
		}
		c.Process.Kill()
	}()
	p, err := Record(t.Context(), []int{c.Process.Pid}, time.Minute)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Comments) == 0 ||
		!strings.Contains(p.Comments[len(p.Comments)-1], "recording ended after") {
		t.Errorf("%q", p.Comments)
	}
	_, err = Record(t.Context(), []int{c.Process.Pid}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "is alive") {
		t.Error(err)
	}
}

// perfRuns: perf is ready when it lets the program run that is its clock.
func perfRuns() bool {
	f := readProcesses()
	for _, perf := range f[os.Getpid()] {
		for _, name := range commandNames(f[perf]) {
			if name == "sleep" {
				return true
			}
		}
	}
	return false
}

func TestRecordEnds(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Record(ctx, []int{os.Getpid()}, time.Minute)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	// Neither perf nor its sleep is left.
	waitFor(t, func() bool { return len(readProcesses()[os.Getpid()]) == 0 })
}

func TestProcesses(t *testing.T) {
	f := family{0: {1, 2}, 1: {10, 11}, 10: {100}, 2: {20}}
	for _, c := range []struct{ roots, want []int }{
		{[]int{1}, []int{1, 10, 11, 100}},
		{[]int{10, 1}, []int{1, 10, 11, 100}},
		{[]int{20, 99}, []int{20}},
		{[]int{99}, nil},
	} {
		if got := f.descendantsOf(c.roots); !slices.Equal(got, c.want) {
			t.Errorf("below %v: %v, want %v", c.roots, got, c.want)
		}
	}
	if got := f.livingAmong([]int{20, 99, 1}); !slices.Equal(got, []int{20, 1}) {
		t.Errorf("living: %v", got)
	}
	own := readProcesses().descendantsOf([]int{os.Getpid()})
	if !slices.Contains(own, os.Getpid()) || commandNames(own)[os.Getpid()] == "" {
		t.Errorf("this process: %v %v", own, commandNames(own))
	}
}
