package probe

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// What a process was given is told as it is: this one's limit, CPUs, files and listeners.
func TestSetups(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	read, err := os.Open(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	all := Setups([]Tree{{Name: "self", PID: os.Getpid()}, {Name: "none", PID: 1 << 30}})
	if len(all) != 2 || all[1].Processes != 0 || all[1].OpenFiles != nil {
		t.Fatalf("%+v", all)
	}
	s := all[0]
	backlog, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	want := port + ": " + string(backlog[:len(backlog)-1]) // Go's net asks for the most there is
	if s.Name != "self" || s.Processes < 1 || s.Threads < 2 || len(s.CPUs) == 0 ||
		!slices.Contains(s.OpenFiles, limitText(limit.Cur)) || !slices.Contains(s.Writes, "access.log") ||
		!slices.Contains(s.Backlogs, want) || len(s.MaxProcs) == 0 {
		t.Errorf("%+v, on %d CPUs; want the backlog %s", s, runtime.NumCPU(), want)
	}
}

// A tree is all of its processes, and each value stands once however many have it.
func TestSetupsOfTree(t *testing.T) {
	p := launch(t, job{Children: []job{{Threads: 5}, {}}})
	accounts := p.accounts(t, 3)
	threads := 0
	for pid := range accounts {
		tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			t.Fatal(err)
		}
		threads += len(tasks)
	}
	s := Setups([]Tree{{Name: "tree", PID: p.cmd.Process.Pid}})[0]
	if s.Processes != 3 || s.Threads < threads || len(s.OpenFiles) != 1 ||
		!slices.Equal(s.MaxProcs, []string{"1"}) {
		t.Errorf("%+v, want 3 processes with %d threads, GOMAXPROCS=1", s, threads)
	}
}
