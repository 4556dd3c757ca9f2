package probe

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"dyno/internal/observe/sockdiag"
)

// Setups is what the processes of each tree were given, generators left out, as they are now. It
// takes some milliseconds: it is no reading to repeat.
func Setups(trees []Tree) []Setup {
	children := map[int][]int{}
	all, _ := running() // what there is of it: without a list a tree is its root
	for _, r := range all {
		children[r.parent] = append(children[r.parent], r.pid)
	}
	listening, _ := sockdiag.Listeners() // none if the kernel does not say
	var setups []Setup
	for _, t := range trees {
		if t.Generator {
			continue
		}
		s := Setup{Name: t.Name}
		for pids := []int{t.PID}; len(pids) > 0; pids = pids[1:] {
			s.inspectProcess(pids[0], listening)
			pids = append(pids, children[pids[0]]...)
		}
		setups = append(setups, s)
	}
	return setups
}

// inspectProcess adds a process.
func (s *Setup) inspectProcess(pid int, listening map[string]sockdiag.Socket) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return
	}
	stat, err := p.Stat()
	if err != nil {
		return
	}
	s.Processes++
	s.Threads += stat.NumThreads
	if l, err := p.Limits(); err == nil {
		s.OpenFiles = appendOnce(s.OpenFiles, limitText(l.OpenFiles))
	}
	if status, err := newScratch().readProcFile(pid, "status"); err == nil {
		s.CPUs = appendOnce(s.CPUs, textAfterKey(status, "Cpus_allowed_list:"))
	}
	s.MaxProcs = appendOnce(s.MaxProcs, maxProcs(p, pid))
	targets, err := p.FileDescriptorTargets()
	if err != nil {
		return
	}
	for _, target := range targets {
		if l, listens := listening[target]; listens {
			s.Backlogs = appendOnce(s.Backlogs, fmt.Sprintf("%d: %d", l.Port, l.Backlog))
		}
	}
	s.addWrittenFiles(pid)
}

// appendOnce is all with one more, unless that is nothing or there.
func appendOnce(all []string, one string) []string {
	if one == "" || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

func limitText(n uint64) string {
	if n >= 1<<63-1 {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// textAfterKey is what stands behind a key.
func textAfterKey(text []byte, key string) string {
	for l := range bytes.Lines(text) {
		if rest, is := bytes.CutPrefix(l, []byte(key)); is {
			return string(bytes.TrimSpace(rest))
		}
	}
	return ""
}

// maxProcs is GOMAXPROCS of a Go program; "" of others.
func maxProcs(p procfs.Proc, pid int) string {
	if _, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		return ""
	}
	env, err := p.Environ()
	if err != nil {
		return ""
	}
	for _, e := range env {
		if value, is := strings.CutPrefix(e, "GOMAXPROCS="); is {
			return cmp.Or(value, NotSet)
		}
	}
	return NotSet
}

// addWrittenFiles adds the regular files that are open for writing.
func (s *Setup) addWrittenFiles(pid int) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	entries, err := os.ReadDir(dir + "fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		link := dir + "fd/" + e.Name()
		info, err := os.Stat(link)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(dir + "fdinfo/" + e.Name())
		flags, wrong := strconv.ParseUint(textAfterKey(text, "flags:"), 8, 64)
		if err != nil || wrong != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
			continue
		}
		name, err := os.Readlink(link)
		if err == nil && path.IsAbs(name) { // others are of the kernel's own, as eventfds
			s.Writes = appendOnce(s.Writes, path.Base(name))
		}
	}
}
