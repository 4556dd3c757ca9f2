package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// startsPerTrial is how often a program is started for one trial.
const startsPerTrial = 20

// measureStarts runs a program several times to print its version. It returns the mean time of
// that and the size of the file.
func (b *bench) measureStarts(ctx context.Context, t tool) (reading, error) {
	file, err := os.Stat(t.path)
	if err != nil {
		return nil, fmt.Errorf("the size of %s: %w", t.name, err)
	}
	var sum time.Duration
	for range startsPerTrial {
		ctx, cancel := context.WithTimeout(ctx, versionTimeout)
		cmd := exec.CommandContext(ctx, t.path, t.version...)
		began := time.Now()
		err := startPinned(b.genCPUs, cmd)
		if err == nil {
			err = cmd.Wait()
		}
		sum += time.Since(began)
		cancel()
		// Some tools print their version and exit with an error status.
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
			return nil, fmt.Errorf("%s %v: %w", t.path, t.version, err)
		}
	}
	return reading{startUp: sum.Seconds() * 1e3 / startsPerTrial,
		size: float64(file.Size()) / (1 << 20)}, nil
}
