package result

import (
	"context"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
)

// A Runner makes the load of a plan and returns its result: load.Run on this machine, a process
// of its own, or agents whose results are merged. It calls each once a second, from one
// goroutine, and for the last time before it returns.
type Runner func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*Result,
	error)
