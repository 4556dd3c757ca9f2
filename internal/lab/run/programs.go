package run

import (
	"bytes"
	"crypto/sha256"
	"dyno/internal/lab"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"dyno/internal/observe/probe"
)

// A hasher computes the SHA-256 of files, each once. A file is the same as long as its path, size
// and modification time are.
type hasher map[fileVersion]string

type fileVersion struct {
	path    string
	size    int64
	changed time.Time
}

// sumOf is the hash of the file that link leads to, which is known as path; "" if it cannot be
// read.
func (h hasher) sumOf(link, path string) string {
	f, err := os.Open(link) // the running executable, even if path is another file by now
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

// argsMax is how much of a command line is stored, in bytes.
const argsMax = 4096

// generatorProgram is the program that made the load instead of dyno. It has already ended, so it
// is identified by the file that its name leads to.
func (h hasher) generatorProgram(name string) []lab.Program {
	path, err := exec.LookPath(name)
	if err != nil { // the name of dyno is ""
		return nil
	}
	return []lab.Program{{Process: "generator", Path: path, SHA256: h.sumOf(path, path),
		Args: []string{name}, Count: 1}}
}

// serverPrograms are those of the processes in the trees that still run, the generators' left out.
// A program is identified by the file that a process executes (/proc/PID/exe), and not by a name:
// so it is known behind `sh -c` and `go run`, and when another file has taken its place since.
func (h hasher) serverPrograms(trees []probe.Use) (all []lab.Program) {
	for _, tree := range trees {
		for _, process := range tree.Processes {
			p, ok := h.readProgram(process.PID)
			if !ok {
				continue
			}
			p.Process, p.Count = tree.Name, 1
			if i := slices.IndexFunc(all, p.SameVersion); i >= 0 {
				all[i].Count++
				continue
			}
			all = append(all, p)
		}
	}
	return all
}

func (h hasher) readProgram(pid int) (lab.Program, bool) {
	of := fmt.Sprintf("/proc/%d/", pid)
	path, err := os.Readlink(of + "exe")
	if err != nil {
		return lab.Program{}, false
	}
	line, err := os.ReadFile(of + "cmdline")
	if err != nil {
		return lab.Program{}, false
	}
	line = bytes.TrimRight(line[:min(len(line), argsMax)], "\x00")
	return lab.Program{Path: path, SHA256: h.sumOf(of+"exe", path),
		Args: strings.Split(strings.ToValidUTF8(string(line), "\ufffd"), "\x00")}, true
}
