//go:build !linux

package load

import (
	"fmt"
	"runtime"
	"time"
)

func usableCPUs(asked []int) ([]int, error) {
	if len(asked) > 0 {
		return nil, Limit(fmt.Sprintf("%s cannot keep a thread on a CPU", runtime.GOOS))
	}
	return nil, nil
}

// Threads is the default number of workers.
func Threads() int { return runtime.NumCPU() }

func pinThread([]int, int, int, bool) {}

func shortenTimeSlice() {}

func ensureFiles(int, int) (string, error) { return "", nil }

func localPorts() int { return 0 }

func threadQueued() (waiting time.Duration, times int64) { return 0, 0 }
