// Package machine asks the system and the Go runtime for what a generator needs: CPUs, threads,
// processors, open files, local ports. It also reads what they did to the process. It knows no
// plan: what the machine cannot give is a Limit (limit.go).
//
// machine_linux.go has CPUs, threads, files and ports, machine_other.go what other systems have
// instead. procs.go has the processors of the Go scheduler, runtimepauses.go the waits of
// goroutines and the runtime's stops, cpu_unix.go and cpu_windows.go the CPU time of the process,
// name_linux.go, name_darwin.go and name_other.go the names of kernel and
// CPU.
package machine

// A Limit is the error that this machine cannot give what was asked for: what that was, and what
// the user can do.
type Limit string

// Error is the text.
func (l Limit) Error() string { return string(l) }
