// Command experiments runs the experiments that ship with dyno, one after the other, and prints
// what docs/experiments.md shows of them: a table for each level, with published figures beside
// ours. It does not repeat an experiment whose folder exists, and resumes one that was
// interrupted, so the tables can be printed again at any time.
//
//	go run ./bench/experiments [-dyno PATH] [-o DIR] [-full] [NAME ...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
)

func main() {
	if err := runShipped(); err != nil {
		fmt.Fprintln(os.Stderr, "experiments:", err)
		os.Exit(1)
	}
}

func runShipped() error {
	names := experiment.ShippedNames()
	dyno := flag.String("dyno", "./dyno", "the program")
	out := flag.String("o", filepath.Join(os.TempDir(), "dyno-experiments"),
		"the folder in which each has its own")
	full := flag.Bool("full", false, "without --quick: many hours")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "experiments [FLAGS] [NAME ...], of",
			strings.Join(names, ", "))
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		for _, name := range flag.Args() {
			if !slices.Contains(names, name) {
				return fmt.Errorf("%q is none of %s; flags stand before names", name,
					strings.Join(names, ", "))
			}
		}
		names = flag.Args()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var failed error
	for _, name := range names {
		r, err := runOrOpen(ctx, *dyno, name, filepath.Join(*out, name), *full)
		if ctx.Err() != nil {
			return errors.New("interrupted; the same command goes on")
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		fmt.Print(formatTables(r))
		for _, arm := range unexplainedArms(r) {
			failed = errors.Join(failed, fmt.Errorf("%s: %s has neither a result nor a reason", name, arm))
		}
	}
	return failed
}

// runOrOpen runs or resumes an experiment, unless it is complete, and reads its record.
func runOrOpen(ctx context.Context, dyno, name, dir string, full bool) (*lab.Record, error) {
	args := []string{"lab", "run", "-o", dir, name}
	if !full {
		args = append(args, "--quick")
	}
	r, err := judge.Open(dir)
	switch {
	case err == nil && r.Name != name:
		return nil, fmt.Errorf("%s has a run of %s; name another folder with -o", dir, r.Name)
	case err == nil && r.Quick && full:
		return nil, fmt.Errorf("%s has a run with --quick; name another folder with -o", dir)
	case err == nil && !r.Quick && !full && r.State != lab.Complete:
		return nil, fmt.Errorf("%s has a run without --quick, to be gone on with by -full; else name "+
			"another folder with -o", dir)
	case err == nil && r.State == lab.Complete:
		return r, nil
	case err == nil:
		args = []string{"lab", "run", "--resume", dir}
	}
	cmd := exec.CommandContext(ctx, dyno, args...)
	// What it prints at the end is in report.md of the folder.
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", dyno, strings.Join(args, " "), err)
	}
	return judge.Open(dir)
}
