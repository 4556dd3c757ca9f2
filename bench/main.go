// Bench compares dyno with the load generators that are installed on the machine.
//
// Each row is a load. All tools of a row make it in rounds, in an order that is reversed every
// round. Each trial has a server process of its own. The generator is pinned to one set of CPUs
// and the server to another. No tool's own figures decide anything:
//
//   - req/s is what the server counted between two instants of the trial, at 20 % and 90 % of its
//     duration. Connecting, and tools that stop late, do not matter.
//   - CPU per request is the user and system time of the generator's process, from its start to its
//     end, divided by all requests that the server counted in that time.
//   - Peak memory is the process's highest resident set.
//
// Ratios are of trials of the same round, with an exact interval over the rounds (package stats).
// A bar is reached when the interval reaches it. The rows and their bars are a table in rows.go,
// the tools one in tools.go.
//
// With -slices all tools of a row are started against one server and stopped. Then each goes on
// alone for 200 ms at a time, in turns. A slice is the trial: its requests are what the server
// counted meanwhile, its CPU time what the process took. So a pair is of the same second, and the
// start of a program is in none.
//
//	bench.go           builds and finds the tools
//	caddy.go           Caddy as the server
//	content.go         what requests and answers are
//	cpus.go            lists of CPUs
//	handler.go         a server in Go, also by FastCGI
//	judge.go           ratios and verdicts of a row
//	limit.go           the rows of -limit: generators in C, as fast as the kernel allows
//	machine.go         the machine and the versions of the tools
//	main.go            flags, exit codes
//	nginx.go           nginx as the server
//	outcome.go         tables, -json
//	output.go          reads what tools print
//	process.go         runs a tool on its CPUs; what it used
//	process_linux.go   starts a process on CPUs, reads what it used; process_other.go
//	rows.go            the rows: loads, metrics, bars
//	server.go          starts a server that counts
//	slices.go          one load by each tool, in turns
//	start.go           how long dyno takes to start
//	tools.go           the tools and their command lines
//	trial.go           one load by one tool
//	truth.go           latencies as the server's log has them
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// The exit codes.
const (
	exitOK          = 0
	exitMissed      = 1 // with -gate: a bar was not reached, or could not be judged
	exitUsage       = 2
	exitFailed      = 3 // a trial failed, and its values are missing
	exitInterrupted = 130
)

// options are the command's flags.
type options struct {
	pairs, seconds        int
	slices                int
	rows, only            string
	json, dyno, ring      string
	genCPUs, serverCPUs   string
	markdown, gate, force bool
	limit                 bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == handlerCommand {
		if err := serveHandler(ctx, args[1], stdout); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return exitFailed
		}
		return exitOK
	}
	o, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var b *bench
	var chosen []row
	if err == nil {
		chosen, err = o.chooseRows()
	}
	if err == nil && o.slices > 0 {
		chosen, err = o.sliceRows(chosen, stderr)
	}
	if err == nil {
		b, err = newBench(ctx, o, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitUsage
	}
	defer b.removeBuilt()
	fmt.Fprintf(stderr, "bench: %d rows, about %s\n", len(chosen), b.estimateTime(chosen))

	all := outcome{Format: "dyno.bench/1", Machine: describeMachine(ctx, b.tools)}
	for _, r := range chosen {
		if ctx.Err() == nil {
			all.Rows = append(all.Rows, b.runRow(ctx, r))
		}
	}
	if err := all.writeOutcome(o, stdout); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitFailed
	}
	return all.exitStatus(ctx, o.gate)
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var o options
	gen, server := defaultCPUs(runtime.NumCPU())
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.pairs, "pairs", 10, "rounds of each row, where the row does not say")
	f.IntVar(&o.seconds, "seconds", 3, "length of a trial, where the row does not say")
	f.IntVar(&o.slices, "slices", 0, fmt.Sprintf("rounds of slices of %v of one load of each tool, "+
		"in place of trials", sliceLength))
	f.BoolVar(&o.limit, "limit", false, "the other rows: dyno beside what the kernel allows")
	f.StringVar(&o.rows, "rows", "", "only these rows, comma-separated: "+rowNames(rows)+
		"; with -limit: "+rowNames(limitRows))
	f.StringVar(&o.only, "only", "", "only these tools beside dyno: "+toolNames())
	f.StringVar(&o.json, "json", "", "write all trials and verdicts to this file")
	f.StringVar(&o.dyno, "dyno", "", "use this dyno instead of building one")
	f.StringVar(&o.ring, "ring", "auto", "what dyno does its I/O with, as its own --ring")
	f.StringVar(&o.genCPUs, "gen-cpus", gen, "CPUs of the generator (0,2-3); empty: any")
	f.StringVar(&o.serverCPUs, "server-cpus", server, "CPUs of the server; empty: any")
	f.BoolVar(&o.markdown, "md", false, "print Markdown")
	f.BoolVar(&o.gate, "gate", false, "exit 1 unless every bar was reached")
	f.BoolVar(&o.force, "force", false, "-pairs and -seconds hold for rows that say their own too")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: rows are chosen with -rows", f.Arg(0))
	}
	if o.pairs < 1 || o.seconds < 1 {
		return o, fmt.Errorf("-pairs %d -seconds %d: both must be at least 1", o.pairs, o.seconds)
	}
	return o, o.checkSlices(f)
}

// checkSlices returns why -slices cannot be used.
func (o options) checkSlices(f *flag.FlagSet) (err error) {
	if o.slices < 0 || o.slices > slicesMax {
		return fmt.Errorf("-slices %d: want 0 to %d", o.slices, slicesMax)
	}
	if o.slices > 0 && !canPin {
		return errors.New("-slices works on Linux only")
	}
	f.Visit(func(set *flag.Flag) {
		switch set.Name {
		case "pairs", "seconds", "force", "limit":
			if o.slices > 0 {
				err = fmt.Errorf("-%s does not work with -slices: leave out one of them", set.Name)
			}
		}
	})
	return err
}

// defaultCPUs returns the first CPU for the generator and the second for the server, or any CPU
// if there is one only.
func defaultCPUs(n int) (gen, server string) {
	if n < 2 || !canPin {
		return "", ""
	}
	return "0", "1"
}

// chooseRows returns the rows that -rows names, or all, with -pairs and -seconds applied.
func (o options) chooseRows() ([]row, error) {
	all := rows
	if o.limit {
		all = limitRows
	}
	names, err := parseNames("-rows", o.rows, rowNames(all))
	if err != nil {
		return nil, err
	}
	var out []row
	for _, r := range all {
		if len(names) > 0 && !names[r.name] {
			continue
		}
		if r.pairs == 0 || o.force {
			r.pairs = o.pairs
		}
		r.load.ring = o.ring
		if r.load.seconds == 0 || o.force {
			r.load.seconds = o.seconds
		}
		out = append(out, r)
	}
	return out, nil
}

// parseNames returns the set of names in a comma-separated list. Each must be among allowed.
func parseNames(flag, list, allowed string) (map[string]bool, error) {
	set := map[string]bool{}
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		if !strings.Contains(","+allowed+",", ","+name+",") {
			return nil, fmt.Errorf("%s %q: want some of %s", flag, name, allowed)
		}
		set[name] = true
	}
	return set, nil
}
