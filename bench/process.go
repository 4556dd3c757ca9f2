package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A usage is what a process has used.
type usage struct {
	user, system time.Duration
	peak         int64 // bytes resident at most; 0: unknown
}

// memoryPollInterval is how often the memory of a running process is read. Growth in the last
// such interval of its life may be missed (see peakMemory).
const memoryPollInterval = 20 * time.Millisecond

// writeScript writes the command's file and puts its name among the arguments. The function that
// it returns removes it.
func (c *command) writeScript() (remove func(), err error) {
	if c.file == "" {
		return func() {}, nil
	}
	f, err := os.CreateTemp("", "dyno-bench-script-*"+c.suffix)
	if err != nil {
		return nil, fmt.Errorf("write a script: %w", err)
	}
	_, err = f.WriteString(c.file)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("write a script: %w", err)
	}
	c.args = slices.Clone(c.args)
	c.args[slices.Index(c.args, scriptFile)] = f.Name()
	return func() { os.Remove(f.Name()) }, nil
}

// newProcess returns the process of a program's call, which is killed when ctx ends.
func (c command) newProcess(ctx context.Context, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, c.args...)
	cmd.Stdin, cmd.Env = strings.NewReader(c.stdin), append(os.Environ(), c.env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// runPinned runs a program on the CPUs until it ends, and returns its output and usage. Meanwhile
// it calls meanwhile with the instant of the start; the context of that call ends with the
// program.
func runPinned(ctx context.Context, cpus []int, path string, c command,
	meanwhile func(ctx context.Context, start time.Time)) ([]byte, usage, error) {
	var stdout, stderr bytes.Buffer
	cmd := c.newProcess(ctx, path)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := startPinned(cpus, cmd); err != nil {
		return nil, usage{}, fmt.Errorf("start %s: %w", path, err)
	}
	life, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		meanwhile(life, time.Now())
	}()
	seen := make(chan int64)
	go func() { seen <- watchPeakMemory(life, cmd.Process.Pid) }()
	err := cmd.Wait()
	end()
	<-done
	u := usage{cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime(),
		peakMemory(cmd.ProcessState, <-seen)}
	if ctx.Err() != nil {
		return nil, u, fmt.Errorf("%s: stopped: %w", path, context.Cause(ctx))
	}
	if err != nil {
		said := append(stderr.Bytes(), stdout.Bytes()...)
		return nil, u, fmt.Errorf("%s %s: %w: %s",
			path, strings.Join(c.args, " "), err, firstLine(said))
	}
	return stdout.Bytes(), u, nil
}

// watchPeakMemory returns the highest resident memory of a process that it has seen until ctx
// ends.
func watchPeakMemory(ctx context.Context, pid int) int64 {
	tick := time.NewTicker(memoryPollInterval)
	defer tick.Stop()
	var peak int64
	for {
		peak = max(peak, currentPeakMemory(pid))
		select {
		case <-ctx.Done():
			return peak
		case <-tick.C:
		}
	}
}
