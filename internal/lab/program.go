package lab

import (
	"maps"
	"path"
	"strings"
)

// A Program is an executable that processes of a server ran, with its arguments, as the kernel
// reports them. If another generator made the load, it is that program, by name only. Only Linux
// reports programs, and those of other users only to root.
type Program struct {
	Process string   `json:"process"` // of the variant, whose process tree has it
	Path    string   `json:"path"`    // of the first executable
	SHA256  string   `json:"sha256,omitempty"`
	Args    []string `json:"args"` // of the first process; a program may have rewritten them
	Count   int      `json:"count"`
}

// Executable is the file name of the executable. Its folder is left out: a build has another folder
// in each experiment, and `go run` in each trial.
func (p Program) Executable() string { return strings.TrimSuffix(path.Base(p.Path), " (deleted)") }

// SameExecutable reports whether p and q are the same executable, perhaps in different versions, of
// one process of the variant.
func (p Program) SameExecutable(q Program) bool {
	return p.Process == q.Process && p.Executable() == q.Executable()
}

// SameVersion reports whether they are the same version.
func (p Program) SameVersion(q Program) bool { return p.SameExecutable(q) && p.SHA256 == q.SHA256 }

// SamePrograms reports whether two arms ran the same executables, perhaps in different versions. An
// arm whose programs are not known counts as the same.
func (r *Record) SamePrograms(a, b string) bool {
	names := map[string]map[string]bool{a: {}, b: {}}
	for _, p := range r.Programs {
		if of, compared := names[p.Arm]; compared {
			of[p.Executable()] = true
		}
	}
	known := len(names[a]) > 0 && len(names[b]) > 0
	return !known || maps.Equal(names[a], names[b])
}

// An ArmProgram is a program of an arm, over all trials. Two of one process are two builds of it.
type ArmProgram struct {
	Arm string `json:"arm"`
	Program
	Trials int `json:"trials"` // in which it was seen
}
