package run

import (
	"context"
	"maps"
	"slices"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/say"
	"dyno/internal/setting"
)

// A sessionError is why the session of a Hurl file failed with one user.
type sessionError struct {
	file string
	fact.SessionFailed
}

func (e *sessionError) Error() string { return say.Plain(e.SessionFailed) }

// remedy says how to see what the session sends and gets.
func (e *sessionError) remedy() string {
	return mend(fact.ArmMend{By: fact.SeeSession, File: quoted(e.file)})
}

// quoted is a path as a shell reads it.
func quoted(path string) string {
	word, err := syntax.Quote(path, syntax.LangBash)
	if err != nil { // it has a NUL, so that it is no path
		return path
	}
	return word
}

// tryTime is how long a session is tried at most. One that is not over by then has not failed.
const tryTime = 10 * time.Second

// sessionOutput begins the name of the output of a server with which the session is tried.
const sessionOutput = "session"

// trySession has one user run the session of a Hurl file against an arm's server, which is started
// for that alone. A session that fails then would fail under load, too, and its answers would say
// nothing of the servers. A fleet shares no single user, so it is not asked.
func (r *running) trySession(ctx context.Context, a *arm) error {
	w := r.workload(a)
	if w.Hurl == "" || r.Fleet != nil {
		return nil
	}
	l := r.Experiment.Levels[0]
	stand, err := r.start(ctx, Setting{Arm: a.Name, Variant: a.variant, Level: l,
		Trial: lab.FileName(sessionOutput, a.Name), Aside: true})
	if err != nil {
		return err
	}
	defer stand.Stop()
	p, _, err := r.plans(a, l, stand.URL(), nil)
	if err != nil {
		return err
	}
	alive, stop := withServerAlive(ctx, stand)
	defer stop()
	users := max(1, r.Experiment.Design.Clients.Count)
	tried, err := r.runnerFor(stand)(alive, oneIteration(p, users), func(loadresult.Interval) {})
	if err == nil && hasFailed(tried) {
		err = &sessionError{r.Experiment.Path(w.Hurl), failuresOf(tried)}
	}
	if err != nil {
		return deathOr(alive, err)
	}
	return nil
}

// oneIteration is a plan of which each of some users runs one iteration, each on a connection: as
// many as there are clients, which share them.
func oneIteration(p loadplan.Plan, users int) loadplan.Plan {
	p.Connections, p.Users, p.Threads, p.Requested = users, users, 1, int64(users)
	p.Pipeline, p.Streams = 1, 1
	p.UserStages, p.Stages, p.Arrival = nil, nil, ""
	p.Rate, p.Cap, p.Probe, p.ConnectRate = 0, 0, 0, 0
	p.Duration, p.Warmup = loadplan.Seconds(tryTime), 0
	return p
}

// hasFailed reports whether a request or an iteration failed, or none was sent. An answer that is
// still awaited is no failure.
func hasFailed(r *result.Result) bool {
	return len(r.Errors) > 0 || r.Requests.Completed+r.Requests.Unfinished == 0 ||
		r.Iterations != nil && r.Iterations.Failed > 0
}

// failuresOf has the first failures of a result, those of checks first: they name the place.
func failuresOf(r *result.Result) (f fact.SessionFailed) {
	answered := false
	var checks, others []string
	for _, e := range r.Errors {
		switch {
		case loadresult.Phase(e.Phase) != loadresult.Check:
			others = append(others, e.Text(setting.Key))
		case e.Kind == loadresult.Refused:
			checks = append(checks, e.Detail)
		default:
			answered = len(r.Status) > 0
			checks = append(checks, "a check failed: "+e.Kind)
		}
	}
	f.Failures = append(checks, others...)
	f.Failures = f.Failures[:min(len(f.Failures), 2)]
	if answered {
		for _, code := range slices.Sorted(maps.Keys(r.Status)) {
			f.Status = append(f.Status, fact.StatusCount{Code: code, Count: r.Status[code]})
		}
	}
	return f
}
