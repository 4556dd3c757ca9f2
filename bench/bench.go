package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

//go:embed pacer.c
var pacerSource []byte

//go:embed limit/bare.c
var bareSource []byte

//go:embed node.js
var nodeSource []byte

// A bench has what trials need.
type bench struct {
	tools               []tool // installed ones; dyno is the first
	genCPUs, serverCPUs []int
	files               int    // limit of open files of a process
	dir                 string // of programs that were built; removeBuilt removes it
	log                 io.Writer
}

// newBench builds and finds the tools. The caller must call removeBuilt.
func newBench(ctx context.Context, o options, log io.Writer) (*bench, error) {
	only, err := parseNames("-only", o.only, toolNames())
	if err != nil {
		return nil, err
	}
	b := &bench{log: log}
	if b.genCPUs, err = parseCPUs(o.genCPUs); err != nil {
		return nil, fmt.Errorf("-gen-cpus: %w", err)
	}
	if b.serverCPUs, err = parseCPUs(o.serverCPUs); err != nil {
		return nil, fmt.Errorf("-server-cpus: %w", err)
	}
	if b.files, err = raiseFileLimit(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "dyno-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory for what is built: %w", err)
	}
	if err := b.findTools(ctx, o.dyno, only); err != nil {
		return nil, errors.Join(err, b.removeBuilt())
	}
	return b, nil
}

func (b *bench) removeBuilt() error { return os.RemoveAll(b.dir) }

// findTools builds dyno unless it is given, and finds the other tools.
func (b *bench) findTools(ctx context.Context, dyno string, only map[string]bool) error {
	if dyno == "" {
		dyno = b.programPath("dyno/cmd/dyno")
		if err := runBuild(ctx, "go", "build", "-o", dyno, "dyno/cmd/dyno"); err != nil {
			return err
		}
	}
	path, err := exec.LookPath(dyno)
	if err != nil {
		return fmt.Errorf("-dyno: %w", err)
	}
	first := tools[0]
	if first.path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("-dyno: %w", err)
	}
	b.tools = []tool{first}
	b.buildOwnTools(ctx, only)
	installed, err := findInstalled(only)
	b.tools = append(b.tools, installed...)
	return err
}

// buildOwnTools adds the tools that bench provides: dyno with other options, and the minimal
// programs in C if there is a compiler.
func (b *bench) buildOwnTools(ctx context.Context, only map[string]bool) {
	for _, t := range tools[1:] {
		if !t.builtHere || len(only) > 0 && !only[t.name] {
			continue
		}
		t.path = b.tools[0].path
		if t.source != nil {
			var err error
			if t.path, err = b.compileTool(ctx, t); err != nil {
				fmt.Fprintf(b.log, "bench: without %s: %v\n", t.name, err)
				continue
			}
		}
		b.tools = append(b.tools, t)
	}
}

// compileTool compiles a tool's source.
func (b *bench) compileTool(ctx context.Context, t tool) (path string, err error) {
	path = b.programPath(t.name)
	if err := os.WriteFile(path+".c", t.source, 0o600); err != nil {
		return "", fmt.Errorf("write its source: %w", err)
	}
	return path, runBuild(ctx, "cc", "-O2", "-o", path, path+".c")
}

// programPath returns the path of a program that is built.
func (b *bench) programPath(name string) string {
	if filepath.Separator == '\\' {
		name += ".exe"
	}
	return filepath.Join(b.dir, name)
}

func runBuild(ctx context.Context, name string, args ...string) error {
	output, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, firstLine(output))
	}
	return nil
}

// toolsForRow returns the tools that can make the row's load, dyno first.
func (b *bench) toolsForRow(r row) []tool {
	var out []tool
	for _, t := range b.tools {
		wanted := t.name == "dyno" || len(r.rivals) == 0 && !t.builtHere ||
			slices.Contains(r.rivals, t.name)
		able := len(t.command(r.load, "http://127.0.0.1:1/").args) > 0
		if r.idle {
			able = len(t.version) > 0
		}
		if wanted && able {
			out = append(out, t)
		}
	}
	return out
}

// trialOverhead is what a trial takes besides its load, for the estimate.
const trialOverhead = 500 * time.Millisecond

// estimateTime returns about how long the rows will take.
func (b *bench) estimateTime(rows []row) time.Duration {
	var sum time.Duration
	for _, r := range rows {
		one := time.Duration(r.load.seconds)*time.Second + trialOverhead
		if r.memory {
			one *= 2
		}
		if r.slice > 0 {
			one = r.slice + 2*settleTime
		}
		sum += one * time.Duration(r.pairs*len(b.toolsForRow(r)))
	}
	return sum.Round(time.Second)
}

// otherFiles is how many files a generator or a server has open besides its connections.
const otherFiles = 100

// limitConnections returns the row with no more connections than the limit of open files allows.
// Tools of slices are connected at the same time, and share it and the ports.
func (b *bench) limitConnections(r row, tools int) row {
	most, why := b.files-otherFiles, fmt.Sprintf("the limit of open files is %d", b.files)
	if r.slice > 0 {
		most = min(most, ephemeralPorts) / tools
		why = fmt.Sprintf("%d tools share %d files and the ports", tools, b.files)
	}
	if r.load.connections > most {
		r.load.connections = most
		r.title += fmt.Sprintf(" (%d here: %s)", most, why)
	}
	return r
}

// runRow makes all trials of a row. A trial that fails keeps its error, and the others go on.
func (b *bench) runRow(ctx context.Context, r row) rowOutcome {
	tools := b.toolsForRow(r)
	r = b.limitConnections(r, len(tools))
	out := rowOutcome{Name: r.name, Title: r.title, Seconds: r.load.seconds,
		SliceMS: r.slice.Milliseconds(), row: r}
	for _, t := range tools {
		out.Tools = append(out.Tools, t.name)
	}
	if r.slice == 0 {
		b.runRounds(ctx, &out, tools)
	} else if err := b.runSlices(ctx, &out, tools); err != nil {
		b.addTrial(&out, trial{Tool: "server"}, nil, err)
	}
	if r.calls {
		for _, t := range tools {
			out.Trials = append(out.Trials, b.countCalls(ctx, r, t))
		}
	}
	out.judgeRow()
	return out
}

// runRounds makes a load for each tool in each round.
func (b *bench) runRounds(ctx context.Context, out *rowOutcome, tools []tool) {
	for round, names := range trialOrder(out.Tools, out.row.pairs) {
		for _, name := range names {
			if ctx.Err() != nil {
				break
			}
			values, err := b.runTrial(ctx, out.row, tools[slices.Index(out.Tools, name)])
			b.addTrial(out, trial{Tool: name, Round: round}, values, err)
		}
	}
}

// addTrial adds what a trial came to, and logs it.
func (b *bench) addTrial(out *rowOutcome, t trial, values reading, err error) {
	if t.Values = values; err != nil {
		t.Error = err.Error()
	}
	out.Trials = append(out.Trials, t)
	fmt.Fprintf(b.log, "%s %d/%d %s\n", out.Name, t.Round+1, out.row.pairs, t)
}

// trialOrder returns the tools of each round. The order is reversed every round, so that a drift
// of the machine favours none.
func trialOrder(tools []string, count int) [][]string {
	out := make([][]string, count)
	for i := range out {
		out[i] = slices.Clone(tools)
		if i%2 == 1 {
			slices.Reverse(out[i])
		}
	}
	return out
}
