package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test program is also the programs that are watched: started again with a job in
// its environment, it does it, writes its own account of what it used, and stays until
// its input ends.
const jobVariable = "PROBE_TEST_JOB"

type job struct {
	User, Sys time.Duration // CPU time to burn
	FDs       int           // files to have open besides
	MiB       int           // memory to touch
	Threads   int           // besides those of Go
	Children  []job         // to have beside it
	Forks     int           // children, one after the other, that burn User each
	Sample    int           // pid: sample it as a user who may do nothing
	Quit      bool          // end when done
}

// A ledger is what a program says of itself.
type ledger struct {
	PID           int
	CPU, Children time.Duration
	User, Sys     time.Duration
	FDs, Threads  int
	Recording     *Recording
}

func TestMain(m *testing.M) {
	text, is := os.LookupEnv(jobVariable)
	if !is {
		os.Exit(m.Run())
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := j.do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (j job) do() error {
	a := ledger{PID: os.Getpid()}
	for range j.FDs {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY, 0); err != nil {
			return err
		}
	}
	memory, err := touch(j.MiB)
	if err != nil {
		return err
	}
	var ready sync.WaitGroup
	for range j.Threads {
		ready.Add(1)
		go func() {
			runtime.LockOSThread()
			ready.Done()
			unix.Pause()
		}()
	}
	ready.Wait()
	for _, c := range j.Children {
		if err := c.start(os.Stdin).Start(); err != nil {
			return err
		}
	}
	for range j.Forks {
		if err := (job{User: j.User, Quit: true}).start(nil).Run(); err != nil {
			return err
		}
	}
	if j.Forks == 0 {
		burnUser(j.User)
		burnSys(j.Sys)
	}
	if j.Sample > 0 {
		if a.Recording, err = sampleAsNobody(j.Sample); err != nil {
			return err
		}
	}
	a.count(j)
	if !j.Quit {
		if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
			return err
		}
		io.Copy(io.Discard, os.Stdin)
	}
	runtime.KeepAlive(memory)
	return nil
}

// start is the program with a job.
func (j job) start(in io.Reader) *exec.Cmd {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text), "GOMAXPROCS=1",
		"GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	if !j.Quit {
		cmd.Stdout = os.Stdout
	}
	return cmd
}

func touch(mib int) ([]byte, error) {
	if mib == 0 {
		return nil, nil
	}
	m, err := unix.Mmap(-1, 0, mib<<20, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	return m, nil
}

func burnUser(d time.Duration) {
	sum := uint64(1)
	for until := selfCPU() + float64(d); d > 0 && selfCPU() < until; {
		for i := range uint64(100_000) {
			sum = sum*6364136223846793005 + i
		}
	}
	runtime.KeepAlive(sum)
}

func burnSys(d time.Duration) {
	for until := selfCPU() + float64(d); d > 0 && selfCPU() < until; {
		var st unix.Stat_t
		for range 200 {
			if unix.Stat("/proc/self/status", &st) != nil {
				return
			}
		}
	}
}

func (a *ledger) count(j job) {
	var own, children unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &own)
	unix.Getrusage(unix.RUSAGE_CHILDREN, &children)
	a.User, a.Sys = time.Duration(own.Utime.Nano()), time.Duration(own.Stime.Nano())
	a.Children = time.Duration(children.Utime.Nano() + children.Stime.Nano())
	if tasks, err := os.ReadDir("/proc/self/task"); err == nil {
		a.Threads = len(tasks)
	}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		a.FDs = len(fds) - 1 // without the one that reads the directory
	}
	a.CPU = time.Duration(selfCPU())
}

// sampleAsNobody becomes a user without rights and samples a process of another.
func sampleAsNobody(pid int) (*Recording, error) {
	const nobody = 65534
	if err := syscall.Setgroups(nil); err != nil {
		return nil, err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return nil, err
	}
	if err := syscall.Setuid(nobody); err != nil {
		return nil, err
	}
	s, err := Start(Config{Trees: func() []Tree { return []Tree{{Name: "other", PID: pid}} }})
	if err != nil {
		return nil, err
	}
	return s.Stop(), nil
}

// A program is a job at work.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	bye func()
}

// launch starts a job; it ends with the test at the latest.
func launch(t testing.TB, j job) *program {
	t.Helper()
	cmd := j.start(nil)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: cmd, in: in, out: bufio.NewReader(out)}
	limit := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
	over := false
	p.bye = func() {
		if over {
			return
		}
		over = true
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the watched program: %v", err)
		}
		limit.Stop()
	}
	t.Cleanup(p.bye)
	return p
}

// accounts reads what n programs of the tree say of themselves, by pid.
func (p *program) accounts(t testing.TB, n int) map[int]ledger {
	t.Helper()
	all := map[int]ledger{}
	for range n {
		line, err := p.out.ReadString('\n')
		if err != nil {
			t.Fatal("the watched program said nothing:", err)
		}
		var a ledger
		if err := json.NewDecoder(strings.NewReader(line)).Decode(&a); err != nil {
			t.Fatal(err)
		}
		all[a.PID] = a
	}
	return all
}
