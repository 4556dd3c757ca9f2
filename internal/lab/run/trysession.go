package run

import (
	"context"
	"fmt"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// A sessionError is why the session of a plan failed with one user.
type sessionError struct{ file, why string }

func (e *sessionError) Error() string { return "its session fails: " + e.why }

// remedy says how to see what the session sends and gets.
func (e *sessionError) remedy() string {
	return fmt.Sprintf("to see each request and answer, start the server and call dyno scenario run "+
		"-v %s --variable base=URL, with the same --data", e.file)
}

// trySession has one user run the session of a plan, on one connection. A session that fails then
// would fail under load, too, and its answers would say nothing of the servers. A fleet shares no
// single user, so it is not asked.
func (r *running) trySession(ctx context.Context, stand Stand, p loadplan.Plan) error {
	if len(p.Hurl) == 0 || r.Fleet != nil {
		return nil
	}
	p.Connections, p.Threads, p.Users, p.Pipeline, p.Streams = 1, 1, 1, 1, 1
	p.UserStages, p.Stages, p.Arrival = nil, nil, ""
	p.Rate, p.Cap, p.Probe, p.ConnectRate = 0, 0, 0, 0
	p.Requested, p.Duration, p.Warmup = int64(len(p.Hurl)), 0, 0
	tried, err := r.runnerFor(stand)(ctx, p, func(loadresult.Interval) {})
	if err != nil {
		return err
	}
	if i := tried.Iterations; i != nil && i.Started > 0 && i.Completed == i.Started {
		return nil
	}
	return &sessionError{p.Hurl[0].File, failuresText(tried)}
}

// failuresText has the first failures of a result, a check's failures first: they name the place.
func failuresText(r *result.Result) string {
	var checks, others []string
	for _, e := range r.Errors {
		if loadresult.Phase(e.Phase) == loadresult.Check {
			checks = append(checks, e.Kind)
		} else {
			others = append(others, e.Detail)
		}
	}
	all := append(checks, others...)
	if len(all) == 0 {
		return "no response came"
	}
	return strings.Join(all[:min(len(all), 2)], "; ")
}
