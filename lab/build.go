package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"dyno/experiment"
)

// buildFolder is where build steps put what they make, a folder for each variant.
const buildFolder = "build"

// build runs the build steps of all variants. One that fails makes its variant
// unfit, with the last lines of what it wrote.
func (r *running) build(ctx context.Context) {
	for _, a := range r.fit() {
		if len(a.variant.Build) == 0 || a.Control {
			continue
		}
		r.Tell(Event{Step: "build", Arm: a.Name})
		if err := r.buildOne(ctx, a); err != nil && ctx.Err() == nil {
			a.Unfit = err.Error()
		}
	}
	r.followBaselines()
	r.listArms()
}

func (r *running) buildOne(ctx context.Context, a *arm) error {
	dir, err := filepath.Abs(filepath.Join(r.Dir, buildFolder, safe(a.Name)))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	steps, err := experiment.RenderBuild(a.variant, experiment.Values{Build: dir,
		Here: r.Experiment.Here, Dyno: r.Dyno, CPUs: len(r.record.CPUs.Server)})
	if err != nil {
		return err
	}
	for i, s := range steps {
		name := fmt.Sprintf("build-%s-%d.log", safe(a.Name), i+1)
		if err := step(ctx, s, filepath.Join(r.Dir, outputFolder, name)); err != nil {
			return fmt.Errorf("build step %d, %q: %w", i+1, s.Args, err)
		}
	}
	return nil
}

// step runs one command, in a time, with its output in a file.
func step(ctx context.Context, s experiment.BuildStep, output string) error {
	ctx, stop := context.WithTimeout(ctx, s.Timeout)
	defer stop()
	f, err := os.Create(output)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), s.Env...), s.Dir
	cmd.Stdout, cmd.Stderr = f, f
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() == context.DeadlineExceeded {
		err = fmt.Errorf("took longer than %v", s.Timeout)
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, errors.New(lastLines(output)))
}

// lastLines is the end of a file, for a message.
func lastLines(name string) string {
	const enough = 2000
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(b[max(len(b)-enough, 0):])
}
