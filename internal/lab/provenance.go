package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"dyno/internal/observe/probe"
)

// A Program is what some of a server's processes were, as the kernel has it: which executable,
// with which arguments; or what made the load instead of dyno, by its name alone. Only Linux tells
// of processes, and of those of other users only root.
type Program struct {
	Process string   `json:"process"` // of the variant, whose tree they belong to
	Path    string   `json:"path"`    // of the executable, of the first
	SHA256  string   `json:"sha256,omitempty"`
	Args    []string `json:"args"` // of the first; a program may have rewritten them
	Count   int      `json:"count"`
}

// name is the executable's last name. Its folder says nothing: that of a build is another in
// each experiment, and that of what `go run` runs in each trial.
func (p Program) name() string { return strings.TrimSuffix(path.Base(p.Path), " (deleted)") }

// alike reports whether p and q are versions of one executable of a process of the variant.
func (p Program) alike(q Program) bool { return p.Process == q.Process && p.name() == q.name() }

// same reports whether they are the same version.
func (p Program) same(q Program) bool { return p.alike(q) && p.SHA256 == q.SHA256 }

// A hasher knows the SHA-256 of files, and computes each once: a file is the same as long as
// its path, size and time of change are.
type hasher map[fileVersion]string

type fileVersion struct {
	path    string
	size    int64
	changed time.Time
}

// of is the hash of the file that link leads to, known as path; "" if it cannot be read.
func (h hasher) of(link, path string) string {
	f, err := os.Open(link) // of what runs, also when path is another file by now
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	version := fileVersion{path, info.Size(), info.ModTime()}
	if known, is := h[version]; is {
		return known
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	h[version] = hex.EncodeToString(sum.Sum(nil))
	return h[version]
}

// argsMax is how much of a command line is kept.
const argsMax = 4096

// generator is the program that made the load, if it was not dyno. It has ended when it is looked
// at, and is known by the file that its name leads to.
func (h hasher) generator(name string) []Program {
	path, err := exec.LookPath(name)
	if err != nil { // of dyno the name is ""
		return nil
	}
	return []Program{{Process: "generator", Path: path, SHA256: h.of(path, path),
		Args: []string{name}, Count: 1}}
}

// programs are those of the processes in the trees that still run, the generators' left out.
func (h hasher) programs(trees []probe.Use) (all []Program) {
	for _, tree := range trees {
		for _, process := range tree.Processes {
			p, ok := h.program(process.PID)
			if !ok {
				continue
			}
			p.Process, p.Count = tree.Name, 1
			if i := slices.IndexFunc(all, p.same); i >= 0 {
				all[i].Count++
				continue
			}
			all = append(all, p)
		}
	}
	return all
}

func (h hasher) program(pid int) (Program, bool) {
	of := fmt.Sprintf("/proc/%d/", pid)
	path, err := os.Readlink(of + "exe")
	if err != nil {
		return Program{}, false
	}
	line, err := os.ReadFile(of + "cmdline")
	if err != nil {
		return Program{}, false
	}
	line = bytes.TrimRight(line[:min(len(line), argsMax)], "\x00")
	return Program{Path: path, SHA256: h.of(of+"exe", path),
		Args: strings.Split(strings.ToValidUTF8(string(line), "\ufffd"), "\x00")}, true
}

// A Ran is a program of an arm, over all trials: two of one process are two builds of it.
type Ran struct {
	Arm string `json:"arm"`
	Program
	Trials int `json:"trials"` // in which it was seen
}

// ran are the programs of all arms, in the order in which they were first seen.
func ran(trials []*Trial) (all []Ran) {
	for _, t := range trials {
		for _, p := range t.Programs {
			i := slices.IndexFunc(all, func(r Ran) bool { return r.Arm == t.Arm && r.same(p) })
			if i < 0 {
				i, all = len(all), append(all, Ran{Arm: t.Arm, Program: p})
			}
			all[i].Trials++
		}
	}
	return all
}

// changedPrograms names those of which an arm had more than one version, as far as they could
// be read.
func changedPrograms(all []Ran) (names []string) {
	for i, a := range all {
		for _, b := range all[:i] {
			name := fmt.Sprintf("%s of %s", a.name(), a.Arm)
			known := a.SHA256 != "" && b.SHA256 != ""
			other := a.Arm == b.Arm && a.alike(b.Program) && a.SHA256 != b.SHA256
			if known && other && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
