//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// What is asked of the system is known for Linux only: elsewhere nothing is pinned and
// peak memory is absent.
const canPin = false

func startOn(cpus []int, cmd *exec.Cmd) error {
	if len(cpus) > 0 {
		return errors.New("-gen-cpus and -server-cpus work on Linux only")
	}
	return cmd.Start()
}

func raiseFiles() (most int, err error)        { return 10_000, nil }
func peakOf(_ *os.ProcessState, _ int64) int64 { return 0 }
func peakNow(int) int64                        { return 0 }
func cpuOf(int) time.Duration                  { return 0 }
func busy() time.Duration                      { return 0 }
func kernel() string                           { return runtime.GOOS }
func cpuModel() string                         { return runtime.GOARCH }
