package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"time"
)

// sliceLength is how long a tool's load goes on at a time: so short that a machine whose speed
// changes within seconds is as fast for all tools of a round.
const sliceLength = 200 * time.Millisecond

// The server has answered what a stopped tool has sent if its count is the same after settleTime.
// It is asked at most settleAsks times.
const (
	settleTime = 10 * time.Millisecond
	settleAsks = 100
)

// slicesMax is a bound of -slices: the exact interval takes time with the third power of it.
const slicesMax = 1000

// orderSeed is of the order of the tools, which is drawn for each round: in a fixed order a tool
// would always find the caches that the same other one has left.
const orderSeed = 1

// A tool has started when each of its connections has had so many exchanges, on average. It may
// take so long for that.
const (
	loadedExchanges = 10
	loadedTimeout   = 30 * time.Second
)

// ephemeralPorts is how many connections to one address Linux allows unless it is told otherwise.
const ephemeralPorts = 28_000

// sliceColumns are what a slice measures.
var sliceColumns = []column{
	{metric: rate, ratio: true}, {metric: cpu, ratio: true}, {metric: serverCPU, ratio: true},
}

// sliceRows returns the rows with slices in place of trials. A row that has none is an error if
// -rows names it; else it is left out, which the log says.
func (o options) sliceRows(chosen []row, log io.Writer) ([]row, error) {
	var out []row
	var without []string
	for _, r := range chosen {
		if r.load.rate > 0 || r.memory {
			without = append(without, r.name)
			continue
		}
		r.pairs, r.load.seconds, r.slice, r.columns = o.slices, 0, sliceLength, sliceColumns
		out = append(out, r)
	}
	names := strings.Join(without, ",")
	switch {
	case names != "" && o.rows != "":
		return nil, fmt.Errorf("-slices does not work with -rows %s: want rows without a rate, "+
			"and not of memory", names)
	case names != "":
		fmt.Fprintf(log, "bench: without %s: -slices needs a load without a rate\n", names)
	}
	return out, nil
}

// A slicedTool is a running tool that is stopped except in its slices.
type slicedTool struct {
	name   string
	cmd    *exec.Cmd
	remove func()       // its script
	said   bytes.Buffer // once it has ended
	err    error        // of its end
	ended  chan struct{}
	failed bool // it has no further slices
}

// runSlices makes one load by each of the row's tools, all against one server, slice by slice.
func (b *bench) runSlices(ctx context.Context, out *rowOutcome, tools []tool) error {
	r := out.row
	one := time.Duration(r.pairs) * (r.slice + 2*settleTime)
	all := startTimeout + time.Duration(len(tools))*(loadedTimeout+2*one) // if the machine is slow
	r.load.seconds = int(all.Seconds()) + 1
	ctx, cancel := context.WithTimeoutCause(ctx, all,
		fmt.Errorf("the slices are not done after %v", all.Round(time.Second)))
	defer cancel()
	s, err := b.startRowServer(ctx, r)
	if err != nil {
		return err
	}
	b.sliceLoads(ctx, s, r, out, tools)
	return s.stopServer()
}

// sliceLoads starts the tools and measures them slice by slice. A tool that fails has no further
// slices, and the others go on. In the end all are gone.
func (b *bench) sliceLoads(ctx context.Context, s *server, r row, out *rowOutcome, tools []tool) {
	var started []*slicedTool
	defer func() {
		for _, p := range started {
			p.kill()
		}
	}()
	for _, t := range tools {
		p, err := b.startSliced(ctx, s, r, t)
		if err != nil {
			b.addTrial(out, trial{Tool: t.name}, nil, err)
			continue
		}
		started = append(started, p)
	}
	random := rand.New(rand.NewPCG(orderSeed, 0))
	for round := range r.pairs {
		for _, i := range random.Perm(len(started)) {
			p := started[i]
			if p.failed || ctx.Err() != nil {
				continue
			}
			v, err := p.measureSlice(ctx, s, r.slice)
			b.addTrial(out, trial{Tool: p.name, Round: round}, v, err)
			if err != nil && !errors.Is(err, errNoRequest) {
				p.failed = true
				p.kill() // it may run on
			}
		}
	}
}

// startSliced starts a tool and stops it when the server has counted some of its requests.
func (b *bench) startSliced(ctx context.Context, s *server, r row, t tool) (*slicedTool, error) {
	before, _, err := s.requestsServed(ctx)
	if err != nil {
		return nil, err
	}
	c := t.command(r.load, s.url)
	remove, err := c.writeScript()
	if err != nil {
		return nil, err
	}
	p := &slicedTool{name: t.name, cmd: c.newProcess(ctx, t.path), remove: remove,
		ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := startPinned(b.generatorCPUs(r), p.cmd); err != nil {
		remove()
		return nil, fmt.Errorf("start %s: %w", t.path, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	loaded := before + float64(loadedExchanges*r.load.inFlight())
	if err = p.awaitLoad(ctx, s, loaded, r.slice); err == nil {
		err = p.stop(ctx)
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// awaitLoad waits until the server has counted so many requests.
func (p *slicedTool) awaitLoad(ctx context.Context, s *server, loaded float64,
	interval time.Duration) error {
	var count float64
	for began := time.Now(); time.Since(began) < loadedTimeout; {
		if err := p.wait(ctx, interval); err != nil {
			return err
		}
		var err error
		if count, _, err = s.requestsServed(ctx); err != nil || count >= loaded {
			return err
		}
	}
	return fmt.Errorf("no load after %v: the server has counted %g requests of %g", loadedTimeout,
		count, loaded)
}

// measureSlice lets a stopped tool go on for the length and returns what it and the server took.
// All counts and times are read while the tool is stopped. The server's time includes what it takes
// to be asked for its count.
func (p *slicedTool) measureSlice(ctx context.Context, s *server, length time.Duration) (
	reading, error) {
	before, _, err := s.requestsServed(ctx)
	if err != nil {
		return nil, err
	}
	server, own := cpuTime(s.cmd.Process.Pid), cpuTime(p.cmd.Process.Pid)
	began := time.Now()
	if err := p.cmd.Process.Signal(continueSignal); err != nil {
		return nil, fmt.Errorf("continue it: %w", err)
	}
	if err = p.wait(ctx, length); err == nil {
		err = p.stop(ctx)
	}
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	own = cpuTime(p.cmd.Process.Pid) - own
	after, err := p.settledCount(ctx, s)
	if err != nil {
		return nil, err
	}
	server = cpuTime(s.cmd.Process.Pid) - server
	count := after - before
	if count <= 0 {
		return nil, errNoRequest
	}
	v := reading{served: count, rate: count / took.Seconds(), cpu: own.Seconds() * 1e6 / count}
	if s.singleProcess {
		v[serverCPU] = server.Seconds() * 1e6 / count
	}
	return v, nil
}

// settledCount returns the server's count when it no longer grows.
func (p *slicedTool) settledCount(ctx context.Context, s *server) (count float64, err error) {
	last := -1.0
	for range settleAsks {
		if err = p.wait(ctx, settleTime); err != nil {
			return 0, err
		}
		if count, _, err = s.requestsServed(ctx); err != nil || count == last {
			return count, err
		}
		last = count
	}
	return 0, fmt.Errorf("the server's count still grows after %d questions", settleAsks)
}

// stop stops the tool and returns when none of its threads runs: from then on its CPU time, which
// is exact when a thread leaves its CPU, does not change.
func (p *slicedTool) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(stopSignal); err != nil {
		return fmt.Errorf("stop it: %w", err)
	}
	for began := time.Now(); time.Since(began) < stopTimeout; {
		if stopped, err := allThreadsStopped(p.cmd.Process.Pid); stopped || err != nil {
			return err
		}
		if err := p.wait(ctx, time.Millisecond/2); err != nil {
			return err
		}
	}
	return fmt.Errorf("its threads did not stop within %v", stopTimeout)
}

var (
	errEndedEarly = errors.New("it has ended before its slices")
	errNoRequest  = errors.New("the server counted no request in the slice")
)

// wait waits for the duration, during which the tool must not end.
func (p *slicedTool) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ended:
		return fmt.Errorf("%s: %w: %s", strings.Join(p.cmd.Args, " "), cmp.Or(p.err, errEndedEarly),
			firstLine(p.said.Bytes()))
	case <-time.After(d):
		return nil
	}
}

// kill ends the tool, which may be stopped or have ended.
func (p *slicedTool) kill() {
	p.cmd.Process.Kill() // it fails only if the process has ended
	<-p.ended
	p.remove()
}

// threadState returns the state in a thread's stat, such as R for running and T for stopped.
func threadState(stat string) (state byte, err error) {
	// The name, in parentheses, may have any character.
	end := strings.LastIndex(stat, ") ")
	if end < 0 || len(stat) < end+3 {
		return 0, fmt.Errorf("%q has no state of a thread", stat)
	}
	return stat[end+2], nil
}
