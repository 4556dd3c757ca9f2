// Package probe watches the machine and the server's processes while a load
// runs, and says what they used.
//
// A Sampler reads counters and gauges at a fixed pace into a Recording. Two
// questions are answered from it: what did things look like over time (Series),
// and what did each process use within the measured window (Between, Host), the
// latter by interpolating cumulative counters at the window's edges: at a pace of
// 200 ms and a steady load the error of an edge is far below that of the load.
//
// # A number is true or absent
//
// What this machine does not have, or this user may not read, is n/a: NaN here,
// null in JSON, with the reason in Recording.Unavailable. It is never 0.
//
// # CPU time of a tree of processes
//
// A tree is a root process and all its descendants. A process belongs to the tree
// of its nearest ancestor that is a root, and once seen stays in its tree although
// its parent ends and another adopts it. On Linux a process's CPU time is read from
// its own CPU clock, in nanoseconds; /proc/PID/stat only says how to split it into
// user and system time (most kernels find that out by sampling at their tick).
//
// Processes that end are not lost. The kernel adds a child's whole time, that of the
// children it waited for included, to its parent's cutime and cstime when the parent
// waits for it. So what a tree's living processes gained in cutime and cstime, less
// what had already been read of those that ended and were waited for inside the
// tree, is what nobody saw: the last moments of those that ended, and those that
// came and went between two samples. It is added to the tree (not to a process),
// and only when positive, so nothing is counted twice. Bounds:
//
//   - cutime and cstime are shown in ticks of 10 ms: each living process that waits for
//     others hides less than 20 ms, once, not for each child.
//   - A parent that ignores SIGCHLD is not told what its children used: of those
//     the last moments (less than a pace) are missing, and the unseen entirely.
//   - An orphan that was never seen and is adopted outside the tree is missing.
//     Below a subreaper (the laboratory's servers are) there is none.
//
// Bytes read and written follow the same rule, because the kernel hands them to
// the parent too: a parent's own figures therefore contain those of its ended
// children, the tree's count them once. Context switches and run-queue waiting
// are handed to nobody: what happened after the last reading is missing.
//
// # Cost
//
// The sampler must not disturb what it watches. It begins a sample at most five times
// a second, and sleeps between two sources of one; what is costly is read less often
// (each group in readinggroups.go), and each group is read again no sooner than a multiple of
// the CPU time it took last, so that all of them together stay below 1 % of one core
// however many processes, threads or sockets there are: the pace gives way, not the
// machine. What it really cost is in Recording.Cost; in a run of a few seconds the
// first reading and the last, which are of everything but sockets by state, weigh
// most.
//
// At most 1024 points of each series are kept, thinned evenly when there are more, and
// series of at most 64 processes: 120 KiB a process and 0.5 MiB for the machine while
// sampling, twice that in the Recording, whatever the length of the run.
//
// Counters of the network are those of the network namespace of this process.
//
// Outside Linux there is less: host CPU, memory, and CPU and RSS of each process.
//
//	account.go         CPU time of processes that have ended
//	cgroup_linux.go    use, throttling and pressure of the cgroup
//	cpu_linux.go       CPU clocks of processes and threads
//	cpuwhole.go        CPU time of the whole machine, without ticks
//	files_linux.go     reads files of /proc without allocating
//	find.go            processes by name: --watch NAME
//	host.go            the machine: CPU, memory, network
//	host_linux.go      the sources of host.go on Linux
//	notes.go           why a value is not available
//	parse.go           numbers in files of /proc
//	probe.go           Config, Sampler: begin and end
//	process.go         a process over time
//	process_linux.go   the sources of process.go on Linux
//	processtrees.go    trees of processes: who belongs to which
//	readinggroups.go   what is read how often
//	recording.go       what was sampled, also as JSON
//	sensors_linux.go   temperature and throttling
//	setup.go           how a server is set up: workers, files, sockets
//	setup_linux.go     the sources of setup.go on Linux; setup_other.go
//	sockets_linux.go   states of sockets
//	system.go          what each system must offer
//	system_other.go    macOS and Windows
//	timeseries.go      tables of samples
//	usage.go           what was used in a window
package probe

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// MinEvery is the fastest pace there is.
const MinEvery = 200 * time.Millisecond

// Config says what to sample, and how often.
type Config struct {
	// Every is the pace of the fastest readings, at least MinEvery, which is the
	// default.
	Every time.Duration
	// Trees are the trees to watch. It is called at each sample, by the sampler's
	// goroutine, must be quick, and may be nil. A tree that it no longer returns
	// is watched all the same.
	Trees func() []Tree
}

// A Tree is a process and all its descendants.
type Tree struct {
	Name string // must differ from that of other trees
	PID  int    // of the root
	// Generator marks what makes the load: its use is not among what Between tells
	// of, and not Foreign either.
	Generator bool
}

// A Sampler is at work from Start to Stop.
type Sampler struct {
	stop      chan struct{}
	done      chan struct{}
	once      sync.Once
	newest    atomic.Pointer[[]Reading]
	recording *Recording // the sampler's goroutine's until done is closed
}

// Start begins to sample; the first sample is complete when it returns, so a
// window that begins afterwards is covered. The caller must call Stop.
func Start(c Config) (*Sampler, error) {
	if c.Every == 0 {
		c.Every = MinEvery
	}
	if c.Every < MinEvery {
		return nil, fmt.Errorf("cannot sample every %v: at least %v, so as not to disturb",
			c.Every, MinEvery)
	}
	if c.Trees == nil {
		c.Trees = func() []Tree { return nil }
	}
	s := &Sampler{stop: make(chan struct{}), done: make(chan struct{})}
	ready := make(chan error)
	go s.sampleLoop(c, ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("cannot watch this machine: %w", err)
	}
	return s, nil
}

// Readings are those of the newest sample, also after Stop: one of each tree that is known.
func (s *Sampler) Readings() []Reading { return *s.newest.Load() }

// Stop takes a last sample and returns what was recorded. Further calls return
// the same recording.
func (s *Sampler) Stop() *Recording {
	s.once.Do(func() { close(s.stop) })
	<-s.done
	return s.recording
}

// sampleLoop owns a thread, so that its CPU clock is the sampler's cost.
func (s *Sampler) sampleLoop(c Config, ready chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(s.done)
	began := threadCPU()
	v, err := newSamplerState(c)
	if err != nil {
		ready <- err
		return
	}
	s.newest.Store(v.forest.readings())
	ready <- nil
	defer v.closeSystem()
	timer := time.NewTimer(v.timeToNext())
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			v.finishSampling()
			s.newest.Store(v.forest.readings())
			s.recording = v.newRecording(threadCPU() - began)
			return
		case <-timer.C:
			v.sampleDue()
			s.newest.Store(v.forest.readings())
			timer.Reset(v.timeToNext())
		}
	}
}
