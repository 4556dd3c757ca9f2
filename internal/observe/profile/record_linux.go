package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Record samples the stacks of processes, and of all that descend from them now or later,
// 99 times per second of CPU time, for d. It works on any program: the function names are
// what symbol tables and /tmp/perf-PID.map say, the stacks what frame pointers give. The
// sample types are samples/count and cpu/nanoseconds; the labels are process (its name),
// thread (its name, where another) and pid; kernel frames are in mappings whose name begins
// with [kernel.
//
// It fails with ErrUnavailable where there is no perf or it is not permitted. No samples is
// no error. Comments say what limits the profile.
func Record(ctx context.Context, pids []int, d time.Duration) (*Profile, error) {
	if len(pids) == 0 || d <= 0 || d > maxRecord {
		return nil, fmt.Errorf("recording %d processes for %v: it takes at least one, and "+
			"up to %v", len(pids), d, maxRecord)
	}
	perf, err := exec.LookPath("perf")
	if err != nil {
		return nil, fmt.Errorf("%w: there is no perf program: on Debian apt-get install "+
			"linux-perf, on Ubuntu linux-tools-$(uname -r), on Fedora and Alpine perf",
			ErrUnavailable)
	}
	dir, err := os.MkdirTemp("", "dyno-perf-")
	if err != nil {
		return nil, fmt.Errorf("recording a profile: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &recorder{perf: perf, dir: dir, file: filepath.Join(dir, "perf.data")}
	return r.runRecorder(ctx, pids, d)
}

type recorder struct {
	perf, dir, file string
	names           map[int]string // of processes
}

// perf refuses all if one process ends before it is attached to, and does not always say
// so. attempts is how often it is tried again with those that are left, the lasting ones.
const attempts = 5

var errGone = errors.New("a process has ended")

func (r *recorder) runRecorder(ctx context.Context, pids []int, d time.Duration) (*Profile, error) {
	var started time.Time
	var took time.Duration
	tree, err := readProcesses().descendantsOf(pids), errGone
	for try := 0; try < attempts && errors.Is(err, errGone); try++ {
		if len(tree) == 0 {
			return nil, fmt.Errorf("recording a profile: none of the processes %v is alive", pids)
		}
		r.names = commandNames(tree)
		started = time.Now()
		err = r.recordSamples(ctx, tree, d)
		took = time.Since(started)
		if living := readProcesses().livingAmong(tree); err != nil && len(living) < len(tree) {
			tree, err = living, fmt.Errorf("%w: %w", errGone, err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("recording a profile: %w", err)
	}
	for pid, name := range commandNames(readProcesses().descendantsOf(pids)) {
		r.names[pid] = name // those that were started meanwhile
	}
	p, err := r.readScript(ctx)
	if err != nil {
		return nil, fmt.Errorf("recording a profile: %w", err)
	}
	p.TimeNanos, p.DurationNanos = started.UnixNano(), min(took, d).Nanoseconds()
	if took < d {
		p.Comments = append(p.Comments, fmt.Sprintf("recording ended after %v of %v: the "+
			"processes did, or the limit of %s was reached", took, d, maxPerfData))
	}
	return p, nil
}

// recordSamples runs perf beside a sleep, whose end is perf's end even if we are killed.
func (r *recorder) recordSamples(ctx context.Context, pids []int, d time.Duration) error {
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	said, err := r.runPerf(ctx, nil, "record", "-N", "-g", "-F", strconv.Itoa(hertz),
		"--max-size", maxPerfData, "-o", r.file, "-p", strings.Join(list, ","),
		"--", "sleep", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && endedEarly(exit) {
		return nil
	}
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid") // absent is an answer
	return perfFailed(said, strings.TrimSpace(string(paranoid)), err)
}

// endedEarly: perf ends by the signal that it ended its sleep with when there is nothing
// left to sample; what it has written stands.
func endedEarly(e *exec.ExitError) bool {
	s, ok := e.Sys().(syscall.WaitStatus)
	return ok && (s.Signaled() && s.Signal() == syscall.SIGTERM || s.ExitStatus() == 128+15)
}

// readScript reads the recording back as text, and that as a profile.
func (r *recorder) readScript(ctx context.Context) (*Profile, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scriptTimeout,
		fmt.Errorf("perf script took more than %v", scriptTimeout))
	defer cancel()
	out, in := io.Pipe()
	type parsed struct {
		p   *Profile
		err error
	}
	done := make(chan parsed, 1)
	go func() {
		text := &io.LimitedReader{R: out, N: maxScript}
		p, err := parseScript(text, r.names)
		if err == nil && text.N <= 0 {
			p.Comments = append(p.Comments, fmt.Sprintf("the beginning only: its text has "+
				"more than %d MiB", maxScript>>20))
		}
		_, rest := io.Copy(io.Discard, out) // perf must not block on what is beyond the limit
		done <- parsed{p, errors.Join(err, rest)}
	}()
	said, err := r.runPerf(ctx, in, "script", "-i", r.file, "--no-inline", "-F", scriptFields)
	in.Close()
	result := <-done
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("perf script: %w: %s", err, firstLine(said))
	}
	return result.p, result.err
}

// runPerf runs perf in a process group of its own and ends the group with ctx. The
// environment keeps perf to this machine and to its directory: no settings of the user,
// no symbols from servers.
func (r *recorder) runPerf(ctx context.Context, out io.Writer, args ...string) (string, error) {
	var said bytes.Buffer
	c := exec.CommandContext(ctx, r.perf, args...)
	c.Dir, c.Stdout, c.Stderr = r.dir, out, &capped{&said, 4 << 10}
	c.Env = append(os.Environ(), "LC_ALL=C", "PERF_CONFIG=/dev/null", "DEBUGINFOD_URLS=")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
	c.WaitDelay = 2 * time.Second
	err := c.Run()
	return said.String(), err
}

// A family is the children of each process.
type family map[int][]int

// readProcesses reads all there are now.
func readProcesses() family {
	f := family{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// PID (NAME) STATE PARENT …, where NAME may have anything in it.
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(rest) < 2 || rest[0] == "Z" {
			continue
		}
		if parent, err := strconv.Atoi(rest[1]); err == nil {
			f[parent] = append(f[parent], pid)
		}
	}
	return f
}

// livingSet is all of them.
func (f family) livingSet() map[int]bool {
	alive := map[int]bool{}
	for _, children := range f {
		for _, pid := range children {
			alive[pid] = true
		}
	}
	return alive
}

// livingAmong are those of pids that live.
func (f family) livingAmong(pids []int) []int {
	alive := f.livingSet()
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !alive[pid] })
}

// descendantsOf are those of roots that live, and all their descendants, in order.
func (f family) descendantsOf(roots []int) (all []int) {
	alive := f.livingSet()
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		if pid := queue[0]; alive[pid] {
			delete(alive, pid)
			all = append(all, pid)
			queue = append(queue, f[pid]...)
		}
	}
	slices.Sort(all)
	return all
}

// commandNames are what processes are called, those that have ended apart.
func commandNames(pids []int) map[int]string {
	all := map[int]string{}
	for _, pid := range pids {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			all[pid] = strings.TrimSpace(string(b))
		}
	}
	return all
}

// A capped writer keeps the first bytes only.
type capped struct {
	to   *bytes.Buffer
	most int
}

func (c *capped) Write(b []byte) (int, error) {
	c.to.Write(b[:min(len(b), c.most-c.to.Len())])
	return len(b), nil
}
