package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"dyno/internal/observe/probe"
	"dyno/internal/server"
)

// A workerProcess is a running process of Workers.
type workerProcess struct {
	of         *Workers
	guest      *server.Guest
	in         *os.File
	out        *os.File
	tasks      *json.Encoder // writes to in
	ready      bool
	cancelStop func() bool // stops what happens when the context ends
}

// A received is a message of a worker, or the error after which no more will follow.
type received struct {
	message
	from int
	err  error
}

const (
	stopTime  = 5 * time.Second // for a worker's final message after it was told to stop
	tailLines = 10              // of a failed worker's output, in the error
)

// startWorker starts worker i and sends it its task. When ctx ends the worker is told to stop, and
// killed if it does not.
func (w *Workers) startWorker(ctx context.Context, i int, t task,
	isolated bool) (*workerProcess, error) {
	p := server.Process{Name: t.roleName(i), Args: w.Args, Env: os.Environ()}
	if isolated {
		p.Client = i + 1
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to a worker: %w", err)
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe from a worker: %w", err), in.Close())
	}
	defer theirOut.Close()
	guest, err := w.Server.Run(p, theirIn, theirOut, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", p.Name, err), in.Close(), out.Close())
	}
	worker := &workerProcess{of: w, guest: guest, in: in, out: out, tasks: json.NewEncoder(in)}
	w.mu.Lock()
	w.trees = append(w.trees, worker.processTree())
	w.mu.Unlock()
	worker.tasks.Encode(t) // if this fails the worker has ended, and readMessages reports why
	worker.cancelStop = context.AfterFunc(ctx, worker.stopWorker)
	return worker, nil
}

// roleName is the name of a worker. One that fetches a profile runs together with those that load.
func (t task) roleName(i int) string {
	if t.Fetch != nil {
		return "profiler"
	}
	return fmt.Sprintf("generator %d", i+1)
}

func (p *workerProcess) processTree() probe.Tree {
	return probe.Tree{Name: p.guest.Name, PID: p.guest.PID, Generator: true}
}

// stopWorker tells the worker to stop.
func (p *workerProcess) stopWorker() {
	p.in.Close()
	ended := make(chan struct{})
	go func() {
		p.guest.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopTime):
		p.guest.Signal(syscall.SIGKILL) // if this fails, it ends with the server
	}
}

// readMessages sends the worker's messages to messages, up to the final one.
func (p *workerProcess) readMessages(i int, messages chan<- received) {
	for decoder := json.NewDecoder(p.out); ; {
		s := received{from: i}
		if decoder.Decode(&s.message) != nil {
			s.err = p.exitError()
		} else if s.Error != "" {
			s.err = errors.New(s.Error)
		}
		messages <- s
		if s.err != nil || s.isFinal() {
			return
		}
	}
}

// exitError is why a worker ended without a final message.
func (p *workerProcess) exitError() error {
	exit := p.guest.Wait()
	lines, err := p.of.Server.Tail(p.guest.Name, tailLines)
	if err != nil || lines == "" {
		return fmt.Errorf("%s %v", p.guest.Name, exit)
	}
	return fmt.Errorf("%s %v; its last output:\n%s", p.guest.Name, exit, lines)
}

// closeWorker frees the worker after its final message.
func (p *workerProcess) closeWorker() {
	p.cancelStop()
	p.in.Close()
	p.guest.Wait()
	p.out.Close()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.trees = slices.DeleteFunc(p.of.trees, func(t probe.Tree) bool { return t == p.processTree() })
}
