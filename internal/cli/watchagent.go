package cli

import (
	"context"
	"fmt"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/fleet/bus"
	fleetwatch "dyno/internal/fleet/watch"
	"dyno/internal/result"
)

// awayFlags are the processes to watch on an agent's machine. The zero value is none.
type awayFlags struct {
	agent     string
	processes []string
}

func (f *awayFlags) addWatched(process, agent string) error {
	if f.agent != "" && f.agent != agent {
		return fmt.Errorf("on %s and %s: one agent's machine can be watched", f.agent, agent)
	}
	f.agent, f.processes = agent, append(f.processes, process)
	return nil
}

// An awayWatch is a watch in progress on an agent's machine. A nil one watches nothing.
type awayWatch struct {
	agent string
	link  *bus.Link
	*fleetwatch.Watch
}

// beginAwayWatch begins to watch what the flags name, by an agent on that bus.
func (f *awayFlags) beginAwayWatch(ctx context.Context, on busFlags) (*awayWatch, error) {
	if f.agent == "" {
		return nil, nil
	}
	folder, err := fleetFolder()
	if err != nil {
		return nil, err
	}
	key, err := bus.OpenPlanKey(folder)
	if err != nil {
		return nil, err
	}
	link, err := on.openBus()
	if err != nil {
		return nil, loadplan.Flaw{Setting: "--watch", Problem: err.Error()}
	}
	w, err := fleetwatch.BeginWatch(ctx, link.Conn, f.agent, f.processes, key.SignPlan)
	if err != nil {
		link.Close()
		return nil, loadplan.Flaw{Setting: "--watch", Problem: err.Error()}
	}
	return &awayWatch{f.agent, link, w}, nil
}

// addSeen adds to r what was seen in its window, or that nothing was.
func (w *awayWatch) addSeen(r *result.Result) {
	if w == nil {
		return
	}
	from, to := r.Measured()
	seen, err := w.EndWindow(context.Background(), from, to)
	if err != nil {
		r.Warn(fact.Fact{Severity: fact.Warning, Args: fact.NotWatched{Why: err.Error()}})
		return
	}
	r.Server = r.Used(seen.Trees, seen.Host, seen.Sampler, seen.Unavailable)
	r.Server.Agent = w.agent
}

// closeWatch frees the watch, also when there is no result.
func (w *awayWatch) closeWatch() {
	if w != nil {
		w.StopKeeping()
		w.link.Close()
	}
}
