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

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/server"
)

// Workers are generators in processes of their own: several that load at once, or some in a network
// namespace that this process is not in. They run under the server's supervisor, so they end with
// the server, however this process ends.
type Workers struct {
	Server   *server.Server
	Args     []string // command line of a worker process
	Count    int      // how many share a load, at least 1
	Isolated bool     // each in the network namespace of a client

	// Ring returns the ring of a worker's plan on this machine; nil: the plan's own.
	Ring func(loadplan.Plan) string

	mu    sync.Mutex
	trees []probe.Tree // of running workers
}

// beginLead is how far ahead the workers are told when the load begins.
const beginLead = 20 * time.Millisecond

// ProcessTrees are the running worker processes.
func (w *Workers) ProcessTrees() []probe.Tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trees)
}

// RunLoad is a result.Runner. Each worker loads its part of p, all begin at once, and what they
// count is added up.
func (w *Workers) RunLoad(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (
	*result.Result, error) {
	if p.IsRandom() && p.Seed == 0 {
		p.Seed = loadplan.DrawSeed()
	}
	var tasks []task
	parts := p.Split(w.Count)
	for _, part := range parts {
		if w.Ring != nil {
			part.Ring = w.Ring(part)
		}
		plan, err := loadplan.Pack(part)
		if err != nil {
			return nil, fmt.Errorf("packing the plan for a worker: %w", err)
		}
		tasks = append(tasks, task{Plan: plan})
	}
	return sumOf(parts, each, func(tell func(int, *loadresult.Interval)) ([]message, error) {
		return w.runTasks(ctx, tasks, w.Isolated, tell)
	})
}

// sumOf is the result of workers that load parts of a plan. run has them do it: it tells each of
// their intervals, as runTasks does, and returns their final messages.
func sumOf(parts []loadplan.Plan, each func(loadresult.Interval),
	run func(tell func(from int, iv *loadresult.Interval)) ([]message, error)) (*result.Result,
	error) {
	together := loadresult.NewTogether(len(parts), each)
	last, err := run(func(from int, iv *loadresult.Interval) {
		if iv == nil {
			together.End(from)
		} else {
			together.Add(from, *iv)
		}
	})
	together.Close()
	if err != nil {
		return nil, err
	}
	var all []*loadresult.Result
	for i, l := range last {
		l.Result.Plan = parts[i]
		all = append(all, l.Result)
	}
	whole, err := together.Join(all)
	if err != nil {
		return nil, err
	}
	return result.From(whole, loadplan.Version)
}

// AskServer is fairness.Ask in a worker, which can reach the server.
func (w *Workers) AskServer(ctx context.Context, q fairness.Question) (*fairness.Answer, error) {
	last, err := w.runTasks(ctx, []task{{Ask: &q}}, false, func(int, *loadresult.Interval) {})
	if err != nil {
		return nil, err
	}
	return last[0].Answer, nil
}

// FetchProfile is profile.Fetch in a worker, which can reach the server.
func (w *Workers) FetchProfile(ctx context.Context, base string, kind profile.Kind,
	d time.Duration) (*profile.Profile, error) {
	dir, err := os.MkdirTemp("", "dyno-profile-")
	if err != nil {
		return nil, fmt.Errorf("a folder for the profile: %w", err)
	}
	defer os.RemoveAll(dir)
	f := fetchTask{base, kind, d, filepath.Join(dir, "profile.pb.gz")}
	if _, err := w.runTasks(ctx, []task{{Fetch: &f}}, false, func(int,
		*loadresult.Interval) {
	}); err != nil {
		return nil, err
	}
	return profile.Load(f.File)
}

// CountServed is FetchCount in a worker, which can reach the server.
func (w *Workers) CountServed(ctx context.Context, url string) (Count, error) {
	last, err := w.runTasks(ctx, []task{{Count: url}}, false, func(int, *loadresult.Interval) {})
	if err != nil {
		return Count{}, err
	}
	return *last[0].Counted, nil
}

// runTasks has a worker carry out each task, and returns their final messages. It calls interval
// with each interval that a worker measured, and with nil when the worker will measure no more.
// When ctx ends or a worker fails, all workers are told to stop.
func (w *Workers) runTasks(ctx context.Context, tasks []task, isolated bool,
	interval func(from int, iv *loadresult.Interval)) (last []message, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all []*workerProcess
	messages := make(chan received)
	for i, t := range tasks {
		p, failed := w.startWorker(ctx, i, t, isolated)
		if err = failed; err != nil {
			stop()
			break
		}
		all = append(all, p)
		go p.readMessages(i, messages)
	}
	last = make([]message, len(tasks))
	for running, awaited := len(all), len(all); running > 0; {
		next := <-messages
		over := next.err != nil || next.isFinal()
		if next.err != nil {
			err = errors.Join(err, next.err)
			stop()
		}
		if over {
			last[next.from] = next.message
			running--
		}
		if over || next.Interval != nil {
			interval(next.from, next.Interval)
		}
		if p := all[next.from]; !p.ready && (over || next.Ready) {
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

// sendBegin tells all workers that are ready when the load begins. A worker that cannot receive it
// has ended.
func sendBegin(all []*workerProcess) {
	at := time.Now().Add(beginLead)
	for _, p := range all {
		p.tasks.Encode(task{Begin: &at})
	}
}
