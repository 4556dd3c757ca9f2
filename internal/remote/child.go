// Package remote makes a load in a process of its own.
//
// A Child is one such process, for a load without servers. Workers are several, beside a server
// and under its supervisor: they share a load, or reach a server in a network where this
// process is not, and then also ask, count and fetch profiles there. RunWorker is the other end:
// what such a process does.
//
// The two ends exchange lines of JSON on pipes: a task each way down, messages back up, the last
// of which is the result. A worker whose stdin ends stops, so that none outlives its parent.
//
//	child.go           one process for a load
//	count.go           the server's own count of requests
//	memory_linux.go    limits the memory of a load's process; memory_other.go
//	worker.go          what such a process does
//	workerprocess.go   starts and stops one
//	workers.go         several that share a load
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
	"dyno/internal/result/plansecrets"
)

// A Child is a generator in a process of its own, so that other work of this process, such as
// serving browsers, takes nothing from the threads that measure. It is for loads without servers of
// their own; a trial's Workers run under the servers' supervisor.
type Child struct {
	Args   []string // command line of a worker process
	Memory uint64   // bytes that it may take; 0: any number
}

// stderrMax is how much of a worker process's stderr is kept, in bytes.
const stderrMax = 8 << 10

// briefMax is how much of it another process is told.
const briefMax = 400

// Describe is what load.Run measured, within the limits of what a machine tells another, and
// without secrets in what servers said: others may read the way between them.
func Describe(r *loadresult.Result) *loadresult.Result {
	r = r.Told()
	r.Failures = loadresult.Reported(r.Failures)
	if r.Probe != nil {
		r.Probe.Failures = loadresult.Reported(r.Probe.Failures)
	}
	r.Samples = plansecrets.Heads(r.Plan, r.Samples)
	return r
}

// ErrNobodyWaits is the cause of a context whose load nobody waits for any more: the child is
// killed if it has not ended within goneTime.
var ErrNobodyWaits = errors.New("nobody waits for the load")

// RunLoad is a result.Runner. The child ends when its stdin is closed, so it does not outlive this
// process, however that ends.
func (c Child) RunLoad(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*result.Result, error) {
	if p.IsRandom() && p.Seed == 0 {
		p.Seed = loadplan.DrawSeed()
	}
	together := loadresult.NewTogether(1, each)
	last, err := c.runPlan(ctx, task{}, p, soon, nil, func(iv loadresult.Interval) {
		together.Add(0, iv)
	})
	together.Close()
	if err != nil {
		return nil, err
	}
	last.Plan = p
	whole, err := together.Join([]*loadresult.Result{last})
	if err != nil {
		return nil, err
	}
	return result.From(whole, loadplan.Version)
}

// RunShared is load.RunShared in the child, as Describe tells it. What it cannot do within stopTime
// after ctx ended, it does not: the child is killed.
func (c Child) RunShared(ctx context.Context, p loadplan.Plan, meet load.Barrier,
	shares <-chan load.Share, each func(loadresult.Interval)) (*loadresult.Result, error) {
	return c.runPlan(ctx, task{Brief: true, Memory: c.Memory}, p, meet, shares, each)
}

// soon is the barrier of a child that waits for nobody.
func soon(context.Context) time.Time { return time.Now().Add(beginLead) }

func (c Child) runPlan(ctx context.Context, t task, p loadplan.Plan, meet load.Barrier,
	shares <-chan load.Share, each func(loadresult.Interval)) (_ *loadresult.Result, err error) {
	if t.Plan, err = loadplan.Pack(p); err != nil {
		return nil, fmt.Errorf("packing the plan for a worker: %w", err)
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	stderr := &firstBytes{most: stderrMax}
	if t.Brief {
		stderr.most = briefMax
	}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to a worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe from a worker: %w", err), in.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	killed := make(chan time.Duration, 1)
	leave := context.AfterFunc(ctx, func() { stopProcess(context.Cause(ctx), cmd, in, killed) })
	last, err := superviseWorker(ctx, in, out, t, meet, shares, each)
	leave()
	in.Close()
	ended := cmd.Wait()
	if err != nil {
		select {
		case after := <-killed:
			err = fmt.Errorf("it did not end %v after it was told to, and was killed", after)
		default:
		}
		return nil, fmt.Errorf("the worker process: %w", errors.Join(err, ended, stderr.writtenError()))
	}
	if last.Error != "" {
		return nil, last.resultError()
	}
	if context.Cause(ctx) == loadresult.ErrAborted && last.Result.Ended == loadresult.Interrupted {
		last.Result.Ended = loadresult.Aborted // the child knew only that it should stop
	}
	return last.Result, nil
}

// resultError is the error of a message without a result, as load.Run would return it.
func (w message) resultError() error {
	if len(w.Flaws) == 0 {
		return errors.New(w.Error)
	}
	var all []error
	for _, flaw := range w.Flaws {
		all = append(all, flaw)
	}
	return errors.Join(all...)
}

// goneTime is how long a child may take to end if nobody waits for its result.
const goneTime = 900 * time.Millisecond

// stopProcess tells a worker to stop, and kills it if it does not.
func stopProcess(why error, cmd *exec.Cmd, in io.Closer, killed chan<- time.Duration) {
	in.Close()
	wait := stopTime
	if errors.Is(why, ErrNobodyWaits) {
		wait = goneTime
	}
	time.AfterFunc(wait, func() {
		killed <- wait // first: whoever sees that it has ended asks why
		cmd.Process.Kill()
	})
}

// superviseWorker sends a worker its task, lets it begin when it is ready, and passes its intervals
// on. It returns the worker's final message.
func superviseWorker(ctx context.Context, in io.Writer, out io.Reader, t task, meet load.Barrier,
	shares <-chan load.Share, each func(loadresult.Interval)) (message, error) {
	tasks, messages := json.NewEncoder(in), json.NewDecoder(out)
	tasks.Encode(t) // if this fails the worker has ended, which is reported below
	ctx, over := context.WithCancel(ctx)
	var teller sync.WaitGroup
	defer teller.Wait()
	defer over()
	for {
		var w message
		if err := messages.Decode(&w); err != nil {
			return w, fmt.Errorf("it ended without a result: %w", err)
		}
		switch {
		case w.isFinal():
			return w, nil
		case w.Ready:
			teller.Go(func() { tellStart(ctx, tasks, meet, shares) })
		case w.Interval != nil:
			each(*w.Interval)
		}
	}
}

// tellStart tells a worker that is ready when to begin, and then passes shares on.
func tellStart(ctx context.Context, tasks *json.Encoder, meet load.Barrier,
	shares <-chan load.Share) {
	at := meet(ctx)
	if at.IsZero() {
		return
	}
	tasks.Encode(task{Begin: &at})
	for {
		select {
		case s := <-shares:
			tasks.Encode(task{Share: &s})
		case <-ctx.Done():
			return
		}
	}
}

// A firstBytes keeps the first bytes that are written to it.
type firstBytes struct {
	bytes.Buffer
	most int
}

func (h *firstBytes) Write(b []byte) (int, error) {
	h.Buffer.Write(b[:min(len(b), h.most-h.Len())])
	return len(b), nil
}

// writtenError is what was written, as an error; nil if nothing was.
func (h *firstBytes) writtenError() error {
	if h.Len() == 0 {
		return nil
	}
	return errors.New(strings.TrimSpace(h.String()))
}
