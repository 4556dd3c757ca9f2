package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const canPin = true

// The signals that stop and continue a process, which cannot refuse them.
const stopSignal, continueSignal = syscall.SIGSTOP, syscall.SIGCONT

// startPinned starts cmd on the CPUs, or on any when there are none. A new process inherits the
// CPUs of the thread that makes it: it never runs anywhere else, not even to start.
func startPinned(cpus []int, cmd *exec.Cmd) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	var before, pinned unix.CPUSet
	for _, cpu := range cpus {
		pinned.Set(cpu)
	}
	runtime.LockOSThread()
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("read the CPUs of this thread: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &pinned); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("pin to CPUs %v (see -gen-cpus, -server-cpus): %w", cpus, err)
	}
	started := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("unpin this thread: %w", err) // it stays locked, and ends with us
	}
	runtime.UnlockOSThread()
	return started
}

// raiseFileLimit raises the limit of open files as far as possible, and returns it. Go raises it
// for the program itself and restores it for child processes; setting it here makes it hold for
// them too.
func raiseFileLimit() (most int, err error) {
	const many = 1 << 20 // the kernel's default limit for root
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	raised := syscall.Rlimit{Cur: max(limit.Max, many), Max: max(limit.Max, many)}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil {
		return int(raised.Max), nil
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("raise the limit of open files: %w", err)
	}
	return int(limit.Max), nil
}

// peakMemory returns the highest resident memory of an ended process, in bytes. seen is what was
// read while it ran. Linux includes in a process's maximum the memory of its parent at the time
// of exec, so the maximum is the process's own only if it is higher than that.
func peakMemory(state *os.ProcessState, seen int64) int64 {
	var self syscall.Rusage
	u, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil || u.Maxrss <= self.Maxrss {
		return seen
	}
	return u.Maxrss << 10
}

// currentPeakMemory returns the highest resident memory of a process so far, in bytes; 0 if it
// has ended.
func currentPeakMemory(pid int) int64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(line)), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// cpuTime returns the CPU time of a running process; 0 if it has ended.
func cpuTime(pid int) time.Duration {
	const schedulerClock = 2 // of clock numbers made from a process, as in linux/posix-timers.h
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|schedulerClock), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// allThreadsStopped reports whether every thread of a process is stopped; none is if it has ended.
func allThreadsStopped(pid int) (bool, error) {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		return false, err
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return false, fmt.Errorf("read a thread's state: %w", err)
		}
		if state, err := threadState(string(stat)); state != 'T' || err != nil {
			return false, err
		}
	}
	return true, nil
}

// busyTime returns how long all CPUs together have been busy since the machine started, with the
// time that its host has taken; 0 if that cannot be read.
func busyTime() time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	line, _, _ := strings.Cut(string(stat), "\n")
	var ticks int64
	for i, field := range strings.Fields(line) {
		// cpu user nice system idle iowait irq softirq steal; guest is part of user.
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += v
	}
	return time.Duration(ticks) * tick
}

// kernelRelease returns the kernel's release.
func kernelRelease() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// cpuModel returns the name of the first CPU.
func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
