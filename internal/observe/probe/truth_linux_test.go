package probe

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dyno/internal/observe/sockdiag"
)

// near says that got is want, give or take a ratio and a difference.
func about(got Value, want, ratio, difference float64) bool {
	return math.Abs(float64(got)-want) <= math.Abs(want)*ratio+difference
}

// between says that got, in ns, lies from the first number to the last, give or take 2 % and 1 ms.
func between(got Value, from, to float64) bool {
	return float64(got) >= from*0.98-1e6 && float64(got) <= to*1.02+1e6
}

// sampling starts a sampler whose tree is named later.
func sampling(t testing.TB) (*Sampler, *atomic.Int64) {
	t.Helper()
	pid := new(atomic.Int64)
	s, err := Start(Config{Trees: func() []Tree {
		if pid := pid.Load(); pid != 0 {
			return []Tree{{Name: "helpers", PID: int(pid)}}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s, pid
}

// What is recorded of several processes is what they say of themselves, and the
// kernel by other means.
func TestTruth(t *testing.T) {
	s, pid := sampling(t)
	p := launch(t, job{Children: []job{
		{User: 400 * time.Millisecond},
		{Sys: 400 * time.Millisecond},
		{FDs: 123},
		{Threads: 17},
	}})
	accounts := p.accounts(t, 5)
	// All have started: a process that starts has more files open for a moment, and Go tries clone with
	// a process of its own before the first.
	pid.Store(int64(p.cmd.Process.Pid))
	threads := map[int]int{} // now: Go may have started another since
	for pid := range accounts {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			t.Fatal(err)
		}
		threads[pid] = len(tasks)
	}
	r := s.Stop()
	later := map[int]float64{} // after the account they write it, which takes a busy machine long
	for pid := range accounts {
		later[pid] = float64(readClock(processClock(pid)))
	}
	tree := r.Trees[0]
	all, allLater := 0.0, 0.0
	if len(tree.Processes) != 5 {
		t.Fatalf("%d processes, want 5: %+v", len(tree.Processes), tree.Processes)
	}
	for _, u := range tree.Processes {
		a, ok := accounts[u.PID]
		if !ok {
			t.Fatalf("process %d is not ours", u.PID)
		}
		all += float64(a.CPU)
		allLater += later[u.PID]
		if !between(u.CPU, float64(a.CPU), later[u.PID]) {
			t.Errorf("CPU %v, by its own account %v, and %v later", time.Duration(u.CPU), a.CPU,
				time.Duration(later[u.PID]))
		}
		if !about(u.User, float64(a.User), 0.02, 2*tick) ||
			!about(u.Sys, float64(a.Sys), 0.02, 2*tick) {
			t.Errorf("user %v and system %v, by its own account %v and %v",
				time.Duration(u.User), time.Duration(u.Sys), a.User, a.Sys)
		}
		if int(u.Threads.Peak) != threads[u.PID] || threads[u.PID] < a.Threads {
			t.Errorf("%v threads, there are %d, by its own account %d",
				u.Threads.Peak, threads[u.PID], a.Threads)
		}
		if int(u.FDs.Peak) != a.FDs {
			t.Errorf("%v open files, by its own account %d", u.FDs.Peak, a.FDs)
		}
		if !u.Wait.OK() || u.Voluntary <= 0 || !u.Read.OK() || !u.Written.OK() {
			t.Errorf("waiting %v, switches %v, read %v, written %v",
				u.Wait, u.Voluntary, u.Read, u.Written)
		}
	}
	if !between(tree.CPU, all, allLater) {
		t.Errorf("CPU of the tree %v, by its own account %v, and %v later", time.Duration(tree.CPU),
			time.Duration(all), time.Duration(allLater))
	}
}

// Memory is what a program touched beyond what its like did.
func TestTruthMemory(t *testing.T) {
	const mib = 96
	p := launch(t, job{Children: []job{{}, {MiB: mib}}})
	accounts := p.accounts(t, 3)
	s, pid := sampling(t)
	pid.Store(int64(p.cmd.Process.Pid))
	tree := s.Stop().Trees[0]
	if len(tree.Processes) != len(accounts) {
		t.Fatalf("%d processes, want %d", len(tree.Processes), len(accounts))
	}
	if all := s.Readings(); len(all) != 1 || all[0].Name != "helpers" || all[0].Memory != tree.PSS.Peak || !all[0].CPU.OK() {
		t.Errorf("the newest are %+v, PSS is %v", all, tree.PSS)
	}
	slices.SortFunc(tree.Processes, func(a, b Use) int { return int(a.RSS.Peak - b.RSS.Peak) })
	small, big := tree.Processes[1], tree.Processes[2]
	if rss := big.RSS.Peak - small.RSS.Peak; !about(rss, mib<<20, 0.03, 0) {
		t.Errorf("RSS %v MiB more, touched %d", rss/(1<<20), mib)
	}
	if pss := big.PSS.Peak - small.PSS.Peak; !about(pss, mib<<20, 0.03, 0) {
		t.Errorf("PSS %v MiB more, touched %d", pss/(1<<20), mib)
	}
	if tree.RSS.Peak <= tree.PSS.Peak {
		t.Errorf("RSS %v is not above PSS %v although programs share their text",
			tree.RSS.Peak, tree.PSS.Peak)
	}
}

// Children that end between samples are in the tree's CPU time, once.
func TestTruthShortLived(t *testing.T) {
	s, pid := sampling(t)
	p := launch(t, job{Forks: 20, User: 25 * time.Millisecond})
	pid.Store(int64(p.cmd.Process.Pid))
	a := p.accounts(t, 1)[p.cmd.Process.Pid]
	r := s.Stop()
	got, want := r.Trees[0].CPU, float64(a.CPU+a.Children)
	if a.Children < 500*time.Millisecond || !about(got, want, 0.02, 2*tick) {
		t.Errorf("CPU %v, by its own account %v itself and %v its children",
			time.Duration(got), a.CPU, a.Children)
	}
	t.Logf("of 20 children %d were seen", len(r.Trees[0].Processes)-1)
}

// A window in the middle of steady work has that work's CPU time.
func TestTruthWindow(t *testing.T) {
	s, pid := sampling(t)
	p := launch(t, job{User: 1300 * time.Millisecond})
	pid.Store(int64(p.cmd.Process.Pid))
	clock := processClock(p.cmd.Process.Pid)
	for readClock(clock) < 2e8 {
		time.Sleep(10 * time.Millisecond)
	}
	from, before := time.Now(), readClock(clock)
	for readClock(clock) < 10e8 {
		time.Sleep(10 * time.Millisecond)
	}
	to, after := time.Now(), readClock(clock)
	p.accounts(t, 1)
	r := s.Stop()
	u := r.Between(from, to)[0]
	// The edges are interpolated between readings 200 ms apart, and on a machine that is
	// shared the work is not that steady.
	if !about(u.CPU, after-before, 0.02, 4e7) {
		t.Errorf("CPU %v in a window in which it used %v",
			time.Duration(u.CPU), time.Duration(after-before))
	}
	h := r.Host(from, to)
	if h.Busy < u.CPU*0.9 || h.Idle+h.User+h.Sys+h.SoftIRQ+h.IRQ+h.IOWait+h.Steal < 99.9 {
		t.Errorf("the machine: %+v", h)
	}
	if !about(h.Foreign, float64(h.Busy-h.Self-u.CPU), 0, 1) {
		t.Errorf("foreign %v, of busy %v, self %v, tree %v", h.Foreign, h.Busy, h.Self, u.CPU)
	}
}

// What a generator uses is nobody else's, and no server's.
func TestGenerator(t *testing.T) {
	pid := new(atomic.Int64)
	s, err := Start(Config{Trees: func() []Tree {
		if pid := pid.Load(); pid != 0 {
			return []Tree{{Name: "generator", PID: int(pid), Generator: true}}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	p := launch(t, job{User: 500 * time.Millisecond})
	pid.Store(int64(p.cmd.Process.Pid))
	p.accounts(t, 1)
	r := s.Stop()
	h := r.Host(from, time.Now())
	if h.Foreign > h.Busy-h.Self-4e8 {
		t.Errorf("foreign %v of busy %v, self %v, and a generator that used 500 ms", h.Foreign, h.Busy,
			h.Self)
	}
	if got := r.Between(from, time.Now()); len(got) > 0 || len(r.Trees) > 0 {
		t.Errorf("a server's: %+v", got)
	}
	if !slices.ContainsFunc(r.Series, func(s Series) bool { return s.Of == "generator" }) {
		t.Error("there is no series of the generator")
	}
}

// What another user's process does not show is absent; what it shows is right.
func TestTruthUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	target := launch(t, job{FDs: 50, User: 50 * time.Millisecond})
	a := target.accounts(t, 1)[target.cmd.Process.Pid]
	watcher := launch(t, job{Sample: a.PID})
	r := watcher.accounts(t, 1)[watcher.cmd.Process.Pid].Recording
	u := r.Trees[0]
	for name, v := range map[string]Value{"PSS": u.PSS.Peak, "read": u.Read, "written": u.Written} {
		if v.OK() {
			t.Errorf("%s is %v, want n/a", name, v)
		}
	}
	// Since Linux 6.2 anybody may know how many files are open; before, nobody else.
	if u.FDs.Peak.OK() && int(u.FDs.Peak) != a.FDs {
		t.Errorf("%v open files, by its own account %d", u.FDs.Peak, a.FDs)
	}
	if u.RSS.Peak < 1<<20 || u.Threads.Peak < 1 || !u.Wait.OK() || !u.CPU.OK() {
		t.Errorf("of what everybody may read: %+v", u)
	}
	for _, file := range []string{"io of other", "smaps_rollup of other"} {
		if !strings.Contains(strings.Join(r.Unavailable, "\n"), file) {
			t.Errorf("no reason for %s in %q", file, r.Unavailable)
		}
	}
	for _, s := range r.Series {
		if s.Name == "process.io.read" && !math.IsNaN(s.V[0]) {
			t.Errorf("%s is %v, want n/a", s.Name, s.V)
		}
	}
}

func TestSocketsByState(t *testing.T) {
	d, err := sockdiag.Open()
	if err != nil {
		t.Skip("netlink is not permitted:", err)
	}
	defer d.Close()
	listen := newTable(stateColumns()).columnIndex("host.tcp.listen")
	before, after := newNaNs(len(stateColumns())), newNaNs(len(stateColumns()))
	if err := countStates(d, before); err != nil {
		t.Fatal(err)
	}
	const n = 60
	for range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Listen(fd, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := countStates(d, after); err != nil {
		t.Fatal(err)
	}
	// Others may open and close a few meanwhile.
	if grown := after[listen] - before[listen]; math.Abs(grown-n) > 5 {
		t.Errorf("%v more sockets listen, want %d", grown, n)
	}
}

// The sampler costs little with a tree of 20 processes, and says how much.
func TestCost(t *testing.T) {
	children := make([]job, 19)
	p := launch(t, job{Children: children})
	p.accounts(t, 20)
	var r *Recording
	short := false
	for last := 2 * time.Second; r == nil || r.Cost.Samples < 3 && last < time.Minute; last *= 2 { // it may have no CPU
		began := time.Now()
		s, pid := sampling(t)
		pid.Store(int64(p.cmd.Process.Pid))
		time.Sleep(last)
		r = s.Stop()
		short = time.Since(began) < socketEvery
	}
	if n := len(r.Trees[0].Processes); n != 20 {
		t.Errorf("%d processes, want 20", n)
	}
	c := r.Cost
	if !c.CPU.OK() || c.CPU <= 0 || c.Samples < 3 || c.Share > 5 {
		t.Errorf("cost %+v, want below 5 %% of a core", c)
	}
	said := strings.Join(r.Unavailable, "\n")
	if short && !strings.Contains(said, "sockets by state") {
		t.Errorf("sockets were counted in a run too short for it, or nobody says so: %s", said)
	}
	t.Logf("%d samples of 20 processes: %.2f ms of CPU time each, %.2f %% of a core",
		c.Samples, c.PerSample/1e6, c.Share)
}

func TestRecordingJSON(t *testing.T) {
	s, pid := sampling(t)
	pid.Store(int64(os.Getpid()))
	time.Sleep(2 * MinEvery)
	r := s.Stop()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Recording
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(text) {
		t.Errorf("written again it differs (%v):\n%s\n%s", err, text, again)
	}
	if len(back.Series) != len(r.Series) || len(r.Series) < 40 {
		t.Errorf("%d series, read back %d", len(r.Series), len(back.Series))
	}
	found := map[string]bool{}
	for _, s := range back.Series {
		found[s.Name] = true
		if len(s.T) != len(s.V) {
			t.Errorf("%s: %d instants, %d values", s.Name, len(s.T), len(s.V))
		}
	}
	for _, name := range []string{
		"host.cpu.steal", "host.context_switches", "host.load1", "host.memory.available",
		"host.net.lo.received", "host.tcp.retransmits", "host.tcp.listen_overflows",
		"host.softnet.drops", "host.tcp.inuse", "host.tcp.time_wait", "host.psi.cpu",
		"cgroup.throttled", "tree.cpu", "tree.pss", "process.rss", "process.runqueue.wait",
	} {
		if !found[name] {
			t.Errorf("no series %s", name)
		}
	}
}

func TestStartRefusesHaste(t *testing.T) {
	if _, err := Start(Config{Every: 100 * time.Millisecond}); err == nil {
		t.Error("sampling ten times a second was accepted")
	}
}

// BenchmarkSample is a sample of 20 processes with all groups due; see also the cost in
// the log of TestCost, at the real pace.
func BenchmarkSample(b *testing.B) {
	p := launch(b, job{Children: make([]job, 19)})
	p.accounts(b, 20)
	v, err := newSamplerState(Config{
		Every: MinEvery,
		Trees: func() []Tree { return []Tree{{Name: "helpers", PID: p.cmd.Process.Pid}} },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer v.closeSystem()
	for _, g := range []struct {
		name  string
		group *group
	}{
		{"brief", v.groups[0]}, {"detail", v.groups[1]}, {"pss", v.groups[2]},
		{"host", v.groups[3]}, {"sensors", v.groups[4]}, {"sockets", v.groups[5]},
	} {
		b.Run(g.name, func(b *testing.B) {
			runtime.LockOSThread() // for its CPU time: a group sleeps, too
			defer runtime.UnlockOSThread()
			b.ReportAllocs()
			began := threadCPU()
			for b.Loop() {
				g.group.runDue(v.secondsNow(), 0, true)
			}
			b.ReportMetric((threadCPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}
