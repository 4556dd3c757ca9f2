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
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/luascript"
	"dyno/internal/result"
)

// A Child is a generator in a process of its own, so that other work of this process, such as
// serving browsers, takes nothing from the threads that measure. It is for loads without servers of
// their own; a trial's Workers run under the servers' supervisor.
type Child struct {
	Args []string // command line of a worker process
}

// stderrMax is how much of a worker process's stderr is kept, in bytes.
const stderrMax = 8 << 10

// RunLoad is a result.Runner. The child ends when its stdin is closed, so it does not outlive this
// process, however that ends.
func (c Child) RunLoad(ctx context.Context, p loadplan.Plan,
	each func(loadresult.Interval)) (*result.Result,
	error) {
	plan, err := luascript.Pack(p)
	if err != nil {
		return nil, fmt.Errorf("packing the plan for a worker: %w", err)
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	stderr := &firstBytes{most: stderrMax}
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
	leave := context.AfterFunc(ctx, func() { stopProcess(cmd, in) })
	last, err := superviseWorker(in, out, plan, each)
	leave()
	in.Close()
	ended := cmd.Wait()
	if err != nil {
		return nil, fmt.Errorf("the worker process: %w", errors.Join(err, ended, stderr.writtenError()))
	}
	if last.Error != "" {
		return nil, last.resultError()
	}
	if context.Cause(ctx) == loadresult.ErrAborted &&
		last.Result.Ended == string(loadresult.Interrupted) {
		last.Result.Ended = string(loadresult.Aborted) // the child knew only that it should stop
	}
	last.Result.Samples = last.Samples
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

// stopProcess tells a worker to stop, and kills it after stopTime.
func stopProcess(cmd *exec.Cmd, in io.Closer) {
	in.Close()
	time.AfterFunc(stopTime, func() { cmd.Process.Kill() }) // no effect once it has ended
}

// superviseWorker sends a worker its plan, lets it begin when it is ready, and passes its intervals
// on. It returns the worker's final message.
func superviseWorker(in io.Writer, out io.Reader, plan []byte,
	each func(loadresult.Interval)) (message,
	error) {
	tasks, messages := json.NewEncoder(in), json.NewDecoder(out)
	tasks.Encode(task{Plan: plan}) // if this fails the worker has ended, which is reported below
	for {
		var w message
		if err := messages.Decode(&w); err != nil {
			return w, fmt.Errorf("it ended without a result: %w", err)
		}
		switch {
		case w.isFinal():
			return w, nil
		case w.Ready:
			at := time.Now().Add(beginLead)
			tasks.Encode(task{Begin: &at})
		case w.Interval != nil:
			each(*w.Interval)
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
