//go:build !linux

package machine

import (
	"fmt"
	"runtime"
	"time"

	"dyno/internal/fact"
)

// UsableCPUs is always nil, every CPU: a thread cannot be kept on one. Asking for some is a Limit.
func UsableCPUs(asked []int) ([]int, error) {
	if len(asked) > 0 {
		return nil, Limit(fmt.Sprintf("%s cannot keep a thread on a CPU", runtime.GOOS))
	}
	return nil, nil
}

// Threads is the default number of workers.
func Threads() int { return runtime.NumCPU() }

// PinThread does nothing: a thread cannot be kept on a CPU.
func PinThread([]int, int, int, bool) {}

// ShortenTimeSlice does nothing: only Linux has it.
func ShortenTimeSlice() {}

// EnsureFiles changes nothing: the Go runtime raises the limit itself.
func EnsureFiles(int, int, bool) (fact.Args, error) { return nil, nil }

// LocalPorts is 0: the number is not known.
func LocalPorts() int { return 0 }

// ThreadQueued is 0: the system does not report it.
func ThreadQueued() (waiting time.Duration, times int64) { return 0, 0 }

// ThreadCPU is nil: the system does not report it.
func ThreadCPU() func() int64 { return nil }
