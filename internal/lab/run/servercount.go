package run

import (
	"context"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/lab"
	"dyno/internal/remote"
	"dyno/internal/result"
)

const (
	settleTime = 50 * time.Millisecond // between two queries before a load
	settleMost = 20                    // queries, until the load begins despite other requests
)

// settledCount queries the count until only the query itself was added since the last one. Requests
// that were sent before this load, and given up, may still have been waiting.
func settledCount(ctx context.Context, count remote.Counter) (remote.Count, error) {
	last, err := count(ctx)
	for range settleMost {
		if err != nil {
			return last, err
		}
		sleepFor(ctx, settleTime)
		var next remote.Count
		next, err = count(ctx)
		grown := next.Served - last.Served
		if next.Own {
			grown--
		}
		if last = next; grown == 0 {
			break
		}
	}
	return last, err
}

// loadCounted runs the load between two queries of the server's count, if it has one.
func loadCounted(ctx context.Context, t *lab.Trial, count remote.Counter, p loadplan.Plan,
	run result.Runner) (*result.Result, error) {
	if count == nil {
		return run(ctx, p, func(loadresult.Interval) {})
	}
	before, err := settledCount(ctx, count)
	if err != nil {
		return nil, err
	}
	r, err := run(ctx, p, func(loadresult.Interval) {})
	if err != nil {
		return nil, err
	}
	after, err := count(ctx)
	if err != nil {
		return nil, err
	}
	if after.Own {
		after.Served--
	}
	q := r.Requests
	t.Served = &lab.Served{Server: after.Served - before.Served,
		Clients: q.Sent + q.Redirects + q.Warmup + q.WarmupRedirects}
	return r, nil
}
