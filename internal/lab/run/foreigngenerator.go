package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab/experiment"
	"dyno/internal/observe/probe"
	"dyno/internal/remote"
	"dyno/internal/result"
	"dyno/internal/server"
)

// A foreignGenerator is a generator other than dyno: the program that a variant brings. Generators
// count differently, and some wrongly, so its own output is not used. Requests are counted by the
// server, between two instants at which the program was running. CPU time is measured by the
// kernel. Values that only a generator knows, such as latency, are absent.
type foreignGenerator struct {
	server  *server.Server
	process server.Process
	served  string // URL at which the server reports its count
	queries int64  // how often it was queried

	mu    sync.Mutex
	trees []probe.Tree // of the program, while it runs
}

const (
	beginPoll    = 10 * time.Millisecond // interval of queries until the load has begun
	leaveGrace   = 2 * time.Second       // for the program to end after the interrupt
	lastLinesMax = 10                    // of its output, in the error if it ended too early
)

// newForeignGenerator makes the generator of l, which runs next to s and writes to the file output.
func newForeignGenerator(s *server.Server, l *experiment.Loader,
	output func(name string) string) *foreignGenerator {
	const name = "generator 1" // like the first of Workers
	return &foreignGenerator{server: s, served: l.Served,
		process: server.Process{Name: name, Args: l.Args, Env: append(os.Environ(), l.Env...),
			Dir: l.Dir, Output: output(name)}}
}

// Trees are the processes of the program.
func (f *foreignGenerator) Trees() []probe.Tree {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.trees)
}

func (f *foreignGenerator) setTrees(trees ...probe.Tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trees = trees
}

// A programRun is a running program.
type programRun struct {
	*foreignGenerator
	guest *server.Guest
	ended chan struct{}
	exit  server.Exit // valid once ended is closed
	began time.Time
	first countAt // before it began
}

// A countAt is how many requests the server had answered at an instant.
type countAt struct {
	served int64
	at     time.Time
}

// runLoad is a result.Runner. It starts the program before the window begins, and interrupts it
// when the window ends.
func (f *foreignGenerator) runLoad(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*result.Result, error) {
	first, err := f.countServed(ctx)
	if err != nil {
		return nil, err
	}
	g, err := f.startProgram(p.CPUs, first)
	if err != nil {
		return nil, err
	}
	r := &result.Result{Format: result.Format, Dyno: loadplan.Version, Plan: p,
		Model: result.ClosedLoop,
		Ended: "duration", Host: result.ThisHost(),
		Traffic: result.Traffic{Status: map[string]int64{}, Errors: []result.Error{}},
		Series:  []result.Point{}}
	err = g.awaitFirstRequest(ctx, time.Duration(p.Timeout))
	if err == nil {
		err = g.measureWindow(ctx, r, each)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // interrupted: what was measured counts
		r.Ended, err = "interrupted", nil
	}
	g.endProgram()
	if err != nil {
		return nil, err
	}
	r.Generator = result.Generator{Program: f.process.Args[0], Threads: p.Threads,
		Verdict: result.OK, Reasons: []string{}}
	if err := g.addCPUCost(ctx, r); err != nil {
		return nil, err // r has the plan with secrets, and no caller uses r after an error
	}
	return r, nil
}

// startProgram starts the program on the generator's CPUs.
func (f *foreignGenerator) startProgram(cpus []int, first countAt) (*programRun, error) {
	p := f.process
	p.CPUs = cpus
	guest, err := f.server.Run(p, nil, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("starting the generator: %w", err)
	}
	f.setTrees(probe.Tree{Name: guest.Name, PID: guest.PID, Generator: true})
	g := &programRun{foreignGenerator: f, guest: guest, ended: make(chan struct{}), began: time.Now(),
		first: first}
	go func() {
		g.exit = guest.Wait()
		close(g.ended)
	}()
	return g, nil
}

// awaitFirstRequest waits until the server has answered a request, for at most the timeout of a
// request: programs need time to start.
func (g *programRun) awaitFirstRequest(ctx context.Context, wait time.Duration) error {
	for until := time.Now().Add(wait); ; {
		c, err := g.countServed(ctx)
		if err != nil || c.served > g.first.served {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the generator, %s, has sent nothing for %v", g, wait)
		}
		if err := g.waitFor(ctx, beginPoll); err != nil {
			return err
		}
	}
}

// measureWindow counts requests in the window, second by second.
func (g *programRun) measureWindow(ctx context.Context, r *result.Result,
	each func(loadresult.Interval)) error {
	warmup, length := time.Duration(r.Plan.Warmup), time.Duration(r.Plan.Duration)
	if err := g.waitFor(ctx, warmup); err != nil {
		return err
	}
	from, err := g.countServed(ctx)
	if err != nil {
		return err
	}
	r.Window = result.Window{Started: from.at.Add(-warmup), WarmupS: warmup.Seconds()}
	for last, i := from, 0; last.at.Sub(from.at) < length; i++ {
		next := from.at.Add(min(time.Duration(i+1)*time.Second, length))
		if err := g.waitFor(ctx, time.Until(next)); err != nil {
			return err
		}
		now, err := g.countServed(ctx)
		if err != nil {
			return err
		}
		iv := loadresult.Interval{Index: i, From: last.at.Sub(from.at), To: now.at.Sub(from.at),
			Completed: now.served - last.served}
		iv.Sent = iv.Completed
		r.Series = append(r.Series, result.Point{T: iv.To.Seconds(), Sent: iv.Sent,
			Completed: iv.Completed})
		total, seconds := now.served-from.served, iv.To.Seconds()
		r.Window.MeasuredS = seconds
		r.Requests = result.Requests{Sent: total, Completed: total}
		r.Rate = result.Rate{Sent: float64(total) / seconds, Completed: float64(total) / seconds}
		each(iv)
		last = now
	}
	return nil
}

// waitFor waits for d. It returns an error if ctx ends or the program exits before.
func (g *programRun) waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.ended:
		lines, _ := g.server.Tail(g.guest.Name, lastLinesMax) // an error leaves it empty
		return fmt.Errorf("the generator, %s, %v after %v, before the window was over; "+
			"its last output:\n%s", g, g.exit, time.Since(g.began).Round(time.Millisecond), lines)
	}
}

// String is the command line.
func (g *programRun) String() string { return strings.Join(g.process.Args, " ") }

// endProgram interrupts the program, as Ctrl-C would, and waits for its end. If it does not end, it
// is killed.
func (g *programRun) endProgram() {
	g.guest.Signal(syscall.SIGINT) // if this fails, the program does not end and is killed
	select {
	case <-g.ended:
	case <-time.After(leaveGrace):
		g.guest.Signal(syscall.SIGKILL)
		<-g.ended
	}
	g.setTrees()
}

// addCPUCost adds the CPU time of the program's whole life, startup included, per request. The
// kernel reports it at the end.
func (g *programRun) addCPUCost(ctx context.Context, r *result.Result) error {
	last, err := g.countServed(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	used, lived := g.exit.User+g.exit.System, time.Since(g.began)
	if n := last.served - g.first.served; n > 0 {
		r.Generator.CPUPerRequest = float64(used) / 1e3 / float64(n)
	}
	r.Generator.CPUPercent = 100 * used.Seconds() / lived.Seconds()
	return nil
}

// countServed queries the server's count. The instant is the middle of the query.
func (f *foreignGenerator) countServed(ctx context.Context) (countAt, error) {
	before := time.Now()
	c, err := remote.FetchCount(ctx, f.served)
	after := time.Now()
	if f.queries++; c.Own {
		c.Served -= f.queries
	}
	return countAt{c.Served, before.Add(after.Sub(before) / 2)}, err
}
