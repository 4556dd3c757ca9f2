package lab

import (
	"path"
	"strings"
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

// Executable is the executable's last name. Its folder says nothing: that of a build is another in
// each experiment, and that of what `go run` runs in each trial.
func (p Program) Executable() string { return strings.TrimSuffix(path.Base(p.Path), " (deleted)") }

// SameExecutable reports whether p and q are versions of one executable of a process of the
// variant.
func (p Program) SameExecutable(q Program) bool {
	return p.Process == q.Process && p.Executable() == q.Executable()
}

// SameVersion reports whether they are the same version.
func (p Program) SameVersion(q Program) bool { return p.SameExecutable(q) && p.SHA256 == q.SHA256 }

// A ArmProgram is a program of an arm, over all trials: two of one process are two builds of it.
type ArmProgram struct {
	Arm string `json:"arm"`
	Program
	Trials int `json:"trials"` // in which it was seen
}
