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

// A workerProcess is one of Workers at work.
type workerProcess struct {
	of         *Workers
	guest      *server.Guest
	in         *os.File
	out        *os.File
	tasks      *json.Encoder // into in
	ready      bool
	cancelStop func() bool // what was to happen when the context ended
}

// received is a word, from which worker; or why there will be no more.
type received struct {
	message
	from int
	err  error
}

const (
	stopTime  = 5 * time.Second // for a worker's last word after it was told to stop
	tailLines = 10              // of what a worker wrote that has failed
)

// startWorker starts worker i and gives it its task. When ctx ends it is told to stop,
// and if it does not, killed.
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
	w.trees = append(w.trees, worker.tree())
	w.mu.Unlock()
	worker.tasks.Encode(t) // one that does not hear it has ended, and listen will say why
	worker.cancelStop = context.AfterFunc(ctx, worker.stopWorker)
	return worker, nil
}

// roleName is what the worker is called: one that fetches does so beside those that load.
func (t task) roleName(i int) string {
	if t.Fetch != nil {
		return "profiler"
	}
	return fmt.Sprintf("generator %d", i+1)
}

func (p *workerProcess) tree() probe.Tree {
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
		p.guest.Signal(syscall.SIGKILL) // if that fails, the server's end is its own too
	}
}

// readMessages passes on what the worker says, until it has said its last word.
func (p *workerProcess) readMessages(i int, words chan<- received) {
	for heard := json.NewDecoder(p.out); ; {
		s := received{from: i}
		if heard.Decode(&s.message) != nil {
			s.err = p.exitError()
		} else if s.Error != "" {
			s.err = errors.New(s.Error)
		}
		words <- s
		if s.err != nil || s.isLast() {
			return
		}
	}
}

// exitError is why a worker ended without a last word.
func (p *workerProcess) exitError() error {
	exit := p.guest.Wait()
	lines, err := p.of.Server.Tail(p.guest.Name, tailLines)
	if err != nil || lines == "" {
		return fmt.Errorf("%s %v", p.guest.Name, exit)
	}
	return fmt.Errorf("%s %v; its last output:\n%s", p.guest.Name, exit, lines)
}

// closeWorker is after the worker's last word.
func (p *workerProcess) closeWorker() {
	p.cancelStop()
	p.in.Close()
	p.guest.Wait()
	p.out.Close()
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.trees = slices.DeleteFunc(p.of.trees, func(t probe.Tree) bool { return t == p.tree() })
}
