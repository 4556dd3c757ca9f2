package run

import (
	"context"
	"dyno/internal/lab"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dyno/internal/lab/experiment"
	"dyno/internal/server"
)

// BuildFolder is where build steps write their output, with a folder for each variant.
const BuildFolder = "build"

// buildVariants runs the build steps of all variants. If a step fails, its variant becomes unfit,
// with the last lines of the output as the reason.
func (r *running) buildVariants(ctx context.Context) {
	for _, a := range r.loadableArms() {
		if len(a.variant.Build) == 0 || a.Control {
			continue
		}
		r.Tell(Event{Step: "build", Arm: a.Name})
		if err := r.buildVariant(ctx, a); err != nil && ctx.Err() == nil {
			r.excludeArm(a, err.Error())
		}
	}
	r.excludeControls()
	r.recordArms()
}

func (r *running) buildVariant(ctx context.Context, a *arm) error {
	dir, err := filepath.Abs(filepath.Join(r.Dir, BuildFolder, lab.SafeName(a.Name)))
	if err != nil {
		return err
	}
	// What a build that was stopped has left would be in the way of this one.
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	steps, err := experiment.RenderBuild(a.variant, experiment.Values{Build: dir,
		Dyno: r.Dyno, CPUs: len(r.record.CPUs.Server)})
	if err != nil {
		return err
	}
	for i, s := range steps {
		name := lab.FileName("build", a.Name, strconv.Itoa(i+1)) + ".log"
		if err := r.runStep(ctx, s, filepath.Join(r.Dir, lab.OutputFolder, name)); err != nil {
			return fmt.Errorf("build step %d, %q: %w", i+1, r.conceal.words(s.Args), err)
		}
	}
	return nil
}

// runStep runs one command with a time limit, and writes its output to a file. It runs under a
// supervisor like servers, so nothing of it outlives it or dyno.
func (r *running) runStep(ctx context.Context, s experiment.BuildStep, output string) error {
	ctx, stop := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("took longer than %v", s.Timeout))
	defer stop()
	dir, err := server.SocketDir()
	if err != nil {
		return err
	}
	host, err := server.Start(ctx, server.Spec{Dir: dir, Temporary: true, Supervisor: r.Supervisor})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer host.Stop()
	job, err := host.Run(server.Process{Name: "build", Args: s.Args, Dir: s.Dir, Output: output,
		Env: append(os.Environ(), s.Env...)}, nil, nil, nil)
	if err != nil {
		return err
	}
	ended := make(chan server.Exit, 1)
	go func() { ended <- job.Wait() }()
	select {
	case exit := <-ended:
		host.Stop() // so that all of its output is written
		if exit.Code != 0 {
			return fmt.Errorf("%s: %s", exit, r.lastLines(output))
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lastLines is the end of a file, for a message, without secrets.
func (r *running) lastLines(name string) string {
	const enough, searched = 2000, 64 << 10
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	said := r.conceal.said(string(b[max(len(b)-searched, 0):]))
	return strings.ToValidUTF8(said[max(len(said)-enough, 0):], "")
}
