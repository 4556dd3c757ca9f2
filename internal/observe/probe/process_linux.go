package probe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A linux is the system by /proc.
type linux struct {
	scratch *scratch
	notes   *notes
	booted  float64 // s from the boot to the sampler's start
	pids    []int
	ids     []int
	// noChildren: this kernel has no list of children (CONFIG_PROC_CHILDREN).
	noChildren bool
	host       *linuxHost
}

func openSystem(n *notes) (system, error) {
	var boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return nil, fmt.Errorf("read the time since the boot: %w", err)
	}
	l := &linux{scratch: newScratch(), notes: n, booted: float64(boot.Nano()) / 1e9}
	if _, err := l.scratch.readFile("/proc/self/stat"); err != nil {
		return nil, fmt.Errorf("read /proc: %w (is it mounted?)", err)
	}
	host, err := newLinuxHost(l.scratch, n)
	if err != nil {
		return nil, err
	}
	l.host = host
	return l, nil
}

func (l *linux) tables() ([]source, int) { return l.host.hostSources(), l.host.cpus }
func (l *linux) close()                  { l.host.closeFiles() }

func (l *linux) kin() func(pid, threads int) []int {
	if !l.noChildren {
		return l.children
	}
	all := map[int][]int{}
	list, _ := running()
	for _, r := range list {
		all[r.parent] = append(all[r.parent], r.pid)
	}
	return func(pid, _ int) []int { return all[pid] }
}

// children are those of all the threads of a process.
func (l *linux) children(pid, threads int) []int {
	l.pids, l.ids = l.pids[:0], append(l.ids[:0], pid)
	if threads != 1 {
		l.ids, _ = l.scratch.listNumbered(l.ids[:0], l.scratch.procPath(pid, "task"))
	}
	for _, id := range l.ids {
		text, err := l.scratch.readFile(l.scratch.taskPath(pid, id, "children"))
		if err == nil {
			l.pids = parsePIDs(l.pids, text)
		} else if l.lacksChildren(pid, err) {
			l.noChildren = true
			return l.kin()(pid, threads)
		}
	}
	return l.pids
}

// lacksChildren tells a kernel without lists of children from a process that ended.
func (l *linux) lacksChildren(pid int, err error) bool {
	if !errors.Is(err, unix.ENOENT) {
		return false
	}
	_, err = l.scratch.readFile(l.scratch.taskPath(os.Getpid(), os.Getpid(), "children"))
	return err != nil
}

func (l *linux) brief(pid int, b *brief) error {
	text, err := l.scratch.readProcFile(pid, "stat")
	if err != nil {
		return err
	}
	s, err := parseStat(text)
	if err != nil {
		return err
	}
	if string(s.comm) != b.comm {
		b.comm = string(s.comm)
	}
	b.stamp = s.start
	b.born = birthTime(float64(s.start)*tick/1e9-l.booted, tick/1e9)
	b.parent, b.threads = s.parent, s.threads
	b.user, b.sys = s.user*tick, s.sys*tick
	b.reapedUser, b.reapedSys = s.reapedU*tick, s.reapedS*tick
	return nil
}

func (l *linux) clock(pid int) (float64, bool) {
	ns := readClock(processClock(pid))
	return ns, !math.IsNaN(ns)
}

func (l *linux) detail(p *process, d *detail) error {
	text, err := l.scratch.readProcFile(p.pid, "status")
	if err != nil {
		return err
	}
	dead := bytes.Contains(text, []byte("\nState:\tZ")) || bytes.Contains(text, []byte("\nState:\tX"))
	if dead && !p.detailed {
		return unix.ESRCH
	}
	if dead { // not waited for: it has nothing any more, and its counters stand still
		*d = p.detail
		d[detailRSS], d[detailFDs] = 0, 0
		return nil
	}
	d[detailRSS] = numberAfterKey(text, "VmRSS") * 1024
	if err := l.io(p, d); err != nil {
		return err
	}
	if d[detailFDs], err = l.fds(p); err != nil {
		return err
	}
	return l.sumTasks(p, d)
}

// io reads the bytes from and to storage.
func (l *linux) io(p *process, d *detail) error {
	text, err := l.scratch.readProcFile(p.pid, "io")
	if err != nil && !l.excused("io", p, err) {
		return err
	}
	d[detailRead] = numberAfterKey(text, "read_bytes")
	d[detailWritten] = numberAfterKey(text, "write_bytes")
	return nil
}

// excused says that a process's file cannot be read although the process is there:
// because it may not be, or because this kernel has no such file.
func (l *linux) excused(name string, p *process, err error) bool {
	if !isRefused(err) {
		if _, own := l.scratch.readFile("/proc/self/" + name); own == nil {
			return false
		}
	}
	l.notes.addNote(fmt.Sprintf("%s of %s (%s %d)", name, p.tree.Name, p.brief.comm, p.pid), err)
	return true
}

// fds counts open files. Since Linux 6.2 the size of the directory is their number;
// before, it was 0, and the directory has to be read.
func (l *linux) fds(p *process) (float64, error) {
	path := l.scratch.procPath(p.pid, "fd")
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err == nil && st.Size > 0 {
		return float64(st.Size), nil
	}
	ids, err := l.scratch.listNumbered(l.ids[:0], path)
	l.ids = ids
	if err != nil && l.excused("fd", p, err) {
		return math.NaN(), nil
	}
	return float64(len(ids)), err
}

// sumTasks adds up the switches and the waiting of all threads, those that ended
// included: /proc/PID/status and schedstat speak only of the first thread.
func (l *linux) sumTasks(p *process, d *detail) error {
	l.ids = append(l.ids[:0], p.pid)
	if p.brief.threads != 1 || len(p.tasks) > 1 {
		ids, err := l.scratch.listNumbered(l.ids[:0], l.scratch.procPath(p.pid, "task"))
		if err != nil {
			return err
		}
		l.ids = ids
	}
	before := make(map[int]task, len(p.tasks))
	for _, t := range p.tasks {
		before[t.id] = t
	}
	p.tasks = p.tasks[:0]
	for _, id := range l.ids {
		if t, ok := l.task(p, id, before[id]); ok {
			p.tasks = append(p.tasks, t)
			delete(before, id)
		}
	}
	var over, sum task
	for _, t := range before { // those that ended, and what ended before them
		over.addTask(t)
	}
	p.tasks = append(p.tasks, over)
	for _, t := range p.tasks {
		sum.addTask(t)
	}
	d[detailVoluntary], d[detailInvoluntary] = sum.voluntary, sum.involuntary
	d[detailWait] = sum.wait
	return nil
}

// task reads a thread's counters; false if it ended. One that was given no CPU since
// the last time has not switched either, which saves the longer of the two texts.
func (l *linux) task(p *process, id int, last task) (t task, ok bool) {
	t = task{id: id, slices: math.NaN(), wait: math.NaN()}
	text, err := l.scratch.readFile(l.scratch.taskPath(p.pid, id, "schedstat"))
	if err == nil {
		t.wait, t.slices = parseSchedstat(text)
	} else if !l.excused("schedstat", p, err) {
		return t, false
	}
	if last.id == id && last.slices == t.slices {
		t.voluntary, t.involuntary = last.voluntary, last.involuntary
		return t, true
	}
	if text, err = l.scratch.readFile(l.scratch.taskPath(p.pid, id, "status")); err != nil {
		return t, false
	}
	t.voluntary = numberAfterKey(text, "voluntary_ctxt_switches")
	t.involuntary = numberAfterKey(text, "nonvoluntary_ctxt_switches")
	return t, true
}

func (l *linux) pss(p *process) (float64, error) {
	text, err := l.scratch.readProcFile(p.pid, "smaps_rollup")
	if err != nil && !l.excused("smaps_rollup", p, err) {
		return 0, err
	}
	return numberAfterKey(text, "Pss") * 1024, nil
}

// title is the command line, its words separated by NUL as the kernel has them.
func (l *linux) title(pid int) string {
	text, err := l.scratch.readProcFile(pid, "cmdline")
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text[:min(len(text), 200)]), "\x00")
}

// running lists all processes.
func running() ([]candidate, error) {
	s := newScratch()
	pids, err := s.listNumbered(nil, "/proc")
	if err != nil {
		return nil, fmt.Errorf("list the processes: read /proc: %w", err)
	}
	var all []candidate
	for _, pid := range pids {
		text, err := s.readProcFile(pid, "stat")
		if err != nil {
			continue // ended meanwhile, or hidden
		}
		stat, err := parseStat(text)
		if err != nil {
			continue
		}
		c := candidate{pid: pid, parent: stat.parent, comm: string(stat.comm)}
		if text, err = s.readProcFile(pid, "cmdline"); err == nil {
			c.program = programOf(string(text))
		}
		all = append(all, c)
	}
	return all, nil
}
