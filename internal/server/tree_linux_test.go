package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
)

// marked are the processes, but not zombies, with mark in their environment.
func marked(mark string) (found []procStat) {
	for _, p := range processes() {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
		if err == nil && !p.dead() && p.pid != os.Getpid() &&
			slices.Contains(strings.Split(string(text), "\x00"), mark) {
			found = append(found, p)
		}
	}
	return found
}

// nothingLeft fails, and kills, if processes with mark live on for so long.
func nothingLeft(t *testing.T, mark string, wait time.Duration) {
	t.Helper()
	var left []procStat
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	t.Errorf("left running: %+v", left)
	for _, p := range left {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// await waits for at least n marked processes.
func (b bench) await(n int) {
	b.Helper()
	for end := time.Now().Add(2 * time.Minute); len(marked(b.mark)) < n; {
		if time.Now().After(end) {
			b.Fatalf("%d processes, want %d: %+v", len(marked(b.mark)), n, marked(b.mark))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// troop is a server, one that ignores SIGTERM, one whose daemon has a session
// of its own, and php or not.
func (b bench) troop() []Process {
	good, _ := b.serve("good")
	bad, _ := b.serve("bad", "-ignore")
	bad.Grace = 300 * time.Millisecond
	daemon, _ := b.serve("daemon", "-daemon")
	return []Process{good, bad, daemon}
}

// dyno is killed in the middle.
func TestKilled(t *testing.T) {
	b := newBench(t)
	own := filepath.Join(b.dir, "own")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	spec, err := json.Marshal(Spec{Dir: own, Temporary: true, Processes: b.troop()})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "hold", string(spec))
	cmd.Env = append(os.Environ(), b.mark) // the supervisor's, too
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("%q %v", line, err)
	}
	b.await(7) // dyno, supervisor, three servers, sh and its sleep
	cmd.Process.Kill()
	cmd.Wait()
	nothingLeft(t, b.mark, time.Minute)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the servers is still there: %v", err)
	}
}

func TestSupervisorKilled(t *testing.T) {
	b := newBench(t)
	p, _ := b.serve("app")
	shell, _ := b.serve("shell")
	shell.Ready = nil
	shell.Args = []string{"sh", "-c", "sleep 1000 & sleep 1001"} // a grandchild
	s := b.start(b.spec(p, shell))
	g, err := s.Run(Process{Name: "guest", Args: []string{"sleep", "1000"}, Env: p.Env}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(s.tree.cmd.Process.Pid, syscall.SIGKILL)
	if f := died(t, s); f.Kind != Lost {
		t.Errorf("%+v", f)
	}
	nothingLeft(t, b.mark, 0) // when it is told
	if exit := g.Wait(); exit.Signal != "lost" {
		t.Errorf("%+v", exit)
	}
	if _, err := s.Stop(); err == nil {
		t.Error("a report without a supervisor")
	}
}

// What the terminal or a service manager sends to everybody does not make the
// supervisor forget its servers.
func TestSupervisorSignalled(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	s := b.start(b.spec(p))
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := syscall.Kill(s.tree.cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	get(t, url)
	if r := b.stop(s); r.Exits[0].Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "supervisor.err")); !os.IsNotExist(err) {
		t.Errorf("the supervisor complained, or left an empty file: %v", err)
	}
}

func TestDaemon(t *testing.T) {
	b := newBench(t)
	p, _ := b.serve("app", "-daemon")
	r := b.stop(b.start(b.spec(p)))
	has(t, strings.Join(r.Killed, ", "), "forked away")
	if r.Exits[0].Killed || r.Strays.Processes == 0 || r.Left != 0 {
		t.Errorf("%+v", r)
	}
	p, _ = b.serve("app", "-daemon", "-exit", "0")
	f := b.fails(b.spec(p), Ended)
	has(t, f.Reason, "status 0", "left processes behind")
}

// A leader that ends before its group takes nobody's report with it.
func TestLeaderEndsFirst(t *testing.T) {
	b := newBench(t)
	p, _ := b.serve("app")
	p.Args = []string{"sh", "-c", `trap "" TERM; sleep 1000 & trap - TERM; sleep 1000 & wait`}
	var r Report
	for grace := 200 * time.Millisecond; grace < 30*time.Second; grace *= 5 {
		p.Ready, p.Grace = nil, grace
		s := b.start(b.spec(p))
		b.await(3)
		if r = b.stop(s); !r.Exits[0].Killed {
			break
		}
		t.Logf("the leader needs more than %v to end: the machine is busy", grace)
	}
	if !slices.Equal(r.Killed, []string{"app"}) || r.Exits[0].Killed || r.Strays.Processes != 0 {
		t.Errorf("%+v", r)
	}
}

func TestLaunch(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	cpus, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	p.CPUs = cpus[len(cpus)-1:]
	p.NoFile = 321
	p.Dir = "below"
	want := append(b.env(), "ODD= a'b\"c\\d=\n", "EMPTY=", "TWICE=b=c")
	p.Env = append([]string{"TWICE=a"}, want...)
	below := filepath.Join(b.dir, p.Dir)
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	s := b.start(b.spec(p))
	f := factsOf(t, url)
	if f.CPUs != FormatCPUs(p.CPUs) || f.NoFile != [2]uint64{321, 321} || f.Dir != below ||
		!slices.Equal(f.Args, p.Args) || f.Stdin != os.DevNull || f.Stderr != "" {
		t.Errorf("%+v", f)
	}
	want = append(want[len(want)-1:], want[:len(want)-1]...) // each where its name came first
	if !slices.Equal(f.Env, want) {
		t.Errorf("environment %q, want %q", f.Env, want)
	}
	group, err := syscall.Getpgid(f.PID)
	if err != nil || group != f.PID {
		t.Errorf("process %d in group %d %v", f.PID, group, err)
	}
	b.stop(s)
}

func TestLaunchRefused(t *testing.T) {
	b := newBench(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(b.dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		process Process
		want    string
	}{
		{"files", Process{NoFile: 1 << 40}, "above the hard limit " + fmt.Sprint(limit.Max)},
		{"cpu", Process{CPUs: []int{1000}}, "CPUs 1000"},
		{"cpus", Process{CPUs: []int{0, 1000}}, "available to this process"},
		{"user", Process{User: "no such user"}, "no such user"},
		{"group", Process{User: "root:no such group"}, "no such group"},
		{"right", Process{Args: []string{plain}}, "permission denied"},
	}
	for _, test := range tests {
		p := test.process
		p.Name, p.Env = test.name, b.env()
		if p.Args == nil {
			p.Args = []string{"/bin/true"}
		}
		has(t, b.fails(b.spec(p), CannotStart).Reason, test.want)
	}
	if os.Geteuid() != 0 {
		p := Process{Name: "root", Args: []string{"/bin/true"}, User: "0"}
		has(t, b.fails(b.spec(p), CannotStart).Reason, "only root")
	}
}

// open makes the test's directory one that other users can reach.
func (b bench) open() {
	b.Helper()
	for _, dir := range []string{b.dir, filepath.Dir(b.dir)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			b.Fatal(err)
		}
	}
}

// copySelf copies the test binary to where other users can execute it, by a process of its own:
// nobody can start what a parallel test's fork has inherited open for writing.
func (b bench) copySelf() string {
	b.Helper()
	b.open()
	path := filepath.Join(b.dir, "self.test")
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if said, err := exec.Command("cp", exe, path).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, said)
	}
	return path
}

func TestUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	b := newBench(t)
	program := b.copySelf()
	tests := []struct {
		user     string
		uid, gid int
	}{{"nobody", 65534, 65534}, {"65534:7", 65534, 7}, {"4711", 4711, 4711}}
	for _, test := range tests {
		p, url := b.serve("app")
		p.Args[0], p.User = program, test.user
		s := b.start(b.spec(p))
		f := factsOf(t, url)
		if f.UID != test.uid || f.GID != test.gid || !slices.Equal(f.Groups, []int{test.gid}) ||
			f.Stderr != "" {
			t.Errorf("%s: %+v", test.user, f)
		}
		// A change of user must not undo that it dies with the supervisor.
		syscall.Kill(s.tree.cmd.Process.Pid, syscall.SIGKILL)
		died(t, s)
		nothingLeft(t, b.mark, 0)
		s.Stop()
	}
	p, _ := b.serve("app")
	p.User, p.Args = "nobody", []string{"/bin/true"}
	if err := os.Chmod(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	has(t, b.fails(b.spec(p), CannotStart).Reason, "permission denied", "as user nobody")
}

// Everything works for somebody who is not root: these tests once more.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: all tests are this test")
	}
	b := newBench(t)
	program := b.copySelf()
	temp := filepath.Join(b.dir, "tmp")
	if err := errors.Join(os.Mkdir(temp, 0o777), os.Chmod(temp, 0o777)); err != nil {
		t.Fatal(err)
	}
	p, _ := b.serve("app")
	s := b.start(b.spec(p))
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Run(Process{Name: "tests", User: "65534", Dir: temp, Env: append(b.env(), "TMPDIR="+temp),
		Args: []string{program, "-test.v", "-test.timeout=5m", "-test.run=" +
			"^Test(StartAndStop|NeverReady|IgnoresSignal|Daemon|Launch|LaunchRefused|Killed|Netns|NetnsClients|Guest)$"},
	}, nil, theirs, theirs)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	text, err := io.ReadAll(out)
	if exit := g.Wait(); exit.Code != 0 || err != nil {
		t.Errorf("%v %v\n%s", exit, err, text)
	}
	if n := strings.Count(string(text), "--- PASS: "); n != 10 {
		t.Errorf("%d of 10 passed:\n%s", n, text)
	}
	b.stop(s)
}

func TestNetns(t *testing.T) {
	b := newBench(t)
	const setting, value = "net.core.somaxconn", "4321"
	p, url := b.serve("app")
	spec := b.spec(p)
	spec.Netns = &Netns{Sysctl: map[string]string{setting: value, "net.ipv4.tcp_fin_timeout": "7"}}
	s, err := Start(t.Context(), spec)
	if err != nil && strings.Contains(err.Error(), "it needs root with CAP_SYS_ADMIN") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	if p.Ready.isTaken() {
		t.Error("the server can be reached from outside: its namespace is the host's")
	}
	// From inside: the other side of a guest's pipe.
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Run(Process{Name: "asks", Env: p.Env, Args: []string{"bash", "-c", `
cat /proc/sys/net/core/somaxconn /proc/sys/net/ipv4/tcp_fin_timeout
grep CapEff /proc/self/status; id -u
exec 3<>/dev/tcp/127.0.0.1/` + url[strings.LastIndex(url, ":")+1:] + `
printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -1 <&3`}}, nil, theirs, theirs)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	text, err := io.ReadAll(out)
	if err != nil || g.Wait().Code != 0 {
		t.Fatalf("%s %v", text, err)
	}
	has(t, string(text), value+"\n7\n", fmt.Sprintf("\n%d\n", os.Getuid()), "HTTP/1.0 200 OK")
	if os.Getuid() != 0 {
		has(t, string(text), "CapEff:\t0000000000000000")
	}
	host, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil || strings.TrimSpace(string(host)) == value {
		t.Errorf("the host's is %s %v", host, err)
	}
	b.stop(s)
	for name, want := range map[string]string{
		"vm.overcommit_memory": "only settings net.*", "net.../../vm.swappiness": "only settings net.*",
		"net.no.such":                 "not a setting of a network namespace",
		"net.core.netdev_max_backlog": "network namespace",
	} {
		spec.Netns = &Netns{Sysctl: map[string]string{name: "1"}}
		has(t, b.fails(spec, CannotStart).Reason, name, want)
	}
}

// The thread that starts servers must live as long as they do, or the kernel
// takes its end for the supervisor's. Many threads come and go here.
func TestLivesOn(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("app")
	s := b.start(b.spec(p))
	for range 20 {
		g, err := s.Run(Process{Name: "true", Args: []string{"/bin/true"}, Env: p.Env}, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Wait()
	}
	runtime.GC()
	get(t, url)
	b.stop(s)
}

// The port is taken between the look at it and the process's own bind, by a
// server that answers as expected.
func TestStrangerAnswers(t *testing.T) {
	b := newBench(t)
	p, url := b.serve("slow")
	addr := strings.TrimPrefix(url, "http://")
	taken := filepath.Join(t.TempDir(), "taken")
	p.Args = []string{"sh", "-c", "until [ -e " + taken + " ]; do sleep 0.01; done; exec " + os.Args[0] +
		" serve -addr " + addr}
	spec := b.spec(p)
	go func() {
		for len(marked(b.mark)) == 0 && t.Context().Err() == nil { // until sh is there
			time.Sleep(5 * time.Millisecond)
		}
		l, err := net.Listen("tcp", addr)
		if err == nil {
			err = os.WriteFile(taken, nil, 0o600)
		}
		if err != nil {
			t.Error(err)
			return
		}
		stranger := http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		t.Cleanup(func() { stranger.Close() })
		stranger.Serve(l)
	}()
	b.fails(spec, PortTaken)
}

func TestOwnsPort(t *testing.T) {
	port := freePort(t)
	if !ownsPort(os.Getpid(), port) {
		t.Error("a port without a listener is a stranger's")
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if ownsPort(os.Getpid(), port) {
		t.Error("no descendant listens")
	}
	if !ownsPort(os.Getppid(), port) {
		t.Error("this process is one of its parent")
	}
	sockets := map[string]int{}
	addListeners(sockets, []byte(`  sl  local_address rem_address   st tx_queue rx_queue tr tm->when
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1
   1: 0100007F:1F90 0100007F:8888 01 00000000:00000000 00:00000000 00000000     0        0 4712 1
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1
nonsense`))
	if len(sockets) != 2 || sockets["socket:[4711]"] != 8080 || sockets["socket:[4713]"] != 8081 {
		t.Error(sockets)
	}
	for name, all := range map[string]map[string]int{"netlink": listeners(), "the text": listenersInText()} {
		if !slices.Contains(slices.Collect(maps.Values(all)), port) {
			t.Errorf("%s has %v, without %d", name, all, port)
		}
	}
	if all := listenedPorts(os.Getpid()); !slices.Contains(all, port) {
		t.Errorf("it listens on %v, not on %d", all, port)
	}
	if err := l.Close(); err != nil || slices.Contains(listenedPorts(os.Getpid()), port) {
		t.Errorf("it still listens on %d: %v", port, err)
	}
}

func TestSupervisedByHand(t *testing.T) {
	for _, args := range [][]string{{"supervise"}, {"supervise", "launch", "{}"}, {"supervise", "x"}} {
		out, err := exec.Command(os.Args[0], args...).CombinedOutput()
		if err == nil || len(out) == 0 {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat(7, []byte("7 (a) b) (c) S 3 7 2 0 -1 4194560 1 2"))
	if want := (procStat{7, 3, 7, 2, "a) b) (c", 'S'}); !ok || p != want {
		t.Errorf("%+v", p)
	}
	own, ok := readStat(os.Getpid())
	if !ok || own.parent != os.Getppid() || own.group != syscall.Getpgrp() || own.dead() {
		t.Errorf("%+v", own)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (a b) S 3 7 2 0"))
	f.Add([]byte("7 (a b) \x00 3 7 2 0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, ok := parseStat(1, text); ok && !unicode.IsLetter(rune(p.state)) {
			t.Errorf("%+v", p)
		}
	})
}

// A wire brings files with their own message, however the bytes come.
func TestWire(t *testing.T) {
	a, end, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	z, err := newWire(end)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<20)
	done := make(chan error, 1)
	go func() {
		defer a.conn.Close()
		for i := range 3 {
			r, w, err := os.Pipe()
			if err != nil {
				done <- err
				return
			}
			fmt.Fprint(w, i)
			w.Close()
			plain, err1 := encode(order{Seq: 10 + i, Process: &Process{Name: long}})
			line, err2 := encode(order{Seq: i, Streams: [3]bool{1: true}, Process: &Process{Name: long}})
			if err := errors.Join(err1, err2, a.sendMessage(plain), a.sendMessage(line, r)); err != nil {
				done <- err
				return
			}
			r.Close()
		}
		done <- nil
	}()
	for i := range 6 {
		var o order
		if err := z.receiveMessage(&o); err != nil || o.Process.Name != long {
			t.Fatal(i, err)
		}
		s, err := z.takeFiles(o.Streams)
		if err != nil || (s[1] != nil) != (o.Seq < 10) {
			t.Fatal(i, err, s)
		}
		if s[1] != nil {
			text, err := io.ReadAll(s[1])
			if err != nil || string(text) != fmt.Sprint(o.Seq) {
				t.Errorf("%q %v", text, err)
			}
			s.close()
		}
	}
	if err := z.receiveMessage(&order{}); err != io.EOF {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := encode(order{Process: &Process{Name: strings.Repeat("x", messageMax)}}); err == nil {
		t.Error("a message without bounds")
	}
}

// What is not a message ends the connection, and nothing else.
func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"Do":"start","Streams":[true,false,false]}` + "\n"))
	f.Add([]byte("{\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, end, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		z, err := newWire(end)
		if err != nil {
			t.Fatal(err)
		}
		defer z.conn.Close()
		go func() {
			a.sendMessage(text)
			a.conn.Close()
		}()
		orders := make(chan ordered)
		go (&supervisor{wire: z}).receiveOrders(orders)
		for o := range orders {
			if o.Streams != [3]bool{} {
				t.Error("files out of nothing")
			}
		}
	})
}
