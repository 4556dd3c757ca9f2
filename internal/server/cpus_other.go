//go:build !linux

package server

// SplitCPUs keeps nothing apart: only Linux lets a process be bound to CPUs.
func SplitCPUs() (Split, error) {
	return Split{Reason: "this system binds no process to CPUs: generator and server share all"}, nil
}
