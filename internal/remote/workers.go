package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
)

// Workers are generators that are processes of their own: several that load at
// once, or those in a network where this process is not. They run beside the
// server, under the same supervisor, and end with it whatever becomes of us.
type Workers struct {
	Server   *server.Server
	Args     []string // argv of a worker process
	Count    int      // that share a load, at least 1
	Isolated bool     // each in the network namespace of a client

	// Ring is what the ring of a worker's plan is to be on this machine; nil: what it is.
	Ring func(load.Plan) string

	mu    sync.Mutex
	trees []probe.Tree // of those that run
}

// beginLead is how long before the load begins the workers are told when.
const beginLead = 20 * time.Millisecond

// Trees are the worker processes that run.
func (w *Workers) Trees() []probe.Tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trees)
}

// Run is a result.Runner: each worker does its part of p, all begin together, and the
// result is that of all.
func (w *Workers) Run(ctx context.Context, p load.Plan, each func(load.Interval)) (*result.Result,
	error) {
	var tasks []task
	for _, part := range p.Split(w.Count) {
		if w.Ring != nil {
			part.Ring = w.Ring(part)
		}
		plan, err := load.Pack(part)
		if err != nil {
			return nil, fmt.Errorf("packing the plan for a worker: %w", err)
		}
		tasks = append(tasks, task{Plan: plan})
	}
	last, err := w.runTasks(ctx, tasks, w.Isolated, load.Together(len(tasks), each))
	if err != nil {
		return nil, err
	}
	var all []*result.Result
	for _, l := range last {
		l.Result.Plan.Ring = p.Ring
		all = append(all, l.Result)
	}
	return result.Merge(all)
}

// Ask is fairness.Ask from where the server is.
func (w *Workers) Ask(ctx context.Context, q fairness.Question) (*fairness.Answer, error) {
	last, err := w.runTasks(ctx, []task{{Ask: &q}}, false, func(int, *load.Interval) {})
	if err != nil {
		return nil, err
	}
	return last[0].Answer, nil
}

// Fetch is profile.Fetch from where the server is.
func (w *Workers) Fetch(ctx context.Context, base string, kind profile.Kind, d time.Duration) (
	*profile.Profile, error) {
	dir, err := os.MkdirTemp("", "dyno-profile-")
	if err != nil {
		return nil, fmt.Errorf("a folder for the profile: %w", err)
	}
	defer os.RemoveAll(dir)
	f := fetchTask{base, kind, d, filepath.Join(dir, "profile.pb.gz")}
	if _, err := w.runTasks(ctx, []task{{Fetch: &f}}, false, func(int,
		*load.Interval) {
	}); err != nil {
		return nil, err
	}
	return profile.Load(f.File)
}

// CountServed is the count that the server tells at a URL, asked for from where it is.
func (w *Workers) CountServed(ctx context.Context, url string) (Count, error) {
	last, err := w.runTasks(ctx, []task{{Count: url}}, false, func(int, *load.Interval) {})
	if err != nil {
		return Count{}, err
	}
	return *last[0].Counted, nil
}

// runTasks has a worker carry out each task, and returns their last words. It calls
// interval with each that one measured, and with nil when it will measure no more.
// When ctx ends, or a worker fails, all are told to stop.
func (w *Workers) runTasks(ctx context.Context, tasks []task, isolated bool,
	interval func(from int, iv *load.Interval)) (last []message, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all []*workerProcess
	words := make(chan received)
	for i, t := range tasks {
		p, failed := w.startWorker(ctx, i, t, isolated)
		if err = failed; err != nil {
			stop()
			break
		}
		all = append(all, p)
		go p.readMessages(i, words)
	}
	last = make([]message, len(tasks))
	for running, awaited := len(all), len(all); running > 0; {
		said := <-words
		over := said.err != nil || said.isLast()
		if said.err != nil {
			err = errors.Join(err, said.err)
			stop()
		}
		if over {
			last[said.from] = said.message
			running--
		}
		if over || said.Interval != nil {
			interval(said.from, said.Interval)
		}
		if p := all[said.from]; !p.ready && (over || said.Ready) {
			p.ready = true
			if awaited--; awaited == 0 {
				sendBegin(all)
			}
		}
	}
	for _, p := range all {
		p.closeWorker()
	}
	return last, err
}

// sendBegin tells all that wait when the load begins. Whoever cannot hear it has ended.
func sendBegin(all []*workerProcess) {
	at := time.Now().Add(beginLead)
	for _, p := range all {
		p.tasks.Encode(task{Begin: &at})
	}
}
