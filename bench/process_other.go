//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// What is asked of the system is known for Linux only: elsewhere nothing is pinned and
// peak memory is absent.
const canPin = false

// Without these -slices is refused.
const stopSignal, continueSignal = syscall.Signal(0), syscall.Signal(0)

func allThreadsStopped(int) (bool, error) { return false, errors.ErrUnsupported }

func startPinned(cpus []int, cmd *exec.Cmd) error {
	if len(cpus) > 0 {
		return errors.New("-gen-cpus and -server-cpus work on Linux only")
	}
	return cmd.Start()
}

func raiseFileLimit() (most int, err error)        { return 10_000, nil }
func peakMemory(_ *os.ProcessState, _ int64) int64 { return 0 }
func currentPeakMemory(int) int64                  { return 0 }
func cpuTime(int) time.Duration                    { return 0 }
func busyTime() time.Duration                      { return 0 }
func kernelRelease() string                        { return runtime.GOOS }
func cpuModel() string                             { return runtime.GOARCH }
