package run

import (
	"context"
	"dyno/internal/lab"
	"time"

	"dyno/internal/engine/load"
	"dyno/internal/remote"
	"dyno/internal/result"
)

const (
	settleTime = 50 * time.Millisecond // between two questions before a load
	settleMost = 20                    // until it begins although something is still counted
)

// settledCount asks until a question is all that was counted since the last: what was sent before
// this load, and given up, may still have waited to be read.
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

// loadCounted has p loaded between two counts of the server, if it tells any.
func loadCounted(ctx context.Context, t *lab.Trial, count remote.Counter, p load.Plan,
	run result.Runner) (*result.Result, error) {
	if count == nil {
		return run(ctx, p, func(load.Interval) {})
	}
	before, err := settledCount(ctx, count)
	if err != nil {
		return nil, err
	}
	r, err := run(ctx, p, func(load.Interval) {})
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
	t.Served = &lab.Served{Server: after.Served - before.Served,
		Clients: r.Requests.Sent + r.Requests.Warmup}
	return r, nil
}
